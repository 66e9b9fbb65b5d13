"""A small neural network: the sign of a weighted sum of tanh units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.tree.expression import Call, Cut, filled, weighted
from omnitree.tree.splits.base import Split, columns_problem, widths_problem


@dataclass(frozen=True)
class NetworkSplit(Split):
    """A net with one hidden layer of tanh units: branch 0 where its output is <= 0."""

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    hidden_bias: tuple[float, ...]
    hidden_weights: tuple[tuple[float, ...], ...]
    output_bias: float
    output_weights: tuple[float, ...]
    kind = "network"
    family = "network"
    title = "small neural network"

    @property
    def n_params(self) -> int:
        return len(self.hidden_bias) * (len(self.columns) + 2) + 1

    @property
    def rule(self) -> Cut:
        columns = filled(self.columns, self.fill)
        pairs = zip(self.hidden_bias, self.hidden_weights, strict=True)
        units = [Call("tanh", weighted(b, w, columns)) for b, w in pairs]
        return Cut(weighted(self.output_bias, self.output_weights, units), 0.0)

    def problem(self, schema: Schema) -> str | None:
        h = len(self.hidden_bias)
        return (
            columns_problem(self, schema)
            or widths_problem(self.hidden_weights, h, len(self.columns))
            or widths_problem([self.output_weights], 1, h)
        )

    def _layout(self):
        pairs = zip(self.hidden_bias, self.hidden_weights, strict=True)
        hidden = [v for b, w in pairs for v in (b, *w)]
        index = (len(self.hidden_bias), *self.columns)
        return index, (*self.fill, *hidden, self.output_bias, *self.output_weights)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> NetworkSplit:
        columns = tuple(index[1:])
        m, h = len(columns), index[0]
        end = m + h * (m + 1)
        rows = np.reshape(weight[m:end], (h, m + 1)).tolist()
        return cls(
            columns,
            tuple(weight[:m]),
            tuple(row[0] for row in rows),
            tuple(tuple(row[1:]) for row in rows),
            weight[end],
            tuple(weight[end + 1 :]),
            **rest,
        )
