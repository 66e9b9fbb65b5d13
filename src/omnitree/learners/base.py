"""What a split learner is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from omnitree.node import Node
from omnitree.parts import Part
from omnitree.splits import Split
from omnitree.tree import Tree

Tick = Callable[[float], bool]


class SplitLearner(Part):
    """Finds one test for one node.

    A learner is a value: its constructor arguments are its whole state and `fit` returns
    what it found, so one learner serves every node of every tree in any thread. Learners
    whose nodes are many and small can set `grows_trees` and grow a whole tree in one call.
    """

    grows_trees = False
    uses_costs = False  # whether it weighs what features cost

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Return the best test for the rows of `node`, or None to leave it a leaf."""
        raise AssertionError(f"{type(self).__name__} has no fit")

    def grows(self, node: Node) -> bool:
        """Whether it grows the whole tree below this node in one call."""
        return self.grows_trees

    def grow(self, node: Node, classes: tuple, tick: Tick | None) -> Tree:
        """Grow the whole tree below `node`; `tick(fraction)` stops it by saying true."""
        raise AssertionError(f"{type(self).__name__} grows no trees")
