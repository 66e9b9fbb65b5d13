"""The stagewise learner: a branch for each class, by many small steps on single columns.

Curves, squares and products of all columns are offered, and the number of steps that is
likeliest on held-out rows leaves out most of them (`discriminants/stagewise.py`): a sparse
test where a fit of all products would not be readable. One of the rivals in the refinement
`contest`.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.part import number
from omnitree.growing.threads import one_thread
from omnitree.learners.boosted import BoostedTrial
from omnitree.learners.gradual import HeldOutPath, validated
from omnitree.learners.trial import NAMES, Trial, TrialLearner
from omnitree.parts.discriminants.stagewise import LOOK, stages
from omnitree.parts.leaves.boosting import BoostedModel
from omnitree.resampling.folds import parts_of
from omnitree.resampling.held_out import HeldOut

# Deals of the rows to folds that are tried at most: small steps take long.
DEALS = 2


class Stagewise(TrialLearner):
    """Small steps of LogitBoost on single columns, one branch per class.

    Parameters
    ----------
    expansion : {"linear", "quadratic", "curves", "blocks"}, default="linear"
        The columns: as they are, with all their squares and products, with those that
        curves are sums of, or with both.
    folds : int, default=5
        Number of folds of the cross-validation that chooses the number of steps.
    max_steps : int, default=200
        Steps are counted in tens.
    patience : int, default=40
        A fold stops this many steps after its log loss was lowest.
    rate : float, default=0.3
        What each step is multiplied by.
    ridge : float, default=0.5
        Penalty on the slopes of a step.
    min_columns, max_columns, max_cells, max_weights, max_classes
        As for `Softmax`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Stagewise
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = TreeClassifier(Stagewise(), max_depth=1).fit(X, y)
    >>> clf.tree_.node_kinds()["linear"], len(clf.tree_.split(0).columns) < 30
    (1, True)
    """

    folds: int = 5
    max_steps: int = 200
    patience: int = 40
    rate: float = 0.3
    ridge: float = 0.5

    def trial(
        self,
        node: Node,
        against: HeldOut | None = None,
        slack: float = 0.0,
        deals: int = 1,
    ) -> Trial | None:
        """Cross-validate the number of steps; it never gives up."""
        for name, least in (("folds", 2), ("max_steps", LOOK), ("patience", 1)):
            number(name, getattr(self, name), least)
        number("rate", self.rate, 1e-3)
        number("ridge", self.ridge, 0)
        if not self.suits(node):
            return None
        rows = node.view(self.expansion)
        dealt = self.dealt(node, self.folds, min(deals, DEALS))
        if dealt is None:
            return None
        x, y = np.ascontiguousarray(rows.columns), node.target.of_present().y
        with one_thread():
            scores, n_stages = self._validate(node, x, y, dealt)
            model = self._model(x, y, rows.weight, n_stages, scores.shape[1])
        return BoostedTrial(
            f"stagewise {NAMES[self.expansion]}",
            rows,
            self.expansion,
            scores,
            node.target,
            node.sample.groups_of(node.rows),
            model,
        )

    def _validate(
        self,
        node: Node,
        x: Floats,
        y: NDArray[np.int32],
        dealt: list[NDArray[np.int64]],
    ) -> tuple[Floats, int]:
        """Held-out scores, and the number of stages with the least log loss."""
        by_deal = []
        for fold in dealt:
            asked = ("paths", self, fold.tobytes())
            if asked not in node.memo:
                node.memo[asked] = self._paths(x, y, node.weight, fold)
            by_deal.append(node.memo[asked])
        return validated(by_deal)

    def _paths(
        self, x: Floats, y: NDArray[np.int32], weight: Floats, fold: NDArray[np.int64]
    ) -> list[HeldOutPath]:
        """The rows of each fold, as far as they stay patient."""
        k, size = int(y.max()) + 1, (self.rate, self.ridge)
        paths = [
            HeldOutPath.of(
                *(test, x[test], y, weight),
                stages(x[train], y[train], weight[train], k, *size),
                k,
            )
            for train, test in parts_of(fold)
        ]
        for path in paths:
            path.go_on(self.max_steps // LOOK, self.patience // LOOK)
        return paths

    def _model(
        self, x: Floats, y: NDArray[np.int32], weight: Floats, n_stages: int, k: int
    ) -> BoostedModel:
        """The sums after some stages on all rows."""
        model = BoostedModel.start(k, x.shape[1])
        for stage in islice(stages(x, y, weight, k, self.rate, self.ridge), n_stages):
            model.weights[:, stage.columns] += stage.weights
            model.bias[:] += stage.bias
        return model
