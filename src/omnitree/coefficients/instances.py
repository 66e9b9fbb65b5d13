"""Rows in a form that does not depend on how they were given.

Training by corrections is chaotic: a difference in the last digit grows until the machine is
another. So the rows are rounded to nine digits, sorted by what they hold, and equal rows are
made one. Then neither the order of rows, nor units, nor the way repeats are given matters.
Learners by correction are shown each row as often as its weight says. Used by Thermal,
Pocket and Network.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from omnitree.coefficients.base import Cases, Floats

# Added and subtracted again, it leaves multiples of 2^-30, nine digits after the point.
ROUNDING = 1.5 * 2.0**22
MOST_REPEATS = 10


def merged(cases: Cases) -> Cases:
    """The rows rounded, sorted, and equal rows of a class made one."""
    rows = np.flatnonzero(cases.weight > 0)
    z, y, weight = cases.z[rows], cases.y[rows], cases.weight[rows]
    z += ROUNDING
    z -= ROUNDING
    # One number a row sorts them: a sum with factors that mean nothing. NumPy adds up equal
    # rows equally, which BLAS need not do.
    blend = np.random.default_rng(0).standard_normal(z.shape[1] + 1)
    key = (z * blend[1:]).sum(axis=1) + blend[0] * y
    order = np.argsort(key)
    new = np.ones(len(y), dtype=bool)
    new[1:] = np.diff(key[order]) != 0
    alike = np.flatnonzero(~new)
    a, b = order[alike - 1], order[alike]
    new[alike] = (y[a] != y[b]) | (z[a] != z[b]).any(axis=1)
    together = np.bincount(np.cumsum(new) - 1, weights=weight[order])
    first = order[new]
    return replace(cases, z=z[first], y=y[first], weight=together.astype(np.float64))


def instances(
    cases: Cases, shuffle: np.random.Generator | None = None
) -> tuple[Floats, NDArray[np.int32]]:
    """Rows repeated by weight, with a first column of ones, and their classes."""
    cases = merged(cases)
    shown = np.repeat(np.arange(len(cases.y)), repeats(cases.weight))
    if shuffle is not None:
        shown = shuffle.permutation(shown)
    x = np.empty((len(shown), cases.z.shape[1] + 1))
    x[:, 0] = 1.0
    x[:, 1:] = cases.z[shown]
    return x, cases.y[shown]


def repeats(weight: Floats) -> NDArray[np.intp]:
    """How often each row is shown.

    Weights below one are multiplied until every row is shown, but so that the average row is
    not shown more than ten times; weights that are then not whole are rounded so that sums
    over neighbours stay true.

    Examples
    --------
    >>> repeats(np.array([1.0, 3.0, 1.0])).tolist()
    [1, 3, 1]
    >>> repeats(np.array([0.5, 1.5, 0.5])).tolist()
    [1, 3, 1]
    """
    most = MOST_REPEATS * len(weight) / weight.sum()
    factor = min(max(1.0, 1 / weight.min()), most)
    # Sums of whole weights are whole but for rounding, which must not decide.
    edges = np.floor(np.cumsum(weight) * factor + 0.5 + 1e-9)
    return np.diff(edges, prepend=0.0).astype(np.intp)
