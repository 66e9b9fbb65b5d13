"""A node while the tree grows: which rows it has, with what weight, under what rules.

Rows are entries (row, weight): a fractional instance is a row whose weight here is below
its own. Learners read a node and return a split; the grower makes the children.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree.linear_rows import LinearRows, Standardised
from omnitree.missing import MissingPolicy
from omnitree.stopping import Limits
from omnitree.table import Table


@dataclass(frozen=True)
class Problem:
    """What all nodes of one growth share."""

    table: Table
    y: NDArray[np.int32]
    weight: NDArray[np.float64]
    n_classes: int
    missing: MissingPolicy
    limits: Limits
    seed: int
    feature_costs: NDArray[np.float64] | None = None

    @cached_property
    def standardised(self) -> Standardised:
        """The encoded columns of the table, made when a linear learner first asks."""
        return Standardised.of(self.table, self.weight)


@dataclass(frozen=True)
class Node:
    """Some rows of the training table."""

    problem: Problem
    rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    path: tuple[int, ...] = ()  # branches taken from the root
    paid: frozenset[int] = frozenset()  # features tested above, where features cost

    @property
    def depth(self) -> int:
        """Number of tests above the node."""
        return len(self.path)

    @cached_property
    def y(self) -> NDArray[np.int32]:
        """Class of each row of the node."""
        return self.problem.y[self.rows]

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """Weighted class counts."""
        n = self.problem.n_classes
        counts = np.bincount(self.y, weights=self.weight, minlength=n)
        return counts.astype(np.float64)

    @cached_property
    def linear(self) -> LinearRows:
        """The rows as linear tests see them, with class statistics; made once."""
        return LinearRows.of(
            self.problem.standardised,
            self.rows,
            self.y,
            self.weight,
            self.problem.n_classes,
        )

    @property
    def total(self) -> float:
        """Weight of the node."""
        return float(self.counts.sum())

    def stays_leaf(self) -> bool:
        """Whether a rule forbids to split this node."""
        limits = self.problem.limits
        return bool(
            self.counts.max() == self.total
            or self.total < limits.min_rows - 1e-9
            or (0 <= limits.max_depth <= self.depth)
        )
