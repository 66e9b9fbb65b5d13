"""Leaves in which classes tie: give them a class that no other leaf has (CRUISE).

The class of a leaf is the largest of its counts, the first of equals, wherever a tree is
read. So a tie is broken in the counts themselves, by a part in 10^9, and what breaks it is
saved and exported like any other count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from omnitree.pruning.base import Evidence, Pruning
from omnitree.tree.tree import LEAF, Tree

TIE = 1e-9


class UnassignedTies(Pruning):
    """Prune by another method, then break ties for classes that no leaf has yet (CRUISE).

    Parameters
    ----------
    method : Pruning or None, default=None
        What prunes first; None prunes nothing.
    """

    def __init__(self, method: Any = None):
        self.method = method

    @property
    def needs_share(self) -> float:
        return 0.0 if self.method is None else self.method.needs_share

    @property
    def takes_rows(self) -> bool:
        return self.method is not None and self.method.takes_rows

    @property
    def resamples(self) -> bool:
        return self.method is not None and self.method.resamples

    @property
    def only_cuts(self) -> bool:
        return False

    @property
    def adds_features(self) -> bool:
        return self.method is not None and self.method.adds_features

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        if self.method is None:
            return np.zeros(tree.n_nodes, dtype=bool)
        return self.method.cut(tree, evidence)

    def prune(self, tree: Tree, evidence: Evidence) -> Tree:
        if self.method is not None:
            tree = self.method.prune(tree, evidence)
        return break_ties(tree)


def break_ties(tree: Tree) -> Tree:
    """The tree with ties of leaves broken, in the order of the nodes."""
    value = tree.value.copy()
    leaves = np.flatnonzero((tree.kind == LEAF) & (value.sum(axis=1) > 0))
    most = value[leaves].max(axis=1, keepdims=True)
    tied = value[leaves] >= most * (1 - TIE / 2)
    assigned = set(tree.labels[leaves[tied.sum(axis=1) == 1]].tolist())
    for leaf, equals in zip(leaves, tied, strict=True):
        classes = np.flatnonzero(equals)
        if len(classes) > 1:
            chosen = next((k for k in classes if k not in assigned), classes[0])
            assigned.add(int(chosen))
            value[leaf, chosen] *= 1 + TIE
    return tree.replace(value=value)
