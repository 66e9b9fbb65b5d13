"""A column of Python objects, read whole in training and cell by cell afterwards.

In training, all cells together say what the column is: one word makes every number in it a
word (`read_cells`). Once the feature is known, a cell is read by itself, so that the answer
for a row never depends on the rows it is predicted with: `True` is the category "True" of
a column that held words, whatever else the batch holds. Used by
`omnitree.data.encoding.sources`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from omnitree.data.date_part import DatePart
from omnitree.data.encoding import dates
from omnitree.data.encoding.columns import (
    FloatArray,
    TableColumn,
    check_sorts,
    code_of,
    look_up,
    moment_of_cell,
    numbers_of,
    read_cells,
    sorts_of,
    text_in_numbers,
    text_of_cell,
    wrong_dates,
)
from omnitree.data.schema import Feature


@dataclass(frozen=True, eq=False)
class ObjectColumn:
    """Cells of any types, not yet read."""

    name: str
    cells: list[Any]

    def read(self) -> TableColumn:
        """The column as its cells together show it, for learning."""
        return read_cells(self.name, self.cells)

    def coded_as(self, feature: Feature) -> FloatArray:
        """The cells as numbers or codes of a known feature, each read by itself.

        A category that the feature does not know becomes missing, and so does what is
        not a date in a column of dates. Text or a date in a numeric column raises
        ValueError.
        """
        check_sorts(self.name, self._sorts)
        if feature.part is not None:
            return dates.part_values(self._moments(feature.part), feature.part)
        if feature.kind == "numeric":
            return self._numbers(feature)
        lookup = {c: float(code) for code, c in enumerate(feature.categories or ())}
        return self._by_cell(lambda cell: code_of(cell, lookup))

    @cached_property
    def _sorts(self) -> dict[type, str]:
        return sorts_of(self.cells)

    def _by_cell(self, code: Callable[[Any], float]) -> FloatArray:
        """A number for each cell, worked out once for cells of equal type and value."""
        if "date" in self._sorts.values():
            # Dates in two time zones can be equal and show different clocks.
            return np.array([code(cell) for cell in self.cells])
        if len(self._sorts) == 1:
            return look_up({cell: code(cell) for cell in set(self.cells)}, self.cells)
        keys = list(zip(map(type, self.cells), self.cells, strict=True))
        return look_up({key: code(key[1]) for key in set(keys)}, keys)

    def _moments(self, part: DatePart) -> FloatArray:
        """The moments of dates, and of text that names one."""

        def moment(cell: Any) -> float:
            if self._sorts[type(cell)] == "date":
                return moment_of_cell(cell)
            text = text_of_cell(cell)
            return (
                np.nan if text is None else dates.moment(text, day_first=part.day_first)
            )

        return self._by_cell(moment)

    def _numbers(self, feature: Feature) -> FloatArray:
        odd = {t for t, sort in self._sorts.items() if sort in ("word", "date")}
        if odd and feature.categories != ():
            for cell in self.cells:
                if type(cell) not in odd or text_of_cell(cell) is None:
                    continue
                if isinstance(cell, str):
                    raise text_in_numbers(feature, cell)
                raise wrong_dates(feature)
        missing = {t for t, sort in self._sorts.items() if sort == "missing"} | odd
        cells = [None if type(c) in missing else c for c in self.cells]
        return numbers_of(self.name, cells)
