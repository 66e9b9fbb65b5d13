"""A weighted sum of encoded columns against a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from omnitree.tree.splits.sums import SumSplit

ULPS = 4  # quotients are rounded to the nearest number, and so are products


@dataclass(frozen=True)
class LinearSplit(SumSplit):
    """A weighted sum of encoded columns: branch 0 where it is <= threshold.

    A missing cell counts as its `fill`, the node's mean.
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]
    fill: tuple[float, ...]
    threshold: float
    kind = "linear"
    family = "linear"
    title = "linear test"

    def in_own_unit(self) -> LinearSplit:
        """With the weight 1 or -1 if there is but one; every row takes the same branch."""
        if len(self.weights) != 1 or not self.weights[0]:
            return self
        (weight,), size = self.weights, abs(self.weights[0])
        # The largest number that times `size` is not above the threshold, after rounding;
        # at 0 numbers so small that their products vanish do not count.
        at = self.threshold / size
        if not math.isfinite(at):
            return self
        if not at:
            return replace(self, weights=(weight / size,), threshold=at)
        for _ in range(ULPS):
            if size * at <= self.threshold:
                break
            at = math.nextafter(at, -math.inf)
        for _ in range(ULPS):
            if not size * math.nextafter(at, math.inf) <= self.threshold:
                return replace(self, weights=(weight / size,), threshold=at)
            at = math.nextafter(at, math.inf)
        return self  # numbers too large or too small for that

    def _layout(self):
        return self.columns, (self.threshold, *self.weights, *self.fill)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> LinearSplit:
        m = len(index)
        weights, fill = tuple(weight[1 : 1 + m]), tuple(weight[1 + m :])
        return cls(tuple(index), weights, fill, weight[0], **rest)
