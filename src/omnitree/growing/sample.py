"""Rows with what is predicted for them: what a tree is grown, pruned and tested on.

A sample also keeps what is made of its rows once and read by many: their hashes, and the
columns that tests over several of them see. Used by all that grows, refines, prunes or
tests trees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.table import Table
from omnitree.growing.standard_columns import StandardColumns
from omnitree.growing.target import Target
from omnitree.resampling.folds import deal, row_hash
from omnitree.resampling.held_out import by_group
from omnitree.tree.tree import Tree

# Expansions of the columns that have products of two.
WITH_PRODUCTS = ("quadratic", "blocks")


@dataclass(frozen=True, eq=False)
class Sample:
    """Encoded rows with their target and weights."""

    table: Table
    target: Target
    weight: NDArray[np.float64]  # (n,)
    # (n,): rows of one group are held out together.
    groups: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def y(self) -> NDArray[Any]:
        """Codes of classes, or numbers."""
        return self.target.y

    def take(self, rows: NDArray) -> Sample:
        """Some of the rows, in order."""
        table = Table(self.table.values[rows], self.table.schema)
        groups = self.groups_of(rows)
        return Sample(table, self.target.take(rows), self.weight[rows], groups)

    def part(self, rows: NDArray[np.intp]) -> Sample:
        """As `take`, where other parts will be taken, too: they share what is sorted."""
        taken = self.take(rows)
        return replace(taken, table=replace(taken.table, part_of=(self.table, rows)))

    def groups_of(self, rows: NDArray) -> NDArray[np.int64] | None:
        """Groups of some rows, where there are any."""
        return None if self.groups is None else self.groups[rows]

    @property
    def units(self) -> NDArray[np.float64]:
        """Weights of the units of evidence: the rows or, where there are any, groups."""
        return by_group(self.weight, self.groups)

    def counts_at(self, tree: Tree) -> NDArray[np.float64]:
        """Class counts of the rows at every node of a tree."""
        return tree.class_counts(self.table, self.y, self.weight)

    def loss_at(self, tree: Tree) -> NDArray[np.float64] | None:
        """Loss of every node's constant on the rows there; None: see row by row."""
        return None

    def folds(self, n_folds: float, seed: int) -> NDArray[np.int64]:
        """Fold of each row; see `deal`.

        1 / share as `n_folds` puts that share of the rows into fold 0.
        """
        ties = self.weight, self.y
        key, strata = row_hash(self.table, seed), self.target.strata()
        return deal(key, strata, n_folds, seed, ties, self.groups)

    def row_hash(self, seed: int) -> NDArray[np.uint64]:
        """What the cells of each row hold, as a number; see `folds.py`."""
        if seed not in self._hashes:
            self._hashes[seed] = row_hash(self.table, seed)
        return self._hashes[seed]

    @cached_property
    def _hashes(self) -> dict[int, NDArray[np.uint64]]:
        return {}

    @cached_property
    def known_models(self) -> dict[Any, Any]:
        """Models of leaves, and their losses, that were fitted while tests were found."""
        return {}

    @cached_property
    def known_fits(self) -> dict[Any, Any]:
        """Fits that led to a choice for all leaves, and will be asked for once more."""
        return {}

    @cached_property
    def standardised(self) -> StandardColumns:
        """The encoded columns of the table, in units of their own deviations."""
        return StandardColumns.of(self.table, self.weight)

    @property
    def deviations(self) -> NDArray[np.float64]:
        """Deviations (p,) of the encoded columns."""
        return self.standardised.scaling.std

    @cached_property
    def curved(self) -> StandardColumns:
        """The same with a curve for each number, whose knots are those of all rows."""
        rows = np.arange(len(self))
        return self.standardised.with_curves(
            self.table.schema, rows, self.weight
        ).kept()

    @cached_property
    def _with_products(self) -> StandardColumns:
        return self.standardised.with_products(self.table.schema)

    def columns(self, expansion: str) -> StandardColumns:
        """Columns for tests over many of them, made when a learner first asks.

        Without those of curves, which each node makes for itself (`Node.view`).
        """
        products = expansion in WITH_PRODUCTS
        return self._with_products if products else self.standardised

    def n_columns(self, expansion: str) -> int:
        """Number of columns, which need not be made for it; without those of curves."""
        if expansion in WITH_PRODUCTS:
            return self.standardised.n_with_products(self.table.schema)
        return self.standardised.n_columns
