"""A node while the tree grows: which rows it has, with what weight, under what rules.

Rows are entries (row, weight): a fractional instance is a row whose weight here is below
its own. Learners read a node and return a split; the grower makes the children.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.table import Table
from omnitree.growing.column_source import Quadratic, Source, Standardised
from omnitree.growing.constraints import Constraints
from omnitree.growing.criterion import Criterion
from omnitree.growing.linear_rows import LinearRows, Moments, rest_of
from omnitree.growing.missing import MissingPolicy
from omnitree.growing.part import number
from omnitree.growing.stopping import Limits
from omnitree.resampling.folds import row_hash
from omnitree.tree.rebuilding import branch_rows
from omnitree.tree.records import NodeRecord
from omnitree.tree.splits import Constructed, Split

EXPANSIONS = ("linear", "quadratic")


@dataclass(frozen=True)
class Problem:
    """What all nodes of one growth share."""

    table: Table
    y: NDArray  # classes as int32, or a numeric target as float64
    weight: NDArray[np.float64]
    n_classes: int  # with a numeric target: 2, above a node's mean or not
    missing: MissingPolicy
    limits: Limits
    seed: int
    feature_costs: NDArray[np.float64] | None = None
    criterion: Criterion | None = None  # of a numeric target
    leaves: Any = None  # what the leaves will hold (a part of `leaves/`)
    constraints: Constraints | None = None
    class_costs: NDArray[np.float64] | None = None  # true classes x answers
    groups: NDArray[np.int64] | None = None  # rows that are held out together

    @cached_property
    def standardised(self) -> Standardised:
        """The encoded columns of the table, in units of their own deviations."""
        return Standardised.of(self.table, self.weight)

    @cached_property
    def row_hash(self) -> NDArray[np.uint64]:
        """What the cells of each row hold, as a number; see `folds.py`."""
        return row_hash(self.table, self.seed)

    def groups_of(self, rows: NDArray) -> NDArray[np.int64] | None:
        """Groups of some rows, where there are any."""
        return None if self.groups is None else self.groups[rows]

    @cached_property
    def _sources(self) -> dict[str, Source]:
        return {}

    @cached_property
    def shared(self) -> dict[Any, Any]:
        """What a learner keeps for the other nodes of this growth."""
        return {}

    def source(self, expansion: str) -> Source:
        """Columns for linear tests, made when a learner first asks."""
        if expansion not in self._sources:
            if expansion == "linear":
                self._sources[expansion] = self.standardised
            else:
                self._sources[expansion] = Quadratic.of(self.standardised, self.table)
        return self._sources[expansion]


@dataclass(frozen=True)
class Node:
    """Some rows of the training table."""

    problem: Problem
    rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    path: tuple[int, ...] = ()  # branches taken from the root
    inherited: tuple[Constructed, ...] = ()  # features that nodes above constructed
    tested: frozenset[int] = frozenset()  # features tested above
    bounds: tuple[float, float] = (-np.inf, np.inf)  # of answers; see `constraints.py`
    # Of the largest child: the moments of its parent, and the other children, so that its
    # own moments can be had by subtraction.
    remainder: tuple[dict[str, Moments], tuple[Node, ...]] = ({}, ())

    @property
    def depth(self) -> int:
        """Number of tests above the node."""
        return len(self.path)

    @cached_property
    def y(self) -> NDArray[np.int32]:
        """Class of each row; of a numeric target, whether it is above the mean."""
        if self.problem.criterion is None:
            return self.problem.y[self.rows]
        mean = np.average(self.target, weights=self.weight)
        return (self.target > mean).astype(np.int32)

    @cached_property
    def target(self) -> NDArray[np.float64]:
        """Numeric target of each row of the node."""
        return self.problem.y[self.rows]

    def record(self, parent: int) -> NodeRecord:
        """The node as it goes into the tree, without its test."""
        criterion = self.problem.criterion
        if criterion is None:
            return NodeRecord(parent, self.counts)
        if not len(self.rows):
            return NodeRecord(parent, np.zeros(1), constant=0.0, loss=0.0)
        constant = criterion.constant(self.target, self.weight)
        loss = float(self.weight @ criterion.losses(self.target - constant))
        return NodeRecord(parent, np.array([self.total]), constant=constant, loss=loss)

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """Weighted class counts."""
        n = self.problem.n_classes
        counts = np.bincount(self.y, weights=self.weight, minlength=n)
        return counts.astype(np.float64)

    @cached_property
    def answer(self) -> float:
        """What the node would say as a leaf: the share of the second class, or a number."""
        criterion = self.problem.criterion
        if criterion is not None:
            return float(criterion.constant(self.target, self.weight))
        return float(self.counts[1] / self.counts.sum())

    def keeps_bounds(self, split: Split) -> bool:
        """Whether a test keeps the order that it must, and the bounds from above."""
        low, high = self.bounds
        answers = [child.answer for child in make_children(self, split) if child.total]
        order = split.direction * np.diff(answers) if split.direction else np.zeros(1)
        return bool(low <= min(answers) and max(answers) <= high and (order >= 0).all())

    def price(self, features: set[int], cost_weight: Any) -> float:
        """What the merit of a test is divided by; columns tested above are paid for."""
        costs = self.problem.feature_costs
        if costs is None or not costs.any():
            return 1.0
        column = self.problem.table.schema.position.tolist()
        unpaid = {column[j] for j in features} - {column[j] for j in self.tested}
        share = costs[sorted(unpaid)].sum() / costs.sum()
        return float((1.0 + share) ** number("cost_weight", cost_weight))

    @cached_property
    def views(self) -> dict[str, LinearRows]:
        """What linear tests made of the rows so far, by expansion."""
        return {}

    def view(self, expansion: str) -> LinearRows:
        """The rows as linear tests see them, with class statistics; made once."""
        if expansion not in self.views:
            source = self.problem.source(expansion)

            def difference() -> Moments | None:
                parent, siblings = self.remainder
                others = [s.view(expansion).moments for s in siblings]
                return rest_of(parent[expansion], others)

            # Groups by a numeric target are the node's own: no sums are inherited.
            usable = (
                expansion in self.remainder[0]
                and not source.has_gaps
                and self.problem.criterion is None
            )
            self.views[expansion] = LinearRows.of(
                source,
                self.rows,
                self.y,
                self.weight,
                self.problem.n_classes,
                difference if usable else None,
            )
        return self.views[expansion]

    @property
    def linear(self) -> LinearRows:
        """The rows with the encoded columns as they are."""
        return self.view("linear")

    @property
    def columns(self) -> NDArray[np.float64]:
        """The encoded columns of the rows, (n, p), for tests over many columns.

        Numbers, and +1/-1 for each category, with mean 0 and deviation 1 over the training
        table; missing values are the means of the node.
        """
        return self.linear.columns

    def project(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the columns weighted by `w`, for each row."""
        return self.linear.lines(w[:, None], np.zeros(len(w)))[0]

    def split_at(
        self, w: NDArray[np.float64], threshold: float, merit: float
    ) -> Split | None:
        """The test `project(w) <= threshold`, in the table's own units.

        None where no column with a weight varies in the training table.
        """
        return self.linear.split(w, threshold, merit)

    @property
    def moments(self) -> dict[str, Moments]:
        """Moments that were computed here, by expansion."""
        return {
            name: view.moments
            for name, view in self.views.items()
            if "moments" in view.__dict__
        }

    @cached_property
    def searches(self) -> dict[float, Any]:
        """Searches for cuts under a numeric target made so far, by least branch."""
        return {}

    def forget(self) -> None:
        """Drop what takes much room and can be made again."""
        self.searches.clear()
        for view in self.views.values():
            view.forget()

    @property
    def total(self) -> float:
        """Weight of the node."""
        if self.problem.criterion is None:
            return float(self.counts.sum())
        return float(self.weight.sum())

    def stays_leaf(self) -> bool:
        """Whether a rule forbids to split this node."""
        limits = self.problem.limits
        if self.problem.criterion is None:
            pure = self.counts.max() == self.total
        else:
            pure = self.target.min() == self.target.max()
        return bool(
            pure
            or self.total < limits.min_rows - 1e-9
            or (0 <= limits.max_depth <= self.depth)
        )


def make_children(node: Node, split: Split) -> list[Node]:
    """The children of a node under a test, fractional rows included."""
    table, schema = node.problem.table, node.problem.table.schema
    of_branch, divided = branch_rows(split, table, node.rows, node.weight)
    tested = node.tested | split.features(schema)
    handed_on = (*node.inherited, *split.constructed)
    children = [
        Node(
            node.problem,
            node.rows[part.at],
            part.weight,
            (*node.path, b),
            tuple(feature.take(part.at) for feature in handed_on),
            tested,
            node.bounds,
        )
        for b, part in enumerate(of_branch)
    ]
    moments = {} if divided else node.moments
    largest = max(range(len(children)), key=lambda b: len(children[b].rows))
    if split.direction:
        children = _bounded(children, split.direction)
    if moments:
        others = tuple(c for b, c in enumerate(children) if b != largest)
        children[largest] = replace(children[largest], remainder=(moments, others))
    return children


def _bounded(children: list[Node], direction: int) -> list[Node]:
    """Two children with a bound halfway between their answers."""
    low, high = children[0].bounds
    middle = (children[0].answer + children[1].answer) / 2
    bounds = [(low, middle), (middle, high)][::direction]
    return [replace(c, bounds=b) for c, b in zip(children, bounds, strict=True)]
