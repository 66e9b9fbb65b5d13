"""Logistic models in leaves (logistic model trees).

Every node refines the model of its parent by LogitBoost on its own rows. The number of steps
is chosen once, by cross-validation on the whole training set, and is then the same at every
node of every tree that is grown for the fit (the heuristic of Landwehr, Hall & Frank 2005).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Rules
from omnitree.growing.part import number
from omnitree.growing.sample import Sample
from omnitree.growing.threads import one_thread
from omnitree.parts.leaves.base import Leaves
from omnitree.parts.leaves.boosting import BoostedModel, Columns, steps_by_folds
from omnitree.resampling.folds import deal
from omnitree.tree.tree import Tree


class LogisticLeaves(Leaves):
    """Leaves predict by logistic models: LogitBoost, starting from the parent's model.

    Nothing is left to gain below a node whose model makes no error on its training rows:
    all nodes there keep its model.

    Parameters
    ----------
    steps : int or None, default=None
        Steps of LogitBoost at every node. None chooses them by cross-validation on the
        training set; if no step at all is best there, or with 0, every node chooses for
        itself. A node for which neither it nor a node above it makes a step answers with
        its class shares.
    folds : int, default=5
        Folds of that cross-validation.
    max_steps : int, default=200
        Maximum number of steps tried.
    patience : int, default=50
        A fold stops this many steps after its error was lowest.
    min_rows : float, default=5
        A node with less weight keeps the model of its parent.
    """

    steps: int | None = None
    folds: int = 5
    max_steps: int = 200
    patience: int = 50
    min_rows: float = 5

    @property
    def resamples(self) -> bool:
        return not self.steps

    def settled(self, sample: Sample, rules: Rules) -> LogisticLeaves:
        self._check()
        if self.steps is not None:
            return self
        columns = Columns.of(sample.table, sample.weight)
        start = BoostedModel.start(sample.target.n_classes, columns.x.shape[1])
        every = np.arange(sample.table.n_rows)
        with one_thread():
            steps = self._choose(start, columns, sample, rules, every, sample.weight)
        return replace(self, steps=steps)

    def fit(self, tree: Tree, sample: Sample, rules: Rules) -> Tree:
        columns = Columns.of(sample.table, sample.weight)
        first, row, share = tree.passing(sample.table)
        start = BoostedModel.start(sample.target.n_classes, columns.x.shape[1])
        found: list[BoostedModel] = []
        done = np.zeros(tree.n_nodes, dtype=bool)  # no error is left, here or above
        with one_thread():
            for node in range(tree.n_nodes):  # parents come before children
                above = int(tree.parent[node])
                model = found[above] if above >= 0 else start
                done[node] = above >= 0 and done[above]
                part = slice(first[node], first[node + 1])
                rows, weight = row[part], share[part] * sample.weight[row[part]]
                small = weight.sum() < self.min_rows - 1e-9
                if not (done[node] or small or rules.limits.expired()):
                    steps = self.steps or self._choose(
                        model, columns, sample, rules, rows, weight
                    )
                    x, y = columns.x[rows], sample.y[rows]
                    model, sums = model.boosted(x, y, weight, steps)
                    done[node] = (sums.argmax(axis=1) == y).all()
                found.append(model)
        # A model without any step says nothing; the class shares do.
        shaped = np.array([not model.is_start for model in found])
        return tree.replace(models=columns.leaf_models(found).only(shaped))

    def _choose(
        self,
        model: BoostedModel,
        columns: Columns,
        sample: Sample,
        rules: Rules,
        rows: NDArray[np.int64],
        weight: NDArray[np.float64],
    ) -> int:
        """Steps with fewest errors in cross-validation on some rows."""
        y = sample.y[rows]
        fold = deal(
            sample.row_hash(rules.seed)[rows],
            y,
            self.folds,
            rules.seed,
            (weight,),
            sample.groups_of(rows),
        )
        return steps_by_folds(
            model, columns.x[rows], y, weight, fold, self.max_steps, self.patience
        )

    def _check(self) -> None:
        if self.steps is not None:
            number("steps", self.steps)
        for name, least in (("folds", 2), ("max_steps", 1), ("patience", 1)):
            number(name, getattr(self, name), least)
        number("min_rows", self.min_rows)
