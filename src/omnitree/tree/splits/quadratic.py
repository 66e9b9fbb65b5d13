"""A weighted sum of columns and of products of two against a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnitree.data.schema import Schema
from omnitree.tree.expression import Cut, filled, products, weighted
from omnitree.tree.splits.base import Split, columns_problem, widths_problem


@dataclass(frozen=True)
class QuadraticSplit(Split):
    """A weighted sum of monomials up to degree two: branch 0 where it is <= threshold.

    `terms` holds pairs of positions in `columns`; (a, -1) is the linear term of a.
    """

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    terms: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]
    threshold: float
    kind = "quadratic"
    family = "quadratic"
    title = "quadratic test"

    @property
    def n_params(self) -> int:
        return len(self.terms) + 1

    @property
    def rule(self) -> Cut:
        factors = products(filled(self.columns, self.fill), self.terms)
        return Cut(weighted(0.0, self.weights, factors), self.threshold)

    def problem(self, schema: Schema) -> str | None:
        return columns_problem(self, schema) or widths_problem(
            [self.weights], 1, len(self.terms)
        )

    def _layout(self):
        pairs = [i for term in self.terms for i in term]
        index = (len(self.columns), *self.columns, *pairs)
        return index, (self.threshold, *self.fill, *self.weights)

    @classmethod
    def unpack(
        cls, index: list[int], weight: list[float], **rest: Any
    ) -> QuadraticSplit:
        m = index[0]
        pairs = index[1 + m :]
        return cls(
            tuple(index[1 : 1 + m]),
            tuple(weight[1 : 1 + m]),
            tuple(zip(pairs[::2], pairs[1::2], strict=True)),
            tuple(weight[1 + m :]),
            weight[0],
            **rest,
        )
