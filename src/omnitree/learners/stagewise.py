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
from scipy.special import log_softmax

from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.part import number
from omnitree.growing.threads import one_thread
from omnitree.learners.boosted import BoostedTrial
from omnitree.learners.trial import NAMES, Trial, TrialLearner, folds_of
from omnitree.parts.discriminants.stagewise import LOOK, stages
from omnitree.parts.leaves.boosting import BoostedModel, fewest
from omnitree.resampling.folds import parts_of
from omnitree.resampling.held_out import HeldOut


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
        self, node: Node, against: HeldOut | None = None, slack: float = 0.0
    ) -> Trial | None:
        """Cross-validate the number of steps; it never gives up."""
        for name, least in (("folds", 2), ("max_steps", LOOK), ("patience", 1)):
            number(name, getattr(self, name), least)
        number("rate", self.rate, 1e-3)
        number("ridge", self.ridge, 0)
        if not self.suits(node):
            return None
        rows, fold = node.view(self.expansion), folds_of(node, self.folds)
        if fold is None:
            return None
        x, y = np.ascontiguousarray(rows.columns), node.target.of_present().y
        with one_thread():
            scores, n_stages = self._validate(x, y, rows.weight, fold)
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
        x: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        fold: NDArray[np.int64],
    ) -> tuple[Floats, int]:
        """Held-out scores, and the number of stages with the least log loss.

        Each fold is tested after as many as are best on the other folds: the number that is
        best on all would have seen it.
        """
        k, parts = int(y.max()) + 1, list(parts_of(fold))
        paths = [self._path(x, y, weight, k, *both) for both in parts]
        made = min(len(path) for path in paths)
        losses = np.array(
            [
                [_lost(sums, y[test], weight[test]) for sums in path[:made]]
                for path, (_, test) in zip(paths, parts, strict=True)
            ]
        )
        total, scores = losses.sum(axis=0), np.empty((len(y), k))
        for path, own, (_, test) in zip(paths, losses, parts, strict=True):
            scores[test] = path[fewest(total - own)]
        return scores, fewest(total)

    def _path(
        self,
        x: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        k: int,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
    ) -> list[Floats]:
        """Sums of the rows to test before the first stage and after each."""
        out, losses, own = [np.zeros((len(test), k))], [], x[test]
        learned = x[train], y[train], weight[train], k, self.rate, self.ridge
        for stage in islice(stages(*learned), self.max_steps // LOOK):
            sums = out[-1].copy()
            stage.add_to(sums, own)
            out.append(sums)
            losses.append(_lost(sums, y[test], weight[test]))
            if (len(losses) - 1 - int(np.argmin(losses))) * LOOK > self.patience:
                break
        return out

    def _model(
        self, x: Floats, y: NDArray[np.int32], weight: Floats, n_stages: int, k: int
    ) -> BoostedModel:
        """The sums after some stages on all rows."""
        model = BoostedModel.start(k, x.shape[1])
        for stage in islice(stages(x, y, weight, k, self.rate, self.ridge), n_stages):
            model.weights[:, stage.columns] += stage.weights
            model.bias[:] += stage.bias
        return model


def _lost(sums: Floats, y: NDArray[np.int32], weight: Floats) -> float:
    """Minus the log likelihood of the classes of rows with sums (n, k)."""
    return -float(weight @ log_softmax(sums, axis=1)[np.arange(len(y)), y])
