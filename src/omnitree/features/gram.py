"""Searches for least squares: all neighbours of a subset from one matrix.

With the normal equations A w = b of a subset, Ai = A^-1 and Q = X Ai, leaving out column j
moves the scores p = X w to p - Q_j w_j / Ai_jj: one product of a vector for each neighbour
instead of a training. Adding column k moves them to p + R_k g_k / s_kk, where R are the
columns as far as the subset does not explain them, s their products and g the residual's.
Dropping or adding a column for good changes these matrices by one of rank one. O(n m) a
step for all neighbours of a subset of m columns. Used with RLS.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from omnitree.coefficients import RLS, Machine
from omnitree.coefficients.rls import solve_positive, with_constant
from omnitree.features.base import Columns, Floats, Trial, Trials, pick

# Above this variance inflation a down-date loses too many digits; invert anew.
_INFLATED = 1e4


@dataclass(frozen=True)
class _Inverse:
    """A^-1 of a subset, the constant first, and X A^-1."""

    columns: Columns
    inverse: Floats
    product: Floats

    def without(self, i: int) -> _Inverse:
        """The same with the i-th column left out."""
        j = i + 1
        kept = np.delete(np.arange(len(self.inverse)), j)
        share = self.inverse[j, kept] / self.inverse[j, j]
        return _Inverse(
            np.delete(self.columns, i),
            self.inverse[np.ix_(kept, kept)] - np.outer(self.inverse[kept, j], share),
            self.product[:, kept] - np.outer(self.product[:, j], share),
        )


@dataclass(frozen=True)
class _Residuals:
    """Columns and target as far as a subset does not explain them."""

    columns: Columns
    scores: Floats  # of the rows by the subset
    rest: Floats  # (n, m)
    schur: Floats  # (m, m)
    gain: Floats  # (m,)

    def adding(self, j: int) -> _Residuals:
        """The same with column j in the subset."""
        share = self.schur[j] / self.schur[j, j]
        return _Residuals(
            np.union1d(self.columns, [j]),
            self.scores + self.rest[:, j] * (self.gain[j] / self.schur[j, j]),
            self.rest - np.outer(self.rest[:, j], share),
            self.schur - np.outer(self.schur[j], share),
            self.gain - share * self.gain[j],
        )


class GramTrials(Trials):
    """Tests by least squares."""

    def __init__(self, *args: Any, equations: tuple[Floats, Floats], **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.matrix, self.right = equations
        self.x = with_constant(self.cases.z)
        self.one_hot = np.zeros((self.truth.n_classes, len(self.x)))
        self.one_hot[self.truth.y, np.arange(len(self.x))] = self.cases.weight
        self._inverse: _Inverse | None = None
        self._residuals: _Residuals | None = None

    def of(self, columns: Columns, start: Machine | None = None) -> Trial:
        """A test on some columns; least squares needs no start."""
        at = np.concatenate([[0], columns + 1])
        w = solve_positive(self.matrix[np.ix_(at, at)], self.right[at])
        return self.judged(columns, Machine(w[None, 1:], w[:1]))

    def best_without(self, trial: Trial, which: Sequence[int]) -> Trial:
        state = self._inverse_of(trial.columns)
        w = np.concatenate([trial.machine.bias, trial.machine.weights[0]])
        j = np.asarray(which) + 1
        change = w[j] / state.inverse[j, j]
        scores = (self.x[:, np.concatenate([[0], trial.columns + 1])] @ w)[:, None]
        above = scores > state.product[:, j] * change
        columns = (np.delete(trial.columns, i) for i in which)
        at = which[pick(self._worths(above, columns))]
        return self.of(np.delete(trial.columns, at))

    def best_with(self, trial: Trial | None) -> Trial:
        state = self._residuals_of(
            self.all_columns[:0] if trial is None else trial.columns
        )
        others = np.setdiff1d(self.all_columns, state.columns)
        change = state.gain[others] / state.schur[others, others]
        above = state.scores[:, None] + state.rest[:, others] * change > 0
        columns = (np.union1d(state.columns, [j]) for j in others)
        at = others[pick(self._worths(above, columns))]
        return self.of(np.union1d(state.columns, [at]))

    def _worths(self, above: np.ndarray, columns: Iterable[Columns]) -> Floats:
        upper = (self.one_hot @ above).T
        total = self.one_hot.sum(axis=1)
        lower = total - upper
        # What rounding leaves of an empty cell would make an empty branch look used.
        lower = np.where(lower > 1e-12 * total, lower, 0.0)
        return self.worth(np.stack([lower, upper], axis=1), columns)

    def _inverse_of(self, columns: Columns) -> _Inverse:
        last = self._inverse
        if last is not None and len(last.columns) == len(columns) + 1:
            gone = np.flatnonzero(~np.isin(last.columns, columns))
            j = gone[0] + 1
            diagonal = self.matrix[last.columns[gone[0]] + 1, last.columns[gone[0]] + 1]
            if len(gone) == 1 and last.inverse[j, j] * diagonal < _INFLATED:
                self._inverse = last.without(int(gone[0]))
                return self._inverse
        at = np.concatenate([[0], columns + 1])
        inverse = linalg.inv(self.matrix[np.ix_(at, at)])
        self._inverse = _Inverse(columns, inverse, self.x[:, at] @ inverse)
        return self._inverse

    def _residuals_of(self, columns: Columns) -> _Residuals:
        last = self._residuals
        if last is None or len(np.setdiff1d(last.columns, columns)):
            A, b = self.matrix, self.right
            share = A[0, 1:] / A[0, 0]
            last = _Residuals(
                columns[:0],
                np.full(len(self.x), b[0] / A[0, 0]),
                self.cases.z - share,
                A[1:, 1:] - np.outer(A[1:, 0], share),
                b[1:] - share * b[0],
            )
        for j in np.setdiff1d(columns, last.columns):
            last = last.adding(int(j))
        self._residuals = last
        return last


def trials_of(*args: Any, **kwargs: Any) -> Trials:
    """Trials as `Trials` takes them, in the fastest form for their coefficients."""
    plain = Trials(*args, **kwargs)
    learner = plain.coefficients
    if isinstance(learner, RLS) and not learner.sequential and len(plain.all_columns):
        A, b = learner.normal_equations(plain.cases)
        least = np.linalg.eigvalsh(A)[0]
        if least > 100 * len(A) * np.finfo(float).eps * np.diag(A).max():
            return GramTrials(*args, **kwargs, equations=(A, b))
    return plain
