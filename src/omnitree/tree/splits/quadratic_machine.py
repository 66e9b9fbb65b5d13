"""A machine of quadratic forms: the branch whose sum of terms is largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.tree.expression import Largest, filled, products, weighted
from omnitree.tree.splits.base import Split, columns_problem, widths_problem


@dataclass(frozen=True)
class QuadraticMachineSplit(Split):
    """A machine of quadratic forms: the branch whose sum of terms is largest.

    A term (a, b) is the product of the columns at positions a and b; b = -1 leaves the
    second one out.
    """

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    terms: tuple[tuple[int, int], ...]
    bias: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    kind = "quadratic_machine"
    family = "quadratic"
    title = "quadratic machine"

    @property
    def n_children(self) -> int:
        return len(self.bias)

    @property
    def n_params(self) -> int:
        return len(self.bias) + int(np.count_nonzero(self.weights))

    @property
    def rule(self) -> Largest:
        factors = products(filled(self.columns, self.fill), self.terms)
        pairs = zip(self.bias, self.weights, strict=True)
        return Largest(tuple(weighted(b, w, factors) for b, w in pairs))

    def problem(self, schema: Schema) -> str | None:
        return columns_problem(self, schema) or widths_problem(
            self.weights, len(self.bias), len(self.terms)
        )

    def _layout(self):
        rows = zip(self.bias, self.weights, strict=True)
        numbers = [v for b, w in rows for v in (b, *w)]
        pairs = [position for term in self.terms for position in term]
        index = (len(self.bias), len(self.columns), *self.columns, *pairs)
        return index, (*self.fill, *numbers)

    @classmethod
    def unpack(
        cls, index: list[int], weight: list[float], **rest: Any
    ) -> QuadraticMachineSplit:
        m = index[1]
        pairs = index[2 + m :]
        terms = tuple(zip(pairs[::2], pairs[1::2], strict=True))
        rows = np.reshape(weight[m:], (index[0], len(terms) + 1)).tolist()
        return cls(
            tuple(index[2 : 2 + m]),
            tuple(weight[:m]),
            terms,
            tuple(row[0] for row in rows),
            tuple(tuple(row[1:]) for row in rows),
            **rest,
        )
