"""`read_table`: the file is opened, its text parsed, its columns judged.

pandas parses text; `layout` finds out how. Rows that are longer or shorter than the header
are refused, which pandas would fill up. Columns of text are then judged by `cells`.
Excel, ARFF and Parquet come as frames from `frames`.
"""

from __future__ import annotations

import csv
import glob
import io
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitree.data.reading import frames
from omnitree.data.reading.cells import OddCells, odd_cells
from omnitree.data.reading.contents import decoded, inner_suffix, is_excel, read_bytes
from omnitree.data.reading.errors import InputError, check_input
from omnitree.data.reading.layout import FileFormat, Layout, lay_out
from omnitree.data.reading.tables import INDEX, TableFile

if TYPE_CHECKING:
    import pandas as pd


def read_table(
    path: str | Path,
    schema: Any = None,
    format: FileFormat | None = None,
    untouched: Collection[str] = (),
) -> TableFile:
    """Read a table from a file.

    Parameters
    ----------
    path : str or Path
        CSV or the like, Excel, ARFF or Parquet; text may be packed (gzip, bzip2, xz, zip).
        A pattern such as ``part-*.parquet`` is all Parquet files that match.
    schema : Schema, optional
        Of the model that the table is for: its categories are taken as they are written,
        and its numeric columns are numbers.
    format : FileFormat, optional
        What is known of the file; all else is found out.
    untouched : collection of str
        Columns whose cells are not judged: the target, and what is not used.

    Returns
    -------
    TableFile
        Its `frame` has the parsed cells.

    Warns
    -----
    UserWarning
        About a guessed encoding, a choice of sheets, and columns of numbers in which some
        cells are none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.csv"
    ...     _ = path.write_text("size;colour\\n1,5;red\\nN/A;blue\\n")
    ...     read_table(path).frame
       size colour
    0   1.5    red
    1   NaN   blue
    """
    path = Path(path)
    format = format or FileFormat()
    if glob.has_magic(str(path)) and not path.exists():
        format.refuse(path, "Parquet", "sep", "decimal", "comment", "encoding", "sheet")
        return _checked(path, frames.read_parquet_files(path), format)
    check_input(path)
    suffix = inner_suffix(path)
    text_only = ("sep", "decimal", "comment")
    if suffix in (".parquet", ".pq"):
        format.refuse(path, "Parquet", *text_only, "encoding", "sheet", "missing")
        return _checked(path, frames.read_parquet(path), format)
    raw = read_bytes(path)
    if is_excel(raw):
        format.refuse(path, "an Excel file", *text_only, "encoding")
        frame = frames.read_excel(path, raw, format)
        table = _checked(path, frame, format)
        return _judged(table, schema, untouched, lambda found: _coerced(frame, found))
    format.refuse(path, "no Excel file", "sheet")
    text = decoded(path, raw, format.encoding)
    if "\0" in text:
        raise InputError(f"{path} is a binary file, not CSV or TSV")
    if suffix == ".arff":
        format.refuse(path, "ARFF", *text_only, "missing")
        return _checked(path, frames.read_arff(path, text), format)
    return _read_text(path, text, suffix, schema, format, untouched)


# -- text -----------------------------------------------------------------------------


def _read_text(
    path: Path,
    text: str,
    suffix: str,
    schema: Any,
    format: FileFormat,
    untouched: Collection[str],
) -> TableFile:
    layout = lay_out(path, text, suffix, format)
    header = _check_rows(path, layout)
    kinds = _kinds(schema)
    written = [n for n in header if kinds.get(n) in ("categorical", "ordered")]

    def parse(**options: Any) -> pd.DataFrame:
        import pandas as pd

        try:
            return pd.read_csv(
                io.StringIO(layout.text),
                sep=layout.separator,
                decimal=layout.decimal,
                keep_default_na=False,
                skipinitialspace=layout.separator != " ",
                skip_blank_lines=len(header) > 1,
                low_memory=False,
                index_col=False,
                **options,
            )
        except ValueError as error:  # pandas' parser errors are ValueErrors
            raise InputError(f"{path} cannot be read: {error}") from None

    missing = list(format.missing)
    frame = parse(na_values=missing, dtype=dict.fromkeys(written, str))
    table = TableFile(path, header, frame, format, layout)

    def parse_again(found: list[OddCells]) -> pd.DataFrame:
        # The same parser reads these columns again, so that their numbers are those that
        # they would be with empty cells, to the last bit.
        tokens = {odd.name: [*missing, *odd.texts] for odd in found}
        thousands = "," if any(odd.thousands for odd in found) else None
        return parse(na_values=tokens, usecols=list(tokens), thousands=thousands)

    return _judged(table, schema, [*untouched, *written], parse_again)


def _kinds(schema: Any) -> dict[str, str]:
    if schema is None or not schema.named:
        return {}
    return {feature.name: feature.kind for feature in schema.features}


def _judged(
    table: TableFile,
    schema: Any,
    untouched: Collection[str],
    parse_again: Callable[[list[OddCells]], pd.DataFrame],
) -> TableFile:
    """The table with its few cells that are no numbers missing, where they are to be."""
    from pandas.api.types import is_numeric_dtype, is_object_dtype, is_string_dtype

    if not table.format.forgiving:
        return table
    kinds = _kinds(schema)
    found = []
    for name in table.header:
        cells = table.frame[name]
        if name in untouched or not (is_object_dtype(cells) or is_string_dtype(cells)):
            continue
        if kinds and kinds.get(name) != "numeric":
            continue
        odd = odd_cells(cells, table.decimal, kinds.get(name) == "numeric")
        if odd is not None:
            found.append(odd)
    if any(odd.missing for odd in found):
        new = parse_again([odd for odd in found if odd.missing])
        for name in new.columns:
            if is_numeric_dtype(new[name]):
                table.frame[name] = new[name]
    for odd in found:
        odd.warn()
    return table


def _check_rows(path: Path, layout: Layout) -> list[str]:
    """The header of a table whose rows are all as long as it is."""
    n_rows = -1
    header: list[str] = []
    try:
        for line, row in layout.rows():
            n_rows += 1
            if n_rows == 0:
                header = row
            elif len(row) != len(header):
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                hint = "is the file cut off, or not CSV?"
                if row[0].startswith("#"):
                    hint = "--comment '#' leaves such lines out"
                elif len(header) == 1:
                    hint = "give --sep if the cells are separated by another sign"
                raise InputError(
                    f"{path}, line {line}: {cells} where the header has "
                    f"{len(header)}; {hint}"
                )
    except csv.Error as error:
        raise InputError(f"{path} is damaged or cut off: {error}") from None
    if n_rows < 0:
        raise InputError(f"{path} is empty")
    _check_header(path, header)
    if n_rows == 0:
        raise InputError(f"{path} has a header but no rows")
    return header


def _checked(path: Path, frame: pd.DataFrame, format: FileFormat) -> TableFile:
    header = [str(name) for name in frame.columns]
    if not header or not len(frame):
        raise InputError(f"{path} has no {'rows' if header else 'columns'}")
    _check_header(path, header)
    return TableFile(path, header, frame.set_axis(header, axis=1), format)


def _check_header(path: Path, header: list[str]) -> None:
    """Refuse columns without a name, but the index that may come first, and twins."""
    if len(header) > 1 and not header[0].strip():
        header[0] = INDEX
    for i, name in enumerate(header):
        if not name.strip():
            hint = "name it, or remove it"
            if i == len(header) - 1:
                hint = "name it, or remove the separator at the end of each line"
            raise InputError(
                f"{path}: column {i + 1} has no name in the header; {hint}"
            )
        if name in header[:i]:
            raise InputError(f"{path}: two columns are named {name!r}")


def _coerced(frame: pd.DataFrame, found: list[OddCells]) -> pd.DataFrame:
    import pandas as pd

    def coerced(column: pd.Series) -> pd.Series:
        plain = [c.replace(",", "") if isinstance(c, str) else c for c in column]
        return pd.Series(pd.to_numeric(plain, errors="coerce"), column.index)

    return frame[[odd.name for odd in found]].apply(coerced)
