"""What a refinement is: it makes a better tree of one that was grown and pruned.

A pruning only says where to cut. A refinement may put other tests into a tree, always
through `Tree.with_splits`, or change what its leaves answer. It sees the same evidence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node, Rules
from omnitree.growing.part import Part
from omnitree.growing.sample import Sample
from omnitree.pruning.base import Evidence
from omnitree.tree.tree import Tree


class Refinement(Part):
    """Changes a tree after it was grown and pruned."""

    regresses = False  # whether it refines trees for a numeric target, too

    @property
    def only_cuts(self) -> bool:
        """Whether what is left has the tests and the counts that it was grown with."""
        return False

    @property
    def adds_features(self) -> bool:
        """Whether paths may get tests on further features."""
        return False

    @property
    def needs_share(self) -> float:
        """Share of the training rows to keep apart while growing."""
        return 0.0

    @property
    def takes_rows(self) -> bool:
        """Whether it holds no rows out once there is a prune set."""
        return self.needs_share > 0

    @property
    def resamples(self) -> bool:
        return self.needs_share > 0

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
