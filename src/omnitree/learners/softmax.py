"""The softmax learner: a branch for each class, by penalised multinomial regression.

The columns are taken as they are, with all their squares and products, with curves, or with
both. The penalty is the one with the best cross-validated likelihood; beside curves, plain
columns, curves and products each have their own. With two classes, the result is one linear,
quadratic or additive test, with more a machine. One of the rivals in the refinement
`contest`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import CURVED, Node
from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.part import number
from omnitree.growing.target import Target
from omnitree.growing.threads import one_thread
from omnitree.learners.softmax_trials import SampledTrial, SoftmaxTrial
from omnitree.learners.trial import NAMES, Trial, TrialLearner, folds_of
from omnitree.parts.discriminants.softmax import Standardised, Whitened
from omnitree.parts.discriminants.softmax_blocks import BlockFolds, Place
from omnitree.parts.discriminants.softmax_folds import Validated, validate
from omnitree.parts.discriminants.softmax_metric import Spread
from omnitree.resampling.folds import held_by
from omnitree.resampling.held_out import HeldOut

PENALTIES = (1.0, 0.1, 0.01, 0.001, 0.0001)
# Rows or columns, whichever are fewer: finding the directions of more takes minutes.
TOO_MANY = 3000
# Rows of a class that a sample has at least, if there are so many.
LEAST = 50


class Softmax(TrialLearner):
    """Multinomial logistic regression with a ridge penalty, one branch per class.

    Parameters
    ----------
    expansion : {"linear", "quadratic", "curves", "blocks"}, default="linear"
        The columns: as they are, with all their squares and products, with curves of single
        numbers, or with both.
    penalties : sequence of float
        Tried from the second largest down, until the held-out likelihood gets worse; the
        largest, if that is at once. With curves, each block has a penalty of its own:
        plain columns, curves and products.
    folds : int, default=5
        Number of folds of the cross-validation that chooses the penalty.
    calibrates : bool, default=True
        Whether penalties of lines and products are compared after the held-out scores were
        multiplied by the number that makes them likeliest, as those of the best one will
        be.
    min_columns, max_columns : int, default=1 and None
        Nodes with fewer or more columns, products included, get no test.
    max_cells : int, optional
        Neither do nodes with more than this many rows times columns times classes.
    max_weights : int, optional
        Nor nodes with more than this many columns times classes; of two classes, columns.
    max_classes : int, optional
        Nor nodes with rows of more classes.
    sample_cells : int, optional
        In nodes with more than this many rows times columns times classes, a sample of the
        rows that has as many chooses penalties and terms; the last fit is to all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Softmax
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = TreeClassifier(learner=Softmax(), max_depth=1).fit(X, y)
    >>> clf.tree_.n_leaves, clf.tree_.node_kinds()["machine"]
    (3, 1)
    """

    penalties: Any = PENALTIES
    folds: int = 5
    sample_cells: int | None = None
    calibrates: bool = True

    def trial(
        self,
        node: Node,
        against: HeldOut | None = None,
        slack: float = 0.0,
        deals: int = 1,
    ) -> Trial | None:
        """Cross-validate every penalty; `validate` says when it gives up."""
        penalties = sorted((float(p) for p in self.penalties), reverse=True)
        number("penalties", penalties[-1], 1e-12)
        if not self.suits(node):
            return None
        at = self._sample(node)
        if at is None:
            return self._trial(node, penalties, against, slack, deals)
        some = _node_of(node, at, self.expansion)
        if some is None:
            return None
        ahead = None if against is None else against.take(at)
        found = self._trial(some, penalties, ahead, slack, deals)
        if found is None:
            return None
        rows, groups = node.view(self.expansion), node.sample.groups_of(node.rows)
        return SampledTrial.of(found, at, rows, node.target, groups)

    def _sample(self, node: Node) -> NDArray[np.intp] | None:
        """Positions of the rows that choose penalties and terms; None if all do."""
        if self.sample_cells is None:
            return None
        k, p = int((node.statistics > 0).sum()), node.view(self.expansion).n_columns
        part = len(node.rows) * p * k / number("sample_cells", self.sample_cells, 1)
        if part <= 1:
            return None
        fold = folds_of(node, part)
        if fold is None:
            return None
        chosen = fold == 0
        if node.sample.groups is None:  # of rare classes all rows
            chosen |= (np.bincount(node.y) < LEAST * part)[node.y]
        return np.flatnonzero(chosen)

    def _trial(
        self,
        node: Node,
        penalties: list[float],
        against: HeldOut | None,
        slack: float,
        deals: int,
    ) -> SoftmaxTrial | None:
        """What cross-validation of all rows finds."""
        rows = node.view(self.expansion)
        if min(len(rows.rows), rows.n_columns) > TOO_MANY:
            return None
        dealt = self.dealt(node, self.folds, deals)
        if dealt is None:
            return None
        held = held_by(dealt)
        with one_thread():
            found = self._validated(node, held, penalties, against, slack)
        if found is None:
            return None
        whitened, validated = found
        return SoftmaxTrial(
            NAMES[self.expansion],
            rows,
            self.expansion,
            validated.scores,
            node.target,
            node.sample.groups_of(rows.rows),
            whitened,
            validated,
        )

    def _validated(
        self,
        node: Node,
        held: NDArray[np.bool_],
        penalties: list[float],
        against: HeldOut | None,
        slack: float,
    ) -> tuple[Whitened | Spread, Validated] | None:
        """The rows as they are fitted, and what the folds say; None if no column varies."""
        rows, target = node.view(self.expansion), node.target.of_present()
        if self.expansion in CURVED:
            folds = _blocks(rows, target, held, penalties)
            if folds is None:
                return None
            start = None
            if self.expansion == "blocks":
                start = self._without_products(node, target, held, penalties)
            spread, validated, place = folds.validate(start, against, slack)
            if self.expansion == "curves":
                node.memo[_curves_key(held, penalties)] = place
            return spread, validated
        directions = Whitened.of(rows.columns, rows.weight, rows.standard.spread)
        if directions is None:
            return None
        more = (held, penalties, against, bool(self.calibrates))
        return directions, validate(directions, target, rows.weight, *more)

    def _without_products(
        self,
        node: Node,
        target: Target,
        held: NDArray[np.bool_],
        penalties: list[float],
    ) -> Place | None:
        """The penalties that plain columns and curves need; None without curves."""
        rows = node.view("curves")
        if not rows.scaling.curves:
            return None
        key = _curves_key(held, penalties)
        if key not in node.memo:
            folds = _blocks(rows, target, held, penalties)
            assert folds is not None
            node.memo[key] = folds.ahead.search().place
        return node.memo[key]


def _curves_key(held: NDArray[np.bool_], penalties: list[float]) -> tuple[Any, ...]:
    """By what a node remembers the penalties of curves: the folds and the grid."""
    return ("penalties of curves", held.shape[1], *penalties)


def _blocks(
    rows: NodeColumns,
    target: Target,
    held: NDArray[np.bool_],
    penalties: list[float],
) -> BlockFolds | None:
    """The rows with their blocks of columns; None if no column varies."""
    columns = Standardised.of(rows.columns, rows.weight, rows.standard.spread)
    if columns is None:
        return None
    blocks = np.unique(rows.scaling.blocks, return_inverse=True)[1]
    return BlockFolds(columns, blocks, target, rows.weight, held, penalties)


def _node_of(node: Node, at: NDArray[np.intp], expansion: str) -> Node | None:
    """Some rows of a node, with its columns; None where a class is missing.

    Each class weighs as much, of all rows, as it does in the node.
    """
    target = node.target.take(at)
    share = target.statistics(node.weight[at])
    if ((share == 0) & (node.statistics > 0)).any():
        return None
    scale = node.statistics / np.where(share > 0, share, 1.0)
    weight = node.weight[at] * (scale * share.sum() / node.total)[target.y]
    some = Node(node.sample, node.rules, node.rows[at], weight)
    for name in {expansion, "curves"} if expansion in CURVED else {expansion}:
        whole = node.view(name)
        part = {"rows": whole.rows[at], "y": whole.y[at], "weight": weight}
        some.views[name] = replace(whole, **part, remainder=None, within=(whole, at))
    return some
