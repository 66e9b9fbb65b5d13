"""What a leaf answers: the part between growing and pruning.

A tree is grown first; then `Leaves.fit` gives every node what it would answer as a leaf, so
that pruning can weigh a node's model against the subtree below it. Cross-validated pruning
grows more trees: what is to be decided once and for all of them, `settled` decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree.data.table import Table
from omnitree.growing.criterion import Criterion
from omnitree.growing.part import Part
from omnitree.resampling.folds import row_hash
from omnitree.tree.tree import Tree


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Training:
    """The rows that a tree was grown on.

    `expired` says that time is up: nodes without a model then take their parent's.
    """

    table: Table
    y: NDArray  # classes as int32, or a numeric target as float64
    weight: NDArray[np.float64]
    n_classes: int
    seed: int = 0
    expired: Callable[[], bool] = _never
    criterion: Criterion | None = None  # of a numeric target
    groups: NDArray[np.int64] | None = None  # rows that are held out together

    @cached_property
    def row_hash(self) -> NDArray[np.uint64]:
        """What the cells of each row hold, as a number; see `folds.py`."""
        return row_hash(self.table, self.seed)


class Leaves(Part):
    """How a leaf answers."""

    task = "classification"
    plain = False  # whether all rows of a leaf get the same answer

    def settled(self, training: Training) -> Leaves:
        """The same with all that is chosen once for a training set chosen."""
        return self

    def fit(self, tree: Tree, training: Training) -> Tree:
        """The tree with what its nodes answer as leaves."""
        raise AssertionError(f"{type(self).__name__} fits nothing")


class Majority(Leaves):
    """A leaf answers with the class shares of its training rows."""

    plain = True

    def fit(self, tree: Tree, training: Training) -> Tree:
        return tree
