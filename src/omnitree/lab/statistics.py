"""Tests of the difference between two methods, on scores of the same folds or rows.

Scores are errors (or sizes, or seconds), so a positive statistic says that the first
method has the larger value. Every test returns a `Test`; where all differences are equal
the p-value is 1 if they are zero and 0 otherwise, and the statistic 0 or infinite.

- `paired_t`: Student's t on paired scores (BU95, LW94).
- `corrected_t`: Nadeau & Bengio (2003), for folds whose training rows overlap.
- `five_by_two_t`: Dietterich (1998), t with 5 degrees of freedom.
- `five_by_two_f`: Alpaydin (1999), F with 10 and 5 degrees (LDT05).
- `mcnemar`: on the rows that just one of two methods gets right.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


class HypothesisTest(NamedTuple):
    """A statistic and its p-value; two-sided unless the test says otherwise."""

    statistic: float
    p: float


def paired_t(a: ArrayLike, b: ArrayLike) -> HypothesisTest:
    """Student's t test on the differences of paired scores.

    >>> test = paired_t([3.0, 4.0, 6.0, 5.0], [2.0, 2.0, 3.0, 3.0])
    >>> round(test.statistic, 3), round(test.p, 4)
    (4.899, 0.0163)
    """
    difference = _difference(a, b)
    return _t(difference, 1 / len(difference))


def corrected_t(a: ArrayLike, b: ArrayLike, test_train: float) -> HypothesisTest:
    """Corrected resampled t test (Nadeau & Bengio 2003).

    `test_train` is the number of rows for testing over that for training: 1/(k - 1) for
    k folds. The folds share training rows, so the variance of the mean is
    (1/n + test_train) times that of the differences, not 1/n.

    >>> round(corrected_t([1, 2, 3, 2, 2], [0, 0, 0, 0, 0], 1 / 4).p, 3)
    0.014
    """
    difference = _difference(a, b)
    return _t(difference, 1 / len(difference) + test_train)


def five_by_two_t(a: ArrayLike, b: ArrayLike) -> HypothesisTest:
    """Dietterich's 5x2cv t test: the first difference over the pooled deviation.

    Scores are (5, 2), or (10,), of five replications of two-fold cross-validation.

    >>> a = [[3, 1], [2, 2], [4, 1], [3, 3], [2, 3]]
    >>> round(five_by_two_t(a, np.zeros((5, 2))).statistic, 3)
    2.535
    """
    difference, variance = _five_by_two(a, b)
    pooled = variance.sum() / 5
    if pooled == 0:
        return certain(difference[0, 0])
    t = difference[0, 0] / math.sqrt(pooled)
    return HypothesisTest(float(t), float(2 * stats.t.sf(abs(t), 5)))


def five_by_two_f(a: ArrayLike, b: ArrayLike) -> HypothesisTest:
    """Alpaydin's combined 5x2cv F test: all ten differences, F with 10 and 5 degrees.

    >>> a = [[3, 1], [2, 2], [4, 1], [3, 3], [2, 3]]
    >>> round(five_by_two_f(a, np.zeros((5, 2))).statistic, 3)
    4.714
    """
    difference, variance = _five_by_two(a, b)
    if variance.sum() == 0:
        return certain(np.abs(difference).sum())
    f = (difference**2).sum() / (2 * variance.sum())
    return HypothesisTest(float(f), float(stats.f.sf(f, 10, 5)))


def mcnemar(
    a_right: ArrayLike, b_right: ArrayLike, exact: bool | None = None
) -> HypothesisTest:
    """McNemar's test on the rows that one method gets right and the other wrong.

    Exact is the binomial test (statistic: the smaller count), else it is chi-square with
    continuity correction; by default exact below 25 such rows.

    >>> a = np.array([True] * 9 + [False] * 2 + [True] * 20)
    >>> b = np.array([False] * 9 + [True] * 2 + [True] * 20)
    >>> round(mcnemar(a, b).p, 4)
    0.0654
    """
    a, b = np.asarray(a_right, dtype=bool), np.asarray(b_right, dtype=bool)
    if a.shape != b.shape:
        raise ValueError(
            f"two arrays of one length are needed, not {a.shape}, {b.shape}"
        )
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    n = only_a + only_b
    if n == 0:
        return HypothesisTest(0.0, 1.0)
    if exact or (exact is None and n < 25):
        p = stats.binomtest(only_a, n).pvalue
        return HypothesisTest(float(min(only_a, only_b)), float(p))
    chi = max(abs(only_a - only_b) - 1, 0) ** 2 / n
    return HypothesisTest(float(chi), float(stats.chi2.sf(chi, 1)))


def _difference(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"paired scores are two lists of one length, not {a.shape} and {b.shape}"
        )
    if len(a) < 2:
        raise ValueError("a t test needs two pairs of scores or more")
    return a - b


def _t(difference: np.ndarray, factor: float) -> HypothesisTest:
    # Differences as 0.1 - 0.2 and 0.3 - 0.4 are equal but for rounding.
    spread = float(difference.std(ddof=1))
    mean = float(difference.mean())
    if spread <= 1e-12 * max(1.0, abs(mean)):
        return certain(mean)
    t = mean / (spread * math.sqrt(factor))
    return HypothesisTest(t, float(2 * stats.t.sf(abs(t), len(difference) - 1)))


def _five_by_two(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Differences (5, 2) and the variance of each replication."""
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    if difference.size != 10:
        raise ValueError(
            f"5x2cv tests need ten scores, five times two, not {difference.size}"
        )
    difference = difference.reshape(5, 2)
    variance = ((difference - difference.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return difference, variance


def certain(difference: float) -> HypothesisTest:
    """The test of differences that do not vary."""
    if abs(difference) < 1e-12:
        return HypothesisTest(0.0, 1.0)
    return HypothesisTest(math.copysign(math.inf, difference), 0.0)
