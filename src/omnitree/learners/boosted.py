"""The boosted learner: a branch for each class, by LogitBoost on single columns.

Each step adds, for each class, one regression on one column (`leaves/boosting.py`), so a
test made in a few steps looks at a few columns, even if all squares and products of many
are offered. The number of steps with the fewest held-out errors is used. One of the rivals
in the refinement `contest`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.clock import check_time
from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.part import number
from omnitree.growing.threads import one_thread
from omnitree.learners.trial import Trial, TrialLearner
from omnitree.parts.leaves.boosting import BoostedModel, fewest
from omnitree.resampling.folds import parts_of
from omnitree.resampling.held_out import HeldOut


@dataclass(frozen=True)
class BoostedTrial(Trial):
    """What `Boosted` found."""

    model: BoostedModel

    def used_terms(self) -> NDArray[np.bool_]:
        terms = self.rows.scaling.terms
        return np.bincount(terms, self.model.weights.any(axis=0)) > 0

    def functions(self) -> tuple[Floats, Floats]:
        return self.model.weights, self.model.bias


class Boosted(TrialLearner):
    """Boosted regressions on single columns, one branch per class.

    Parameters
    ----------
    expansion : {"linear", "quadratic", "curves", "blocks"}, default="linear"
        The columns: as they are, with all their squares and products, with those that
        curves are sums of, or with both.
    folds : int, default=5
        Number of folds of the cross-validation that chooses the number of steps.
    max_steps : int, default=100
    patience : int, default=20
        A fold stops this many steps after its error was lowest.
    min_columns, max_columns, max_cells, max_weights, max_classes
        As for `Softmax`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Boosted
    >>> clf = TreeClassifier(Boosted(), max_depth=1).fit(*load_iris(return_X_y=True))
    >>> clf.tree_.node_kinds()["machine"]
    1
    """

    folds: int = 5
    max_steps: int = 100
    patience: int = 20

    def trial(
        self,
        node: Node,
        against: HeldOut | None = None,
        slack: float = 0.0,
        deals: int = 1,
    ) -> Trial | None:
        """Cross-validate the number of steps; it never gives up."""
        for name, least in (("folds", 2), ("max_steps", 1), ("patience", 1)):
            number(name, getattr(self, name), least)
        if not self.suits(node):
            return None
        rows = node.view(self.expansion)
        x = np.ascontiguousarray(rows.columns)
        dealt, y = self.dealt(node, self.folds, deals), node.target.of_present().y
        if dealt is None:
            return None
        start = BoostedModel.start(len(rows.present), x.shape[1])
        with one_thread():
            scores, steps = self._validate(start, x, y, rows.weight, dealt)
            model, _ = start.boosted(x, y, rows.weight, steps)
        name, groups = f"sparse {self.expansion}", node.sample.groups_of(node.rows)
        return BoostedTrial(
            name, rows, self.expansion, scores, node.target, groups, model
        )

    def _validate(
        self,
        start: BoostedModel,
        x: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        dealt: list[NDArray[np.int64]],
    ) -> tuple[Floats, int]:
        """Held-out scores, in the mean of the deals; number of steps with fewest errors."""
        found = [self._of_deal(start, x, y, weight, fold) for fold in dealt]
        made = min(len(errors) for _, errors in found)
        scores = np.mean([scores for scores, _ in found], axis=0)
        return scores, fewest(np.sum([errors[:made] for _, errors in found], axis=0))

    def _of_deal(
        self,
        start: BoostedModel,
        x: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        fold: NDArray[np.int64],
    ) -> tuple[Floats, Floats]:
        """Held-out scores, and errors after each number of steps.

        Each fold is tested after as many steps as are best on the other folds: the number
        that is best on all would have seen it.
        """
        parts = list(parts_of(fold))
        curves = np.zeros((len(parts), self.max_steps + 1))
        made = self.max_steps
        for curve, both in zip(curves, parts, strict=True):
            done = start.watched(x, y, weight, both, made, self.patience, curve)
            made = min(made, done)
            check_time()
        errors = curves[:, : made + 1].sum(axis=0)
        scores = np.full((len(y), len(start.bias)), np.nan)
        for curve, (train, test) in zip(curves, parts, strict=True):
            steps = fewest(errors - curve[: made + 1])
            model, _ = start.boosted(x[train], y[train], weight[train], steps)
            check_time()
            scores[test] = model.sums(x[test])
        return scores, errors
