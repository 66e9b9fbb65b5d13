"""Class counts of held-out rows at the nodes of a tree, and what they lose there.

Of thousands of classes a node sees few: the counts of all classes in all nodes would take
as much room as the tree itself, for each tree of a cross-validation. So only the counts
that are not 0 are held, as cells (node, class). Where a row came to a node it came to the
parent, too: each cell has one above it, and shares that are shrunken towards the parent's
(`Tree.shrunken_shares`) need no other cells. Used by `sizing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree._core.predict import subtrees
from omnitree.growing.target import ClassTarget
from omnitree.tree.answers import decide
from omnitree.tree.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NodeCounts:
    """The class counts that are not 0, by node and then by class.

    Attributes
    ----------
    shape : pair of int
        Nodes and classes of the tree.
    node, label : int arrays (m,)
        Node and class of each count.
    count : float array (m,)
        Of held-out rows.
    own : float array (m,)
        Of the rows that the tree was grown on.
    total : float array (m,)
        Of these, in the node of each count, over all classes.
    above : int array (m,)
        Position of the count of the same class in the parent; of no meaning in the root.
    """

    shape: tuple[int, int]
    node: NDArray[np.int64]
    label: NDArray[np.int64]
    count: Floats
    own: Floats
    total: Floats
    above: NDArray[np.int64]

    @classmethod
    def of(cls, tree: Tree, counts: Floats) -> NodeCounts:
        """From counts (nodes, classes) of held-out rows in a tree."""
        k = counts.shape[1]
        cell = np.flatnonzero(counts)
        node, label = np.divmod(cell, k)
        parent = tree.parent[node].astype(np.int64)
        return cls(
            counts.shape,
            node,
            label,
            counts.ravel()[cell],
            tree.value.ravel()[cell],
            tree.value.sum(axis=1)[node],
            np.searchsorted(cell, parent * k + label),
        )

    def losses_by(self, target: ClassTarget, outputs: Floats) -> Floats:
        """What the rows of every node lose by its answer; see `ClassTarget.losses_by`."""
        answer = decide(outputs, target.costs)[self.node]
        if target.costs is None:
            return self._sums(self.count) - self._sums(
                self.count * (self.label == answer)
            )
        return self._sums(self.count * target.costs[self.label, answer])

    def log_losses(self, shrinkages: Sequence[float]) -> Floats:
        """Log loss of the rows of every node, (shrinkages, nodes), by shrunken shares."""
        m = np.array(shrinkages)
        shares = np.empty((len(m), len(self.node)))
        n_roots = int(np.searchsorted(self.node, 1))
        roots = slice(n_roots)
        k = self.shape[1]
        shares[:, roots] = (self.own[roots] + 1 / k) / (self.total[roots] + 1)
        subtrees.shrunken_at(self.above, self.own, self.total, n_roots, m, shares)
        lost = self.count * np.log(shares)
        return -np.array([self._sums(line) for line in lost])

    def _sums(self, values: Floats) -> np.ndarray:
        """Sums over the classes of every node, in their order."""
        return np.bincount(self.node, values, minlength=self.shape[0])
