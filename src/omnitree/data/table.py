"""The user's data as the rest of omnitree sees it: one float64 matrix and its schema.

Numbers stay as they are, categories become codes, missing values become NaN. `learn_table`
reads training data and learns the schema; `encode` reads new data by a known schema. A
float64 array passes through both without a copy, checked by one sum over its cells, so
predicting a single row takes microseconds. Opening data
of any kind and reading one column are in `omnitree.data.encoding`. Used by the estimators
(fit and predict) and by everything that works on the rows of a node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import presort
from omnitree.data.encoding.columns import TableColumn
from omnitree.data.encoding.encoded_columns import EncodedColumns
from omnitree.data.encoding.informative import categories_inform
from omnitree.data.encoding.learning import (
    ColumnReport,
    counting_columns,
    learn_columns,
)
from omnitree.data.encoding.one_row import encode_row
from omnitree.data.encoding.sources import (
    MatrixColumns,
    Source,
    check_not_empty,
    open_source,
)
from omnitree.data.schema import Feature, Schema
from omnitree.data.switches import cached_property

_FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Encoded data.

    Parameters
    ----------
    values : float64 array (n, d)
        Numbers, and codes of categories; NaN is missing. C- or Fortran-contiguous, maybe
        the user's own array: never written to.
    schema : Schema
        What the columns are.
    part_of : (Table, int array), optional
        A larger table and the rows of it that these are, ascending, where several such
        parts are made: its columns are then sorted once for all of them.

    Examples
    --------
    >>> table = learn_table([[1.5, "red"], [None, "blue"]])
    >>> table
    Table(2 rows, 2 features)
    >>> table.values
    array([[1.5, 1. ],
           [nan, 0. ]])
    >>> table.has_missing, table.missing_by_feature
    (True, array([1, 0]))
    """

    values: NDArray[np.float64]
    schema: Schema
    part_of: tuple[Table, NDArray[np.intp]] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.values.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.values.shape[1]

    @cached_property
    def has_missing(self) -> bool:
        """True when any cell is missing."""
        # NaN survives a sum; the values are finite otherwise, though a sum of them
        # may overflow, so only then every cell is looked at.
        return not _sum_is_finite(self.values) and bool(np.isnan(self.values).any())

    @cached_property
    def order(self) -> NDArray[np.uint32]:
        """The rows in the order of each column, as `_core/presort` reads it."""
        return presort.sort_columns(self.values)

    @property
    def sorted_as(self) -> tuple[NDArray[np.uint32], NDArray[np.int32]] | None:
        """The order of the larger table, and which row here each of its rows is, or -1."""
        if self.part_of is None or self.part_of[0].has_missing:
            return None
        whole, rows = self.part_of
        place = np.full(whole.n_rows, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows))
        return whole.order, place

    @cached_property
    def missing_by_feature(self) -> NDArray[np.intp]:
        """How many cells of each feature are missing."""
        if not self.has_missing:
            return np.zeros(self.n_features, dtype=np.intp)
        return np.count_nonzero(np.isnan(self.values), axis=0)

    @cached_property
    def encoded(self) -> EncodedColumns:
        """The columns that tests over many columns see, made once."""
        return EncodedColumns.of(self)

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows, {self.n_features} features)"


def learn_table(
    X: Any,
    y: NDArray | None = None,
    weight: NDArray[np.float64] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> Table:
    """Learn the schema of training data and encode it.

    Parameters
    ----------
    X : array, list of rows, or data frame
        Numbers, booleans, strings, categories, dates; None, NaN, nulls and blank strings
        are missing. A pandas ordered categorical and a polars Enum are ordered features.
        Dates become parts, and text that tells rows apart is left out
        (`omnitree.data.encoding.learning`).
    y, weight, groups : arrays (n,), optional
        The target (codes of classes as ints, or floats), weights and groups of the rows.
        With a target, text of many categories that tell nothing of it is left out, too.

    Returns
    -------
    Table

    Warns
    -----
    UserWarning
        Once, about all columns that are left out, have rare categories or count the rows.

    Raises
    ------
    ValueError, TypeError
        When `X` is not a table, or contains what no tree can use (durations, infinities,
        nested objects, nothing at all); the message names the column and what to do.

    Examples
    --------
    >>> table = learn_table([[1, "red", True], [2, "blue", None], [3, "", False]])
    >>> [f.kind for f in table.schema.features]
    ['numeric', 'categorical', 'boolean']
    >>> table.schema.features[1].categories
    ('blue', 'red')
    """
    source = open_source(X)
    if isinstance(source, MatrixColumns) and source.is_numeric:
        values = source.numbers()
        inputs = tuple(f"x{j}" for j in range(values.shape[1]))
        features = tuple(Feature(name, "numeric") for name in inputs)
        report = ColumnReport(counting=counting_columns(inputs, values.T, len(inputs)))
    else:
        columns = [source.column(j).read() for j in range(source.shape[1])]
        named = source.names is not None
        return table_of_columns(columns, named, y, weight, groups, stacklevel=4)
    return _learned(values, Schema(features, False, inputs), report, 4)


def table_of_columns(
    columns: Sequence[TableColumn],
    named: bool,
    y: NDArray | None = None,
    weight: NDArray[np.float64] | None = None,
    groups: NDArray[np.int64] | None = None,
    stacklevel: int = 2,
) -> Table:
    """As `learn_table`, of columns that were read already."""
    informs = None
    if y is not None:
        weight = np.ones(len(y)) if weight is None else weight
        informs = partial(categories_inform, y=y, weight=weight, groups=groups)
    features, cells, report = learn_columns(columns, informs)
    schema = Schema(features, named, tuple(c.name for c in columns))
    return _learned(_stack(cells), schema, report, stacklevel + 1)


def _learned(
    values: NDArray[np.float64], schema: Schema, report: ColumnReport, stacklevel: int
) -> Table:
    """The training table, once it is known to hold something; says what was left out."""
    table = _checked(values, schema)
    if table.has_missing and np.isnan(values).all():
        raise ValueError("All cells of the table are missing (NaN, None or empty).")
    report.warn(stacklevel=stacklevel)
    return table


def encode(X: Any, schema: Schema, *, who: str = "TreeClassifier") -> Table:
    """Encode new data by a known schema.

    Parameters
    ----------
    X : array, list of rows, or data frame
        A data frame with column names is read by name when `schema` has names, in any
        order, and other columns are left out; anything else is read by position.
    schema : Schema
        From the training table.
    who : str
        Name of the estimator, for the error about a wrong number of columns.

    Returns
    -------
    Table
        With the same `schema`. Unseen categories are missing, and so is text that is not
        a date in a column of dates.

    Examples
    --------
    >>> schema = learn_table([[1, "red"], [2, "blue"]]).schema
    >>> encode([[5, "blue"], [6, "green"]], schema).values
    array([[ 5.,  0.],
           [ 6., nan]])
    """
    if (
        schema.all_numeric
        and type(X) is np.ndarray
        and X.dtype == _FLOAT64
        and X.ndim == 2
        and X.shape[1] == schema.n_features
        and (X.flags.c_contiguous or X.flags.f_contiguous)
    ):
        if X.shape[0] == 0:
            check_not_empty(X.shape)
        return _checked(X, schema)
    row = encode_row(X, schema)
    if row is not None:
        return _checked(row, schema)
    source = open_source(X)
    where = _positions(source, schema, who)
    if isinstance(source, MatrixColumns) and source.is_numeric and schema.all_numeric:
        return _checked(source.numbers(), schema)
    columns = {j: source.column(j) for j in dict.fromkeys(where)}
    coded = [
        columns[j].coded_as(feature)
        for j, feature in zip(where, schema.features, strict=True)
    ]
    return _checked(_stack(coded), schema)


def _positions(source: Source, schema: Schema, who: str) -> list[int]:
    """Where in the source the column of each feature is."""
    if schema.named and source.names is not None:
        place = {name: j for j, name in enumerate(source.names)}
        needed = dict.fromkeys(feature.input for feature in schema.features)
        lacking = [repr(name) for name in needed if name not in place]
        if lacking:
            raise ValueError(f"The table lacks column(s) {', '.join(lacking)}.")
        return [place[feature.input] for feature in schema.features]
    n = source.shape[1]
    if n != schema.n_inputs:
        raise ValueError(
            f"X has {n} features, but {who} is expecting {schema.n_inputs} features "
            "as input."
        )
    return schema.position.tolist()


def _checked(values: NDArray[np.float64], schema: Schema) -> Table:
    """The table, once it is known to hold no infinity."""
    table = Table(values, schema)
    if _sum_is_finite(values):
        table.__dict__["has_missing"] = False  # known already: saves a second pass
        return table
    infinite = np.isinf(values)
    if infinite.any():
        i, j = np.argwhere(infinite)[0]
        raise ValueError(
            f"Column {schema.names[j]!r} contains an infinite value (first in row {i}). "
            "Replace it by a number, or by NaN to make it missing, or drop the row."
        )
    return table


def _sum_is_finite(values: NDArray[np.float64]) -> bool:
    """True only when no cell is NaN or infinite; one pass, no memory."""
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(values.sum())


def _are_columns_of(whole: Any, columns: list[NDArray[np.float64]]) -> bool:
    """Whether these are all columns of a matrix, one after the other."""
    shape = len(columns[0]), len(columns)
    if type(whole) is not np.ndarray or whole.shape != shape:
        return False
    return whole.flags.f_contiguous and all(
        column.base is whole
        and column.dtype == whole.dtype
        and column.ctypes.data == whole[:, j].ctypes.data
        for j, column in enumerate(columns)
    )


def _stack(columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Columns side by side, each contiguous: trees scan columns.

    Those of a matrix that lie so already, as those of a sample of blocks do, are not copied.
    """
    whole = columns[0].base
    if whole is not None and _are_columns_of(whole, columns):
        return whole
    values = np.empty((len(columns[0]), len(columns)), order="F")
    for j, column in enumerate(columns):
        values[:, j] = column
    return values
