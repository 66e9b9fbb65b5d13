"""A sum of weighted columns, products of two and curves against a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnitree.data.schema import Schema
from omnitree.tree.curves import (
    curves_problem,
    n_values,
    packed_curves,
    unpacked_curves,
)
from omnitree.tree.expression import Cut, curves_of, weighted
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits.sums import SumSplit


@dataclass(frozen=True)
class AdditiveSplit(SumSplit):
    """A sum of terms and of curves: branch 0 where it is <= threshold.

    `terms` holds pairs of positions in `columns`; (a, -1) is the linear term of a. A curve
    is a function of the column `curve_columns[j]`: piecewise linear, with the values
    `curve_values[j]` at `knots[j]`, constant beyond them; the last value, one more than
    there are knots, is that of a missing cell. Learners centre curves at 0 over the rows of
    the node, so that explanations can say what a value adds for an average row.
    """

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    terms: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]
    curve_columns: tuple[int, ...]
    knots: tuple[tuple[float, ...], ...]
    curve_values: tuple[tuple[float, ...], ...]
    threshold: float
    kind = "additive"
    family = "additive"
    title = "additive test"

    @classmethod
    def of(cls, model: LeafModel, **rest: Any) -> AdditiveSplit:
        """Whether the one sum of a model is at most 0; `rest` as in `Split`."""
        (weights,), (lines,) = model.weights, model.curve_values or ((),)
        return cls(
            model.columns,
            model.fill,
            model.pairs,
            weights,
            model.curve_columns,
            model.knots,
            lines,
            0.0 - model.bias[0],
            **rest,
        )

    @property
    def n_params(self) -> int:
        return super().n_params + sum(map(n_values, self.curve_values))

    @property
    def rule(self) -> Cut:
        curves = curves_of(self, self.curve_values)
        return Cut(weighted(0.0, self.weights, self.factors, curves), self.threshold)

    def problem(self, schema: Schema) -> str | None:
        found = super().problem(schema)
        return found or curves_problem(self, [self.curve_values], 1, schema)

    def _layout(self):
        pairs, curves = packed_curves(self, [self.curve_values])
        sizes = len(self.columns), len(self.terms)
        positions = (at for term in self.terms for at in term)
        index = (*sizes, *self.columns, *positions, *pairs)
        return index, (self.threshold, *self.fill, 0.0, *self.weights, *curves)

    @classmethod
    def unpack(
        cls, index: list[int], weight: list[float], **rest: Any
    ) -> AdditiveSplit:
        m, t = index[:2]
        at = 2 + m + 2 * t
        pairs = index[2 + m : at]
        columns, knots, (lines,) = unpacked_curves(index[at:], weight[2 + m + t :], 1)
        return cls(
            tuple(index[2 : 2 + m]),
            tuple(weight[1 : 1 + m]),
            tuple(zip(pairs[::2], pairs[1::2], strict=True)),
            tuple(weight[2 + m : 2 + m + t]),
            columns,
            knots,
            lines,
            weight[0],
            **rest,
        )
