"""How far a grown tree is cut back, judged by held-out errors and by held-out log loss.

Both go by weakest links and cross-validation (`cost_complexity.py`). For errors, a link is
what a subtree saves in training errors a leaf; for log loss, what it saves in deviance, so
that a split stays which leaves all answers as they are and tells likely rows from unlikely
ones. Probabilities are class shares shrunken towards those of the parent
(`Tree.shrunken_shares`), as far as held-out rows advise. What a fold's rows lose is measured
at the size that the other folds choose. Used by the pruning `contest`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from omnitree.pruning.base import Evidence, as_leaves
from omnitree.pruning.cost_complexity import (
    CostComplexity,
    FoldTree,
    fold_trees,
    steps,
    sums_at,
    weakest_links,
)
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.tree import Tree

# Rows that the parent's shares may count for; every other one while sizes are compared.
SHRINKAGES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
FEW = SHRINKAGES[1::2]


@dataclass(frozen=True)
class Sized:
    """A tree that was cut back, and what such trees lose on held-out rows."""

    tree: Tree
    held_out: HeldOut


@dataclass(frozen=True)
class Grown:
    """A grown tree with a tree for each fold, and the counts of held-out rows there."""

    tree: Tree
    evidence: Evidence
    folds: list[FoldTree]
    counts: list[np.ndarray]  # of each fold's tree, nodes x classes

    @classmethod
    def of(
        cls, tree: Tree, evidence: Evidence, n_folds: int, most: int | None = None
    ) -> Grown:
        """Grow a tree without each of the folds, or the first few."""
        folds = fold_trees(evidence, n_folds, most)
        counts = [
            f.tree.recount(f.test.table, f.test.y, f.test.weight).value for f in folds
        ]
        return cls(tree, evidence, folds, counts)

    def without_costs(self) -> Grown:
        """The same trees, judged as if all wrong answers cost the same."""
        if self.tree.costs is None:
            return self
        tree, *of_folds = (
            t.replace(costs=None) for t in (self.tree, *(f.tree for f in self.folds))
        )
        folds = [
            replace(f, tree=t, links=weakest_links(t, as_leaves(t, t.value)))
            for f, t in zip(self.folds, of_folds, strict=True)
        ]
        train = self.evidence.train
        train = replace(train, target=train.target.without_costs())
        evidence = replace(self.evidence, train=train)
        return Grown(tree, evidence, folds, self.counts)

    def by_errors(self, se: float, smooth: bool = True) -> Sized:
        """Cut back to the fewest held-out errors, or their least cost."""
        links = weakest_links(self.tree, as_leaves(self.tree, self.tree.value))
        own = [f.links for f in self.folds]
        alphas, prices = steps(self.tree, links)
        curves = np.array(
            [
                sums_at(f.tree, links, prices * f.total, as_leaves(f.tree, counts))
                for f, links, counts in zip(self.folds, own, self.counts, strict=True)
            ]
        )
        method, counted = CostComplexity(se=se), self.tree.costs is None

        def size(folds: list[int]) -> int:
            weights = [self.folds[k].test.units for k in folds]
            weight = np.concatenate([np.empty(0), *weights])
            return method.choose(curves[folds], weight, counted)

        sizes = [size(folds) for folds in self._choosers]
        shrinkages: list[float | None] = [None] * len(sizes)
        if smooth:
            at = prices[sizes[:-1]]
            losses = np.array(
                [self._log_losses(own, at[:, None], m)[:, 0] for m in SHRINKAGES]
            )
            least = [losses[:, folds].sum(axis=1).argmin() for folds in self._choosers]
            shrinkages = [SHRINKAGES[i] for i in least]
        return self._sized(links <= alphas[sizes[-1]], own, prices[sizes], shrinkages)

    def by_log_loss(self) -> Sized:
        """Cut back to the least held-out log loss."""
        links = weakest_links(self.tree, deviances(self.tree.value))
        own = [weakest_links(f.tree, deviances(f.tree.value)) for f in self.folds]
        alphas, prices = steps(self.tree, links)
        every = np.tile(prices, (len(own), 1))
        losses = np.array([self._log_losses(own, every, m) for m in FEW])
        sizes: list[int] = []
        shrinkages: list[float | None] = []
        for folds in self._choosers:
            curves = losses[:, folds].sum(axis=1)
            best = int(curves.min(axis=1).argmin())
            least = curves[best].min()
            # Of equally good trees the smallest, that is the last.
            sizes.append(
                int(np.flatnonzero(curves[best] <= least + 1e-9 * abs(least))[-1])
            )
            shrinkages.append(FEW[best])
        return self._sized(links <= alphas[sizes[-1]], own, prices[sizes], shrinkages)

    def leaf(self, smooth: bool = True) -> Sized:
        """Cut back to the root."""
        everywhere = [np.zeros(f.tree.n_nodes) for f in self.folds]
        cut = np.ones(self.tree.n_nodes, dtype=bool)
        n = len(self.folds) + 1
        shrinkage = SHRINKAGES[0] if smooth else None
        return self._sized(cut, everywhere, np.full(n, np.inf), [shrinkage] * n)

    @property
    def _choosers(self) -> list[list[int]]:
        """The folds that choose for the rows of each fold, all others; then all folds.

        A size that is best for a fold's own rows would flatter it.
        """
        every = list(range(len(self.folds)))
        if len(every) < 2:
            return [every] * (len(every) + 1)
        return [[k for k in every if k != own] for own in every] + [every]

    def _log_losses(
        self, links: list[np.ndarray], prices: np.ndarray, m: float
    ) -> np.ndarray:
        """Log loss of each fold's rows at its line of `prices`."""
        total = np.zeros(np.shape(prices))
        for i, (f, counts) in enumerate(zip(self.folds, self.counts, strict=True)):
            lost = -(counts * np.log(f.tree.shrunken_shares(m))).sum(axis=1)
            total[i] = sums_at(f.tree, links[i], prices[i] * f.total, lost)
        return total

    def _sized(
        self,
        cut: np.ndarray,
        links: list[np.ndarray],
        prices: np.ndarray,
        shrinkages: list[float | None],
    ) -> Sized:
        """The tree cut back, and what the folds' trees lose, each at its own price."""
        *of_folds, last = shrinkages
        tree = self.tree.collapse(cut).replace(shrinkage=last)
        train, k = self.evidence.train, len(tree.classes)
        proba, weight = np.full((len(train), k), 1 / k), np.zeros(len(train))
        parts = zip(self.folds, links, prices[:-1], of_folds, strict=True)
        for f, own, price, m in parts:
            pruned = f.tree.collapse(own <= price * f.total * (1 + 1e-12))
            pruned = pruned.replace(shrinkage=m)
            proba[f.rows] = pruned.predict_value(f.test.table, pruned.outputs)
            weight[f.rows] = f.test.weight
        held_out = HeldOut.of(weight, proba, train.y, tree.costs, train.groups)
        return Sized(tree, held_out)


def deviances(value: np.ndarray) -> np.ndarray:
    """Minus the log likelihood of the class counts of every node."""
    total = value.sum(axis=1, keepdims=True)
    share = np.divide(value, total, out=np.ones_like(value), where=value > 0)
    return -(value * np.log(share)).sum(axis=1)
