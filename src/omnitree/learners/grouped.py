"""The grouped learner: put the classes into two groups and separate these.

Any two-class coefficient learner serves, so that RLS (which BU95 leaves open for more than
two classes) or a perceptron makes binary tests for any number of classes. A grouping is
judged by the merit of the test trained for it, as a partition of the classes themselves.
Used by the preset id-lp; `separate` also by the network learner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.clock import check_time
from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.node_folds import NodeFolds
from omnitree.parts.coefficients import COEFFICIENTS, RLS, Cases, Coefficients, Machine
from omnitree.parts.coefficients.cases import merged
from omnitree.parts.coefficients.rls import solve_positive, with_constant
from omnitree.parts.grouping import GROUPINGS, SelectionGrouping
from omnitree.parts.merit import MERITS, Merit
from omnitree.tree.splits import Split


class Separator(Protocol):
    """What a training for two groups gives."""

    def branches(self, z: Floats) -> NDArray[np.intp]:
        """Branch of each row: 0 for the left group."""


S = TypeVar("S", bound=Separator)
Train = Callable[[Cases, np.random.Generator], S]


class TrainedDiscriminant(Generic[S]):
    """What a grouping asks: tests trained for it, each only once."""

    def __init__(self, node: Node, train: Train[S], merit: Merit, rng):
        self.rows = node.linear
        self.train, self.merit, self.rng = train, merit, rng
        self.whole = Cases.of(node)
        self.cases = merged(self.whole)
        self._known: dict[bytes, tuple[S, float]] = {}

    def test(self, left: NDArray[np.bool_]) -> tuple[S, float]:
        """The test for a grouping and its merit, minus infinity if it separates nothing."""
        key = left.tobytes()
        if key not in self._known:
            found = self._trained(self.cases, left)
            counts = self.cases.counts(found.branches(self.cases.z), 2)
            divides = counts.any(axis=1).all()
            value = float(self.merit(counts)) if divides else -np.inf
            self._known[key] = found, value
        return self._known[key]

    def merits(self, left: NDArray[np.bool_]) -> Floats:
        """Merit of the test for each grouping."""
        return np.array([self.test(groups)[1] for groups in left])

    def sides(self, left: NDArray[np.bool_], classes: NDArray) -> NDArray[np.bool_]:
        """Side of all rows by a test trained on the rows of some classes."""
        c = self.cases
        here = np.isin(c.classes[c.y], classes)
        part = replace(c, z=c.z[here], y=c.y[here], weight=c.weight[here])
        return self._trained(part, left).branches(self.whole.z) == 0

    def _trained(self, cases: Cases, left: NDArray[np.bool_]) -> S:
        check_time()
        return self.train(in_groups(cases, left), self.rng)


class LeastSquaresDiscriminant(TrainedDiscriminant[Machine]):
    """The same for least squares: scores are linear in the targets, so that one solution for
    each class serves all groupings."""

    def __init__(self, node: Node, learner: RLS, merit: Merit, rng):
        super().__init__(node, learner.train, merit, rng)
        cases = self.cases
        self.one_hot = np.eye(cases.n_classes)[cases.y] * cases.weight[:, None]
        x = with_constant(cases.z)
        A, _ = learner.normal_equations(cases)
        targets = int(learner.passes) * x.T @ self.one_hot
        # By the target 1 for a class and 0 for the others, (n, K).
        self.scores = x @ solve_positive(A, targets)

    def merits(self, left: NDArray[np.bool_]) -> Floats:
        groups = left[:, self.cases.classes]
        return grouping_merits(self.scores, self.one_hot, groups, self.merit)


def grouping_merits(
    scores: Floats, one_hot: Floats, left: NDArray[np.bool_], merit: Merit
) -> Floats:
    """Merit of the test for each grouping (C, k), from the scores (n, k) of the classes."""
    check_time(6.0 * scores.size * len(left))
    above = scores @ np.where(left, -1.0, 1.0).T > 0
    sides = [(one_hot.T @ side).T for side in (~above, above)]
    counts = np.stack(sides, axis=1)
    divides = (counts.sum(axis=2) > 0).all(axis=1)
    return np.where(divides, merit(counts), -np.inf)


class PartDiscriminant:
    """Least squares for every class on the training part of a fold, from moments.

    Columns are standardised on the part, as those of a node are (`Cases`).
    """

    def __init__(self, rows: NodeColumns, learner: RLS, merit: Merit):
        self.rows, self.merit = rows, merit
        deviation = np.sqrt(np.diag(rows.scatter) / rows.total)
        scale = np.divide(
            1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0
        )
        used = np.flatnonzero(scale)
        A = np.zeros((len(used) + 1, len(used) + 1))
        A[0, 0] = rows.total
        A[1:, 1:] = (rows.scatter * np.outer(scale, scale))[np.ix_(used, used)]
        size = rows.class_weight[rows.present]
        around = rows.sums[rows.present] - np.outer(size, rows.mean)
        b = np.column_stack([size, (around * scale)[:, used]]).T
        solved = solve_positive(*learner.penalised(A, b))
        weights = np.zeros((rows.n_columns, len(size)))
        weights[used] = solved[1:] * scale[used, None]
        self.weights, self.bias = weights, solved[0] - rows.mean @ weights
        # Of the rows of the part, once they are needed.
        self.scores: Floats = np.empty(0)

    def merits(self, left: NDArray[np.bool_]) -> Floats:
        """Merit of the test for each grouping."""
        groups, present = left[:, self.rows.present], self.rows.present
        return grouping_merits(
            self.scores, self.rows.one_hot[:, present], groups, self.merit
        )


def discriminant(
    node: Node, learner: Coefficients, merit: Merit, rng: np.random.Generator
) -> TrainedDiscriminant:
    """What a grouping asks, in the fastest form for a coefficient learner."""
    if isinstance(learner, RLS) and not learner.sequential:
        return LeastSquaresDiscriminant(node, learner, merit, rng)
    return TrainedDiscriminant(node, learner.train, merit, rng)


def in_groups(cases: Cases, left: NDArray[np.bool_]) -> Cases:
    """Cases with two classes: those of the left group, and the others."""
    group = np.where(left[cases.classes], 0, 1).astype(np.int32)
    return replace(cases, y=group[cases.y], classes=np.arange(2))


def separate(
    node: Node,
    rng: np.random.Generator,
    train: Train[S],
    grouping: Any,
    merit: Any,
    scout: Any = None,
) -> tuple[Cases, S, float] | None:
    """Rows, test and merit of the best grouping found; None if nothing is separated.

    Groupings are compared by tests of the coefficient learner `scout`, if one is given, else
    by those of `train`.
    """
    merit = MERITS.resolve(merit, "classification")
    tests = TrainedDiscriminant(node, train, merit, rng)
    if not len(tests.cases.columns):
        return None
    search: TrainedDiscriminant = tests
    if scout is not None:
        search = TrainedDiscriminant(node, two_class(scout).train, merit, rng)
    left = GROUPINGS.resolve(grouping).find(search)
    if left is None:
        return None
    found, value = tests.test(left)
    return (tests.cases, found, value) if np.isfinite(value) else None


def two_class(coefficients: Any) -> Coefficients:
    """A coefficient learner that can separate two groups."""
    learner: Coefficients = COEFFICIENTS.resolve(coefficients)
    if learner.n_classes not in (None, 2):
        raise ValueError(f"{learner!r} does not separate two groups of classes")
    return learner


class Grouped(SplitLearner):
    """Separate two groups of classes by a linear test.

    Parameters
    ----------
    coefficients : str or Coefficients, default="rls"
        Finds the weights of the test for two groups.
    grouping : str or Grouping, default="exchange"
    merit : str or Merit, default="gain"
        Compares groupings.
    scout : None, str or Coefficients, default=None
        Finds the weights while groupings are compared, where `coefficients` would take too
        long; None: `coefficients`.
    """

    coefficients: str | Coefficients = "rls"
    grouping: Any = "exchange"
    merit: str | Merit = "gain"
    scout: Any = None

    def trial_losses(self, folds: NodeFolds, rng: np.random.Generator) -> Floats:
        """Error on the test part of every fold.

        Least squares are solved for all parts after one pass over the rows.
        """
        learner = two_class(self.coefficients)
        grouping = GROUPINGS.resolve(self.grouping)
        moments = None
        # SelectionGrouping trains on some classes only, whose own moments are not known.
        plain = self.scout is None and not isinstance(grouping, SelectionGrouping)
        if plain and isinstance(learner, RLS) and not learner.sequential:
            moments = folds.moments("linear")
        if moments is None:
            return super().trial_losses(folds, rng)
        merit = MERITS.resolve(self.merit, "classification")
        discriminants = [
            PartDiscriminant(folds.view(d, "linear", own), learner, merit)
            for d, own in enumerate(moments)
        ]
        rows = folds.node.linear
        above = np.zeros((len(discriminants), len(rows.rows)), dtype=bool)
        for d, part in enumerate(discriminants):
            own = rows.lines(part.weights, np.zeros(rows.n_columns)).T + part.bias
            part.scores = own[folds.training(d)]
            if len(part.rows.present) > 1:
                left = grouping.find(part)[part.rows.present]
                above[d] = own @ np.where(left, -1.0, 1.0) > 0
        return folds.errors(above)

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test for two groups of the classes of a node."""
        train = two_class(self.coefficients).train
        best = separate(node, rng, train, self.grouping, self.merit, self.scout)
        if best is None:
            return None
        cases, machine, value = best
        return cases.split(machine, value)
