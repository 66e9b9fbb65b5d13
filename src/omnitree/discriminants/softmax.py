"""Softmax discriminants: multinomial logistic regression with a ridge penalty.

Minimises  mean(-log p_y) + penalty / 2 |W|^2  over the weights W of all classes, in the
directions in which the rows vary (`Whitened`: one eigendecomposition, of columns or of rows,
whichever are fewer; it serves every penalty and every fold). In coordinates scaled by the
curvature of the loss L-BFGS needs few steps. Used by the learner `softmax`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import minimize

from omnitree.linear_rows import Floats

# Share of the largest variance below which a direction is rounding.
FLAT = 1e-10


@dataclass(frozen=True)
class Whitened:
    """Rows along the principal directions of their columns, each in its own unit.

    Attributes
    ----------
    scores : float array (n, r)
        The rows along the directions.
    variance : float array (r,)
        Of the scores.
    basis : float array (p, r)
        Turns weights of the scores into weights of the columns.
    mean : float array (p,)
    """

    scores: Floats
    variance: Floats
    basis: Floats
    mean: Floats

    @classmethod
    def of(cls, columns: Floats, weight: Floats) -> Whitened | None:
        """Directions of all columns that vary; None if none does."""
        total = weight.sum()
        mean = weight @ columns / total
        centred = columns - mean
        std = np.sqrt(weight @ centred**2 / total)
        size = np.sqrt(weight @ columns**2 / total)
        varies = std > np.maximum(1e-9 * size, np.finfo(float).tiny)
        if not varies.any():
            return None
        inverse = np.where(varies, 1 / np.where(varies, std, 1.0), 0.0)
        z = centred * inverse
        shared = z * np.sqrt(weight / total)[:, None]
        by_rows = len(z) < z.shape[1]
        e, v = linalg.eigh(shared @ shared.T if by_rows else shared.T @ shared)
        keep = e > FLAT * e[-1]
        e, v = e[keep], v[:, keep]
        if by_rows:
            v = shared.T @ (v / np.sqrt(e))
        return cls(z @ v, e, v * inverse[:, None], mean)

    def fit(
        self,
        y: NDArray[np.int32],
        weight: Floats,
        k: int,
        penalty: float,
        start: Floats | None = None,
        tolerance: float = 2e-3,
        most: int = 30,
    ) -> Floats:
        """Weights (r + 1, k) of the scores, the last row the bias; classes are 0 .. k-1.

        `start` holds weights to begin with. Rows may weigh nothing. The few steps of the
        defaults are enough to compare penalties.
        """
        rows = np.flatnonzero(weight > 0)
        scale = 1 / np.sqrt(0.25 * self.variance + penalty)
        x = self.scores[rows] * scale
        share = weight[rows] / weight[rows].sum()
        price = (penalty * scale**2)[:, None]
        classes = y[rows]
        two = k == 2  # one function, the difference of two, has all that matters
        width = 1 if two else k
        first = np.zeros((len(scale) + 1, width))
        if start is not None:
            begin = start[:, 1:] - start[:, :1] if two else start
            first[:-1], first[-1] = begin[:-1] / scale[:, None], begin[-1]
        at = np.arange(len(rows))

        def loss(flat: Floats) -> tuple[float, Floats]:
            w = flat.reshape(first.shape)
            s = x @ w[:-1] + w[-1]
            if two:
                s = s[:, 0]
                value = share @ (np.logaddexp(0.0, s) - classes * s)
                residual = (share * (_sigmoid(s) - classes))[:, None]
            else:
                s -= s.max(axis=1, keepdims=True)
                p = np.exp(s)
                total = p.sum(axis=1)
                value = share @ (np.log(total) - s[at, classes])
                p /= total[:, None]
                p[at, classes] -= 1.0
                residual = share[:, None] * p
            half = 0.5 if two else 1.0  # |W|^2 of w and -w, each half the difference
            gradient = np.empty_like(w)
            gradient[:-1] = x.T @ residual + half * price * w[:-1]
            gradient[-1] = residual.sum(axis=0)
            value += 0.5 * half * float((price * w[:-1] ** 2).sum())
            return float(value), gradient.ravel()

        found = minimize(
            loss,
            first.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": most, "gtol": tolerance, "ftol": 1e-12},
        )
        w = found.x.reshape(first.shape)
        w[:-1] *= scale[:, None]
        return np.hstack([-w / 2, w / 2]) if two else w - w.mean(axis=1, keepdims=True)

    def functions(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights (k, p) and biases (k,) of the columns for weights of the scores."""
        weights = (self.basis @ w[:-1]).T
        return weights, w[-1] - weights @ self.mean


def _sigmoid(s: Floats) -> Floats:
    return np.where(s >= 0, 1.0, np.exp(np.minimum(s, 0.0))) / (1 + np.exp(-np.abs(s)))
