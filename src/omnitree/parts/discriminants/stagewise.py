"""Stagewise logistic regression: many small steps, each on the column that explains most.

A step is one of LogitBoost (`_core/linear/logitboost.pyx`), times a small rate and with a
penalty on its slopes, so that no rare value of a column takes a large weight. Sums of many
such steps are much like fits with an absolute penalty (Hastie, Tibshirani & Friedman 2009,
section 16.2): few columns have a weight, even if all products of many are offered. Since
small steps change little, only the most promising columns are looked at between two looks
at all of them. Used by the learner `stagewise`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from omnitree._core.linear import logitboost as kernel
from omnitree.growing.clock import check_time, tick

Floats = NDArray[np.float64]

# Steps between two looks at all columns.
LOOK = 10
# Columns that these steps choose from.
PROMISING = 64
# What is left of the variance of a column that is constant in some rows is rounding.
CONSTANT = 1e-12


@dataclass(frozen=True)
class Stage:
    """What some steps have added: weights (k, m) of m columns, and biases (k,)."""

    columns: NDArray[np.intp]
    weights: Floats
    bias: Floats

    def add_to(self, sums: Floats, x: Floats) -> None:
        """Add it to the sums (n, k) of rows."""
        sums += x[:, self.columns] @ self.weights.T + self.bias


def stages(
    x: Floats,
    y: NDArray[np.int32],
    weight: Floats,
    k: int,
    rate: float,
    ridge: float,
) -> Iterator[Stage]:
    """Stages of `LOOK` steps each, from sums of 0 on; they end where no column helps.

    Parameters
    ----------
    x : float array (n, p)
        Columns without missing values, whose deviations are about 1.
    y : int array (n,)
        Classes, below `k`.
    weight : float array (n,)
    k : int
    rate : float
        What a step is multiplied by.
    ridge : float
        Penalty on the squares of slopes, for each unit of weight.
    """
    sums = np.zeros((len(y), k))
    few = np.arange(x.shape[1])
    steep = None
    if len(few) > PROMISING:
        check_time(n_cells=x.size)
        mean = weight @ x / weight.sum()
        second = np.einsum("n,np,np->p", weight, x, x) / weight.sum()
        steep = np.maximum(second - mean**2, CONSTANT) + ridge
    while True:
        if steep is not None:
            check_time(2.0 * x.size * k)
            gain = (_slopes(x, y, weight, sums) ** 2).max(axis=1) / steep
            few = np.sort(np.argpartition(-gain, PROMISING)[:PROMISING])
        bias, weights = np.zeros(k), np.zeros((k, len(few)))
        some = x if steep is None else x.take(few, axis=1)
        made = kernel.boost(
            *(some, y, weight, sums, LOOK, bias, weights),
            rate=rate,
            ridge=ridge,
            tick=tick,
        )
        check_time()
        if not made:
            return
        yield Stage(few, weights, bias)


def _slopes(x: Floats, y: NDArray[np.int32], weight: Floats, sums: Floats) -> Floats:
    """How fast the likelihood grows with the weight of each column, (p, k).

    If the bias makes up for it: what all rows have in common does not count. Of two classes
    one is enough.
    """
    if sums.shape[1] == 2:
        off = (y == 0)[:, None] - expit(sums[:, :1] - sums[:, 1:])
    else:
        off = -np.exp(sums - np.logaddexp.reduce(sums, axis=1)[:, None])
        off[np.arange(len(y)), y] += 1.0
    off -= weight @ off / weight.sum()
    return x.T @ (off * weight[:, None])
