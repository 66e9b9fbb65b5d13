"""Logistic models by LogitBoost with regressions on single columns (SimpleLogistic).

A model is K sums over the encoded columns, grown step by step: in each step every class
gets the one regression, on the one column, that explains its working responses best
(Landwehr, Hall & Frank 2005). Columns that never help stay out, so a model with few steps
is sparse. Steps can go on from a model that other rows gave, which is how a node refines
that of its parent. The number of steps is chosen by cross-validation. Used by logistic
leaves and by functional trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import logitboost as kernel
from omnitree.data.table import Table
from omnitree.growing.clock import tick, time_is_up
from omnitree.growing.missing import fill_values
from omnitree.growing.scaling import Scaling
from omnitree.growing.standard_columns import StandardColumns
from omnitree.resampling.folds import parts_of
from omnitree.tree.leaf_models import LeafModels

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """The encoded columns of a table in units of their deviations.

    A missing value counts as the column's mean, or as the most frequent category. Features
    that were complete in training have the mean as well: what is missing there is an unseen
    category, and unlike the most frequent one.
    """

    x: Floats  # (n, p)
    scaling: Scaling
    fill: Floats  # (p,): what missing values count as, in the table's own units

    @classmethod
    def of(cls, table: Table, weight: Floats) -> Columns:
        """The columns of a training table."""
        standard = StandardColumns.of(table, weight)
        feature, category = table.schema.linear_columns()
        usual = fill_values(table, weight)[feature]
        signs = np.where(category == usual, 1.0, -1.0)
        incomplete = table.missing_by_feature[feature] > 0
        scaling, some = standard.scaling, standard.with_missing
        fill = np.where((category >= 0) & incomplete, signs, scaling.mean)
        z = scaling.take(some).standardised(fill[some])
        return cls(standard.take(np.arange(table.n_rows), z), scaling, fill)

    def own_units(self, models: list[BoostedModel]) -> tuple[Floats, Floats]:
        """Weights (models, K, p) and biases of models in the table's own units."""
        weights, bias = ([m.weights for m in models], [m.bias for m in models])
        return self.scaling.fold(np.stack(weights), np.stack(bias))

    def leaf_models(self, models: list[BoostedModel]) -> LeafModels:
        """The models of all nodes, packed."""
        weights, bias = self.own_units(models)
        return LeafModels.dense(bias, weights, self.fill, "softmax")


@dataclass(frozen=True)
class BoostedModel:
    """Sums over columns: `bias` (K,) and `weights` (K, p)."""

    bias: Floats
    weights: Floats

    @classmethod
    def start(cls, n_classes: int, n_columns: int) -> BoostedModel:
        """The model without any step, from which boosting sets out."""
        return cls(np.zeros(n_classes), np.zeros((n_classes, n_columns)))

    @property
    def is_start(self) -> bool:
        """Whether no step was made: the class shares of the rows know more."""
        return not (self.bias.any() or self.weights.any())

    def sums(self, x: Floats) -> Floats:
        """The K sums of each row."""
        return x @ self.weights.T + self.bias

    def boosted(
        self, x: Floats, y: NDArray[np.int32], weight: Floats, steps: int
    ) -> tuple[BoostedModel, Floats]:
        """The model after more steps on these rows, and its sums."""
        if not steps:
            return self, self.sums(x)
        bias, weights, sums = self.bias.copy(), self.weights.copy(), self.sums(x)
        kernel.boost(x, y, weight, sums, steps, bias, weights, tick=tick)
        return BoostedModel(bias, weights), sums

    def watched(
        self,
        x: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        parts: tuple[NDArray[np.intp], NDArray[np.intp]],
        steps: int,
        patience: int,
        errors: Floats,
    ) -> int:
        """Boost on one part of the rows and add the errors on the other after each step.

        Stops `patience` steps after `errors` was least; returns the number of steps.
        """
        train, test = parts
        return kernel.boost(
            x[train],
            y[train],
            weight[train],
            self.sums(x[train]),
            steps,
            test_x=x[test],
            test_y=y[test],
            test_weight=weight[test],
            test_f=self.sums(x[test]),
            patience=patience,
            errors=errors,
            tick=tick,
        )


def steps_by_folds(
    model: BoostedModel,
    x: Floats,
    y: NDArray[np.int32],
    weight: Floats,
    fold: NDArray[np.int64],
    max_steps: int,
    patience: int,
) -> int:
    """Number of steps from `model` with fewest errors on held-out folds.

    `fold` says which one holds each row out. A fold stops `patience` steps after the
    errors of the folds so far were least, and only steps that all folds made count. Without
    any step the most frequent class of the training rows is the answer, so that the order
    of the classes does not matter.
    """
    errors = np.zeros(max_steps + 1)
    made, errors_of_shares = max_steps, 0.0
    for train, test in parts_of(fold):
        if time_is_up():
            break
        both = train, test
        made = min(made, model.watched(x, y, weight, both, made, patience, errors))
        shares = np.bincount(y[train], weight[train], len(model.bias))
        errors_of_shares += weight[test] @ (y[test] != shares.argmax())
    if model.is_start:
        errors[0] = errors_of_shares
    return fewest(errors[: made + 1])


def fewest(errors: Floats) -> int:
    """The first number of steps whose errors are least but for rounding."""
    return int((errors < errors.min() + 1e-9).argmax())
