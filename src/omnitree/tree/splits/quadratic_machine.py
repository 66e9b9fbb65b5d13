"""A machine of quadratic forms: the branch whose sum of terms is largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnitree.tree.splits.sums import LargestSumSplit, joined, parted


@dataclass(frozen=True)
class QuadraticMachineSplit(LargestSumSplit):
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

    def _layout(self):
        pairs = [position for term in self.terms for position in term]
        index = (len(self.bias), len(self.columns), *self.columns, *pairs)
        return index, (*self.fill, *joined(self.bias, self.weights))

    @classmethod
    def unpack(
        cls, index: list[int], weight: list[float], **rest: Any
    ) -> QuadraticMachineSplit:
        n, m, *others = index
        terms = tuple(zip(others[m::2], others[m + 1 :: 2], strict=True))
        sums = parted(weight[m:], n)
        return cls(tuple(others[:m]), tuple(weight[:m]), terms, *sums, **rest)
