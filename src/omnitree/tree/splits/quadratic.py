"""A weighted sum of columns and of products of two against a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnitree.tree.splits.sums import SumSplit


@dataclass(frozen=True)
class QuadraticSplit(SumSplit):
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

    def _layout(self):
        pairs = [i for term in self.terms for i in term]
        index = (len(self.columns), *self.columns, *pairs)
        return index, (self.threshold, *self.fill, *self.weights)

    @classmethod
    def unpack(
        cls, index: list[int], weight: list[float], **rest: Any
    ) -> QuadraticSplit:
        m, *others = index
        threshold, *numbers = weight
        terms = tuple(zip(others[m::2], others[m + 1 :: 2], strict=True))
        fill, weights = tuple(numbers[:m]), tuple(numbers[m:])
        return cls(tuple(others[:m]), fill, terms, weights, threshold, **rest)
