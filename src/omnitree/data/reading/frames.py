"""Excel, Parquet and ARFF files as frames.

ARFF is read by SciPy (no strings, dates or sparse rows), the others by pandas, which needs
openpyxl (extra `excel`) and pyarrow for them. A damaged file makes these parsers stumble
over anything, so any exception of theirs says that the file cannot be read.
"""

from __future__ import annotations

import glob
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from omnitree.data.reading.errors import InputError
from omnitree.data.reading.layout import FileFormat

if TYPE_CHECKING:
    import pandas as pd


def read_excel(path: Path, raw: bytes, format: FileFormat) -> pd.DataFrame:
    import pandas as pd

    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise InputError(
            f"{path} is an Excel file, which needs openpyxl: pip install 'omnitree[excel]'"
        ) from None
    if not raw.startswith(b"PK"):
        raise InputError(f"{path} is an old Excel file: save it as .xlsx or CSV first")
    try:
        with pd.ExcelFile(io.BytesIO(raw)) as book:
            sheet = _sheet(path, [str(name) for name in book.sheet_names], format.sheet)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # openpyxl's, about styles and the like
                frame = book.parse(
                    sheet, keep_default_na=False, na_values=list(format.missing)
                )
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} is no readable Excel file: {error}") from None
    return frame.dropna(how="all").reset_index(drop=True)  # without blank rows


def _sheet(path: Path, names: list[str], wanted: str | None) -> str:
    if wanted is None:
        if len(names) > 1:
            warnings.warn(
                f"{path}: sheet {names[0]!r} is read, of {', '.join(names)} (--sheet)",
                UserWarning,
                stacklevel=2,
            )
        return names[0]
    if wanted in names:
        return wanted
    if wanted.isdigit() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise InputError(f"{path} has no sheet {wanted!r}; it has {', '.join(names)}")


def read_parquet_files(pattern: Path) -> pd.DataFrame:
    """All Parquet files that match a pattern, one below the other."""
    import pandas as pd

    files = sorted(Path(name) for name in glob.glob(str(pattern)))
    if not files:
        raise InputError(f"there is no file {pattern}")
    other = [file for file in files if file.suffix not in (".parquet", ".pq")]
    if other:
        raise InputError(f"{other[0]} is not a Parquet file; only those can be several")
    pieces = [read_parquet(file) for file in files]
    for file, piece in zip(files, pieces, strict=True):
        if list(piece.columns) != list(pieces[0].columns):
            raise InputError(f"{file} has other columns than {files[0]}")
    return pd.concat(pieces, ignore_index=True)


def read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
        for _, column in frame.items():
            _check_text(column.cat.categories if hasattr(column, "cat") else column)
        return frame
    except ImportError:
        raise InputError("reading Parquet needs pyarrow: pip install pyarrow") from None
    except Exception as error:
        raise InputError(f"{path} is no readable Parquet file: {error}") from None


def _check_text(column: pd.Series | pd.Index) -> None:
    """Refuse Arrow's text that is none; pandas would find out when a cell is looked at."""
    if hasattr(column.array, "__arrow_array__") and column.dtype.kind == "O":
        column.array.__arrow_array__().validate(full=True)


def read_arff(path: Path, text: str) -> pd.DataFrame:
    import pandas as pd
    from scipy.io import arff

    try:
        records, _ = arff.loadarff(io.StringIO(text))
    except Exception as error:
        raise InputError(f"{path} is no ARFF file SciPy can read: {error}") from None
    frame = pd.DataFrame(records)
    for name in frame.columns:
        if frame[name].dtype == object:  # nominal values come as bytes
            cells = [v.decode("utf-8") for v in frame[name]]
            frame[name] = [None if cell == "?" else cell for cell in cells]
    return frame
