"""What a tree for a numeric target makes small: the squared or the absolute error.

A criterion knows the best constant of some rows, the loss of residuals, the best cut of a
projection (`_core/targets.hpp`), and the likelihood of a loss for AIC and BIC. Used by
`TreeRegressor` and all that it is made of.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import targets as kernel
from omnitree.growing.part import Part, Registry

Floats = NDArray[np.float64]
# Takes an order of the rows and the projection that they are ordered by; gives the decrease
# of the loss at the best cut and the position in the order that the cut follows, or -1.
Scan = Callable[[NDArray[np.int64], Floats], tuple[float, int]]


class Criterion(Part):
    """What is lost by a wrong number.

    Attributes
    ----------
    words : str
        What the mean loss is called; empty if it has no name.
    """

    words = ""

    @abstractmethod
    def constant(self, target: Floats, weight: Floats) -> float:
        """The answer with the least loss for some rows."""

    @abstractmethod
    def losses(self, residual: Floats) -> Floats:
        """Loss of each residual."""

    @abstractmethod
    def scan(self, target: Floats, weight: Floats, min_branch: float) -> Scan:
        """A search for the best cut with a constant on either side."""

    @abstractmethod
    def log_likelihood(self, loss: float, total: float) -> float:
        """Of `total` rows with this loss, up to a constant, at the best scale."""


class SquaredError(Criterion):
    """Squared error; leaves hold means, residuals are normal."""

    words = "mean squared error"

    def constant(self, target, weight):
        return float((target * weight).sum() / weight.sum())

    def losses(self, residual):
        return residual**2

    def scan(self, target, weight, min_branch):
        # Twice: the mean of large targets is rounded by more than ties can bear.
        centred = target - self.constant(target, weight)
        centred -= self.constant(centred, weight)
        return lambda order, z: kernel.squared(order, z, centred, weight, min_branch)

    def log_likelihood(self, loss, total):
        return -total / 2 * np.log(max(loss, np.finfo(float).tiny) / total)


class AbsoluteError(Criterion):
    """Absolute error; leaves hold medians, residuals are two-sided exponential."""

    words = "mean absolute error"

    def constant(self, target, weight):
        order = np.argsort(target, kind="stable")
        sums = np.cumsum(weight[order])
        at = np.searchsorted(sums, sums[-1] / 2 * (1 - 1e-9))
        # Half the weight on each side: any number between two targets will do.
        exact = sums[at] <= sums[-1] / 2 * (1 + 1e-9) and at + 1 < len(order)
        low, high = target[order[at]], target[order[at + 1 if exact else at]]
        return float(low + (high - low) / 2)

    def losses(self, residual):
        return np.abs(residual)

    def scan(self, target, weight, min_branch):
        values, rank = np.unique(target, return_inverse=True)
        rank = rank.astype(np.int64)
        return lambda order, z: kernel.absolute(
            order, z, target, weight, min_branch, rank, values
        )

    def log_likelihood(self, loss, total):
        return -total * np.log(max(loss, np.finfo(float).tiny) / total)


CRITERIA = Registry(
    "criterion",
    Criterion,
    {"squared_error": SquaredError, "absolute_error": AbsoluteError},
)
