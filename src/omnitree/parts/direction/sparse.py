"""Directions with few weights: backward elimination on the scatter matrix.

People must read these tests. Fisher's criterion of a set of columns S is d_S' T_SS^-1 d_S;
leaving out column j lowers it by w_j^2 / A_jj, with A = T_SS^-1 and w = A d_S, and a
rank-one change gives A and w of the smaller set. So columns go one by one, the least useful
first, without a pass over the rows. An addition of ours. Used by `Fisher`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Floats = NDArray[np.float64]

# Keeps the inverse finite where columns are copies of each other: of such a pair, one
# column is then worth next to nothing and goes first.
RIDGE = 1e-6


def best_columns(correlation: Floats, d: Floats, most: int) -> NDArray[np.intp]:
    """Up to `most` columns that are worth keeping together.

    `correlation` is the scatter with a unit diagonal, where 0 marks a constant column, and
    `d` the difference of the groups' means in the same units.

    Examples
    --------
    >>> best_columns(np.eye(3), np.array([1.0, 3.0, 2.0]), 2)
    array([1, 2])
    """
    left = np.flatnonzero(np.diag(correlation) > 0)
    inverse = linalg.inv(
        correlation[np.ix_(left, left)] + RIDGE * np.eye(len(left)), check_finite=False
    )
    w = inverse @ d[left]
    while len(left) > most:
        j = int((w**2 / np.diag(inverse)).argmin())
        column = inverse[:, j] / inverse[j, j]
        w = np.delete(w - column * w[j], j)
        inverse -= np.outer(column, inverse[j])
        inverse = np.delete(np.delete(inverse, j, axis=0), j, axis=1)
        left = np.delete(left, j)
    return left
