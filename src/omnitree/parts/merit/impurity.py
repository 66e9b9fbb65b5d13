"""Decreases of an impurity: Gini's index (CART) and the error rate."""

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
