"""What is predicted: the class of each row, or a number.

A target belongs to some rows and knows what a node needs of them, whatever the task:
statistics that add up over parts of the rows, what a leaf answers, what answers lose, and
how folds are stratified. Nodes, prunings, leaves and held-out losses ask it, so they are
written once for both tasks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.criterion import Criterion, Scan, SquaredError
from omnitree.tree.answers import decide
from omnitree.tree.records import NodeRecord

Floats = NDArray[np.float64]


class Target(ABC):
    """What is predicted for each of some rows.

    Attributes
    ----------
    task : {"classification", "regression"}
    y : array (n,)
        Codes of classes, or numbers.
    classes : array
        The classes in the order of their codes; none where numbers are predicted.
    costs : float array (n_classes, n_classes) or None
        What an answer (column) costs for a row of a class (line); None: all alike.
    squared : bool
        Whether the squared error counts, so that the statistics say what a node loses.
    """

    task: str
    classes: NDArray[Any]
    costs: Floats | None
    squared: bool = False

    @property
    @abstractmethod
    def y(self) -> NDArray[Any]:
        """Codes of classes as int32, or numbers as float64."""

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where numbers are predicted."""
        return len(self.classes)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes as a tree records them."""
        return tuple(self.classes.tolist())

    @property
    def is_pure(self) -> bool:
        """Whether all rows have the same value."""
        return len(self) == 0 or bool(self.y.min() == self.y.max())

    @abstractmethod
    def take(self, rows: NDArray) -> Target:
        """The target of some of the rows."""

    def without_costs(self) -> Target:
        """The same, with all wrong answers alike."""
        return self

    def of_present(self) -> Target:
        """The same rows among the classes that they have, and no others."""
        return self

    @abstractmethod
    def strata(self) -> NDArray[np.int32]:
        """Codes of what folds are to have equal shares of."""

    @abstractmethod
    def statistics(self, weight: Floats) -> Floats:
        """What nodes are judged by; that of parts adds up to that of the whole."""

    @abstractmethod
    def statistics_by(
        self, branch: NDArray[np.intp], n_branches: int, weight: Floats
    ) -> Floats:
        """Statistics of the rows of each branch, (branches, statistics)."""

    @abstractmethod
    def total(self, statistics: Floats) -> float:
        """Weight of the rows with these statistics, one or several (..., statistics)."""

    @abstractmethod
    def answer(self, weight: Floats) -> float:
        """What a leaf answers: the share of the second class, or a number."""

    @abstractmethod
    def outputs(self, weight: Floats) -> Floats:
        """What a leaf answers in full: class shares, or one number."""

    @abstractmethod
    def losses(self, outputs: Floats) -> Floats:
        """What each row loses by an answer: class probabilities (n, K), or (n, 1)."""

    @abstractmethod
    def log_likelihood(self, loss: float, total: float) -> float:
        """Of rows of some weight, from their deviance or the loss of a tree."""

    @abstractmethod
    def record(self, parent: int, weight: Floats, statistics: Floats) -> NodeRecord:
        """A node of these rows as it goes into the tree, without its test."""


@dataclass(frozen=True, eq=False)
class ClassTarget(Target):
    """Classes, by their codes; the statistics are class counts.

    Examples
    --------
    >>> target = ClassTarget(np.array([0, 1, 1], dtype=np.int32), np.array(["a", "b"]))
    >>> target.statistics(np.array([1.0, 2.0, 0.5]))
    array([1. , 2.5])
    """

    codes: NDArray[np.int32]
    classes: NDArray[Any]
    costs: Floats | None = None
    task = "classification"

    @property
    def y(self) -> NDArray[np.int32]:
        return self.codes

    def take(self, rows: NDArray) -> ClassTarget:
        return ClassTarget(self.codes[rows], self.classes, self.costs)

    def without_costs(self) -> ClassTarget:
        return replace(self, costs=None)

    def strata(self) -> NDArray[np.int32]:
        return self.codes

    def statistics(self, weight: Floats) -> Floats:
        counts = np.bincount(self.codes, weights=weight, minlength=len(self.classes))
        return counts.astype(np.float64, copy=False)

    def statistics_by(self, branch, n_branches, weight):
        k = len(self.classes)
        flat = np.bincount(branch * k + self.codes, weight, n_branches * k)
        return flat.astype(np.float64, copy=False).reshape(n_branches, k)

    def total(self, statistics: Floats) -> float:
        return float(statistics.sum())

    def answer(self, weight: Floats) -> float:
        return float(self.outputs(weight)[1])

    def outputs(self, weight: Floats) -> Floats:
        counts = self.statistics(weight)
        return counts / counts.sum()

    def losses(self, outputs: Floats) -> Floats:
        answers = decide(outputs, self.costs)
        if self.costs is None:
            return (answers != self.codes).astype(np.float64)
        return self.costs[self.codes, answers]

    def losses_by(self, counts: Floats, outputs: Floats) -> Floats:
        """What rows with these class counts lose by an answer, line by line (n, K)."""
        answers = decide(outputs, self.costs)
        lost = counts if self.costs is None else counts @ self.costs
        own = np.take_along_axis(lost, answers[:, None], axis=1)[:, 0]
        return counts.sum(axis=1) - own if self.costs is None else own

    def of_present(self) -> ClassTarget:
        there = np.bincount(self.codes, minlength=len(self.classes)) > 0
        if there.all():
            return self
        present = np.flatnonzero(there)
        codes = (np.cumsum(there) - 1)[self.codes]
        costs = None if self.costs is None else self.costs[np.ix_(present, present)]
        return ClassTarget(codes.astype(np.int32), self.classes[present], costs)

    def log_likelihood(self, loss: float, total: float) -> float:
        return -loss

    def record(self, parent: int, weight: Floats, statistics: Floats) -> NodeRecord:
        return NodeRecord(parent, statistics)


@dataclass(frozen=True, eq=False)
class NumericTarget(Target):
    """Numbers; the statistics are weight, sum and sum of squares.

    Examples
    --------
    >>> from omnitree.growing.criterion import SquaredError
    >>> target = NumericTarget(np.array([1.0, 2.0, 4.0]), SquaredError())
    >>> target.statistics(np.array([1.0, 2.0, 1.0])), target.answer(np.ones(3))
    (array([ 4.,  9., 25.]), 2.3333333333333335)
    """

    values: Floats
    criterion: Criterion
    task = "regression"
    classes = np.empty(0)
    costs = None

    @property
    def y(self) -> Floats:
        return self.values

    def take(self, rows: NDArray) -> NumericTarget:
        return NumericTarget(self.values[rows], self.criterion)

    def strata(self) -> NDArray[np.int32]:
        return np.zeros(len(self.values), dtype=np.int32)

    def statistics(self, weight: Floats) -> Floats:
        sums = weight * self.values
        return np.array([weight.sum(), sums.sum(), sums @ self.values])

    def statistics_by(self, branch, n_branches, weight):
        sums = weight * self.values
        terms = weight, sums, sums * self.values
        columns = [np.bincount(branch, term, n_branches) for term in terms]
        return np.stack(columns, axis=1).astype(np.float64)

    def total(self, statistics: Floats) -> float:
        return float(statistics[..., 0].sum())

    def answer(self, weight: Floats) -> float:
        return float(self.criterion.constant(self.values, weight))

    def outputs(self, weight: Floats) -> Floats:
        return np.array([self.answer(weight)])

    def losses(self, outputs: Floats) -> Floats:
        return self.criterion.losses(self.values - outputs[:, 0])

    def log_likelihood(self, loss: float, total: float) -> float:
        return self.criterion.log_likelihood(max(loss, 0.0), total)

    @property
    def squared(self) -> bool:  # type: ignore[override]
        return type(self.criterion) is SquaredError

    def loss(self, answer: float, weight: Floats) -> float:
        """What all rows lose by one answer."""
        return float(weight @ self.criterion.losses(self.values - answer))

    def scan(self, weight: Floats, min_branch: float) -> Scan:
        """A search for the best cut with an answer on either side."""
        return self.criterion.scan(self.values, weight, min_branch)

    def record(self, parent: int, weight: Floats, statistics: Floats) -> NodeRecord:
        value = statistics[:1]
        if not len(self):
            return NodeRecord(parent, value, constant=0.0, loss=0.0)
        constant = self.answer(weight)
        loss = self.loss(constant, weight)
        return NodeRecord(parent, value, constant=constant, loss=loss)
