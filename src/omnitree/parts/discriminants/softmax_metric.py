"""Softmax discriminants over correlated columns, such as those that curves are sums of.

As `softmax.py` minimises, without turning the rows to their principal directions: L-BFGS
takes its steps in the metric of a quarter of the columns' second moments plus the penalty,
which is near the curvature of the loss (`_core/linear/softmax.pyx`). For another penalty, of
all columns or of some, a Cholesky factor is found anew, and nothing else. Used by the
learner `softmax` with the expansions "curves" and "blocks".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from omnitree._core.linear.softmax import descend
from omnitree.growing.clock import CHOLESKY, check_time, tick
from omnitree.growing.node_columns import Floats

# Share of the mean of the metric's diagonal that is added to it: columns may add up to 0.
FLOOR = 1e-7


@dataclass(frozen=True)
class Spread:
    """Rows with columns of chosen deviations, and how these vary together."""

    scores: Floats  # (n, p + 1): the columns, of mean 0; the last is 1
    second: Floats  # (p, p): second moments
    unit: Floats  # (p,): what the columns were multiplied by; 0 where they do not vary
    mean: Floats  # (p,)

    def fit(
        self,
        y: NDArray[np.int32],
        weight: Floats,
        k: int,
        penalty: float,
        start: Floats | None = None,
        tolerance: float = 1e-2,
        most: int = 30,
    ) -> Floats:
        """Weights (m, k, p + 1) of the scores, one fit for each column of `weight` (n, m).

        As `Whitened.fit`; `tolerance` is the length of the slope in the metric.
        """
        p = len(self.mean)
        check_time(CHOLESKY * float(p) ** 3)
        metric = np.zeros((p + 1, p + 1))
        metric[:-1, :-1], metric[-1, -1] = 0.25 * self.second, 0.25
        floor = FLOOR * np.trace(metric) / (p + 1)
        diagonal = np.diag_indices(p + 1)
        metric[diagonal] += np.append(np.full(p, ridge(penalty, k)), 0.0) + floor
        factor = linalg.cholesky(metric, lower=True, overwrite_a=True)
        factor = np.ascontiguousarray(factor)
        more = (penalty, start, tolerance, most)
        w = regress(self.scores, y, weight, k, *more, factor=factor)
        # A ridge is least where the weights of all classes add up to 0.
        return w - w.mean(axis=1, keepdims=True)

    def standardised(self, columns: Floats) -> Floats:
        """Columns of any rows as the scores are made, (n, p + 1)."""
        return standardised(columns, self.mean, self.unit)

    def with_rows(self, columns: Floats) -> Spread:
        """Other rows; steps are measured as before."""
        return replace(self, scores=self.standardised(columns))

    def sums(self, w: Floats) -> Floats:
        """What the weights (m, k, p + 1) make of every row: (m, k, n)."""
        return w @ self.scores.T

    def in_columns(self, w: Floats) -> Floats:
        """Weights of the columns, which are the scores."""
        return w

    def translated(self, w: Floats, to: Spread) -> Floats:
        """Weights of the scores as weights of those of the same rows, spread otherwise."""
        ratio = self.unit / np.where(to.unit > 0, to.unit, 1.0)
        return w * np.append(ratio, 1.0)

    def functions(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights (k, p) and biases (k,) of the columns for weights (k, p + 1)."""
        weights = w[:, :-1] * self.unit
        return weights, w[:, -1] - weights @ self.mean


def standardised(columns: Floats, mean: Floats, unit: Floats) -> Floats:
    """Columns less their means, times their units, and a last one of 1."""
    x = np.ones((len(columns), len(mean) + 1))
    np.subtract(columns, mean, out=x[:, :-1])
    x[:, :-1] *= unit
    return x


def regress(
    x: Floats,
    y: NDArray[np.int32],
    weight: Floats,
    k: int,
    penalty: float,
    start: Floats | None = None,
    tolerance: float = 1e-2,
    most: int = 30,
    *,
    factor: Floats | None = None,
    inverse: Floats | None = None,
) -> Floats:
    """Weights (m, k, r) of the columns of x, one fit for each column of `weight` (n, m).

    The last column of x is 1 and has no penalty. The metric of the steps is a matrix with
    the lower Cholesky `factor`, or diagonal with the `inverse`, one number for each column
    or each weight (m, l, r); of two classes, whose weights are opposite, only those of the
    second count, l = 1. What has the inverse 0 is 0. A fit ends where its slope is no longer
    than `tolerance` in the metric, or after so many steps.
    """
    check_time()
    two = k == 2  # one function, the difference of two, has all that matters
    w = np.zeros((weight.shape[1], 1 if two else k, x.shape[1]))
    if start is not None:
        w += start[:, 1:] - start[:, :1] if two else start
    share = np.ascontiguousarray(weight / weight.sum(axis=0))
    if inverse is not None:
        inverse = np.ascontiguousarray(np.broadcast_to(inverse, w.shape))
        w[inverse == 0] = 0.0
    price = np.full(x.shape[1], ridge(penalty, k))
    price[-1] = 0.0
    metric = {"factor": factor, "inverse": inverse}
    descend(x, y, share, price, w, tolerance, most, **metric, tick=tick)
    check_time()
    return np.concatenate([-w / 2, w / 2], axis=1) if two else w


def ridge(penalty: float, k: int) -> float:
    """The price of a squared weight; of two classes, of the difference of their weights."""
    return penalty * (0.5 if k == 2 else 1.0)
