"""The functional learner: a logistic model at every node, cut like a feature.

Every node continues the LogitBoost of its parent on its own rows. The sum of each class
becomes a feature beside the original ones, and C4.5's search finds the best test on one of
them all. For two classes a cut of the sum is a cut of the probability. Used by preset ft.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.part import number
from omnitree.growing.threads import one_thread
from omnitree.learners.constructive import best_cut
from omnitree.parts.discriminants.base import DIGITS
from omnitree.parts.leaves.boosting import BoostedModel, Columns
from omnitree.tree.splits import Constructed, LinearSplit, Split


@dataclass(frozen=True)
class NodeModel:
    """The model of a node, which the nodes below continue."""

    columns: Columns
    model: BoostedModel

    def take(self, here: np.ndarray) -> NodeModel:
        """The same for some of the rows."""
        return self


class Functional(SplitLearner):
    """Cut an original feature, or the sum of a class in the node's logistic model.

    Parameters
    ----------
    steps : int, default=15
        Steps of LogitBoost that a node adds to the model of its parent.
    min_rows : float, default=5
        A node with less weight keeps the model of its parent.
    merit, categories, min_branch, release8
        Of the search, as for `Univariate`; the defaults are C4.5's.
    """

    steps: int = 15
    min_rows: float = 5
    merit: Any = "gain_ratio"
    categories: Any = "multiway"
    min_branch: int = 2
    release8: bool = True

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test on one feature, original or constructed here."""
        model, features = self._construct(node)
        split = best_cut(self, node, features, rng)
        return split and replace(split, constructed=(model,))

    def _construct(self, node: Node) -> tuple[NodeModel, tuple[Constructed, ...]]:
        """The node's model and its sums as features; of two classes the first."""
        steps, n_classes = int(number("steps", self.steps, 1)), node.target.n_classes
        above = [made for made in node.inherited if isinstance(made, NodeModel)]
        if above:
            columns, model = above[-1].columns, above[-1].model
        else:
            columns = Columns.of(node.sample.table, node.sample.weight)
            model = BoostedModel.start(n_classes, columns.x.shape[1])
        x = columns.x[node.rows]
        with one_thread():
            if node.total >= number("min_rows", self.min_rows) - 1e-9:
                model, sums = model.boosted(x, node.y, node.weight, steps)
            else:
                sums = model.sums(x)
        weights, bias = columns.own_units([model])
        used = np.flatnonzero(weights[0].any(axis=0))
        which, fill = tuple(used.tolist()), tuple(columns.fill[used].tolist())
        made = []
        for k in range(1 if n_classes == 2 else n_classes):
            values = np.ascontiguousarray(sums[:, k])
            spread = values.std()
            if spread <= 1e-12 * np.abs(values).max():
                continue
            # Rounded, so that rows that are equal have equal values.
            values = np.round(values / (spread * DIGITS)) * (spread * DIGITS)
            own = tuple(weights[0, k, used].tolist())
            test = LinearSplit(which, own, fill, -float(bias[0, k]))
            made.append(Constructed(test, values))
        return NodeModel(columns, model), tuple(made)
