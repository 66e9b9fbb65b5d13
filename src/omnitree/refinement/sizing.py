"""How far a grown tree is cut back, judged by held-out errors and by held-out log loss.

Both go by weakest links (`cost_complexity.py`) and cross-validation, or by a prune set. For
errors, a link is what a subtree saves in training errors per leaf; for log loss, what it
saves in deviance, so that a split stays which leaves all classes as they are and tells
likely rows from unlikely ones. Probabilities are class shares shrunken towards those of the
parent (`Tree.shrunken_shares`), as far as held-out rows advise. What a fold's rows lose is
measured at the size that the other folds choose. Used by the refinement `contest`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from omnitree._core.predict import subtrees
from omnitree.growing.sample import Sample
from omnitree.pruning.base import Evidence, training_errors
from omnitree.pruning.cost_complexity import (
    CostComplexity,
    FoldTree,
    fold_trees,
    steps,
    sums_at,
    weakest_links,
)
from omnitree.refinement.node_counts import NodeCounts
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.tree import Tree

# Rows that the parent's shares may count for; every other one while sizes are compared.
SHRINKAGES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
FEW = SHRINKAGES[1::2]
# Counts that are gone over at a time: those of thousands of classes are many.
CELLS = 2**18
# Leaves of smaller trees that may be added to softmax tests.
SMALLER = (24, 12, 6, 3)


@dataclass(frozen=True)
class Sized:
    """A tree that was cut back, and what such trees answer and lose on held-out rows."""

    tree: Tree
    answers: np.ndarray  # (m, K): class probabilities for the rows that were held out
    losses: HeldOut


@dataclass(frozen=True)
class Grown:
    """A grown tree with the trees that say how large it should be.

    Attributes
    ----------
    tree : Tree
    train : Sample
        What the tree was grown on.
    tested : Sample
        The rows that are held out: `train`, each once, or the prune set.
    folds : list of FoldTree
        A tree grown without each fold; with a prune set the tree itself.
    counts : list of NodeCounts
        Of the held-out rows in these trees.
    """

    tree: Tree
    train: Sample
    tested: Sample
    folds: list[FoldTree]
    counts: list[NodeCounts]

    @classmethod
    def of(
        cls, tree: Tree, evidence: Evidence, n_folds: int, max_folds: int | None
    ) -> Grown:
        """Judge by the prune set, or grow a tree without each of the first folds."""
        train, tested = evidence.train, evidence.held_out
        if tested is None:
            tested = train
            folds = fold_trees(evidence, n_folds, max_folds, in_time=True)
        else:
            links = weakest_links(tree, training_errors(tree, train))
            total, rows = float(train.weight.sum()), np.arange(len(tested))
            folds = [FoldTree(tree, links, total, tested, rows)]
        counts = [NodeCounts.of(f.tree, f.test.counts_at(f.tree)) for f in folds]
        return cls(tree, train, tested, folds, counts)

    @property
    def has_prune_set(self) -> bool:
        """Whether the held-out rows are others than the training rows."""
        return self.tested is not self.train

    def without_costs(self) -> Grown:
        """The same trees, judged as if all wrong answers cost the same."""
        if self.tree.costs is None:
            return self
        tree, *of_folds = (
            t.replace(costs=None) for t in (self.tree, *(f.tree for f in self.folds))
        )
        train = replace(self.train, target=self.train.target.without_costs())
        folds = [
            replace(f, tree=t, links=weakest_links(t, training_errors(t, train)))
            for f, t in zip(self.folds, of_folds, strict=True)
        ]
        tested = train
        if self.has_prune_set:
            tested = replace(self.tested, target=self.tested.target.without_costs())
        return Grown(tree, train, tested, folds, self.counts)

    def by_errors(self, smooth: bool = True) -> Sized:
        """Cut back to the fewest held-out errors, or their least cost."""
        target: Any = self.train.target
        links = weakest_links(self.tree, training_errors(self.tree, self.train))
        links_of = [f.links for f in self.folds]
        alphas, prices = steps(self.tree, links)
        curves = np.array(
            [
                sums_at(
                    f.tree,
                    own,
                    prices * f.total,
                    counts.losses_by(target, f.tree.outputs),
                )
                for f, own, counts in zip(
                    self.folds, links_of, self.counts, strict=True
                )
            ]
        )
        method, counted = CostComplexity(), self.tree.costs is None

        def size(folds: list[int]) -> int:
            weights = [self.folds[k].test.units for k in folds]
            weight = np.concatenate([np.empty(0), *weights])
            return method.choose(curves[folds], weight, counted)

        sizes = [size(folds) for folds in self._choosers]
        shrinkages: list[float | None] = [None] * len(sizes)
        if smooth:
            at = prices[sizes[:-1]][:, None]
            by_shrinkage = self._log_losses(links_of, at)[:, :, 0]
            best = [by_shrinkage[:, own].sum(axis=1).argmin() for own in self._choosers]
            shrinkages = [SHRINKAGES[i] for i in best]
        cut = links <= alphas[sizes[-1]]
        return self._sized(cut, links_of, prices[sizes], shrinkages)

    def by_log_loss(self) -> Sized:
        """Cut back to the least held-out log loss."""
        links, links_of, alphas, prices, losses = self._likelihoods
        sizes: list[int] = []
        shrinkages: list[float | None] = []
        for folds in self._choosers:
            curves = losses[:, folds].sum(axis=1)
            best = int(curves.min(axis=1).argmin())
            smallest = curves[best].min()
            # Of equally good trees the smallest, that is the last.
            equal = curves[best] <= smallest + 1e-9 * abs(smallest)
            sizes.append(int(np.flatnonzero(equal)[-1]))
            shrinkages.append(FEW[best])
        cut = links <= alphas[sizes[-1]]
        return self._sized(cut, links_of, prices[sizes], shrinkages)

    def of_at_most(self, n_leaves: int) -> Sized:
        """Cut back, as by log loss, until no more leaves are left than so many."""
        links, links_of, alphas, prices, losses = self._likelihoods
        leaves = sums_at(self.tree, links, alphas, np.ones(self.tree.n_nodes))
        at = int(np.flatnonzero(leaves <= n_leaves)[0])
        best = [losses[:, folds, at].sum(axis=1).argmin() for folds in self._choosers]
        shrinkages: list[float | None] = [FEW[i] for i in best]
        at_price = np.full(len(best), prices[at])
        return self._sized(links <= alphas[at], links_of, at_price, shrinkages)

    @cached_property
    def _likelihoods(self) -> tuple[np.ndarray, list[np.ndarray], Any, Any, np.ndarray]:
        """Links by log loss, of the tree and of the folds' trees; steps; losses at them.

        Losses of the folds' rows by shrinkage (`FEW`), fold and price.
        """
        links = weakest_links(self.tree, deviances(self.tree.value))
        links_of = [weakest_links(f.tree, deviances(f.tree.value)) for f in self.folds]
        alphas, prices = steps(self.tree, links)
        every_price = np.tile(prices, (len(links_of), 1))
        losses = self._log_losses(links_of, every_price, FEW)
        return links, links_of, alphas, prices, losses

    def leaf(self, smooth: bool = True) -> Sized:
        """Cut back to the root."""
        links_of = [np.zeros(f.tree.n_nodes) for f in self.folds]
        cut = np.ones(self.tree.n_nodes, dtype=bool)
        n = len(self.folds) + 1
        shrinkage = SHRINKAGES[0] if smooth else None
        return self._sized(cut, links_of, np.full(n, np.inf), [shrinkage] * n)

    @property
    def _choosers(self) -> list[list[int]]:
        """The folds that choose for the rows of each fold, all others; then all folds.

        A size that is best for a fold's own rows would flatter it. A single fold, as a
        prune set is, has no others.
        """
        every = list(range(len(self.folds)))
        if len(every) < 2:
            return [every] * (len(every) + 1)
        return [[k for k in every if k != own] for own in every] + [every]

    def _log_losses(
        self,
        links_of: list[np.ndarray],
        prices: np.ndarray,
        shrinkages: Sequence[float] = SHRINKAGES,
    ) -> np.ndarray:
        """Log loss of each fold's rows at its line of `prices`, for each shrinkage."""
        lines = [SHRINKAGES.index(m) for m in shrinkages]
        out = np.zeros((len(lines), *np.shape(prices)))
        for i, (f, lost) in enumerate(zip(self.folds, self._node_losses, strict=True)):
            at = prices[i] * f.total
            for j, line in enumerate(lost[lines]):
                out[j, i] = sums_at(f.tree, links_of[i], at, line)
        return out

    @cached_property
    def _node_losses(self) -> list[np.ndarray]:
        """Log loss of each fold's rows in every node, by `SHRINKAGES`."""
        return [counts.log_losses(SHRINKAGES) for counts in self.counts]

    @cached_property
    def _leaves(self) -> list[np.ndarray | None]:
        """The leaf of each row of each fold, in its tree before it is cut back.

        None where a missing value divides a row, where leaves have models, and where there
        are so many classes that the shares of all nodes take much room.
        """

        def place(f: FoldTree) -> np.ndarray | None:
            if f.tree.models is not None or f.tree.value.size > CELLS:
                return None
            leaves = f.tree.place(f.test.table)
            return leaves if (leaves >= 0).all() else None

        return [place(f) for f in self.folds]

    def _sized(
        self,
        cut: np.ndarray,
        links_of: list[np.ndarray],
        prices: np.ndarray,
        shrinkages: list[float | None],
    ) -> Sized:
        """The tree cut back, and what the folds' trees lose, each at its own price."""
        *of_folds, last = shrinkages
        tree = self.tree.collapse(cut).replace(shrinkage=last)
        tested, k = self.tested, len(tree.classes)
        proba, weight = np.full((len(tested), k), 1 / k), np.zeros(len(tested))
        for f, leaves, links, price, m in zip(
            self.folds, self._leaves, links_of, prices[:-1], of_folds, strict=True
        ):
            is_leaf = links <= price * f.total * (1 + 1e-12)
            if leaves is None:
                pruned = f.tree.collapse(is_leaf).replace(shrinkage=m)
                proba[f.rows] = pruned.predict_value(f.test.table, pruned.outputs)
            else:
                shares = f.tree.class_shares if m is None else f.tree.shrunken_shares(m)
                stops = subtrees.stops(f.tree.shape, is_leaf.view(np.uint8))
                proba[f.rows] = shares[stops[leaves]]
            weight[f.rows] = f.test.weight
        losses = HeldOut.of(weight, proba, tested.target, tested.groups)
        return Sized(tree, proba[weight > 0], losses)


def in_sizes(grown: Grown, sized: Sized) -> Iterator[Sized]:
    """A tree that was cut back, and smaller ones."""
    yield sized
    for n_leaves in SMALLER:
        if n_leaves < sized.tree.n_leaves:
            yield grown.of_at_most(n_leaves)


def deviances(value: np.ndarray) -> np.ndarray:
    """Minus the log likelihood of the class counts of every node."""
    n = max(1, CELLS // value.shape[1])
    if len(value) > n:
        parts = [deviances(value[at : at + n]) for at in range(0, len(value), n)]
        return np.concatenate(parts)
    total = value.sum(axis=1, keepdims=True)
    share = np.divide(value, total, out=np.ones_like(value), where=value > 0)
    return -(value * np.log(share)).sum(axis=1)
