"""Decreases of an impurity: Gini's index (CART), the error rate, and the variance."""

from __future__ import annotations

from omnitree.parts.merit.base import Floats, Merit, ratio


class Gini(Merit):
    """Decrease of the Gini impurity (CART)."""

    code = 0

    def score(self, counts: Floats) -> Floats:
        size = counts.sum(axis=-1)
        total = size.sum(axis=-1)
        inside = ratio((counts**2).sum(axis=-1), size).sum(axis=-1)
        return (inside - (counts.sum(axis=-2) ** 2).sum(axis=-1) / total) / total


class Misclassification(Merit):
    """Decrease of the share of rows outside their node's largest class."""

    code = 10

    def score(self, counts: Floats) -> Floats:
        right = counts.max(axis=-1).sum(axis=-1)
        before = counts.sum(axis=-2).max(axis=-1)
        return (right - before) / counts.sum(axis=(-2, -1))


class VarianceReduction(Merit):
    """Decrease of the variance of a numeric target (CART).

    Of the statistics weight, sum and sum of squares of each branch.

    Examples
    --------
    >>> float(VarianceReduction()([[2.0, 2.0, 2.0], [2.0, 6.0, 18.0]]))
    1.0
    """

    tasks = ("regression",)

    def size(self, statistics: Floats) -> Floats:
        return statistics[..., 0]

    def score(self, statistics: Floats) -> Floats:
        size, sums = statistics[..., 0], statistics[..., 1]
        total = size.sum(axis=-1)
        inside = ratio(sums**2, size).sum(axis=-1)
        return (inside - sums.sum(axis=-1) ** 2 / total) / total
