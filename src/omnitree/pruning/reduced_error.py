"""Reduced-error pruning (Quinlan 1987): cut where a leaf serves held-out rows no worse.

A subtree and a leaf often make equally many errors, since few held-out rows reach a node, or
none. Quinlan's method cuts such a subtree. Two papers describe pruning in words that keep
it: it "is replaced with a leaf if it lowers the estimated classification error" (Brodley &
Utgoff 1995, section 5), or if it is found to "perform worse than the simple leaf" (Yildiz &
Alpaydin 2005, section 1.4). What they ran cuts it: the former name Quinlan's algorithm for
their experiments (6.2, 6.3.1), the program of the latter cuts where the leaf is right on as
many rows or more, and only so do trees have the published sizes. So the presets of both cut
ties (`benchmarks/results/pruning_ties.md`).
"""

from __future__ import annotations

import numpy as np

from omnitree.growing.part import one_of
from omnitree.pruning.base import (
    Evidence,
    Pruning,
    bottom_up,
    children,
    errors_as_leaves,
    held_out_rows,
    negligible,
    subtree_sums,
)
from omnitree.tree.tree import LEAF, Tree


class ReducedError(Pruning):
    """Cut a subtree if a leaf makes no more errors on held-out rows, or fewer.

    Parameters
    ----------
    share : float, default=0.2
        Share of the training rows held out, by class, when no prune set is given.
    order : {"bottom_up", "top_down"}, default="bottom_up"
        "bottom_up" compares with the subtree as pruned so far and is optimal; "top_down"
        (LDT05's program) compares with the whole subtree.
    ties : {"cut", "keep"}, default="cut"
        What becomes of a subtree that makes as many errors as a leaf would.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> for ties in ("cut", "keep"):
    ...     clf = TreeClassifier(pruning=ReducedError(ties=ties), random_state=0)
    ...     print(ties, clf.fit(X, y).tree_.n_leaves)
    cut 5
    keep 10
    """

    share: float = 0.2
    order: str = "bottom_up"
    ties: str = "cut"

    @property
    def needs_share(self) -> float:
        return self.share

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        one_of("order", self.order, ("bottom_up", "top_down"))
        rows = held_out_rows(evidence, "reduced-error")
        cut_ties = one_of("ties", self.ties, ("cut", "keep")) == "cut"
        as_leaf, slack = errors_as_leaves(tree, rows), negligible(rows.weight)
        # As a subtree's errors are known but for rounding, so is a tie.
        slack = slack if cut_ties else -slack
        if self.order == "top_down":
            as_tree = subtree_sums(tree, as_leaf)
            return (tree.kind != LEAF) & (as_leaf <= as_tree + slack)
        errors, cut = as_leaf.copy(), np.zeros(tree.n_nodes, dtype=bool)
        for node in bottom_up(tree):
            below = errors[children(tree, node)].sum()
            cut[node] = as_leaf[node] <= below + slack
            errors[node] = min(as_leaf[node], below)
        return cut
