"""Softmax over cases: each class has the weighted likeness to some of its own rows.

The score of a class is a bias plus, for each of its cases, a weight times exp(-precision *
squared distance). Weights and biases minimise  mean(-log p_y) + penalty / 2 |weights|^2  by
L-BFGS. A case knows only its own class, so that a step costs rows times cases, however many
classes there are. Fits to several weightings of the same rows, such as the folds of a
cross-validation, go side by side. Used by the learner `case_based`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from omnitree.growing.clock import check_time
from omnitree.growing.node_columns import Floats

# Steps of a fit: folds and the last fit stop alike, which is part of what held-out rows have
# judged.
STEPS = 20


def case_order(y: NDArray[np.int32], key: NDArray) -> NDArray[np.intp]:
    """Rows in an order in which classes take turns, those of each in the order of a key.

    Examples
    --------
    >>> case_order(np.array([0, 0, 0, 1]), np.array([3, 1, 2, 0])).tolist()
    [1, 3, 2, 0]
    """
    by_class = np.lexsort((key, y))
    first = np.searchsorted(y[by_class], y[by_class])
    turn = np.arange(len(y)) - first
    return by_class[np.lexsort((y[by_class], turn))]


def distances(z: Floats, cases: Floats) -> Floats:
    """Squared distances (n, c) of rows and cases."""
    check_time(2.0 * len(z) * len(cases) * z.shape[1])
    apart = (z**2).sum(axis=1)[:, None] + (cases**2).sum(axis=1) - 2 * z @ cases.T
    return np.maximum(apart, 0.0)


@dataclass(frozen=True)
class Likeness:
    """How alike rows are to cases, which are in the order of their classes."""

    alike: Floats  # (n, c)
    first: NDArray[np.intp]  # (k + 1,): where the cases of each class begin

    @classmethod
    def of(
        cls, apart: Floats, precision: float, classes: NDArray[np.int32], k: int
    ) -> Likeness:
        """From squared distances to cases of some classes, in their order."""
        first = np.searchsorted(classes, np.arange(k + 1))
        return cls(np.exp(-precision * apart), first)

    def take(self, rows: NDArray[np.intp]) -> Likeness:
        """Some of the rows."""
        return replace(self, alike=self.alike[rows])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.first) - 1

    def scores(self, w: Floats) -> Floats:
        """Scores (k, n, m) of the classes by m sets of weights.

        `w` is (k + c, m): k biases, then one for each case.
        """
        k, first = self.n_classes, self.first
        out = np.empty((k, len(self.alike), w.shape[1]))
        for i in range(k):
            a, b = first[i], first[i + 1]
            np.matmul(self.alike[:, a:b], w[k + a : k + b], out=out[i])
            out[i] += w[i]
        return out

    def fit(
        self,
        y: NDArray[np.int32],
        weight: Floats,
        kept: NDArray[np.bool_],
        penalty: float,
    ) -> Floats:
        """Weights (k + c, m) for m weightings (n, m) of the rows, side by side.

        Each has the cases of its column in `kept` (c, m); the others get the weight 0.
        """
        k, m = self.n_classes, weight.shape[1]
        at, alike, first = np.arange(len(y)), self.alike, self.first
        share = weight / weight.sum(axis=0)
        mask = np.concatenate([np.ones((k, m)), kept])

        def loss(flat: Floats) -> tuple[float, Floats]:
            check_time(4.0 * alike.size * m)
            w = flat.reshape(mask.shape) * mask
            z = self.scores(w)
            z -= z.max(axis=0)
            own = w[k:]
            lost = -(share * z[y, at]).sum() + penalty / 2 * (own * own).sum()
            odds = np.exp(z, out=z)
            total = odds.sum(axis=0)
            lost += (share * np.log(total)).sum()
            odds *= share / total
            odds[y, at] -= share
            slope = np.empty_like(w)
            slope[:k] = odds.sum(axis=1)
            for i in range(k):
                a, b = first[i], first[i + 1]
                np.matmul(alike[:, a:b].T, odds[i], out=slope[k + a : k + b])
            slope[k:] += penalty * own
            slope *= mask
            return float(lost), slope.ravel()

        start, most = np.zeros(mask.size), {"maxiter": STEPS}
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options=most)
        return found.x.reshape(mask.shape) * mask
