"""Cost-complexity pruning (CART): the weakest links first, as far as evidence says.

Growing alpha, the price of a leaf, cuts the links g(t) = (R(t) - R(T_t)) / (leaves - 1) in
a fixed order. `weakest_links` gives each node the alpha at which it becomes a leaf. How far
to go is decided by held-out rows or by cross-validation: V trees are grown on parts of the
rows, pruned at the geometric means of neighbouring alphas and tested on the rest. Which rows
fall into which fold is chance, and where many sizes err alike, chance would choose between
them; so the cross-validation may be repeated with other folds until the choice stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
from joblib import Parallel, delayed

from omnitree._core.predict import subtrees
from omnitree.data.switches import disabled
from omnitree.growing.part import number
from omnitree.growing.sample import Sample
from omnitree.pruning.base import (
    Evidence,
    Pruning,
    errors_as_leaves,
    held_out_rows,
    negligible,
    training_errors,
)
from omnitree.resampling.held_out import effective_rows
from omnitree.tree.answers import Answers
from omnitree.tree.tree import LEAF, Tree

Asked = TypeVar("Asked")
REPEATED_ROWS = 50_000  # of all repeats together
STABLE = 5  # choices alike that end the repeats
LARGE = 2**22  # bytes of the counts of a tree, from which on nothing as large is kept
NOISE = 1.0  # standard errors that may be due to the folds


class CostComplexity(Pruning):
    """Cost-complexity pruning (CART), with the size chosen on held-out rows.

    Parameters
    ----------
    folds : int, default=10
        Folds of the cross-validation that chooses the size where no prune set is given;
        0 uses held-out rows.
    share : float, default=0.0
        With ``folds=0``: share of the training rows held out, when no prune set is given.
    se : float, default=0.0
        Take the smallest tree within this many standard errors of the best.
    alpha : float or None, default=None
        Cut at this price of a leaf (in errors per row) instead of choosing one.
    repeats : int, default=1
        With `folds`: at most so many cross-validations, each with other folds, whose errors
        are averaged. They end when the last five averages choose alike, and have no more
        than 50,000 rows in all: larger tables are cross-validated once. Differences within
        a standard error of an average may be due to the folds: of trees that the repeats
        cannot tell apart, the smallest is taken.

    With a cost matrix, errors are what they cost. In a tree for a numeric target the loss
    takes the place of the errors, and a leaf with a linear model has the price of its
    parameters.
    """

    folds: int = 10
    share: float = 0.0
    se: float = 0.0
    alpha: float | None = None
    repeats: int = 1

    tasks = ("classification", "regression")

    @property
    def needs_share(self) -> float:
        return self.share if self.folds == 0 and self.alpha is None else 0.0

    @property
    def takes_rows(self) -> bool:
        return self.alpha is None

    @property
    def resamples(self) -> bool:
        return bool(self.alpha is None and (self.folds or self.share))

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        return self.decide(tree, evidence)[0]

    def decide(self, tree: Tree, evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
        """Where to cut, and the errors in each fold of the tree that is left.

        Held-out rows are one fold. Without evidence, that is with a given alpha, there is
        none.
        """
        links = weakest_links(tree, training_errors(tree, evidence.train))
        total = tree.value[0].sum()
        if self.alpha is not None:
            return links <= self.alpha * total * (1 + 1e-12), np.empty(0)
        alphas, prices = steps(tree, links)
        counted = evidence.train.target.n_classes > 0 and tree.costs is None
        if self.folds and evidence.held_out is None:
            units = evidence.units
            runs = self.cross_validate(prices, evidence, counted)
        else:
            rows = held_out_rows(evidence, "cost-complexity")
            units = rows.units
            runs = [errors_at(tree, links, alphas, rows)[None]]
        if not runs:  # no time was left: the tree stays as it is
            return np.zeros(tree.n_nodes, dtype=bool), np.empty(0)
        chosen = self.choose(runs, units, counted)
        # Of few rows, repeats may have different numbers of folds.
        wrong = np.concatenate([run[:, chosen] for run in runs]) / len(runs)
        return links <= alphas[chosen], wrong

    def first_errors(
        self, evidence: Evidence, max_leaves: int | None = None
    ) -> tuple[float, bool] | None:
        """Errors in the first fold of the best of all trees that pruning can leave there.

        If asked, of those with at most so many leaves, the most promising first. Also
        whether the largest of these is the best, so that more leaves might be better still.
        None where there are no folds.
        """
        evidence = evidence.limited(max_leaves=max_leaves)
        if self.alpha is not None or not self.folds or evidence.held_out is not None:
            return None
        for first in fold_trees(evidence, self.folds, 1):
            alphas, _ = steps(first.tree, first.links)
            errors = errors_at(first.tree, first.links, alphas, first.test)
            return float(errors.min()), bool(errors.argmin() == 0)
        return None

    def choose(
        self,
        by_fold: np.ndarray | Sequence[np.ndarray],
        units: np.ndarray,
        counted: bool,
    ) -> int:
        """Position of the alpha to take, from errors (folds, alphas).

        Of repeated cross-validations: a list of such errors. `units` are the weights of
        the rows that were tested, or of their groups.
        """
        runs = [by_fold] if isinstance(by_fold, np.ndarray) else by_fold
        if not len(runs[0]):
            return 0  # too few rows for a fold: no evidence for a smaller tree
        by_run = np.array([run.sum(axis=0) for run in runs])
        wrong = by_run.mean(axis=0)
        best = int(wrong.argmin())
        least = negligible(units) if counted else 1e-9 * wrong[best]
        slack = np.full(len(wrong), least)
        if self.se:
            errors = [standard_error(run, best, units, counted) for run in runs]
            slack += self.se * np.mean(errors)
        if len(runs) > 1:
            apart = by_run - by_run[:, [best]]
            noise = apart.std(axis=0, ddof=1) / np.sqrt(len(runs))
            slack = np.maximum(slack, NOISE * noise)
        # Of equally good trees the smallest, that is the last.
        return int(np.flatnonzero(wrong <= wrong[best] + slack)[-1])

    def cross_validate(
        self, prices: np.ndarray, evidence: Evidence, counted: bool
    ) -> list[np.ndarray]:
        """Errors (folds, prices) in other folds each time, until the choice stays."""
        most = int(number("repeats", self.repeats, 1))
        most = max(1, min(most, REPEATED_ROWS // max(len(evidence.train), 1)))
        if len(prices) == 1 or evidence.folds is not None:
            most = 1  # a leaf: nothing to choose; or there are no other folds
        found: list[np.ndarray] = []
        choices: list[int] = []
        while len(found) < most:
            if found and evidence.expired:
                break
            # Where a leaf is all that is left, other trees are asked as leaves, too.
            again = evidence.repeat(len(found)).limited(
                max_depth=0 if len(prices) == 1 else None
            )
            errors = each_fold(
                again,
                self.folds,
                lambda t: errors_at(t.tree, t.links, prices * t.total, t.test),
                in_time=True,
            )
            if evidence.expired and evidence.folds is None:
                break  # trees that were cut short say nothing
            found.append(np.reshape(errors, (-1, len(prices))))
            choices.append(self.choose(found, evidence.units, counted))
            if len(choices) >= STABLE and len(set(choices[-STABLE:])) == 1:
                break
        return found


def standard_error(
    by_fold: np.ndarray, best: int, weight: np.ndarray, counted: bool
) -> float:
    """Of the sum over folds of errors (folds, alphas) at one alpha, on weighted rows.

    Unequal weights make it larger, as if there were fewer rows (`effective_rows`). If the
    errors are no counts but costs or losses, whose spread nobody knows, that of the folds
    tells.
    """
    if counted:
        total = float(weight.sum())
        share = min(float(by_fold[:, best].sum()) / total, 1.0)
        return total * float(np.sqrt(share * (1 - share) / effective_rows(weight)))
    if len(by_fold) == 1:
        raise ValueError("se needs folds where the target is numeric or errors cost")
    return float(by_fold[:, best].std() * np.sqrt(len(by_fold)))


def steps(tree: Tree, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The alphas, in errors, at which a tree loses a link, and what to ask of other trees.

    These are the prices, in errors per row, between one alpha and the next.
    """
    alphas = np.unique(np.concatenate([[0.0], links[tree.kind != LEAF]]))
    between = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
    return alphas, between / tree.value[0].sum()


class LargeTree(Tree):
    """A tree of many classes, of which several are kept: its shares are made when asked for.

    They take as much room as its counts.
    """

    @classmethod
    def of(cls, tree: Tree) -> Tree:
        """The tree in this form if its counts are large."""
        if tree.value.nbytes < LARGE:
            return tree
        return cls(**{f.name: getattr(tree, f.name) for f in fields(tree)})

    @property
    def class_shares(self) -> np.ndarray:  # type: ignore[override]
        return self.filled_value / self.filled_value.sum(axis=1, keepdims=True)

    @property
    def outputs(self) -> np.ndarray:  # type: ignore[override]
        return vars(Answers)["outputs"].func(self)


@dataclass(frozen=True)
class FoldTree:
    """A tree grown on all folds but one, and the rows of that one."""

    tree: Tree
    links: np.ndarray
    total: float  # weight of the rows it was grown on
    test: Sample
    rows: np.ndarray  # where the test rows are among all rows

    def cut(self, price: float) -> Tree:
        """The tree at a price of a leaf, in errors per row."""
        return self.tree.collapse(self.links <= price * self.total * (1 + 1e-12))


def fold_trees(
    evidence: Evidence, folds: int, most: int | None = None, in_time: bool = False
) -> list[FoldTree]:
    """A tree for each of the folds, or the first few, that leave rows on both sides."""
    return each_fold(evidence, folds, lambda tree: tree, most, in_time)


def each_fold(
    evidence: Evidence,
    folds: int,
    ask: Callable[[FoldTree], Asked],
    most: int | None = None,
    in_time: bool = False,
) -> list[Asked]:
    """What `ask` says of each of the trees; if asked, only of those that time is left for.

    Unless that keeps them, there is one at a time in each thread: with thousands of classes
    their counts are large.
    """
    if evidence.folds is not None:
        return [ask(tree) for tree in evidence.folds]
    if in_time and evidence.expired:
        return []
    rows, growth = evidence.train, evidence.growth
    assert growth is not None
    fold = rows.folds(folds, evidence.seed)

    def one(k: int) -> list[Asked]:
        if in_time and evidence.expired:
            return []
        held = fold == k
        train, test = rows.part(np.flatnonzero(~held)), rows.take(held)
        if not len(train) or not len(test):  # fewer rows, or groups, than folds
            return []
        tree = LargeTree.of(growth.grow(train))
        links = weakest_links(tree, training_errors(tree, train))
        total = float(train.weight.sum())
        return [ask(FoldTree(tree, links, total, test, np.flatnonzero(held)))]

    n_jobs = 1 if disabled("threads") else evidence.n_jobs
    found = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(one)(k) for k in range(folds if most is None else most)
    )
    return [answer for answers in found for answer in answers]


def weakest_links(tree: Tree, cost: np.ndarray) -> np.ndarray:
    """Alpha, in errors, at which each node becomes a leaf; infinite in leaves.

    `cost` has the errors of each node as a leaf. Alpha is never below that of a node's
    parent: what lies under a cut is gone.
    """
    return subtrees.weakest_links(tree.shape, cost, leaf_sizes(tree))


def leaf_sizes(tree: Tree) -> np.ndarray:
    """Price of every node as a leaf.

    1; of siblings with the model of their parent, only for the first. In a tree for a
    numeric target, the parameters of the model.
    """
    size = np.ones(tree.n_nodes)
    if tree.models is None:
        return size
    if tree.constant is not None:
        return size + np.diff(tree.models.index_ptr)
    counted = set()
    for leaf in np.flatnonzero(tree.kind == LEAF).tolist():
        above = int(tree.parent[leaf])
        if above >= 0 and tree.models.same(leaf, above):
            size[leaf] = above not in counted
            counted.add(above)
    return size


def errors_at(
    tree: Tree, links: np.ndarray, alphas: np.ndarray, rows: Sample
) -> np.ndarray:
    """Errors on `rows` of the tree pruned at each of the ascending `alphas`."""
    return sums_at(tree, links, alphas, errors_as_leaves(tree, rows))


def sums_at(
    tree: Tree, links: np.ndarray, alphas: np.ndarray, as_leaf: np.ndarray
) -> np.ndarray:
    """Sum over the leaves of the tree pruned at each of the ascending `alphas`.

    `as_leaf` has what every node adds if it is a leaf.
    """
    return subtrees.sums_at(tree.shape, links, as_leaf, alphas)
