"""Several methods over several data sets: ranks (Demsar 2006) and tables of wins.

`friedman` asks whether the methods differ at all, `nemenyi` compares all pairs,
`holm` all methods with a control. `cliques` are the groups that a critical-difference
diagram joins by a bar. `win_table` counts data sets on which one method is
significantly better than another, with row and column sums as LDT05 and OMNI print them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from omnitree.lab.statistics import HypothesisTest


class Friedman(NamedTuple):
    """Friedman's test and Iman & Davenport's F for it."""

    chi_square: float
    p: float
    f: float
    p_of_f: float


def mean_ranks(scores: ArrayLike) -> np.ndarray:
    """Mean rank of each column, 1 for the smallest score; ties share their ranks.

    >>> mean_ranks([[1, 2, 3], [2, 2, 9]])
    array([1.25, 1.75, 3.  ])
    """
    return stats.rankdata(_matrix(scores), axis=1).mean(axis=0)


def friedman(scores: ArrayLike) -> Friedman:
    """Whether the columns of a table data sets x methods differ (ties are corrected for).

    >>> round(friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]).p, 4)
    0.1054
    """
    table = _matrix(scores)
    n, k = table.shape
    if k < 3:
        raise ValueError(f"Friedman's test compares three methods or more, not {k}")
    if (table == table[:, :1]).all():
        return Friedman(0.0, 1.0, 0.0, 1.0)
    chi, p = stats.friedmanchisquare(*table.T)
    rest = n * (k - 1) - chi
    f = math.inf if rest <= 1e-12 else (n - 1) * chi / rest
    p_of_f = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    return Friedman(float(chi), float(p), float(f), p_of_f)


def critical_difference(k: int, n: int, level: float = 0.05) -> float:
    """Difference of mean ranks that Nemenyi's test calls significant.

    >>> round(critical_difference(k=4, n=14), 2)  # Demsar (2006), section 3.2.4
    1.25
    """
    q = float(stats.studentized_range.ppf(1 - level, k, math.inf)) / math.sqrt(2)
    return q * _standard_error(k, n)


def _standard_error(k: int, n: int) -> float:
    """Of a difference between the mean ranks of two of k methods over n data sets."""
    return math.sqrt(k * (k + 1) / (6 * n))


def nemenyi(scores: ArrayLike) -> np.ndarray:
    """p-value of every pair of methods, a symmetric matrix with ones in the diagonal."""
    table = _matrix(scores)
    n, k = table.shape
    rank = mean_ranks(table)
    q = np.abs(rank[:, None] - rank) / _standard_error(k, n) * math.sqrt(2)
    p = stats.studentized_range.sf(q, k, math.inf)
    np.fill_diagonal(p, 1.0)
    return np.minimum(p, 1.0)


def holm(scores: ArrayLike, control: int = 0) -> np.ndarray:
    """Adjusted p-value of every method against the control (whose own is 1)."""
    table = _matrix(scores)
    n, k = table.shape
    rank = mean_ranks(table)
    z = np.abs(rank - rank[control]) / _standard_error(k, n)
    others = np.arange(k) != control
    p = np.ones(k)
    p[others] = holm_adjust(2 * stats.norm.sf(z[others]))
    return p


def holm_adjust(p: ArrayLike) -> np.ndarray:
    """Holm's step-down adjustment of p-values.

    >>> holm_adjust([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p, kind="stable")
    raised = p[order] * (len(p) - np.arange(len(p)))
    out = np.empty(len(p))
    out[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return out


def cliques(ranks: ArrayLike, difference: float) -> list[list[int]]:
    """Largest groups of methods whose mean ranks span less than the critical difference.

    >>> cliques([1.0, 1.5, 3.0, 3.2], 0.8)
    [[0, 1], [2, 3]]
    """
    ranks = np.asarray(ranks, dtype=float)
    order = np.argsort(ranks, kind="stable")
    groups: list[list[int]] = []
    reach = -1
    for i in range(len(order)):
        last = i
        while last + 1 < len(order) and (
            ranks[order[last + 1]] - ranks[order[i]] < difference
        ):
            last += 1
        if last > i and last > reach:
            groups.append([int(m) for m in order[i : last + 1]])
            reach = last
    return groups


def win_table(
    scores: Mapping[str, Mapping[str, np.ndarray]],
    test: Callable[[np.ndarray, np.ndarray], HypothesisTest],
    level: float = 0.05,
) -> pd.DataFrame:
    """On how many data sets the row's method is significantly better (smaller).

    `scores` are those of the same folds, by data set and method; a method missing on a
    data set is not compared there. As in the papers, "SUM" is no sum: the column counts
    the data sets on which the row's method beats at least one other, the row those on
    which the column's method is beaten.

    >>> from omnitree.lab.statistics import paired_t
    >>> a, b = np.array([1.0, 2.0, 1.5]), np.array([5.0, 6.5, 5.6])
    >>> win_table({"iris": {"x": a, "y": b}}, paired_t)
         x  y  SUM
    x    0  1    1
    y    0  0    0
    SUM  0  1    0
    """
    methods = list(dict.fromkeys(m for by in scores.values() for m in by))
    wins = np.zeros((len(scores), len(methods), len(methods)), dtype=bool)
    for d, by in enumerate(scores.values()):
        for i, first in enumerate(methods):
            for j, second in enumerate(methods[:i]):
                if first not in by or second not in by:
                    continue
                a, b = np.asarray(by[first]), np.asarray(by[second])
                if test(a, b).p < level:
                    better = (i, j) if a.mean() < b.mean() else (j, i)
                    wins[d][better] = True
    counts = pd.DataFrame(wins.sum(axis=0), index=methods, columns=methods)
    counts["SUM"] = wins.any(axis=2).sum(axis=0)
    counts.loc["SUM"] = [*wins.any(axis=1).sum(axis=0), 0]
    return counts


def _matrix(scores: ArrayLike) -> np.ndarray:
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(
            "ranks need a table of two data sets and two methods or more, not "
            f"{table.shape}"
        )
    if not np.isfinite(table).all():
        raise ValueError("ranks need a score in every cell; leave incomplete rows out")
    return table
