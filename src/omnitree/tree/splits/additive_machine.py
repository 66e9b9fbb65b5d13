"""A machine of curves: for each branch a sum of terms and curves, the largest wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.tree.curves import (
    curves_problem,
    n_values,
    packed_curves,
    unpacked_curves,
)
from omnitree.tree.expression import Largest, curves_of, weighted
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits.sums import LargestSumSplit


@dataclass(frozen=True)
class AdditiveMachineSplit(LargestSumSplit):
    """A machine of curves: the branch whose sum of terms and curves is largest.

    `terms` and curves are as in `AdditiveSplit`; `weights` and `curve_values` have a line
    for each branch. All branches share the knots of a curve, whose values are all 0 in a
    branch without it.
    """

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    terms: tuple[tuple[int, int], ...]
    bias: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    curve_columns: tuple[int, ...]
    knots: tuple[tuple[float, ...], ...]
    curve_values: tuple[tuple[tuple[float, ...], ...], ...]
    kind = "additive_machine"
    family = "additive"
    title = "additive machine"

    @classmethod
    def of(cls, model: LeafModel, **rest: Any) -> AdditiveMachineSplit:
        """The position of the largest sum of a model; `rest` as in `Split`."""
        return cls(
            model.columns,
            model.fill,
            model.pairs,
            model.bias,
            model.weights,
            model.curve_columns,
            model.knots,
            model.curve_values or ((),) * len(model.bias),
            **rest,
        )

    @property
    def n_params(self) -> int:
        curves = sum(n_values(line) for lines in self.curve_values for line in lines)
        return super().n_params + curves

    @property
    def rule(self) -> Largest:
        factors = self.factors
        rows = zip(self.bias, self.weights, self.curve_values, strict=True)
        return Largest(
            tuple(weighted(b, w, factors, curves_of(self, v)) for b, w, v in rows)
        )

    def problem(self, schema: Schema) -> str | None:
        found, n = super().problem(schema), len(self.bias)
        return found or curves_problem(self, self.curve_values, n, schema)

    def _layout(self):
        pairs, curves = packed_curves(self, self.curve_values)
        sizes = len(self.bias), len(self.columns), len(self.terms)
        positions = (at for term in self.terms for at in term)
        index = (*sizes, *self.columns, *positions, *pairs)
        by_term = np.transpose(self.weights).ravel().tolist()
        return index, (*self.fill, *self.bias, *by_term, *curves)

    @classmethod
    def unpack(
        cls, index: list[int], weight: list[float], **rest: Any
    ) -> AdditiveMachineSplit:
        k, m, t = index[:3]
        at, end = 3 + m + 2 * t, m + k * (t + 1)
        pairs = index[3 + m : at]
        rows = np.reshape(weight[m:end], (t + 1, k))
        return cls(
            tuple(index[3 : 3 + m]),
            tuple(weight[:m]),
            tuple(zip(pairs[::2], pairs[1::2], strict=True)),
            tuple(rows[0].tolist()),
            tuple(map(tuple, rows[1:].T.tolist())),
            *unpacked_curves(index[at:], weight[end:], k),
            **rest,
        )
