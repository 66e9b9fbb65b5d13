"""Leaves in which classes tie: give them a class that no other leaf has (CRUISE).

The class of a leaf is the largest of its counts, the first of equals, wherever a tree is
read. So a tie is broken in the counts themselves, by a part in 10^9, and what breaks it is
saved and exported like any other count.
"""

from __future__ import annotations

import numpy as np

from omnitree.pruning.base import Evidence
from omnitree.refinement.base import Refinement
from omnitree.tree.tree import LEAF, Tree

TIE = 1e-9


class UnassignedTies(Refinement):
    """Break ties in leaves in favour of classes that no other leaf has (CRUISE)."""

    def refine(self, tree: Tree, evidence: Evidence) -> Tree:
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
