"""Likeness to cases: for each branch a sum over stored rows, the largest wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.tree.cases import cases_problem, likenesses, packed_cases, unpacked_cases
from omnitree.tree.expression import Largest, filled, weighted
from omnitree.tree.splits.base import Split, columns_problem


@dataclass(frozen=True)
class CasesSplit(Split):
    """Likeness to cases: the branch whose bias + sum of weight * likeness is largest.

    `cases` are stored rows, of which each has a weight in every branch; `precision` says
    how much a difference counts in each column (`tree/cases.py`).
    """

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    bias: tuple[float, ...]
    precision: tuple[float, ...]
    cases: tuple[tuple[float, ...], ...]
    case_weights: tuple[tuple[float, ...], ...]
    kind = "cases"
    family = "cases"
    title = "likeness to cases"

    @property
    def n_children(self) -> int:
        return len(self.bias)

    @property
    def n_params(self) -> int:
        """Biases, weights that are not 0, and one precision for all columns."""
        return len(self.bias) + int(np.count_nonzero(self.case_weights)) + 1

    @property
    def rule(self) -> Largest:
        alike = likenesses(filled(self.columns, self.fill), self.precision, self.cases)
        pairs = zip(self.bias, self.case_weights, strict=True)
        return Largest(tuple(weighted(b, w, alike) for b, w in pairs))

    def features(self, schema: Schema) -> set[int]:
        columns = np.asarray(self.columns, dtype=np.intp)
        return set(schema.linear_columns()[0][columns].tolist())

    def problem(self, schema: Schema) -> str | None:
        return columns_problem(self, schema) or cases_problem(self)

    def _layout(self):
        # As a machine of curves, without terms and with cases in place of curves.
        ints, numbers = packed_cases(self)
        index = (len(self.bias), len(self.columns), 0, *self.columns, *ints)
        return index, (*self.fill, *self.bias, *numbers)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> CasesSplit:
        (k, m), n = index[:2], index[-1]
        cases = unpacked_cases(n, weight[m + k :], m, k)
        columns, fill, bias = index[3 : 3 + m], weight[:m], weight[m : m + k]
        return cls(tuple(columns), tuple(fill), tuple(bias), *cases, **rest)
