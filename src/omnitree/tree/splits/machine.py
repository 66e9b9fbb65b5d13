"""A linear machine: a weighted sum of columns for each branch, the largest wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnitree.tree.splits.sums import LargestSumSplit, joined, parted


@dataclass(frozen=True)
class MachineSplit(LargestSumSplit):
    """A linear machine: the branch whose discriminant is largest (ties: the first)."""

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    bias: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    kind = "machine"
    family = "linear"
    title = "linear machine"

    def _layout(self):
        index = (len(self.bias), *self.columns)
        return index, (*self.fill, *joined(self.bias, self.weights))

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> MachineSplit:
        n, *columns = index
        m = len(columns)
        sums = parted(weight[m:], n)
        return cls(tuple(columns), tuple(weight[:m]), *sums, **rest)
