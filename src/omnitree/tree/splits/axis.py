"""One number, or a category with an order, against a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnitree.data.schema import Schema
from omnitree.tree.expression import Cell, Cut
from omnitree.tree.splits.base import Split, one_feature_problem


@dataclass(frozen=True)
class AxisSplit(Split):
    """One feature against a threshold: branch `low` where value <= threshold.

    `low` is 0 but in surrogates that run against their main test.
    """

    feature: int
    threshold: float
    low: int = 0
    kind = "axis"
    family = "univariate"
    title = "cut of one feature"

    @property
    def rule(self) -> Cut:
        return Cut(Cell(self.feature), self.threshold, self.low)

    def problem(self, schema: Schema) -> str | None:
        return one_feature_problem(self.rule, schema)

    def _layout(self):
        return (self.feature, self.low), (self.threshold,)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> AxisSplit:
        return cls(index[0], weight[0], index[1], **rest)
