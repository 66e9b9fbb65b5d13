"""One column: from cells to numbers, or to codes and their categories.

A column is first read by itself (`read_array`, `read_cells`, `read_declared`), which
finds its kind and, for categories, its own codes. Learning keeps those as the feature;
encoding by a known feature then only translates the few categories (`Column.coded_as`),
never the cells, so a million rows cost a few array operations. Dates become moments
(`omnitree.data.encoding.dates`), and a feature takes a part of them. Where cells are Python
objects, sets and ``map`` over dictionary look-ups keep the loops in C (about 0.1 s per
million cells). Used by `omnitree.data.table` through `omnitree.data.encoding.sources`.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from omnitree.data.date_part import DatePart
from omnitree.data.encoding import dates
from omnitree.data.schema import Category, Feature, Kind

FloatArray = NDArray[np.float64]

# Named, not imported: pandas need not be installed for its values to be recognised.
_MISSING_TYPES = {"NoneType", "NAType", "NaTType"}
# Of date, also datetime and pandas' Timestamp are.
_DATE_TYPES = (datetime.date, datetime.time, np.datetime64)
_DURATION_TYPES = (datetime.timedelta, np.timedelta64)


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column as read.

    `values` holds numbers, codes into `categories`, or moments of dates; NaN is missing.
    `categories` is None for numbers and dates and ``()`` for a column that showed neither a
    value nor a type. `declared` says that the type of the column, not its cells, makes it
    categorical.
    """

    name: str
    kind: Kind | Literal["date"]
    values: FloatArray
    categories: tuple[Category, ...] | None = None
    declared: bool = False

    def read(self) -> TableColumn:
        """Itself: it is read already, unlike an `ObjectColumn`."""
        return self

    def feature(self) -> Feature:
        """The feature that this column teaches; not for dates."""
        assert self.kind != "date"
        return Feature(self.name, self.kind, self.categories)

    def coded_as(self, feature: Feature) -> FloatArray:
        """The values of this column as numbers or codes of a known feature.

        A category that the feature does not know becomes missing, and so does text that
        is not a date in a column of dates. Text in a numeric column raises ValueError.
        """
        if feature.part is not None:
            return self._as_part(feature.part)
        if self.kind == "date" and feature.categories != ():
            raise wrong_dates(feature)
        if feature.kind == "numeric":
            return self._as_numbers(feature)
        known = feature.categories
        assert known is not None  # Feature checks it for all other kinds
        categories: Sequence[Category]
        codes: NDArray[Any]
        if self.categories is None:
            found, codes = np.unique(self.values, return_inverse=True)
            categories = found.tolist()
        elif self.categories == known:
            return self.values
        else:
            categories, codes = self.categories, self.values
        lookup = {category: float(code) for code, category in enumerate(known)}
        return translate(codes, [code_of(c, lookup) for c in categories])

    def _as_part(self, part: DatePart) -> FloatArray:
        moments = self.values
        if self.categories and self.kind != "boolean":
            words = [str(category) for category in self.categories]
            known = dates.moments_of_text(words, day_first=part.day_first)
            moments = translate(moments, known)
        elif self.kind != "date" and not np.isnan(moments).all():
            raise ValueError(
                f"Column {part.column!r} held dates in training, but holds other values."
            )
        return dates.part_values(moments, part)

    def _as_numbers(self, feature: Feature) -> FloatArray:
        if self.kind == "date":  # training showed no value at all
            return np.full(len(self.values), np.nan)
        if not self.categories or self.kind == "boolean":
            return self.values
        numbers_: list[float] = []
        for code, category in enumerate(self.categories):
            if not isinstance(category, str):
                numbers_.append(float(category))
            elif feature.categories == () or not (self.values == code).any():
                numbers_.append(np.nan)  # declared, but in no cell
            else:
                raise text_in_numbers(feature, category)
        return translate(self.values, numbers_)


def read_array(name: str, cells: NDArray[Any]) -> TableColumn:
    """Read a one-dimensional array of any type."""
    kind = cells.dtype.kind
    if kind in "fiu":
        return TableColumn(name, "numeric", cells.astype(np.float64, copy=False))
    if kind == "b":
        return TableColumn(name, "boolean", cells.astype(np.float64), (False, True))
    if kind == "M":
        return TableColumn(name, "date", dates.moments_of_array(cells))
    if kind == "m":
        raise duration_error(name)
    if kind == "c":
        raise ValueError(f"Complex data not supported\n{cells}\n")
    if kind == "S":
        cells = np.char.decode(cells, "utf-8")
    return read_cells(name, cells.tolist())


def read_cells(name: str, cells: list[Any]) -> TableColumn:
    """Read Python objects: numbers, booleans, words or dates, some of them missing.

    One word that is not blank makes the column categorical; then numbers among the
    words count as words too.
    """
    types = sorts_of(cells)
    check_sorts(name, types)
    sorts = set(types.values()) - {"missing"}
    if {"date", "number"} <= sorts and all(
        is_missing_cell(c) for c in cells if types[type(c)] == "number"
    ):
        sorts.discard("number")
    if "date" in sorts and sorts & {"number", "boolean"}:
        raise nested_error(name, next(t for t in types if types[t] == "date").__name__)
    if sorts == {"date"}:
        return TableColumn(
            name, "date", np.array([moment_of_cell(cell) for cell in cells])
        )
    if "word" in sorts:
        column = _read_words(name, cells, mixed={"boolean", "number"} <= sorts)
        if column is not None:
            return column
        cells = [None if isinstance(c, str) else c for c in cells]  # blanks only
        sorts.discard("word")
    if "boolean" in sorts and (
        # pandas marks missing booleans by NaN.
        "number" not in sorts
        or all(is_missing_cell(c) for c in cells if types[type(c)] == "number")
    ):
        truth = {c: np.nan if is_missing_cell(c) else float(c) for c in set(cells)}
        return TableColumn(name, "boolean", look_up(truth, cells), (False, True))
    if not sorts:
        return TableColumn(name, "numeric", np.full(len(cells), np.nan), ())
    odd = {t for t, sort in types.items() if sort == "missing"} - {type(None)}
    if odd:
        cells = [None if type(c) in odd else c for c in cells]
    return TableColumn(name, "numeric", numbers_of(name, cells))


def numbers_of(name: str, cells: list[Any]) -> FloatArray:
    """Numbers, booleans and None as an array."""
    try:
        return np.array(cells, dtype=np.float64)
    except OverflowError as error:
        raise ValueError(
            f"Column {name!r} holds a number too large for float64."
        ) from error


def read_declared(
    name: str,
    codes: NDArray[Any],
    categories: Sequence[Any],
    *,
    ordered: bool,
    declared: bool,
) -> TableColumn:
    """Read a column that is coded already (code -1: missing).

    An ordered column keeps all categories, because an order is known before any row is;
    else only those that occur stay, in their declared order. `declared` says that the
    user made them categories, not only we here.
    """
    plain = [_plain_category(c) for c in categories]
    present = codes >= 0
    keep = np.array([c is not None for c in plain], dtype=bool)
    if not ordered:
        keep &= np.bincount(codes[present], minlength=len(plain)) > 0
    if not keep.any():
        return TableColumn(name, "numeric", np.full(len(codes), np.nan), ())
    new_code = np.where(keep, np.cumsum(keep) - 1.0, np.nan)
    values = np.full(len(codes), np.nan)
    values[present] = new_code[codes[present]]
    kept = tuple(c for c, k in zip(plain, keep, strict=True) if c is not None and k)
    return TableColumn(
        name, "ordered" if ordered else "categorical", values, kept, declared
    )


def text_in_numbers(feature: Feature, text: str) -> ValueError:
    """What to say about text in a numeric column."""
    return ValueError(
        f"Column {feature.name!r} is numeric, but holds {text!r}. "
        "Replace such cells by numbers or leave them empty."
    )


def wrong_dates(feature: Feature) -> ValueError:
    """What to say about dates in a column that had none."""
    return ValueError(
        f"Column {feature.name!r} holds dates, but was {feature.kind} in training."
    )


def duration_error(name: str) -> ValueError:
    """What to say about a column of durations."""
    return ValueError(
        f"Column {name!r} holds durations. Turn it into numbers first, for example by "
        ".dt.total_seconds()."
    )


def nested_error(name: str, what: str) -> TypeError:
    """What to say about a cell that is no single value."""
    return TypeError(
        f"Column {name!r} holds cells of type {what}; "
        "each argument must be a string or a number."
    )


def sorts_of(cells: list[Any]) -> dict[type, str]:
    """The types of some cells, and what cells of each type are."""
    return {t: _sort_of(t) for t in set(map(type, cells))}


def check_sorts(name: str, types: Mapping[type, str]) -> None:
    """Raise TypeError or ValueError about cells that no column can hold."""
    for t, sort in types.items():
        if sort == "complex":
            raise ValueError(f"Complex data not supported (column {name!r}).")
        if sort == "duration":
            raise duration_error(name)
        if sort == "other":
            raise nested_error(name, t.__name__)


def _sort_of(t: type) -> str:
    """What cells of a Python type are: one word, so that a column is a set of them."""
    if t.__name__ in _MISSING_TYPES:
        return "missing"
    if issubclass(t, str):
        return "word"
    if issubclass(t, bool | np.bool_):
        return "boolean"
    if issubclass(t, _DURATION_TYPES):  # np.timedelta64 is a number, too
        return "duration"
    if issubclass(t, _DATE_TYPES) or t.__name__ == "Period":
        return "date"
    if issubclass(t, numbers.Real | Decimal):
        return "number"
    return "complex" if issubclass(t, numbers.Complex) else "other"


def moment_of_cell(cell: Any) -> float:
    """The moment of a date or time, that of the beginning of a period; NaN if missing."""
    if is_missing_cell(cell):
        return np.nan
    if isinstance(cell, datetime.time):
        cell = datetime.datetime.combine(datetime.date(1970, 1, 1), cell)
    elif type(cell).__name__ == "Period":
        cell = cell.start_time
    if isinstance(cell, datetime.datetime):
        cell = cell.replace(tzinfo=None)
    return float(dates.moments_of_array(np.array([cell], dtype="datetime64[us]"))[0])


def is_missing_cell(cell: Any) -> bool:
    """Whether a cell is None, NA, NaT or NaN."""
    return type(cell).__name__ in _MISSING_TYPES or bool(cell != cell)


def text_of_cell(cell: Any) -> str | None:
    """The cell as a word; None when it is missing, NaN or blank.

    A number reads the same as int, float and decimal, because a column of ints turns
    into floats when one of them is missing.
    """
    if isinstance(cell, str):
        return str(cell) if cell.strip() else None
    if is_missing_cell(cell):
        return None
    if _sort_of(type(cell)) == "number" and not isinstance(cell, numbers.Integral):
        value = float(cell)
        return str(int(cell)) if value.is_integer() else str(value)
    return str(cell)


def _plain_category(category: Any) -> Category | None:
    """A declared category as a plain value; others (intervals, huge ints) as text."""
    if isinstance(category, np.generic):
        category = category.item()
    if isinstance(category, int) and not -(2**63) <= category < 2**63:
        return str(category)
    if isinstance(category, bool | int | float):
        return category
    return text_of_cell(category)


def code_of(cell: Any, lookup: Mapping[Category, float]) -> float:
    """The code of a category; of its text when a number meets categories of words."""
    text = text_of_cell(cell)
    if text is None:
        return np.nan
    code = lookup.get(cell)
    return lookup.get(text, np.nan) if code is None else code


def _read_words(name: str, cells: list[Any], *, mixed: bool) -> TableColumn | None:
    """Code a column of words; None when all its words are blank.

    `mixed` says that booleans and numbers occur besides: True and 1 are then kept
    apart as text, because they would be one and the same in a set.
    """
    if mixed:
        if not any(isinstance(c, str) and c.strip() for c in cells):
            return None
        cells = [text_of_cell(c) for c in cells]
    text_of = {c: text_of_cell(c) for c in set(cells)}
    if not any(isinstance(c, str) and t is not None for c, t in text_of.items()):
        return None
    categories = tuple(sorted({t for t in text_of.values() if t is not None}))
    code = {c: float(i) for i, c in enumerate(categories)}
    coded = {c: np.nan if t is None else code[t] for c, t in text_of.items()}
    return TableColumn(name, "categorical", look_up(coded, cells), categories)


def look_up(table: Mapping[Any, float], cells: list[Any]) -> FloatArray:
    """The number of each cell."""
    return np.fromiter(map(table.__getitem__, cells), np.float64, count=len(cells))


def translate(codes: NDArray[Any], new: Sequence[float] | FloatArray) -> FloatArray:
    """Replace each code by its new value; NaN stays."""
    out = np.full(len(codes), np.nan)
    present = ~np.isnan(codes)
    out[present] = np.array(new, dtype=np.float64)[codes[present].astype(np.intp)]
    return out
