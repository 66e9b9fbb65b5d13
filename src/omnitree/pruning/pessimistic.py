"""Pessimistic pruning (Quinlan 1987): training errors with a continuity correction."""

from __future__ import annotations

import numpy as np

from omnitree.growing.part import number
from omnitree.pruning.base import Evidence, Pruning, plain_errors, subtree_sums
from omnitree.tree.tree import LEAF, Tree


class Pessimistic(Pruning):
    """Cut a subtree if the corrected error of a leaf is not clearly larger.

    Every leaf is charged half an error. A subtree with N rows, E corrected errors goes if
    e + 1/2 <= E + se * sqrt(E (N - E) / N), e being the errors of the leaf that would
    replace it. Top-down, on the training rows.

    Parameters
    ----------
    se : float, default=1
        Standard errors of the subtree's corrected errors that a leaf may have more; 1 is
        Quinlan's rule, 0 its correction alone, which cuts less.
    """

    se: float = 1.0

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        n = tree.value.sum(axis=1)
        as_leaf = plain_errors(tree, evidence.train) + 0.5
        as_tree = subtree_sums(tree, as_leaf)
        room = np.maximum(as_tree * (n - as_tree), 0.0)
        error = np.sqrt(np.divide(room, n, out=np.zeros_like(n), where=n > 0))
        allowed = as_tree + number("se", self.se) * error
        return (tree.kind != LEAF) & (as_leaf <= allowed + 1e-9)
