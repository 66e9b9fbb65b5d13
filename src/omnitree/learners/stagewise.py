"""The stagewise learner: a branch for each class, by many small steps on single columns.

Curves, squares and products of all columns are offered, and the number of steps that is
likeliest on held-out rows leaves out most of them (`discriminants/stagewise.py`): a sparse
test where a fit of all products would not be readable. One of the rivals in the refinement
`contest`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.part import number
from omnitree.growing.threads import one_thread
from omnitree.learners.boosted import BoostedTrial
from omnitree.learners.trial import NAMES, Trial, TrialLearner, folds_of
from omnitree.parts.discriminants.stagewise import LOOK, Stage, stages
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
        rate, ridge = self.rate, self.ridge
        paths = [
            HeldOutPath.of(x, y, weight, train, test, k, rate, ridge)
            for train, test in parts
        ]
        for path in paths:
            path.go_on(self.max_steps // LOOK, self.patience // LOOK)
        scores = np.empty((len(y), k))
        for own, (_, test) in zip(paths, parts, strict=True):
            scores[test] = own.sums_at(
                best([path for path in paths if path is not own])
            )
        return scores, best(paths)

    def _model(
        self, x: Floats, y: NDArray[np.int32], weight: Floats, n_stages: int, k: int
    ) -> BoostedModel:
        """The sums after some stages on all rows."""
        model = BoostedModel.start(k, x.shape[1])
        for stage in islice(stages(x, y, weight, k, self.rate, self.ridge), n_stages):
            model.weights[:, stage.columns] += stage.weights
            model.bias[:] += stage.bias
        return model


@dataclass
class HeldOutPath:
    """Rows to test while others are learned from, stage by stage.

    Attributes
    ----------
    x, y, weight : arrays
        Of the rows to test.
    ahead : iterator of Stage
        What was not looked at yet.
    sums : list of float arrays (n, k)
        Before the first stage and after each.
    losses : list of float
        Minus their log likelihoods.
    """

    x: Floats
    y: NDArray[np.int32]
    weight: Floats
    ahead: Iterator[Stage]
    sums: list[Floats] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        x: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        k: int,
        rate: float,
        ridge: float,
    ) -> HeldOutPath:
        """Before the first stage."""
        ahead = stages(x[train], y[train], weight[train], k, rate, ridge)
        path = cls(x[test], y[test], weight[test], ahead)
        path._add(np.zeros((len(test), k)))
        return path

    def _add(self, sums: Floats) -> None:
        self.sums.append(sums)
        own = sums[np.arange(len(self.y)), self.y]
        lost = self.weight @ (np.logaddexp.reduce(sums, axis=1) - own)
        self.losses.append(float(lost))

    def go_on(self, most: int, patience: int | None = None) -> None:
        """Up to so many stages in all; not `patience` beyond the one that lost least."""
        for stage in islice(self.ahead, max(most + 1 - len(self.sums), 0)):
            sums = self.sums[-1].copy()
            stage.add_to(sums, self.x)
            self._add(sums)
            since = len(self.losses) - 1 - int(np.argmin(self.losses))
            if patience is not None and since > patience:
                break

    def sums_at(self, n_stages: int) -> Floats:
        """After so many stages, or after all that there are."""
        self.go_on(n_stages)
        return self.sums[min(n_stages, len(self.sums) - 1)]


def best(paths: Sequence[HeldOutPath]) -> int:
    """The number of stages, of those that all paths have, which loses least."""
    made = min(len(path.losses) for path in paths)
    return fewest(np.sum([path.losses[:made] for path in paths], axis=0))
