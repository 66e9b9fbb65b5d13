"""Whatever holds the user's data, seen as columns.

`open_source` takes an array, a list of rows, or a data frame of any library that
narwhals knows (pandas, polars, pyarrow, ...), checks its shape, and gives an object
with `names`, `shape` and `column(j)`. narwhals is imported only when something other
than an array or a list comes in, so arrays never pay for it. Errors about shapes are
scikit-learn's own, word for word: its users know them and its checks look for them.
Used by `omnitree.data.table`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from omnitree.data.encoding.columns import (
    TableColumn,
    duration_error,
    nested_error,
    read_array,
    read_cells,
    read_declared,
)
from omnitree.data.encoding.object_columns import ObjectColumn
from omnitree.data.schema import check_unique

ARROW_NUMBERS = {
    *("double", "float", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
}


class MatrixColumns:
    """A two-dimensional array."""

    names: tuple[str, ...] | None = None

    def __init__(self, array: NDArray[Any]) -> None:
        if array.ndim != 2:
            raise _shape_error(array)
        self.array = array
        self.shape: tuple[int, int] = array.shape
        check_not_empty(self.shape)
        if array.dtype.kind == "c":
            raise ValueError(f"Complex data not supported\n{array}\n")

    @property
    def is_numeric(self) -> bool:
        """True when one type of number fills the whole array."""
        return self.array.dtype.kind in "fiu"

    def numbers(self) -> NDArray[np.float64]:
        """The whole array as float64: itself where it is that, and contiguous."""
        values = self.array.astype(np.float64, copy=False)
        if values.flags.c_contiguous or values.flags.f_contiguous:
            return values
        return np.asfortranarray(values)

    def column(self, j: int) -> TableColumn | ObjectColumn:
        """Column `j`."""
        return _column_of_array(f"x{j}", self.array[:, j])


class FrameSource:
    """A data frame, seen through narwhals where it has more than plain numbers."""

    def __init__(self, native: Any, labels: list[Any]) -> None:
        self.names = _string_names(labels)
        self.native = native
        self.shape: tuple[int, int] = native.shape
        check_not_empty(self.shape)

    @cached_property
    def frame(self) -> Any:
        """The frame as a narwhals one."""
        import narwhals as nw

        return nw.from_native(self.native, eager_only=True)

    def column(self, j: int) -> TableColumn | ObjectColumn:
        """Column `j`."""
        import narwhals as nw

        name = self.names[j] if self.names is not None else f"x{j}"
        numbers = _plain_numbers(self.native, j)
        if numbers is not None:
            return read_array(name, numbers)
        series = self.frame[:, j]
        dtype = series.dtype
        if dtype.is_numeric():
            return read_array(name, _floats(series.cast(nw.Float64)))
        if dtype == nw.Boolean:
            values = _floats(series.cast(nw.Float64))
            return TableColumn(name, "boolean", values, (False, True))
        if dtype == nw.Duration:
            raise duration_error(name)
        if dtype in (nw.Date, nw.Datetime):
            return read_array(name, _datetimes(series))
        if dtype.is_nested() or dtype == nw.Binary:
            raise nested_error(name, str(dtype))
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            return _read_categories(name, series, dtype)
        if dtype in (nw.Object, nw.Time) or series.null_count() == len(series):
            return ObjectColumn(name, series.to_list())
        # Types narwhals has no name for: complex, period, sparse.
        return _column_of_array(name, np.asarray(series.to_numpy()))


Source: TypeAlias = MatrixColumns | FrameSource


def open_source(X: Any) -> Source:
    """See `X` as columns; TypeError or ValueError when it is not a table."""
    if isinstance(X, Source):
        return X
    if isinstance(X, np.ma.MaskedArray):
        return MatrixColumns(np.ma.filled(X.astype(np.float64), np.nan))
    if isinstance(X, np.ndarray):
        return MatrixColumns(np.asarray(X))
    if isinstance(X, list | tuple):
        return MatrixColumns(_rows_to_array(X))
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        return MatrixColumns(_dense(X))

    import narwhals as nw

    if nw.dependencies.is_into_dataframe(X):
        # Checked before narwhals does it in its own words. The `columns` of a pyarrow
        # table are its data.
        labels = list(X.column_names if hasattr(X, "column_names") else X.columns)
        _check_labels(labels)
        return FrameSource(nw.to_native(X, pass_through=True), labels)
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError(
            "A lazy data frame holds no rows yet; collect or compute it first."
        )
    return MatrixColumns(np.asarray(X))


def check_not_empty(shape: tuple[int, int]) -> None:
    """Raise scikit-learn's ValueError for a table without rows or columns."""
    for n, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if n == 0:
            raise ValueError(
                f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is "
                "required."
            )


def _dense(X: Any) -> NDArray[Any]:
    """A SciPy sparse matrix as an array: cells that it does not store are 0.

    Trees read columns in full, so nothing would be gained by keeping it sparse.
    """
    try:
        return X.toarray()
    except MemoryError as error:
        rows, columns = X.shape
        raise MemoryError(
            f"A sparse matrix is made dense, and {rows} x {columns} cells of "
            f"{X.dtype.itemsize} bytes do not fit into memory. Select features first "
            "(for example by sklearn.feature_selection.SelectKBest), or reduce them "
            "(TruncatedSVD)."
        ) from error


def _rows_to_array(rows: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Rows as an array of objects, so that each column keeps its own type."""
    array = np.array(rows, dtype=object)
    if array.ndim == 1 and all(isinstance(r, list | tuple) for r in rows):
        for i, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise ValueError(
                    f"Row {i} has {len(row)} cells, but row 0 has {len(rows[0])}."
                )
    return array


def _shape_error(array: NDArray[Any]) -> ValueError:
    """scikit-learn's error for an array that is not two-dimensional."""
    from sklearn.utils import check_array

    try:
        check_array(array, dtype=None, ensure_all_finite=False)
    except ValueError as error:
        return error
    return ValueError(f"Expected 2D array, got an array of shape {array.shape}.")


def _check_labels(labels: list[Any]) -> None:
    """Refuse labels of mixed types, as scikit-learn does, and any used twice."""
    types = sorted({type(label).__qualname__ for label in labels})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {types} as feature name / column name types. Convert "
            "them all to strings, for example by X.columns = X.columns.astype(str)."
        )
    check_unique(tuple(labels))


def _string_names(labels: list[Any]) -> tuple[str, ...] | None:
    """The labels when they are strings; others (0, 1, ...) count as no names."""
    if all(isinstance(label, str) for label in labels):
        return tuple(str(label) for label in labels)
    return None


def _column_of_array(name: str, cells: NDArray[Any]) -> TableColumn | ObjectColumn:
    """A one-dimensional array of any type as a column."""
    if cells.dtype.kind == "O":
        return ObjectColumn(name, cells.tolist())
    return read_array(name, cells)


def _plain_numbers(frame: Any, j: int) -> NDArray[np.float64] | None:
    """Column `j` of plain numbers with NaN for null, or None: it is something else.

    Blocks of large data have thousands of columns to read, and a look at a column through
    narwhals takes 0.3 ms of Python, more than the column itself.
    """
    if hasattr(type(frame), "column_names"):  # pyarrow
        column = frame.column(j)
        plain = str(column.type) in ARROW_NUMBERS
    elif hasattr(frame, "iloc"):  # pandas
        column = frame.iloc[:, j]
        plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu"
    elif hasattr(frame, "to_series"):  # polars
        column = frame.to_series(j)
        plain = column.dtype.is_float() or column.dtype.is_integer()
    else:
        return None
    return np.asarray(column.to_numpy(), dtype=np.float64) if plain else None


def _floats(series: Any) -> NDArray[Any]:
    """A narwhals series of Float64 as an array with NaN for null."""
    return np.asarray(series.to_numpy(), dtype=np.float64)


def _datetimes(series: Any) -> NDArray[Any]:
    """A narwhals series of dates as an array of what the clock on the wall showed."""
    if getattr(series.dtype, "time_zone", None) is not None:
        series = series.dt.replace_time_zone(None)
    return np.asarray(series.to_numpy(), dtype="datetime64[us]")


def _read_categories(name: str, series: Any, dtype: Any) -> TableColumn:
    """Read a column of words or of declared categories.

    The frame's own library does the coding where it can: per million words 0.03 s,
    where Python takes 0.2 s. Only a pandas categorical and a polars Enum declare an
    order of their categories; all others are sorted alphabetically.
    """
    import narwhals as nw

    native = series.to_native()
    declared = dtype != nw.String
    if hasattr(native, "astype"):  # pandas and its like
        if declared:
            codes, words = np.asarray(native.cat.codes), native.cat.categories
        else:
            try:
                codes, words = native.factorize(sort=True)
            except UnicodeEncodeError:  # lone surrogates, which Arrow cannot hold
                return read_cells(name, native.tolist())
        ordered = declared and bool(native.cat.ordered)
        return read_declared(
            name, codes, words.tolist(), ordered=ordered, declared=declared
        )
    if hasattr(native, "to_physical"):  # polars
        ordered = dtype == nw.Enum
        if not ordered:
            series = series.cast(nw.String)
            words = sorted(series.unique().drop_nulls().to_list())
            series = series.cast(nw.Enum(words))
        physical = series.to_native().to_physical()
        codes = physical.cast(int).fill_null(-1).to_numpy()
        return read_declared(
            name, codes, series.dtype.categories, ordered=ordered, declared=declared
        )
    # pyarrow: only different words are looked at one by one.
    coded = series.cast(nw.String).to_native().combine_chunks().dictionary_encode()
    column = read_cells(name, [*coded.dictionary.to_pylist(), None])
    at = coded.indices.fill_null(len(coded.dictionary)).to_numpy()
    return replace(column, values=column.values[at], declared=declared)
