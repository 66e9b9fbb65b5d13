"""The boosted learner: a branch for each class, by LogitBoost on single columns.

Each step adds, for each class, one regression on one column (`leaves/boosting.py`), so a
test of few steps has few columns, even of all squares and products of many. The number of
steps is the one with fewest errors on held-out rows. A rival in the refinement `contest`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import logitboost as kernel
from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.part import number
from omnitree.growing.threads import one_thread
from omnitree.learners.trial import Folds, Trial, TrialLearner
from omnitree.parts.leaves.boosting import Boosted as Model
from omnitree.resampling.folds import parts_of
from omnitree.resampling.held_out import HeldOut


@dataclass(frozen=True)
class BoostedTrial(Trial):
    """What `Boosted` found."""

    model: Model

    @property
    def n_parameters(self) -> int:
        return self.parameters(int(self.model.weights.any(axis=0).sum()))

    def functions(self) -> tuple[Floats, Floats]:
        return self.model.weights, self.model.bias


class Boosted(TrialLearner):
    """Boosted regressions on single columns, one branch per class.

    Parameters
    ----------
    expansion : {"linear", "quadratic"}, default="linear"
        The columns: as they are, or with all their squares and products.
    folds : int, default=5
        Of the cross-validation that chooses the number of steps.
    max_steps : int, default=100
    patience : int, default=20
        A fold stops so many steps after its fewest errors.
    min_columns, max_columns : int, default=1 and None
        Nodes with fewer or more columns, products included, get no test.
    max_cells : int, optional
        Nor do nodes with more rows times columns times classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Boosted
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = TreeClassifier(learner=Boosted(), max_depth=1).fit(X, y)
    >>> clf.tree_.n_leaves, clf.tree_.node_kinds()["machine"]
    (3, 1)
    """

    def __init__(
        self,
        expansion="linear",
        folds=5,
        max_steps=100,
        patience=20,
        min_columns=1,
        max_columns=None,
        max_cells=None,
    ):
        self.expansion = expansion
        self.folds = folds
        self.max_steps = max_steps
        self.patience = patience
        self.min_columns = min_columns
        self.max_columns = max_columns
        self.max_cells = max_cells

    def trial(self, node: Node, against: HeldOut | None = None) -> Trial | None:
        """Cross-validate the number of steps; it never gives up."""
        self.check_expansion()
        for name, least in (("folds", 2), ("max_steps", 1), ("patience", 1)):
            number(name, getattr(self, name), least)
        if not self.suits(node):
            return None
        rows = node.view(self.expansion)
        x = np.ascontiguousarray(rows.columns)
        f = Folds.of(node, rows, self.folds)
        if f is None:
            return None
        start = Model.start(len(rows.present), x.shape[1])
        with one_thread():
            scores, steps = self._validate(start, x, f.y, rows.weight, f.fold)
            model, _ = start.boosted(x, f.y, rows.weight, steps)
        name = f"sparse {self.expansion}"
        costs, groups = node.target.costs, node.sample.groups_of(rows.rows)
        return BoostedTrial(name, rows, self.expansion, scores, costs, groups, model)

    def _validate(
        self,
        start: Model,
        x: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        fold: NDArray[np.int64],
    ) -> tuple[Floats, int]:
        """Held-out scores, and the number of steps with fewest errors.

        Each fold is tested after as many steps as are best on the other folds: the number
        that is best on all would have seen it.
        """
        parts = [
            (x[train], y[train], weight[train], test) for train, test in parts_of(fold)
        ]
        curves = np.zeros((len(parts), self.max_steps + 1))
        made = self.max_steps
        for curve, (a, b, w, test) in zip(curves, parts, strict=True):
            sums = start.sums(a), start.sums(x[test])
            done = kernel.boost_watched(
                a,
                b,
                w,
                sums[0],
                x[test],
                y[test],
                weight[test],
                sums[1],
                made,
                self.patience,
                curve,
            )
            made = min(made, done)
        errors = curves[:, : made + 1].sum(axis=0)
        scores = np.full((len(y), len(start.bias)), np.nan)
        for curve, (a, b, w, test) in zip(curves, parts, strict=True):
            model, _ = start.boosted(a, b, w, _fewest(errors - curve[: made + 1]))
            scores[test] = model.sums(x[test])
        return scores, _fewest(errors)


def _fewest(errors: Floats) -> int:
    return int((errors < errors.min() + 1e-9).argmax())
