"""A weighted sum of encoded columns against a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.tree.expression import Cut, filled, weighted
from omnitree.tree.splits.base import Split, columns_problem, widths_problem


@dataclass(frozen=True)
class LinearSplit(Split):
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

    @classmethod
    def in_units(
        cls,
        columns: tuple[int, ...],
        weights: tuple[float, ...],
        fill: tuple[float, ...],
        threshold: float,
        **rest: Any,
    ) -> LinearSplit:
        """The test; of one column, with the weight 1 or -1, so that the threshold is in
        that column's unit."""
        size = abs(weights[0]) if len(weights) == 1 else 0.0
        if size > 0 and np.isfinite(threshold / size):
            weights, threshold = (weights[0] / size,), threshold / size
        return cls(columns, weights, fill, threshold, **rest)

    @property
    def n_params(self) -> int:
        return len(self.columns) + 1

    @property
    def rule(self) -> Cut:
        columns = filled(self.columns, self.fill)
        return Cut(weighted(0.0, self.weights, columns), self.threshold)

    def problem(self, schema: Schema) -> str | None:
        return columns_problem(self, schema) or widths_problem(
            [self.weights], 1, len(self.columns)
        )

    def _layout(self):
        return self.columns, (self.threshold, *self.weights, *self.fill)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> LinearSplit:
        m = len(index)
        return cls(
            tuple(index),
            tuple(weight[1 : 1 + m]),
            tuple(weight[1 + m :]),
            weight[0],
            **rest,
        )
