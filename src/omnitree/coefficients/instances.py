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

STEP = 2.0**-30  # of standardised columns
MOST_REPEATS = 10


def merged(cases: Cases) -> Cases:
    """The rows rounded, sorted, and equal rows of a class made one."""
    rows = np.flatnonzero(cases.weight > 0)
    z = np.round(cases.z[rows] / STEP) * STEP
    # One number a row sorts them: a sum with weights that mean nothing. NumPy adds up equal
    # rows equally, which BLAS need not do.
    blend = np.random.default_rng(0).standard_normal(z.shape[1])
    order = np.lexsort((cases.y[rows], (z * blend).sum(axis=1)))
    z, y, weight = z[order], cases.y[rows[order]], cases.weight[rows[order]]
    new = np.ones(len(y), dtype=bool)
    new[1:] = (y[1:] != y[:-1]) | (z[1:] != z[:-1]).any(axis=1)
    together = np.bincount(np.cumsum(new) - 1, weights=weight)
    return replace(cases, z=z[new], y=y[new], weight=together.astype(np.float64))


def instances(cases: Cases) -> tuple[Floats, NDArray[np.int32]]:
    """Rows repeated by weight, with a first column of ones, and their classes."""
    cases = merged(cases)
    shown = np.repeat(np.arange(len(cases.y)), repeats(cases.weight))
    return np.column_stack([np.ones(len(shown)), cases.z[shown]]), cases.y[shown]


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
