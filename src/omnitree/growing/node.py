"""A node while the tree grows: which rows it has, with what weight, under what rules.

Rows are entries (row, weight): a fractional instance is a row whose weight here is below
its own. Learners read a node and return a split; the grower makes the children.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.constraints import Constraints
from omnitree.growing.missing import MissingPolicy
from omnitree.growing.node_columns import Moments, NodeColumns, rest_of
from omnitree.growing.part import number
from omnitree.growing.sample import Sample
from omnitree.growing.stopping import Limits
from omnitree.growing.target import Target
from omnitree.tree.rebuilding import branch_rows
from omnitree.tree.records import NodeRecord
from omnitree.tree.splits import Split

# Columns as they are; with products.
EXPANSIONS = ("linear", "quadratic")
# Columns with curves; with curves and products.
CURVED = ("curves", "blocks")


@dataclass(frozen=True)
class Rules:
    """What holds in all nodes of one growth."""

    missing: MissingPolicy
    limits: Limits = field(default_factory=Limits)
    seed: int = 0
    leaves: Any = None  # what the leaves will hold
    # What each of the user's columns costs.
    feature_costs: NDArray[np.float64] | None = None
    constraints: Constraints | None = None  # what tests must keep

    @property
    def see_features(self) -> bool:
        """Whether it matters which features were tested above a node."""
        return self.feature_costs is not None or self.constraints is not None


@dataclass(frozen=True)
class Node:
    """Some rows of the training table."""

    sample: Sample
    rules: Rules
    rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    path: tuple[int, ...] = ()  # branches taken from the root
    inherited: tuple[Any, ...] = ()  # what nodes above made for those below
    # Features tested above, where the rules ask for them.
    tested: frozenset[int] = frozenset()
    bounds: tuple[float, float] = (-np.inf, np.inf)  # of answers; see `constraints.py`
    # Of the largest child: the moments of its parent, and the other children, so that its
    # own moments can be had by subtraction.
    remainder: tuple[dict[str, Moments], tuple[Node, ...]] = ({}, ())

    @classmethod
    def root(cls, sample: Sample, rules: Rules) -> Node:
        """All rows of a sample."""
        return cls(sample, rules, np.arange(len(sample)), sample.weight)

    @property
    def depth(self) -> int:
        """Number of tests above the node."""
        return len(self.path)

    @cached_property
    def target(self) -> Target:
        """What is predicted for the rows of the node."""
        return self.sample.target.take(self.rows)

    @property
    def y(self) -> NDArray[Any]:
        """Code of the class of each row, or its number."""
        return self.target.y

    @cached_property
    def statistics(self) -> NDArray[np.float64]:
        """Of the target: class counts, or weight, sum and sum of squares."""
        return self.target.statistics(self.weight)

    @cached_property
    def row_statistics(self) -> NDArray[np.float64]:
        """Of each row, (n, s); those of the node are their sum."""
        n = len(self.rows)
        return self.target.statistics_by(np.arange(n), n, self.weight)

    def branch_statistics(self, split: Split) -> NDArray[np.float64]:
        """Of the rows that a test can place, (branches, s)."""
        branch = split.route(self.sample.table, self.rows)
        branch = np.where(branch < 0, split.missing, branch)
        known = np.flatnonzero(branch >= 0)
        target, weight = self.target.take(known), self.weight[known]
        return target.statistics_by(branch[known], split.n_children, weight)

    @cached_property
    def total(self) -> float:
        """Weight of the node."""
        return self.target.total(self.statistics)

    @cached_property
    def answer(self) -> float:
        """What the node would say as a leaf: the share of the second class, or a number."""
        return self.target.answer(self.weight)

    def record(self, parent: int) -> NodeRecord:
        """The node as it goes into the tree, without its test."""
        return self.target.record(parent, self.weight, self.statistics)

    def stays_leaf(self) -> bool:
        """Whether a rule forbids splitting this node."""
        limits = self.rules.limits
        return bool(
            0 <= limits.max_depth <= self.depth
            or self.total < limits.min_rows - 1e-9
            or self.target.is_pure
        )

    def keeps_bounds(self, split: Split) -> bool:
        """Whether a test keeps the order that it must, and the bounds from above."""
        low, high = self.bounds
        answers = [child.answer for child in make_children(self, split) if child.total]
        order = split.direction * np.diff(answers) if split.direction else np.zeros(1)
        return bool(low <= min(answers) and max(answers) <= high and (order >= 0).all())

    def price(self, features: set[int], cost_weight: Any) -> float:
        """What the merit of a test is divided by; columns tested above are paid for."""
        costs = self.rules.feature_costs
        if costs is None or not costs.any():
            return 1.0
        column = self.sample.table.schema.position.tolist()
        unpaid = {column[j] for j in features} - {column[j] for j in self.tested}
        share = costs[sorted(unpaid)].sum() / costs.sum()
        return float((1.0 + share) ** number("cost_weight", cost_weight))

    @cached_property
    def missing_means(self) -> NDArray[np.float64]:
        """Means of the standard columns with missing values, for all expansions."""
        return self.sample.columns("linear").missing_means(self.rows, self.weight)

    @cached_property
    def views(self) -> dict[str, NodeColumns]:
        """What linear tests made of the rows so far, by expansion."""
        return {}

    def view(self, expansion: str) -> NodeColumns:
        """The rows as linear tests see them, with class statistics; made once.

        Rows with a numeric target are of one class; see `NodeColumns.grouped`.
        """
        if expansion not in self.views:
            standard = self.sample.columns(expansion)
            if expansion in CURVED:
                known = [self.views[e] for e in CURVED if e in self.views]
                schema = self.sample.table.schema
                standard = (
                    standard.with_curves_of(known[0].scaling.curves)
                    if known
                    else standard.with_curves(schema, self.rows, self.weight)
                )

            def difference() -> Moments | None:
                parent, siblings = self.remainder
                others = [s.view(expansion).moments for s in siblings]
                return rest_of(parent[expansion], others)

            usable = expansion in self.remainder[0] and not (
                standard.scaling.curves or standard.has_missing
            )
            self.views[expansion] = NodeColumns.of(
                standard,
                self.rows,
                self.target.strata(),
                self.weight,
                self.target.n_classes or 1,
                difference if usable else None,
                self.missing_means,
            )
        return self.views[expansion]

    @property
    def linear(self) -> NodeColumns:
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

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What learners found out about the rows and may ask for again."""
        return {}

    def forget(self) -> None:
        """Drop what takes much room and can be made again."""
        for name in ("searches", "memo", "row_statistics"):
            self.__dict__.pop(name, None)
        for view in self.views.values():
            view.forget()


def make_children(node: Node, split: Split) -> list[Node]:
    """The children of a node under a test, fractional rows included."""
    table = node.sample.table
    of_branch, divided = branch_rows(split, table, node.rows, node.weight)
    tested = node.tested
    if node.rules.see_features:
        tested |= split.features(table.schema)
    handed_on = (*node.inherited, *split.constructed)
    children = [
        Node(
            node.sample,
            node.rules,
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
