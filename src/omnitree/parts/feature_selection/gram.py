"""Searches for least squares: all neighbours of a subset from one matrix.

With the normal equations A w = b of a subset, Ai = A^-1 and Q = X Ai, leaving out column j
moves the scores p = X w to p - Q_j w_j / Ai_jj: one product of a vector for each neighbour
instead of a training. Adding column j moves them to p + R_j g_j / s_jj, where R are the
columns as far as the subset does not explain them, s their products and g the residual's.
Dropping or adding a column for good changes these matrices by one of rank one. O(n m) a
step for all neighbours of a subset, compiled (`_core/gram`). Used with RLS, and with
Fisher's discriminant, whose scores are those of least squares but for a shift.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg

from omnitree._core.linear import gram as kernel
from omnitree.growing.clock import CHOLESKY, INVERSE, check_time
from omnitree.parts.coefficients import RLS, FisherUnit, Machine
from omnitree.parts.coefficients.fisher import shift
from omnitree.parts.coefficients.rls import solve_positive, with_constant
from omnitree.parts.feature_selection.base import (
    Columns,
    Floats,
    SubsetTrial,
    Trials,
    pick,
)

# Above this variance inflation a down-date loses too many digits; invert anew.
_INFLATED = 1e4


class _Inverse:
    """A subset, its weights and A^-1 (the constant first; 0 for columns left out)."""

    def __init__(self, A: Floats, b: Floats, x: Floats, columns: Columns):
        self.columns = columns
        at = np.concatenate([[0], columns + 1])
        # An inverse, and the product of all rows with it.
        check_time(INVERSE * len(at) ** 3 + 2.0 * len(x) * len(A) ** 2)
        inverse = linalg.inv(A[np.ix_(at, at)])
        self.inverse = np.zeros_like(A)
        self.inverse[np.ix_(at, at)] = inverse
        self.diagonal = np.diag(A)
        self.w = self.inverse @ b
        self.scores = x @ self.w
        self.matrix = np.ascontiguousarray((x @ self.inverse)[:, 1:])

    @property
    def steps(self) -> Floats:
        """What a neighbour's column of `matrix` is added with; 0 for no neighbour."""
        own = self.inverse.diagonal()[1:]
        return -np.divide(self.w[1:], own, out=np.zeros_like(own), where=own > 0)

    def move(self, j: int) -> bool:
        """Leave out column j, unless too few digits would be left: then say no."""
        own = self.inverse[j + 1, j + 1]
        if own * self.diagonal[j + 1] > _INFLATED:
            return False
        share = self.inverse[j + 1] / own
        step = self.w[j + 1] / own
        kernel.move_to(self.matrix, self.scores, share[1:], -step, j)
        self.w -= self.inverse[:, j + 1] * step
        self.inverse -= np.outer(self.inverse[:, j + 1], share)
        self.w[j + 1] = self.inverse[j + 1] = self.inverse[:, j + 1] = 0.0
        self.columns = self.columns[self.columns != j]
        return True


class _Residuals:
    """A subset, and columns and target as far as it does not explain them."""

    def __init__(self, A: Floats, b: Floats, z: Floats):
        self.columns = np.arange(0)
        share = A[0, 1:] / A[0, 0]
        self.scores = np.full(len(z), b[0] / A[0, 0])
        self.matrix = z - share
        self.products = A[1:, 1:] - np.outer(A[1:, 0], share)
        self.target = b[1:] - share * b[0]

    @property
    def steps(self) -> Floats:
        """What the column of each neighbour in `matrix` is added with."""
        return self.target / self.products.diagonal()

    def move(self, j: int) -> None:
        """Add column j to the subset."""
        share = self.products[j] / self.products[j, j]
        kernel.move_to(self.matrix, self.scores, share, self.steps[j], j)
        self.target -= share * self.target[j]
        self.products -= np.outer(self.products[j].copy(), share)
        self.products[j, j] = np.inf  # its step is 0 from here on
        self.columns = np.union1d(self.columns, [j])


@dataclass
class GramTrials(Trials):
    """Tests by least squares."""

    equations: tuple[Floats, Floats] = field(kw_only=True)
    _inverse: _Inverse | None = None
    _residuals: _Residuals | None = None

    def __post_init__(self) -> None:
        self.x = with_constant(self.cases.z)

    def of(self, columns: Columns, start: Machine | None = None) -> SubsetTrial:
        """A test on some columns; least squares needs no start."""
        return self.judged(columns, self._machine(columns))

    def _machine(self, columns: Columns) -> Machine:
        A, b = self.equations
        at = np.concatenate([[0], columns + 1])
        check_time(CHOLESKY * len(at) ** 3)
        w = solve_positive(A[np.ix_(at, at)], b[at])
        scores = self.x[:, at] @ w if self._shifted else None
        return self._placed(w[1:], w[0], scores)

    @property
    def _shifted(self) -> bool:
        return isinstance(self.coefficients, FisherUnit)

    def _placed(self, weights: Floats, constant: float, scores: Floats | None):
        """A machine of least-squares weights, cut where the learner cuts."""
        if scores is not None:
            constant += float(shift(self._means(scores), self.cases.class_weight))
        return Machine(weights[None], np.array([constant]))

    def _means(self, values: Floats) -> Floats:
        """Mean of rows or of each column of a matrix, by class."""
        c = self.cases
        one_hot = np.eye(2)[c.y] * (c.weight / c.class_weight[c.y])[:, None]
        return one_hot.T @ values

    def _shifts(self, state: _Inverse | _Residuals, steps: Floats) -> Floats:
        """How far the scores of each neighbour are from where the learner cuts."""
        if not self._shifted:
            return np.zeros(len(steps))
        means = self._means(state.scores)[:, None] + self._means(state.matrix) * steps
        return shift(means, self.cases.class_weight)

    def best_without(self, trial: SubsetTrial, which: Sequence[int]) -> SubsetTrial:
        state = self._inverse
        if state is None or state.columns is not trial.columns:
            state = _Inverse(*self.equations, self.x, trial.columns)
        columns = (np.delete(trial.columns, i) for i in which)
        j, worth, accuracy = self._best(state, trial.columns[list(which)], columns)
        if state.move(j):
            self._inverse, fewer = state, state.columns
            scores = state.scores if self._shifted else None
            machine = self._placed(state.w[fewer + 1], float(state.w[0]), scores)
        else:
            self._inverse, fewer = None, trial.columns[trial.columns != j]
            machine = self._machine(fewer)
        return SubsetTrial(fewer, machine, worth, accuracy)

    def best_with(self, trial: SubsetTrial | None) -> SubsetTrial:
        columns = self.all_columns[:0] if trial is None else trial.columns
        state = self._residuals
        if state is None or state.columns is not columns:
            state = _Residuals(*self.equations, self.cases.z)
            for j in columns:
                check_time()
                state.move(int(j))
        others = np.setdiff1d(self.all_columns, columns)
        more = (np.union1d(columns, [j]) for j in others)
        j, worth, accuracy = self._best(state, others, more)
        state.move(j)
        self._residuals = state
        return SubsetTrial(state.columns, self._machine(state.columns), worth, accuracy)

    def _best(
        self, state: _Inverse | _Residuals, which: Columns, columns: Iterable[Columns]
    ) -> tuple[int, float, float]:
        """The best neighbour, the column moved being one of `which`: worth and accuracy."""
        check_time()
        truth, steps = self.truth, state.steps
        shifts = self._shifts(state, steps)
        total = truth.class_weight
        upper = kernel.count_above(
            state.matrix,
            state.scores,
            steps,
            shifts,
            truth.y,
            truth.weight,
            truth.n_classes,
        )[:, which].T
        counts = np.empty((len(which), 2, len(total)))
        counts[:, 1] = upper
        # What rounding leaves of an empty cell would make an empty branch look used.
        lower = total - upper
        lower[lower <= 1e-12 * total] = 0.0
        counts[:, 0] = lower
        worth = self.worth(counts, columns)
        at = pick(worth)
        j = int(which[at])
        if truth is self.cases:
            right = lower[at, 0] + upper[at, 1]
        else:
            branch = state.scores + state.matrix[:, j] * steps[j] + shifts[j] > 0
            right = truth.weight[branch == self.cases.y].sum()
        return j, float(worth[at]), float(right / total.sum())


def trials_of(*args: Any, **kwargs: Any) -> Trials:
    """Trials as `Trials` takes them, in the fastest form for their coefficients."""
    plain = Trials(*args, **kwargs)
    learner = plain.coefficients
    least_squares = RLS() if isinstance(learner, FisherUnit) else learner
    if (
        isinstance(least_squares, RLS)
        and not least_squares.sequential
        and len(plain.all_columns)
    ):
        A, b = least_squares.normal_equations(plain.cases)
        if _sound(A):
            return GramTrials(*args, **kwargs, equations=(A, b))
    return plain


def _sound(A: Floats) -> bool:
    """Whether A can be inverted with digits to spare."""
    check_time(CHOLESKY * len(A) ** 3)
    try:
        least = np.diag(linalg.cholesky(A)).min() ** 2
    except linalg.LinAlgError:
        return False
    return bool(least > 100 * len(A) * np.finfo(float).eps * np.diag(A).max())
