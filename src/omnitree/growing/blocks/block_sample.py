"""A sample that stands for the rows of blocks: what it says of a tree, all of them say.

Prunings ask a sample for counts at the nodes of a tree. This one has some rows in memory,
for those who look at rows one by one, and answers questions about counts by a pass over all
rows, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree._core.predict import subtrees
from omnitree.growing.blocks.coder import Coder
from omnitree.growing.blocks.engine import Engine
from omnitree.growing.blocks.statistics import (
    ALL,
    Asked,
    Counts,
    KeyRange,
    Pass,
    from_digits,
)
from omnitree.growing.criterion import SquaredError
from omnitree.growing.sample import Sample
from omnitree.tree.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows of an engine, by their hashes."""

    engine: Engine
    coder: Coder
    scale: float  # weight of a unit
    keys: KeyRange = ALL
    largest: int = 1  # weight of a row, in units

    def sums_at(self, tree: Tree) -> Floats:
        """Statistics of every node, (n_nodes, statistics), in units.

        Of classes their weights; of numbers weight, sum and sum of squares.
        """
        slot = np.arange(tree.n_nodes, dtype=np.int32)
        asked = Asked(tree, slot, self.keys)
        counts = Counts(tree.n_nodes, len(self.coder.classes))
        found: Any = self.engine.map_blocks(Pass(self.coder, [asked], [counts]))
        digits = np.zeros((tree.n_nodes, *counts.shape), dtype=np.int64)
        if found is not None:
            digits = found.each[0]
        # Leaves have them, and a node has the sum of its children: whole numbers below
        # 2^53, so float64 serves.
        value = digits.reshape(tree.n_nodes, -1).astype(np.float64)
        subtrees.add_up(tree.shape, value)
        return np.array(
            from_digits(value.astype(np.int64).reshape(digits.shape)), float
        )

    def counts_at(self, tree: Tree) -> Floats:
        """Class counts at every node."""
        return self.scale * self.sums_at(tree)

    def loss_at(self, tree: Tree) -> Floats:
        """Squared error of every node's constant on the rows there."""
        assert tree.constant is not None
        at = (tree.constant - self.coder.centre) / self.coder.step
        weight, total, squares = self.sums_at(tree).T
        steps = squares - 2 * at * total + at * at * weight
        return self.scale * self.coder.step**2 * np.maximum(steps, 0.0)

    def recounted(self, tree: Tree) -> Tree:
        """The tree with the counts, or weights, constants and losses, of these rows."""
        if len(self.coder.classes):
            return tree.replace(value=self.counts_at(tree))
        weight, total, squares = self.sums_at(tree).T
        there = np.maximum(weight, 1e-300)
        step = self.coder.step
        constant = self.coder.centre + step * (total / there)
        loss = self.scale * step**2 * np.maximum(squares - total**2 / there, 0.0)
        value = self.scale * weight[:, None]
        assert tree.loss is not None and tree.constant is not None
        # What sums do not tell stays as it was, in proportion: losses of models, medians.
        squared = type(self.coder.criterion) is SquaredError
        known = (weight > 0) & squared
        constant = np.where(known, constant, tree.constant)
        if tree.models is not None:
            known &= ~tree.models.there
        share = value[:, 0] / np.maximum(tree.value[:, 0], 1e-300)
        loss = np.where(known, loss, tree.loss * share)
        return tree.replace(value=value, constant=constant, loss=loss)


@dataclass(frozen=True, eq=False)
class BlockSample(Sample):
    """Some rows in memory that stand for all rows of blocks."""

    blocks: Blocks | None = None
    total: float = 0.0  # weight of all rows

    @property
    def units(self) -> Floats:
        """Weights of the rows, so that they add up to those of all."""
        return self.weight * (self.total / self.weight.sum())

    def counts_at(self, tree: Tree) -> Floats:
        """Class counts of all rows at every node of a tree."""
        assert self.blocks is not None
        return self.blocks.counts_at(tree)

    def loss_at(self, tree: Tree) -> Floats:
        """Loss of every node's constant on all rows there."""
        assert self.blocks is not None
        return self.blocks.loss_at(tree)
