"""A linear machine: a weighted sum of columns for each branch, the largest wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.tree.expression import Largest, filled, weighted
from omnitree.tree.splits.base import Split, columns_problem, widths_problem


@dataclass(frozen=True)
class MachineSplit(Split):
    """A linear machine: the branch whose discriminant is largest (ties: the first)."""

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    bias: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    kind = "machine"
    family = "linear"
    title = "linear machine"

    @property
    def n_children(self) -> int:
        return len(self.bias)

    @property
    def n_params(self) -> int:
        return len(self.bias) + int(np.count_nonzero(self.weights))

    @property
    def rule(self) -> Largest:
        columns = filled(self.columns, self.fill)
        pairs = zip(self.bias, self.weights, strict=True)
        return Largest(tuple(weighted(b, w, columns) for b, w in pairs))

    def problem(self, schema: Schema) -> str | None:
        return columns_problem(self, schema) or widths_problem(
            self.weights, len(self.bias), len(self.columns)
        )

    def _layout(self):
        pairs = zip(self.bias, self.weights, strict=True)
        rows = [v for b, w in pairs for v in (b, *w)]
        return (len(self.bias), *self.columns), (*self.fill, *rows)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> MachineSplit:
        columns = tuple(index[1:])
        m = len(columns)
        rows = np.reshape(weight[m:], (index[0], m + 1)).tolist()
        return cls(
            columns,
            tuple(weight[:m]),
            tuple(row[0] for row in rows),
            tuple(tuple(row[1:]) for row in rows),
            **rest,
        )
