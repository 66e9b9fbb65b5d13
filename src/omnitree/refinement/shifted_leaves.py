"""Trees whose leaves shift the scores of a softmax test: shifts, losses and sizes.

A leaf answers by the softmax of the scores plus a shift for each class: the logarithm of the
class's share in the leaf over the share that the scores expect there. The expected shares
count as some rows in the leaf's own, so a small leaf shifts little, and a tree that is cut
back to its root is the softmax test itself. As in `sizing.py`, trees are cut back by weakest
links and cross-validation, by log loss; what answers for a fold is chosen by the others.
Used by `score_trees.py` and `tree_sums.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from omnitree.data.schema import Schema
from omnitree.data.table import Table
from omnitree.learners.trial import Replacement, Trial
from omnitree.pruning.cost_complexity import steps, sums_at, weakest_links
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.records import NodeRecord
from omnitree.tree.splits import Split
from omnitree.tree.tree import LEAF, Tree, tree_from_nodes

Floats = NDArray[np.float64]

# Rows that the expected class shares may count for.
SHRINKAGES = (5.0, 20.0, 80.0)
# The least expected share.
LEAST = 1e-6


@dataclass(frozen=True)
class Scored:
    """Rows with their scores (n, k), classes among the k, and weights."""

    table: Table
    scores: Floats
    y: NDArray[np.intp]
    weight: Floats

    @cached_property
    def odds(self) -> tuple[Floats, Floats]:
        """The exponentials of the scores, less the largest of a row.

        And the score, less the largest, of its own class.
        """
        scores = self.scores - self.scores.max(axis=1, keepdims=True)
        return np.exp(scores), scores[np.arange(len(scores)), self.y]


class Passing:
    """The nodes of a tree, with the scored rows that come to each."""

    def __init__(self, tree: Tree, rows: Scored):
        self.tree, self.rows = tree, rows
        self._start, self._row, self._part = tree.passing(rows.table)
        self._sized: dict[float, tuple[Floats, Floats]] = {}

    @cached_property
    def _node(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(self.tree.n_nodes), np.diff(self._start))

    @cached_property
    def _counts(self) -> tuple[Floats, Floats]:
        """Class counts of every node, and those that the scores expect."""
        rows, k = self.rows, self.rows.scores.shape[1]
        shape = self.tree.n_nodes, len(rows.y)
        there = sparse.csr_array((self._part, self._row, self._start), shape=shape)
        odds, _ = rows.odds
        both = np.zeros((len(odds), 2 * k))
        both[np.arange(len(odds)), rows.y] = rows.weight
        both[:, k:] = odds / odds.sum(axis=1, keepdims=True) * rows.weight[:, None]
        counts = there @ both
        return counts[:, :k], counts[:, k:]

    def shifts(self, m: float) -> Floats:
        """What every node adds to the scores of its rows, (nodes, k); the root nothing."""
        counts, expected = self._counts
        total = expected.sum(axis=1, keepdims=True)
        share = np.divide(expected, total, out=np.ones_like(expected), where=total > 0)
        share = np.maximum(share, LEAST)
        shift = np.log((counts + m * share) / (total + m)) - np.log(share)
        shift[0] = 0.0
        return shift - shift.mean(axis=1, keepdims=True)

    def losses(self, shifts: Floats) -> Floats:
        """Log loss of every node as a leaf."""
        node, y = self._node, self.rows.y[self._row]
        odds, own = (of_row[self._row] for of_row in self.rows.odds)
        total = np.einsum("ek,ek->e", odds, np.exp(shifts)[node])
        lost = np.log(total) - own - shifts[node, y]
        lost *= self._part * self.rows.weight[self._row]
        return np.bincount(node, lost, self.tree.n_nodes).astype(np.float64)

    def sized(self, m: float) -> tuple[Floats, Floats]:
        """Shifts of every node, and the price at which it becomes a leaf."""
        if m not in self._sized:
            shifts = self.shifts(m)
            self._sized[m] = shifts, weakest_links(self.tree, self.losses(shifts))
        return self._sized[m]

    def answers(self, shifts: Floats) -> Floats:
        """Probabilities (n, k) of the rows by the leaves that they come to."""
        node = self._node
        at = np.flatnonzero(self.tree.kind[node] == LEAF)
        proba = softmax(self.rows.scores[self._row[at]] + shifts[node[at]], axis=1)
        out = np.zeros(self.rows.scores.shape)
        np.add.at(out, self._row[at], proba * self._part[at, None])
        return out


class ScoredFold:
    """A tree grown without a fold, in the rows it was grown on and in those of the fold."""

    def __init__(self, trained: Passing, fold: Scored):
        self.trained, self.fold = trained, fold
        self._tested = Passing(trained.tree, fold)
        self._total = trained.rows.weight.sum()

    def losses_at(self, m: float, prices: Floats) -> Floats:
        """Log loss of the fold's rows at each of the ascending prices of a leaf."""
        shifts, links = self.trained.sized(m)
        lost = self._tested.losses(shifts)
        return sums_at(self.trained.tree, links, prices * self._total, lost)

    def answers_at(self, m: float, price: float) -> Floats:
        """Answers to the fold's rows at a price of a leaf, in log loss per row."""
        _, links = self.trained.sized(m)
        pruned = self.trained.tree.collapse(links <= price * self._total * (1 + 1e-12))
        shifts = Passing(pruned, self.trained.rows).shifts(m)
        return Passing(pruned, self.fold).answers(shifts)


@dataclass(frozen=True)
class Shifted:
    """A tree that was cut back, its shifts, and what such trees answer to held-out rows.

    `answers` has the probabilities for the rows of each fold, in order.
    """

    tree: Tree
    shifts: Floats
    answers: list[Floats]


def sized(
    whole: Passing,
    folds: Sequence[ScoredFold],
    margin: float,
    shrinkages: Sequence[float] = SHRINKAGES,
) -> Shifted | None:
    """The tree cut back to the least held-out log loss; None if that is its root.

    Of smaller trees, the smallest that is not worse by more than `margin` standard errors.
    """
    prices, alphas, curves = {}, {}, {}
    for m in shrinkages:
        alphas[m], prices[m] = steps(whole.tree, whole.sized(m)[1])
        curves[m] = np.array([fold.losses_at(m, prices[m]) for fold in folds])

    def choice(choosers: list[int]) -> tuple[float, int]:
        m = min(shrinkages, key=lambda m: curves[m][choosers].sum(axis=0).min())
        by_fold = curves[m][choosers]
        lost = by_fold.sum(axis=0)
        best = int(lost.argmin())
        apart = by_fold - by_fold[:, [best]]
        noise = apart.std(axis=0, ddof=1) * np.sqrt(len(choosers))
        good = lost <= lost[best] + margin * noise + 1e-9 * abs(lost[best])
        return m, int(np.flatnonzero(good)[-1])

    every = list(range(len(folds)))
    m, at = choice(every)
    tree = whole.tree.collapse(whole.sized(m)[1] <= alphas[m][at])
    if tree.n_leaves == 1:
        return None
    answers = []
    for own, fold in enumerate(folds):
        own_m, own_at = choice([i for i in every if i != own])
        answers.append(fold.answers_at(own_m, prices[own_m][own_at]))
    return Shifted(tree, Passing(tree, whole.rows).shifts(m), answers)


def saved(
    whole: Passing, folds: Sequence[ScoredFold], shrinkages: Sequence[float]
) -> float:
    """Log loss of the rows of folds that a tree saves at its best size for them."""
    most = 0.0
    for m in shrinkages:
        _, prices = steps(whole.tree, whole.sized(m)[1])
        lost = np.sum([fold.losses_at(m, prices) for fold in folds], axis=0)
        most = max(most, float(lost[-1] - lost.min()))
    return most


@dataclass(frozen=True)
class TreeOnTest:
    """A tree whose leaves answer by the scores of a softmax test, each with its own shift.

    Attributes
    ----------
    trial : Trial
        The softmax test.
    tree : Tree
    held_out : HeldOut
        What such trees lose on held-out rows.
    """

    trial: Trial
    tree: Tree
    held_out: HeldOut

    @property
    def name(self) -> str:
        """Of the candidate, for the reader of the tree."""
        raise AssertionError(f"{type(self).__name__} has no name")

    @property
    def expansion(self) -> str:
        """The columns of the softmax test."""
        return self.trial.expansion

    @property
    def kind(self) -> str:
        """Kind of the first test."""
        return self.test_of(self.tree.split(0)).kind

    @property
    def n_parameters(self) -> int:
        """Free parameters: of the softmax test, of the tests, and the shifts."""
        k, n_leaves = len(self.trial.rows.present), self.tree.n_leaves
        tests = self.tree.n_nodes - n_leaves
        return self.trial.n_parameters + 2 * tests + n_leaves * (k - 1)

    @cached_property
    def answers(self) -> tuple[LeafModel, Floats]:
        """The model of all leaves, and shifts (nodes, k) of the classes present."""
        raise AssertionError(f"{type(self).__name__} has no answers")

    def schema(self) -> Schema:
        """Of the features of the table."""
        return self.tree.schema

    def test_of(self, split: Split) -> Split:
        """A test of the tree as one on the features of the table."""
        return split

    @property
    def is_finite(self) -> bool:
        """Whether its tests and models have only finite numbers; as of a `Trial`."""
        inner = np.flatnonzero(self.tree.kind != LEAF)
        tests = (self.test_of(self.tree.split(int(at))) for at in inner)
        return self.answers[0].is_finite and all(test.is_finite for test in tests)

    @cached_property
    def replacement(self) -> Replacement:
        """The tree with a model in every leaf."""
        tree, present = self.tree, self.trial.rows.present
        model, shifts = self.answers
        records = []
        for at in range(tree.n_nodes):
            record = NodeRecord(int(tree.parent[at]), np.zeros(len(tree.classes)))
            if tree.kind[at] == LEAF:
                bias = np.array(model.bias)
                bias[present] += shifts[at]
                record.model = replace(model, bias=tuple(bias.tolist()))
            else:
                first = int(tree.first_child[at])
                record.children = range(first, first + int(tree.n_children[at]))
                split = tree.split(at)
                surrogates = tuple(self.test_of(other) for other in split.surrogates)
                record.split = replace(self.test_of(split), surrogates=surrogates)
            records.append(record)
        found = tree_from_nodes(self.schema(), tree.classes, records)
        return Replacement(subtree=found)
