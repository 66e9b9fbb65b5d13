"""Softmax discriminants: multinomial logistic regression with a ridge penalty.

Minimises  mean(-log p_y) + penalty / 2 |W|^2  over the weights W of all classes, in the
directions in which the rows vary (`Whitened`: one eigendecomposition, of columns or of rows,
whichever are fewer; it serves every penalty and every fold). In coordinates scaled by the
curvature of the loss L-BFGS needs few steps. Fits to several weightings of the same rows,
such as the folds of a cross-validation, go side by side: one product with the rows serves
all. Used by the learner `softmax`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from omnitree.growing.clock import EIGH, check_time
from omnitree.growing.node_columns import Floats
from omnitree.parts.discriminants.softmax_metric import Spread, regress, standardised

# Share of the largest variance below which a direction is rounding.
FLAT = 1e-10
# Rows times columns times classes times fits up to which fits go further: small penalties
# need it, and it takes next to no time.
SMALL = 2_000_000


@dataclass(frozen=True)
class Standardised:
    """Columns of mean 0 and of chosen deviations over the rows of some weight."""

    z: Floats  # (n, p): 0 in columns that do not vary
    share: Floats  # (n,): of each row in the weight
    unit: Floats  # (p,): what the columns were multiplied by; 0 where they do not vary
    mean: Floats  # (p,)

    @classmethod
    def of(
        cls, columns: Floats, weight: Floats, spread: Floats | None = None
    ) -> Standardised | None:
        """With the deviations `spread`, by default 1; None if no column varies."""
        total = weight.sum()
        mean = weight @ columns / total
        centred = columns - mean
        std = np.sqrt(weight @ centred**2 / total)
        size = np.sqrt(weight @ columns**2 / total)
        varies = std > np.maximum(1e-9 * size, np.finfo(float).tiny)
        if not varies.any():
            return None
        unit = np.where(varies, 1 / np.where(varies, std, 1.0), 0.0)
        if spread is not None:
            unit *= spread
        return cls(centred * unit, weight / total, unit, mean)

    @cached_property
    def _shared(self) -> Floats:
        return self.z * np.sqrt(self.share)[:, None]

    @cached_property
    def _second(self) -> Floats:
        """Second moments (p, p)."""
        n, p = self.z.shape
        check_time(2.0 * n * p * p)
        return self._shared.T @ self._shared

    def spread(self, scale: Floats) -> Spread:
        """The columns times `scale`."""
        scores = np.ones((len(self.z), len(scale) + 1))
        np.multiply(self.z, scale, out=scores[:, :-1])
        second = self._second * scale * scale[:, None]
        return Spread(scores, second, self.unit * scale, self.mean)

    def whitened(self) -> Whitened:
        """The principal directions of the columns."""
        n, p = self.z.shape
        size = float(min(n, p))
        check_time(size**2 * max(n, p) + EIGH * size**3 + 2.0 * n * p * size)
        if n < p:
            e, v = linalg.eigh(self._shared @ self._shared.T)
        else:
            e, v = linalg.eigh(self._second)
        keep = e > FLAT * e[-1]
        e, v = e[keep], v[:, keep]
        if n < p:
            v = self._shared.T @ (v / np.sqrt(e))
        scores = np.ones((n, len(e) + 1))
        np.matmul(self.z, v, out=scores[:, :-1])
        return Whitened(scores, e, v, self.unit, self.mean)


@dataclass(frozen=True)
class Whitened:
    """Rows along the principal directions of their columns, each in its own unit."""

    scores: Floats  # (n, r + 1): the rows along the directions; the last column is 1
    variance: Floats  # (r,): of the scores
    directions: Floats  # (p, r): of unit length, in columns of deviation 1
    unit: Floats  # (p,): 1 / deviation of the columns; 0 where they do not vary
    mean: Floats  # (p,)

    @classmethod
    def of(
        cls, columns: Floats, weight: Floats, spread: Floats | None = None
    ) -> Whitened | None:
        """Directions of all columns that vary; None if none does.

        Columns get the deviations `spread`, by default 1.
        """
        standardised = Standardised.of(columns, weight, spread)
        return None if standardised is None else standardised.whitened()

    def fit(
        self,
        y: NDArray[np.int32],
        weight: Floats,
        k: int,
        penalty: float,
        start: Floats | None = None,
        tolerance: float | None = None,
        most: int = 30,
    ) -> Floats:
        """Weights (m, k, r + 1) of the scores, one fit for each column of `weight` (n, m).

        Classes are 0 .. k-1, rows may weigh nothing. `start` holds weights to begin with.
        The few steps of the defaults are enough to compare penalties; without a tolerance,
        fits to few rows go five times as near and take up to twice as many.
        """
        if tolerance is None:
            tolerance = 1e-2
            if self.scores.size * k * weight.shape[1] <= SMALL:
                tolerance, most = 2e-3, 2 * most
        inverse = np.append(1 / (0.25 * self.variance + penalty), 1.0)
        more = (penalty, start, tolerance, most)
        w = regress(self.scores, y, weight, k, *more, inverse=inverse)
        return w - w.mean(axis=1, keepdims=True)

    def standardised(self, columns: Floats) -> Floats:
        """Columns of any rows in their units, and a last one of 1: (n, p + 1)."""
        return standardised(columns, self.mean, self.unit)

    def with_rows(self, columns: Floats) -> Whitened:
        """Other rows along the same directions."""
        scores = self.standardised(columns)
        scores = np.hstack([scores[:, :-1] @ self.directions, scores[:, -1:]])
        return replace(self, scores=scores)

    def sums(self, w: Floats) -> Floats:
        """What the weights (m, k, r + 1) make of every row: (m, k, n)."""
        return w @ self.scores.T

    def in_columns(self, w: Floats) -> Floats:
        """Weights (m, k, p + 1) of the standardised columns."""
        out = np.empty((*w.shape[:2], len(self.mean) + 1))
        np.matmul(w[..., :-1], self.directions.T, out=out[..., :-1])
        out[..., -1] = w[..., -1]
        return out

    def functions(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights (k, p) and biases (k,) of the columns for weights (k, r + 1)."""
        weights = w[:, :-1] @ self.directions.T * self.unit
        return weights, w[:, -1] - weights @ self.mean
