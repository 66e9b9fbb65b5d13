"""A small neural network: the sign of a weighted sum of tanh units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnitree.data.schema import Schema
from omnitree.tree.expression import Call, Cut, filled, weighted
from omnitree.tree.splits.base import Split, columns_problem, widths_problem
from omnitree.tree.splits.sums import joined, parted


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
        hidden = joined(self.hidden_bias, self.hidden_weights)
        index = (len(self.hidden_bias), *self.columns)
        return index, (*self.fill, *hidden, self.output_bias, *self.output_weights)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> NetworkSplit:
        h, *columns = index
        m = len(columns)
        end = m + h * (m + 1)
        hidden, output = parted(weight[m:end], h), tuple(weight[end + 1 :])
        fill = tuple(weight[:m])
        return cls(tuple(columns), fill, *hidden, weight[end], output, **rest)
