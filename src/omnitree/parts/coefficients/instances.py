"""Rows in a form that does not depend on how they were given.

Training by corrections is chaotic: a difference in the last digit grows until the machine is
another. So the rows are rounded to nine digits, sorted by what they hold, and equal rows are
made one. Then neither the order of rows, nor units, nor the way repeats are given matters.
Learners by correction are shown each row as often as its weight says. Used by Thermal,
Pocket and Network.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from omnitree.parts.coefficients.base import Cases, Floats

# Added and subtracted again, it leaves multiples of 2^-30, nine digits after the point.
ROUNDING = 1.5 * 2.0**22
MOST_REPEATS = 10


def merged(cases: Cases) -> Cases:
    """The rows rounded, sorted, and equal rows of a class made one."""
    z, first, weight = _distinct(cases)
    return replace(cases, z=z[first], y=cases.y[first], weight=weight)


def instances(
    cases: Cases, shuffle: np.random.Generator | None = None
) -> tuple[Floats, NDArray[np.int32]]:
    """Rows repeated by weight, with a first column of ones, and their classes."""
    z, first, weight = _distinct(cases)
    shown = np.repeat(first, repeats(weight))
    if shuffle is not None:
        shown = shuffle.permutation(shown)
    x = np.empty((len(shown), z.shape[1] + 1))
    x[:, 0] = 1.0
    x[:, 1:] = z[shown]
    return x, cases.y[shown]


def _distinct(cases: Cases) -> tuple[Floats, NDArray[np.intp], Floats]:
    """All rows rounded; which of them are distinct, in order; and the weights of these."""
    z = cases.z + ROUNDING
    z -= ROUNDING
    # One number a row sorts them: a sum with factors that mean nothing. NumPy adds up equal
    # rows equally, which BLAS need not do.
    factors = _factors(z.shape[1] + 1)
    key = np.einsum("ij,j->i", z, factors[1:]) + factors[0] * cases.y
    order = np.argsort(key)
    if not (cases.weight > 0).all():
        order = order[cases.weight[order] > 0]
    sorted_key = key[order]
    new = np.ones(len(order), dtype=bool)
    np.not_equal(sorted_key[1:], sorted_key[:-1], out=new[1:])
    if new.all():
        return z, order, cases.weight[order]
    alike = np.flatnonzero(~new)
    a, b = order[alike - 1], order[alike]
    new[alike] = (cases.y[a] != cases.y[b]) | (z[a] != z[b]).any(axis=1)
    together = np.bincount(np.cumsum(new) - 1, weights=cases.weight[order])
    return z, order[new], together.astype(np.float64)


@cache
def _factors(n: int) -> Floats:
    return np.random.default_rng(0).standard_normal(n)


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
    if (weight == 1).all():
        return np.ones(len(weight), dtype=np.intp)
    most = MOST_REPEATS * len(weight) / weight.sum()
    factor = min(max(1.0, 1 / weight.min()), most)
    # Sums of whole weights are whole but for rounding, which must not decide.
    edges = np.floor(np.cumsum(weight) * factor + 0.5 + 1e-9).astype(np.intp)
    edges[1:] -= edges[:-1].copy()
    return edges
