"""One row of a pandas or polars frame, cell by cell.

Reading a frame by columns costs tens of microseconds to a millisecond a column, however few
its rows: frames are made for long columns. A service that predicts row by row has one cell
in each. `encode_row` looks at the cells themselves, about a microsecond each, and gives what
the ordinary way (`data.table.encode`) gives. Whatever it does not plainly understand,
all errors among it, it leaves to that way. Used by `omnitree.data.table`.
"""

from __future__ import annotations

import datetime
import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.encoding import dates
from omnitree.data.encoding.columns import moment_of_cell, text_of_cell
from omnitree.data.schema import Category, Feature, Schema

# Larger whole numbers are not all floats, so their text would depend on the way taken.
EXACT = 2.0**53
NAN = math.nan
# Types of polars, besides numbers and Enum, in which a missing cell is just missing.
_POLARS_TYPES = {"Boolean", "String", "Categorical", "Null", "Object"}


class _Unclear(Exception):
    """A cell that the ordinary way must read."""


def encode_row(X: Any, schema: Schema) -> NDArray[np.float64] | None:
    """The values of a frame of one row, (1, d), or None: take the ordinary way."""
    module = type(X).__module__.partition(".")[0]
    if module not in ("pandas", "polars") or len(getattr(X, "shape", ())) != 2:
        return None
    frame = getattr(sys.modules.get(module), "DataFrame", None)
    if type(X) is not frame or X.shape[0] != 1:
        return None
    labels = X.columns.tolist() if module == "pandas" else X.columns
    where = _positions(labels, schema)
    if where is None:
        return None
    try:
        cells = (_pandas_cells if module == "pandas" else _polars_cells)(X, where)
        if schema.has_dates:
            cells = list(map(_part, cells, schema.features))
        return np.array([list(map(_code, cells, schema.codes))])
    except (_Unclear, OverflowError):
        return None


def _positions(labels: list[Any], schema: Schema) -> list[int] | None:
    """Where each feature is; None where columns are lacking, or labels are odd."""
    n = len(labels)
    place = {label: j for j, label in enumerate(labels)}
    if len(place) < n or not all(type(label) is str for label in labels):
        return None
    if not schema.named:
        return schema.position.tolist() if n == schema.n_inputs else None
    where = [place.get(feature.input, -1) for feature in schema.features]
    return None if -1 in where else where


def _pandas_cells(X: Any, where: Any) -> list[Any]:
    at = X.iat
    cells = []
    for j in where:
        cell = at[0, j]
        # NA marks missing dates too, which the column's type alone tells from numbers.
        if type(cell).__name__ == "NAType":
            dtype = X.dtypes.iloc[j]
            if dtype.kind not in "iufb" and type(dtype).__name__ != "StringDtype":
                raise _Unclear
            cell = None
        cells.append(cell)
    return cells


def _polars_cells(X: Any, where: Any) -> list[Any]:
    row = X.row(0)
    if None in row:
        for cell, dtype in zip(row, X.dtypes, strict=True):
            known = dtype.is_numeric() or str(dtype) in _POLARS_TYPES
            if cell is None and not (known or str(dtype).startswith("Enum")):
                raise _Unclear
    return [row[j] for j in where]


def _part(cell: Any, feature: Feature) -> Any:
    """The cell itself, or the part of its date that the feature takes."""
    part = feature.part
    if part is None or cell is None:
        return cell
    if isinstance(cell, str):
        moment = dates.moment(cell, day_first=part.day_first)
    elif isinstance(cell, datetime.date | datetime.time) and cell == cell:  # not NaT
        moment = moment_of_cell(cell)
    else:
        raise _Unclear
    value = float(dates.part_values(np.array([moment]), part)[0])
    if feature.categories is None or math.isnan(value):
        return value
    return feature.categories[int(value)]


def _code(cell: Any, codes: dict[Category, float] | None) -> float:
    """A cell as a number, or as the code of its category; NaN if it is missing."""
    if isinstance(cell, str):
        if codes is None:
            if cell.strip():
                raise _Unclear  # a word where a number is due
            return NAN
        if not cell.strip():
            return NAN
        return codes.get(cell, NAN)
    if cell is None:
        return NAN
    if isinstance(cell, bool | np.bool_):
        if codes is None:
            return float(cell)
        category: Any = bool(cell)
    elif isinstance(cell, float | int | np.floating | np.integer):
        value = float(cell)
        if codes is None or value != value:
            return value
        if abs(value) > EXACT:
            raise _Unclear
        category = value
    else:
        raise _Unclear
    code = codes.get(category)
    return codes.get(text_of_cell(category) or "", NAN) if code is None else code
