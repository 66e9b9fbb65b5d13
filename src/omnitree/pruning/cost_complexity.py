"""Cost-complexity pruning (CART): the weakest links first, as far as evidence says.

Growing alpha, the price of a leaf, cuts the links g(t) = (R(t) - R(T_t)) / (leaves - 1) in
a fixed order. `weakest_links` gives each node the alpha at which it becomes a leaf. How far
to go is decided by held-out rows or by cross-validation: V trees are grown on parts of the
rows, pruned at the geometric means of neighbouring alphas and tested on the rest.
"""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

from omnitree.folds import fold_weights
from omnitree.pruning.base import (
    Evidence,
    Pruning,
    Rows,
    children,
    errors_as_leaves,
    held_out_rows,
    subtree_sums,
    training_errors,
)
from omnitree.tree import LEAF, Tree


class CostComplexity(Pruning):
    """CART's pruning.

    Parameters
    ----------
    folds : int, default=10
        Folds of the cross-validation that chooses the size; 0 uses held-out rows.
    share : float, default=0.0
        With ``folds=0``: share of the training rows held out, when no prune set is given.
    se : float, default=0.0
        Take the smallest tree within this many standard errors of the best.
    alpha : float or None, default=None
        Cut at this price of a leaf (in errors per row) instead of choosing one.
    """

    def __init__(
        self,
        folds: int = 10,
        share: float = 0.0,
        se: float = 0.0,
        alpha: float | None = None,
    ):
        self.folds = folds
        self.share = share
        self.se = se
        self.alpha = alpha

    @property
    def needs_share(self) -> float:
        return self.share if self.folds == 0 and self.alpha is None else 0.0

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        links = weakest_links(tree, training_errors(tree, evidence))
        total = tree.value[0].sum()
        if self.alpha is not None:
            return links <= self.alpha * total * (1 + 1e-12)
        inner = tree.kind != LEAF
        alphas = np.unique(np.concatenate([[0.0], links[inner]]))
        if self.folds:
            prices = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
            wrong, n = self._cross_validate(prices / total, evidence)
        else:
            rows = held_out_rows(evidence, "cost-complexity")
            wrong, n = errors_at(tree, links, alphas, rows), rows.weight.sum()
        best = wrong.min()
        error = np.sqrt(best * max(1 - best / n, 0.0))
        # Of equally good trees the smallest, that is the last.
        chosen = np.flatnonzero(wrong <= best + self.se * error + 1e-9)[-1]
        return links <= alphas[chosen]

    def _cross_validate(self, prices: np.ndarray, evidence: Evidence):
        rows = evidence.train
        held = fold_weights(rows.table, rows.y, rows.weight, self.folds, evidence.seed)

        def one(k: int) -> np.ndarray:
            train = rows.weighing(rows.weight - held[:, k])
            test = rows.weighing(held[:, k])
            if not len(train.y) or not len(test.y):  # fewer rows than folds
                return np.zeros(len(prices))
            tree = evidence.regrow(train)
            scaled = prices * train.weight.sum()
            fold = replace(evidence, train=train)
            links = weakest_links(tree, training_errors(tree, fold))
            return errors_at(tree, links, scaled, test)

        wrong = Parallel(n_jobs=evidence.n_jobs, prefer="threads")(
            delayed(one)(k) for k in range(self.folds)
        )
        return np.sum(wrong, axis=0), rows.weight.sum()


def weakest_links(tree: Tree, cost: np.ndarray) -> np.ndarray:
    """Alpha, in errors, at which each node becomes a leaf; infinite in leaves.

    `cost` has the errors of each node as a leaf. Alpha is never below that of a node's
    parent: what lies under a cut is gone.
    """
    below = subtree_sums(tree, cost)
    leaves = subtree_sums(tree, distinct_leaves(tree))
    alpha = np.full(tree.n_nodes, np.inf)
    gone = np.zeros(tree.n_nodes, dtype=bool)

    def link(node: int) -> float:
        # Below 0 where models err more often than their parent's: these go first.
        return (cost[node] - below[node]) / max(leaves[node] - 1, 1)

    inner = np.flatnonzero(tree.kind != LEAF).tolist()
    heap = [(link(node), node) for node in inner]
    heapq.heapify(heap)
    now = 0.0
    while heap:
        value, node = heapq.heappop(heap)
        if gone[node] or abs(value - link(node)) > 1e-12 * (1 + abs(value)):
            continue  # cut with an ancestor, or out of date
        now = max(now, value)
        stack = [node]
        while stack:
            at = stack.pop()
            if tree.kind[at] != LEAF and not gone[at]:
                gone[at] = True
                alpha[at] = now
                part = children(tree, at)
                stack.extend(range(part.start, part.stop))
        lost, saved = leaves[node] - 1, cost[node] - below[node]
        above = int(tree.parent[node])
        while above >= 0:
            leaves[above] -= lost
            below[above] += saved
            heapq.heappush(heap, (link(above), above))
            above = int(tree.parent[above])
    return alpha


def distinct_leaves(tree: Tree) -> np.ndarray:
    """1 for every leaf; of siblings with the model of their parent, for the first only."""
    out = np.ones(tree.n_nodes)
    if tree.models is None:
        return out
    counted = set()
    for leaf in np.flatnonzero(tree.kind == LEAF).tolist():
        above = int(tree.parent[leaf])
        if above >= 0 and tree.models.same(leaf, above):
            out[leaf] = above not in counted
            counted.add(above)
    return out


def errors_at(
    tree: Tree, links: np.ndarray, alphas: np.ndarray, rows: Rows
) -> np.ndarray:
    """Errors on `rows` of the tree pruned at each of the ascending `alphas`."""
    errors = errors_as_leaves(tree, rows)
    now = subtree_sums(tree, errors)
    inner = np.flatnonzero(tree.kind != LEAF)
    # Parents last among equal links: a parent's cut then overrides its children's.
    order = inner[np.lexsort((-inner, links[inner]))]
    out = np.empty(len(alphas))
    at = 0
    for i, alpha in enumerate(alphas):
        while at < len(order) and links[order[at]] <= alpha * (1 + 1e-12):
            node = int(order[at])
            change = errors[node] - now[node]
            while node >= 0 and change:
                now[node] += change
                node = int(tree.parent[node])
            at += 1
        out[i] = now[0]
    return out
