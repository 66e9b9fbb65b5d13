"""Tables from files: CSV, TSV, ARFF and Parquet, checked before anything is learned.

CSV and TSV have a header line; cells that are empty, `?`, `NA`, `nan` or `NaN` are gaps
(the caller may allow fewer). pandas parses them; cells are also kept as they were written,
for labels and for `omnitree predict`. ARFF is read by SciPy (no strings, dates or sparse
rows), Parquet by pandas. Used by the command line and by the lab.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

GAPS = ("", "?", "NA", "nan", "NaN")
# Whole numbers with more different values than this are no classes, unless one says so.
MOST_CLASSES = 30


class InputError(Exception):
    """The user's input is at fault; the message is the one line they read."""


@contextmanager
def input_at_fault() -> Iterator[None]:
    """What goes wrong in here is the input's fault."""
    try:
        yield
    except BrokenPipeError:  # `| head`: typer ends quietly
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise InputError(f"{where}{error.strerror or error}") from None
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from None


def check_input(path: Path) -> None:
    """Refuse a path that is no file."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if not path.exists():
        raise InputError(f"there is no file {path}")


@dataclass(frozen=True)
class TableFile:
    """A table: its cells as they were written, and parsed."""

    path: Path
    header: list[str]
    frame: pd.DataFrame
    gaps: Sequence[str]
    separator: str = ","
    text: str | None = None  # of CSV and TSV

    def rows(self) -> Iterator[list[str]]:
        """The cells of each row under the header, as they were written."""
        if self.text is not None:
            rows = _rows(self.text, self.separator, len(self.header))
            next(rows)
            return (row for _, row in rows)
        columns = [self._written(name) for name in self.header]
        return (list(row) for row in zip(*columns, strict=True))

    def _written(self, name: str) -> list[str]:
        column = self.frame[name]
        return [
            "" if gap else str(v) for v, gap in zip(column, column.isna(), strict=True)
        ]

    def features_and_target(self, target: str) -> tuple[pd.DataFrame, np.ndarray, int]:
        """Columns to learn from, labels as written, and rows left out for want of one."""
        import numpy as np

        if target not in self.header:
            close = get_close_matches(target, self.header, n=1)
            hint = f", did you mean {close[0]!r}?" if close else "."
            raise InputError(
                f"{self.path} has no column {target!r}{hint} It has "
                f"{', '.join(self.header)}."
            )
        if len(self.header) == 1:
            raise InputError(f"{self.path} has no column but the target")
        at = self.header.index(target)
        y = np.array([row[at].strip() for row in self.rows()], dtype=object)
        known = ~np.isin(y, list(self.gaps))
        if not known.any():
            raise InputError(f"no row of {self.path} has a value in {target!r}")
        X = self.frame.drop(columns=[target])
        return (
            X[known].reset_index(drop=True),
            y[known].astype(str),
            int((~known).sum()),
        )


def is_numeric(y: np.ndarray) -> bool:
    """Whether labels as written are rather numbers to predict than classes.

    All are numbers, and some are fractional or there are more than `MOST_CLASSES`.
    """
    import numpy as np
    import pandas as pd

    numbers = pd.to_numeric(pd.Series(y), errors="coerce")
    if not np.isfinite(numbers.to_numpy(dtype=float)).all():
        return False
    return bool((numbers % 1 != 0).any() or numbers.nunique() > MOST_CLASSES)


def as_numbers(y: np.ndarray, target: str) -> np.ndarray:
    """Labels as written, as numbers."""
    import numpy as np
    import pandas as pd

    numbers = pd.to_numeric(pd.Series(y), errors="coerce").to_numpy(dtype=float)
    if not np.isfinite(numbers).all():
        odd = y[~np.isfinite(numbers)][0]
        raise InputError(f"{target!r} holds {odd!r}, which is no finite number")
    return numbers


def read_table(path: Path, schema: Any = None, gaps: Sequence[str] = GAPS) -> TableFile:
    """Read a table; with a schema, its symbols are taken as they are written."""
    check_input(path)
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        return _checked(path, _read_parquet(path), gaps)
    if suffix == ".arff":
        return _checked(path, _read_arff(path), gaps)
    return _read_text(path, schema, gaps)


def _read_text(path: Path, schema: Any, gaps: Sequence[str]) -> TableFile:
    import pandas as pd

    with input_at_fault():
        raw = path.read_bytes()
    if b"\0" in raw[:65536]:
        raise InputError(f"{path} is a binary file, not CSV or TSV")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text in UTF-8: {error}") from None
    head = text.lstrip("\r\n").partition("\n")[0]
    tabs = path.suffix.lower() in (".tsv", ".tab") or ("\t" in head and "," not in head)
    separator = "\t" if tabs else ","
    header = _check_rows(path, text, separator)
    symbols = {
        f.name: str
        for f in (schema.features if schema is not None and schema.named else ())
        if f.kind in ("categorical", "ordered")
    }
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            keep_default_na=False,
            na_values=list(gaps),
            dtype={name: symbols.get(name) for name in header if name in symbols},
            skipinitialspace=True,
            skip_blank_lines=len(header) > 1,
            low_memory=False,
        )
    except ValueError as error:  # pandas' parser errors are ValueErrors
        raise InputError(f"{path} cannot be read: {error}") from None
    return TableFile(path, header, frame, gaps, separator, text)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError:
        raise InputError("reading Parquet needs pyarrow: pip install pyarrow") from None
    except (OSError, ValueError) as error:  # pyarrow's errors are both kinds
        raise InputError(f"{path} is no readable Parquet file: {error}") from None


def _read_arff(path: Path) -> pd.DataFrame:
    import pandas as pd
    from scipy.io import arff

    try:
        with path.open(encoding="utf-8-sig") as file:
            records, _ = arff.loadarff(file)
    except (arff.ArffError, NotImplementedError, ValueError, StopIteration) as error:
        raise InputError(f"{path} is no ARFF file SciPy can read: {error}") from None
    frame = pd.DataFrame(records)
    for name in frame.columns:
        if frame[name].dtype == object:  # nominal values come as bytes
            cells = [v.decode("utf-8") for v in frame[name]]
            frame[name] = [None if cell == "?" else cell for cell in cells]
    return frame


def _checked(path: Path, frame: pd.DataFrame, gaps: Sequence[str]) -> TableFile:
    header = [str(name) for name in frame.columns]
    if not header or not len(frame):
        raise InputError(f"{path} has no {'rows' if header else 'columns'}")
    _check_header(path, header)
    return TableFile(path, header, frame.set_axis(header, axis=1), gaps)


def _rows(text: str, separator: str, width: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row; blank lines are rows in one-column tables."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=True,
        strict=True,
    )
    for row in reader:
        width = width or len(row)
        if row or width == 1:
            yield reader.line_num, row or [""]


def _check_rows(path: Path, text: str, separator: str) -> list[str]:
    """The header of a table whose rows are all as long as it is."""
    rows = _rows(text, separator)
    n_rows = -1
    header: list[str] = []
    try:
        for line, row in rows:
            n_rows += 1
            if n_rows == 0:
                header = row
            elif len(row) != len(header):
                raise InputError(
                    f"{path}, line {line}: {len(row)} cells where the header has "
                    f"{len(header)}; is the file cut off, or not CSV?"
                )
    except csv.Error as error:
        raise InputError(f"{path} is damaged or cut off: {error}") from None
    if n_rows < 0:
        raise InputError(f"{path} is empty")
    _check_header(path, header)
    if n_rows == 0:
        raise InputError(f"{path} has a header but no rows")
    return header


def _check_header(path: Path, header: list[str]) -> None:
    for i, name in enumerate(header):
        if not name.strip():
            raise InputError(f"{path}: column {i + 1} has no name in the header")
        if name in header[:i]:
            raise InputError(f"{path}: two columns are named {name!r}")
