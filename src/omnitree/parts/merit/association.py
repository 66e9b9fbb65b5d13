"""Measures of association between branches and classes: symmetric Gini (the symmetric tau
of Zhou & Dillon 1991), Pearson's chi-square, and the Kolmogorov-Smirnov distance."""

from __future__ import annotations

import numpy as np

from omnitree.parts.merit.base import Floats, Merit, ratio


class SymmetricGini(Merit):
    """Symmetric Gini: Goodman & Kruskal's tau, both ways at once."""

    code = 6

    def score(self, counts: Floats) -> Floats:
        p = counts / counts.sum(axis=(-2, -1), keepdims=True)
        branch, cls = p.sum(axis=-1), p.sum(axis=-2)
        both = ratio(p**2, branch[..., :, None]) + ratio(p**2, cls[..., None, :])
        chance = (branch**2).sum(axis=-1) + (cls**2).sum(axis=-1)
        room = 2 - chance
        gain = both.sum(axis=(-2, -1)) - chance
        return np.divide(gain, room, out=np.zeros(room.shape), where=room > 1e-12)


class ChiSquare(Merit):
    """Pearson's chi-square of branches against classes."""

    code = 7

    def score(self, counts: Floats) -> Floats:
        size, cls = counts.sum(axis=-1), counts.sum(axis=-2)
        total = size.sum(axis=-1)[..., None, None]
        expected = size[..., :, None] * cls[..., None, :] / total
        return ratio((counts - expected) ** 2, expected).sum(axis=(-2, -1))


class KolmogorovSmirnov(Merit):
    """Largest distance between the branch shares of a class and of the other classes."""

    code = 9

    def score(self, counts: Floats) -> Floats:
        cls = counts.sum(axis=-2, keepdims=True)
        rest = cls.sum(axis=-1, keepdims=True) - cls
        others = counts.sum(axis=-1, keepdims=True) - counts
        apart = np.abs(ratio(counts, cls) - ratio(others, rest))
        apart = np.where((cls > 0) & (rest > 0), apart, 0.0)
        return apart.max(axis=(-2, -1))
