"""What a refinement is: it makes a better tree of one that was grown and pruned.

A pruning only says where to cut. A refinement may put other tests into a tree, always
through `Tree.with_splits`, or change what its leaves answer. It sees the same evidence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.pruning.base import Evidence, TreeChange
from omnitree.tree.tree import Tree


class Refinement(TreeChange):
    """Changes a tree after it was grown and pruned."""

    def refine(self, tree: Tree, evidence: Evidence) -> Tree:
        """The better tree."""
        raise AssertionError(f"{type(self).__name__} refines nothing")


class NodeRows:
    """The rows of a sample, by the nodes of a tree that they pass."""

    def __init__(self, tree: Tree, sample: Sample):
        self.sample = sample
        self._start, self._row, self._part = tree.passing(sample.table)

    def at(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The rows that pass a node, and the part of each that does."""
        here = slice(self._start[node], self._start[node + 1])
        return self._row[here], self._part[here]

    def node(self, at: int, rules: Rules) -> Node:
        """The rows that pass a node, as learners see them."""
        rows, part = self.at(at)
        return Node(self.sample, rules, rows, self.sample.weight[rows] * part)
