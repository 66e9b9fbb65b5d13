"""The grouped learner: put the classes into two groups and separate these.

Any two-class coefficient learner serves, so that RLS (which BU95 leaves open for more than
two classes) or a perceptron makes binary tests for any number of classes. A grouping is
worth the merit of the test trained for it, as a partition of the classes themselves. Used by
the preset id-lp; `separate` also by the network learner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from omnitree.coefficients import COEFFICIENTS, RLS, Cases, Coefficients, Machine
from omnitree.coefficients.instances import merged
from omnitree.coefficients.rls import solve_positive, with_constant
from omnitree.grouping import GROUPINGS
from omnitree.learners.base import SplitLearner
from omnitree.linear_rows import Floats
from omnitree.merit import MERITS, Merit
from omnitree.node import Node
from omnitree.splits import Split


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
        sign = np.where(left[:, self.cases.classes], -1.0, 1.0)
        above = self.scores @ sign.T > 0
        sides = [(self.one_hot.T @ side).T for side in (~above, above)]
        counts = np.stack(sides, axis=1)
        divides = (counts.sum(axis=2) > 0).all(axis=1)
        return np.where(divides, self.merit(counts), -np.inf)


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
    merit = MERITS.resolve(merit)
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

    def __init__(
        self, coefficients="rls", grouping="exchange", merit="gain", scout=None
    ):
        self.coefficients = coefficients
        self.grouping = grouping
        self.merit = merit
        self.scout = scout

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test for two groups of the classes of a node."""
        train = two_class(self.coefficients).train
        best = separate(node, rng, train, self.grouping, self.merit, self.scout)
        if best is None:
            return None
        cases, machine, value = best
        return cases.split(machine, value)
