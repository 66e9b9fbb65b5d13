"""What a pruning method is: it looks at a tree and evidence, and says where to cut.

`cut` returns one entry per node, as `Tree.collapse` reads it; no method changes a tree
itself. Evidence is rows with labels: those the tree was grown on, those kept apart for
pruning, and a way to grow such a tree on other rows (for cross-validation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree._core.predict import subtrees
from omnitree.data.table import Table
from omnitree.growing.criterion import Criterion
from omnitree.growing.node import Problem
from omnitree.growing.part import Part
from omnitree.resampling.folds import fold_numbers
from omnitree.resampling.held_out import by_group
from omnitree.tree.tree import LEAF, Tree


@dataclass(frozen=True)
class Rows:
    """Encoded rows with classes (int32) or a numeric target (float64), and weights.

    Rows of one of the `groups` are held out together.
    """

    table: Table
    y: NDArray
    weight: NDArray[np.float64]
    groups: NDArray[np.int64] | None = None

    def take(self, rows: NDArray) -> Rows:
        """Some of the rows, in order."""
        table = Table(self.table.values[rows], self.table.schema)
        groups = None if self.groups is None else self.groups[rows]
        return Rows(table, self.y[rows], self.weight[rows], groups)

    @property
    def units(self) -> NDArray[np.float64]:
        """Weights of the units of evidence: the rows or, where there are any, groups."""
        return by_group(self.weight, self.groups)

    def part(self, rows: NDArray[np.intp]) -> Rows:
        """As `take`, where other parts will be taken, too: they share what is sorted."""
        taken = self.take(rows)
        return replace(taken, table=replace(taken.table, part_of=(self.table, rows)))

    def folds(self, n_folds: float, seed: int) -> NDArray[np.int64]:
        """Fold of each row; see `folds.py`."""
        return fold_numbers(self.table, self.y, self.weight, n_folds, seed, self.groups)


@dataclass(frozen=True)
class Evidence:
    """What pruning may look at.

    Attributes
    ----------
    train : Rows
        The rows the tree was grown on.
    held_out : Rows or None
        Rows kept apart for pruning.
    regrow : callable
        Grows a tree of the same kind on other rows.
    seed : int
    n_jobs : int or None
    criterion : Criterion or None
        Of a numeric target.
    problem : Problem or None
        What the nodes of the tree shared while it grew, for methods that add tests.
    """

    train: Rows
    held_out: Rows | None
    regrow: Callable[[Rows], Tree]
    seed: int = 0
    n_jobs: int | None = None
    criterion: Criterion | None = None
    problem: Problem | None = None

    @property
    def expired(self) -> bool:
        """Whether the time for the whole fit is over."""
        return self.problem is not None and self.problem.limits.expired()

    def repeat(self, number: int) -> Evidence:
        """The same evidence with other folds; 0: as it is."""
        if not number:
            return self
        (seed,) = np.random.SeedSequence([self.seed, number]).generate_state(1)
        return replace(self, seed=int(seed))


class Pruning(Part):
    """Decides which nodes become leaves."""

    regresses = False  # whether it prunes trees for a numeric target, too

    @property
    def adds_features(self) -> bool:
        """Whether paths may get tests on further features."""
        return False

    @property
    def only_cuts(self) -> bool:
        """Whether what is left has the tests and the counts that it was grown with."""
        return True

    @property
    def needs_share(self) -> float:
        """Share of the training rows to keep apart while growing."""
        return 0.0

    @property
    def resamples(self) -> bool:
        return self.needs_share > 0

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        """Where to cut, one entry per node."""
        raise AssertionError(f"{type(self).__name__} cuts nothing")

    def prune(self, tree: Tree, evidence: Evidence) -> Tree:
        """The pruned tree."""
        return tree.collapse(self.cut(tree, evidence))


def held_out_rows(evidence: Evidence, method: str) -> Rows:
    """The rows kept apart; an error if there are none."""
    if evidence.held_out is None:
        raise ValueError(
            f"{method} pruning needs rows that the tree was not grown on: pass a prune "
            "set, or give the method a share of the training rows to hold out"
        )
    return evidence.held_out


def negligible(weight: np.ndarray) -> float:
    """Weight of errors that decides nothing, on rows of some weight.

    Less than half a row in a million: what rounding and rows of nearly no weight make up.
    """
    return 5e-7 * float(weight.sum())


def errors_as_leaves(
    tree: Tree, rows: Rows, criterion: Criterion | None = None
) -> np.ndarray:
    """Errors on `rows` of every node, were it a leaf with what it has from training.

    With a criterion: the loss.
    """
    if tree.models is not None or criterion is not None:
        start, row, part = tree.passing(rows.table)
        node = np.repeat(np.arange(tree.n_nodes), np.diff(start))
        answer = tree.node_answers(rows.table, row, node, tree.outputs)
        if criterion is None:
            wrong = mistakes(tree, rows.y[row], tree.decide(answer))
        else:
            wrong = criterion.losses(rows.y[row] - answer[:, 0])
        errors = part * rows.weight[row] * wrong
        return np.bincount(node, errors, minlength=tree.n_nodes)
    there = tree.recount(rows.table, rows.y, rows.weight).value
    return as_leaves(tree, there)


def training_errors(tree: Tree, evidence: Evidence) -> np.ndarray:
    """Errors, or loss, of every node as a leaf on the rows it was grown on."""
    if tree.loss is not None:
        return tree.loss
    if tree.models is not None:
        return errors_as_leaves(tree, evidence.train)
    return as_leaves(tree, tree.value)


def as_leaves(tree: Tree, counts: np.ndarray) -> np.ndarray:
    """Errors, or their cost, of every node as a leaf with some rows' class counts."""
    every = np.arange(tree.n_nodes)
    if tree.costs is None:
        return counts.sum(axis=1) - counts[every, tree.labels]
    return (counts @ tree.costs)[every, tree.labels]


def mistakes(tree: Tree, y: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """What each answer costs: 0 if right, else 1 or what the tree's costs say."""
    if tree.costs is None:
        return (answer != y).astype(np.float64)
    return tree.costs[y, answer]


def bottom_up(tree: Tree):
    """Decision nodes, every node after all its descendants."""
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.kind[node] != LEAF:
            yield node


def children(tree: Tree, node: int) -> slice:
    """The children of a node as a slice of the node arrays."""
    first = int(tree.first_child[node])
    return slice(first, first + int(tree.n_children[node]))


def subtree_sums(tree: Tree, leaf_value: np.ndarray) -> np.ndarray:
    """For every node the sum of `leaf_value` over the leaves below it."""
    return subtrees.subtree_sums(tree.shape, leaf_value.astype(np.float64))
