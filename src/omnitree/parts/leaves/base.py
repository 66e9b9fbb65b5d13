"""What a leaf answers: the part between growing and pruning.

A tree is grown first; then `Leaves.fit` gives every node what it would answer as a leaf, so
that pruning can weigh a node's model against the subtree below it. Cross-validated pruning
grows more trees: what is to be decided once and for all of them, `settled` decides.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node, Rules
from omnitree.growing.part import Part
from omnitree.growing.sample import Sample
from omnitree.tree.tree import Tree

Floats = NDArray[np.float64]


class Leaves(Part):
    """How a leaf answers."""

    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    plain = False  # whether all rows of a leaf get the same answer

    def settled(self, sample: Sample, rules: Rules) -> Leaves:
        """The same with all that is chosen once for a training set chosen."""
        return self

    @abstractmethod
    def fit(self, tree: Tree, sample: Sample, rules: Rules) -> Tree:
        """The tree, grown on a sample, with what its nodes answer as leaves.

        When the time that the rules allow is up, nodes get no more models.
        """

    def answers(self, node: Node, here: NDArray[np.bool_], rows: NDArray) -> Floats:
        """What a leaf of some rows of a node answers for other rows of the sample."""
        outputs = node.target.take(here).outputs(node.weight[here])
        return np.tile(outputs, (len(rows), 1))


class Majority(Leaves):
    """Leaves predict the class shares of their training rows."""

    plain = True

    def fit(self, tree: Tree, sample: Sample, rules: Rules) -> Tree:
        return tree
