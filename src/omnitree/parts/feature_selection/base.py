"""What a feature selection is, and the tests it tries.

A selection searches among subsets of a node's encoded columns. It asks `Trials` for tests:
of some columns, the best with one column less, the best with one more. `Trials` trains them
with any coefficient learner and judges them by any merit; `gram.py` has the form that gets
all neighbours of a subset from one matrix of normal equations. Used by the multivariate
learner and by multivariate tree pruning.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate.general import merits_of
from omnitree.growing.clock import check_time, leaving
from omnitree.growing.part import Part
from omnitree.parts.coefficients import Cases, Coefficients, Machine
from omnitree.parts.merit import Merit
from omnitree.parts.merit.base import CUSTOM

Floats = NDArray[np.float64]
Columns = NDArray[np.intp]
Price = Callable[[Columns], float]

# Discriminants of a row that are compared in the time in which a cell is gone over, and
# cells that are gone over in the time of an entry of a table branches x classes.
DISCRIMINANTS, ENTRY = 12, 1.5


@dataclass(frozen=True)
class SubsetTrial:
    """A test on some of the columns."""

    columns: Columns  # positions among the columns of the cases, ascending
    machine: Machine
    # Its merit, divided by its price where features cost something; minus infinity
    # where it sends all rows one way (BU95's discrimination criterion).
    worth: float
    accuracy: float  # share of the rows whose branch is their class

    @property
    def discriminates(self) -> bool:
        """Whether two branches or more get rows."""
        return self.worth > -np.inf


def better(a: float, b: float) -> bool:
    """Whether one worth is greater than another by more than rounding."""
    return a > b if b == -np.inf else a > b + 1e-12 * max(1.0, abs(b))


def pick(worth: Sequence[float] | Floats) -> int:
    """Position of the greatest worth, the first of those equal but for rounding."""
    worth = np.asarray(worth)
    best = worth.max()
    if best == -np.inf:
        return 0
    return int((worth >= best - 1e-12 * max(1.0, abs(best))).argmax())


def dispersion(machine: Machine) -> Floats:
    """How much each column contributes: its weight's size, or how far its weights differ.

    For a machine, the mean squared distance between the weights of each pair of classes
    (BU95 4.3, LMDT91 2.4).
    """
    w = machine.weights
    if len(w) == 1:
        return np.abs(w[0])
    return 2.0 * ((w - w.mean(axis=0)) ** 2).sum(axis=0) / (len(w) - 1)


def least_dispersed(trial: SubsetTrial) -> list[int]:
    """Positions of a test's columns, the least dispersed first."""
    spread = dispersion(trial.machine)
    # To six digits: what is equal but for rounding (a column twice) stays in order.
    spread = np.round(spread / max(spread.max(), np.finfo(float).tiny), 6)
    return np.argsort(spread, kind="stable").tolist()


@dataclass
class Trials:
    """Tests on subsets of the columns of a node."""

    cases: Cases  # what machines are trained on
    coefficients: Coefficients
    merit: Merit
    rng: np.random.Generator
    # The same rows with their true classes, where the classes of `cases` are groups.
    true_classes: Cases | None = None
    price: Price | None = None  # what a test on some columns costs

    @property
    def truth(self) -> Cases:
        """The rows with the classes that merits look at."""
        return self.cases if self.true_classes is None else self.true_classes

    @property
    def all_columns(self) -> Columns:
        """Positions of all columns."""
        return np.arange(len(self.cases.columns))

    def underfits(self, n_columns: int) -> bool:
        """BU95's criterion: a test over n columns needs 2 (n + 1) distinct rows."""
        return self.cases.n_distinct < 2 * (n_columns + 1)

    def of(self, columns: Columns, start: Machine | None = None) -> SubsetTrial:
        """A test on some columns; training goes on from `start`, where the learner can."""
        # With thousands of classes it takes seconds to judge a machine, and again to drop
        # the branches that no row takes.
        n_cells = 2 * self.cells_of_branches() + ENTRY * self.cases.n_classes**2
        check_time(n_cells=n_cells)
        cases = self.cases.take(columns)
        with leaving(n_cells):
            if start is None or not self.coefficients.resumes:
                machine = self.coefficients.train(cases, self.rng)
            else:
                machine = self.coefficients.train(cases, self.rng, start)  # type: ignore[call-arg]
        return self.judged(columns, machine, cases.z)

    def cells_of_branches(self) -> float:
        """Cells that are gone over while a machine answers for all rows."""
        return len(self.cases.y) * self.cases.n_classes / DISCRIMINANTS

    def judged(
        self, columns: Columns, machine: Machine, z: Floats | None = None
    ) -> SubsetTrial:
        """A machine with what it is worth; `z` are its columns, if at hand."""
        branch = machine.branches(self.cases.z[:, columns] if z is None else z)
        counts = self.truth.counts(branch, max(2, len(machine.bias)))
        right = self.cases.weight[branch == self.cases.y].sum()
        worth = self.worth(counts[None], [columns])[0]
        return SubsetTrial(
            columns, machine, worth, float(right / self.cases.weight.sum())
        )

    def worth(self, counts: Floats, columns: Iterable[Columns]) -> Floats:
        """Worth of tests with the given tables (tests, branches, classes)."""
        if self.merit.code == CUSTOM:
            worth = self.merit(counts)
        else:
            worth = merits_of(self.merit.code, np.ascontiguousarray(counts))
        if self.price is not None:
            worth = worth / [self.price(c) for c in columns]
        used = (counts > 0).any(axis=2).sum(axis=1)
        return np.where(used > 1, worth, -np.inf)

    def best_without(self, trial: SubsetTrial, which: Sequence[int]) -> SubsetTrial:
        """The best test without one of the columns at `which`; of equals the first goes."""
        trials = [self.of(np.delete(trial.columns, i)) for i in which]
        return trials[pick([t.worth for t in trials])]

    def best_with(self, trial: SubsetTrial | None) -> SubsetTrial:
        """The best test with one column more; of one column, if there is no test yet."""
        columns = self.all_columns[:0] if trial is None else trial.columns
        others = np.setdiff1d(self.all_columns, columns)
        trials = [self.of(np.union1d(columns, [j])) for j in others]
        return trials[pick([t.worth for t in trials])]


class Selection(Part):
    """Decides which columns a test looks at."""

    @abstractmethod
    def select(self, trials: Trials) -> SubsetTrial | None:
        """The test to use, or None where none is worth it."""


class AllFeatures(Selection):
    """No selection: all features."""

    def select(self, trials: Trials) -> SubsetTrial | None:
        trial = trials.of(trials.all_columns)
        return trial if trial.discriminates else None
