"""Reduced-error pruning (Quinlan 1987): cut where held-out rows are served no worse."""

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
    """Cut a subtree if a leaf makes no more errors on held-out rows.

    Parameters
    ----------
    share : float, default=0.2
        Share of the training rows held out, by class, when no prune set is given.
    order : {"bottom_up", "top_down"}, default="bottom_up"
        "bottom_up" compares with the subtree as pruned so far and is optimal; "top_down"
        (LDT05's program) compares with the whole subtree.
    """

    share: float = 0.2
    order: str = "bottom_up"

    @property
    def needs_share(self) -> float:
        return self.share

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        one_of("order", self.order, ("bottom_up", "top_down"))
        rows = held_out_rows(evidence, "reduced-error")
        as_leaf, slack = errors_as_leaves(tree, rows), negligible(rows.weight)
        if self.order == "top_down":
            as_tree = subtree_sums(tree, as_leaf)
            return (tree.kind != LEAF) & (as_leaf <= as_tree + slack)
        errors, cut = as_leaf.copy(), np.zeros(tree.n_nodes, dtype=bool)
        for node in bottom_up(tree):
            below = errors[children(tree, node)].sum()
            cut[node] = as_leaf[node] <= below + slack
            errors[node] = min(as_leaf[node], below)
        return cut
