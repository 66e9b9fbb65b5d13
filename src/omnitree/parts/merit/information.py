"""Information: gain (ID3; Liu & White's transmitted information H_T), gain ratio (C4.5),
class-probability entropy, and the G statistic, which is the gain on another scale."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from omnitree.parts.merit.base import Floats, Merit, ratio


def _nats(counts: Floats) -> Floats:
    """Transmitted information times the number of rows, in nats."""

    def part(n: Floats) -> Floats:
        return xlogy(n, n).sum(axis=-1)

    size, classes = counts.sum(axis=-1), counts.sum(axis=-2)
    total = size.sum(axis=-1, keepdims=True)
    return part(total) - part(classes) - part(size) + part(counts).sum(axis=-1)


class Gain(Merit):
    """Information gain in bits."""

    code = 1

    def score(self, counts: Floats) -> Floats:
        return _nats(counts) / counts.sum(axis=(-2, -1)) / np.log(2)


class GainRatio(Merit):
    """Information gain divided by the information of the split itself (C4.5).

    In a univariate search the cut of a feature is chosen by gain; of the features with at
    least average gain (less 0.001) the one with the best ratio wins.
    """

    code = 2

    def score(self, counts: Floats) -> Floats:
        size = counts.sum(axis=-1)
        total = size.sum(axis=-1)
        info = xlogy(total, total) - xlogy(size, size).sum(axis=-1)
        return ratio(_nats(counts), info)


class Entropy(Merit):
    """Decrease of the class-probability entropy in nats; orders tests as `gain` does."""

    code = 3

    def score(self, counts: Floats) -> Floats:
        return _nats(counts) / counts.sum(axis=(-2, -1))


class GStatistic(Merit):
    """The likelihood-ratio statistic G of branches against classes."""

    code = 8

    def score(self, counts: Floats) -> Floats:
        return 2 * _nats(counts)
