"""CART's learner with linear combinations (Breiman et al. 1984, 5.2; Brodley & Utgoff 1995,
3.4 and 4.5).

Numeric features only, centred at the median and divided by the interquartile range of the
node's complete rows. From the best single cut, each coefficient in turn goes to its best
value along x_j + gamma for three gammas, then the threshold, cycle after cycle until the
merit gains less than epsilon. Then features are given up one by one while the loss is
small, the coefficients left are searched once more, and the test competes with the best
univariate one. Used by the preset cart-lc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.part import number
from omnitree.growing.scaling import Scaling
from omnitree.learners.oblique import Floats, Slope, compiled_merit, is_better
from omnitree.learners.univariate import Univariate
from omnitree.parts.merit import Merit
from omnitree.tree.splits import Split

GAMMAS = (-0.25, 0.0, 0.25)
QUARTILES = np.array([0.25, 0.5, 0.75]) - 1e-12


class CartLC(SplitLearner):
    """The best linear combination of numeric features, if it beats all univariate tests.

    Parameters
    ----------
    merit : str or Merit, default="gini"
    categories : str, default="subset"
        Univariate tests on categorical features, as in `Univariate`.
    beta : float, default=0.1
        The discard parameter: a feature is given up if that costs less than this share of
        what giving up the most important one would cost.
    epsilon : float, default=1e-4
        The search ends with the first cycle that gains less merit than this.

    Examples
    --------
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import CartLC
    >>> X = [[i, j] for i in range(6) for j in range(6)]
    >>> y = [int(i + j > 5) for i, j in X]
    >>> TreeClassifier(learner=CartLC()).fit(X, y).tree_.node_kinds()["linear"]
    1
    """

    merit: str | Merit = "gini"
    categories: str = "subset"
    beta: float = 0.1
    epsilon: float = 1e-4

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The best univariate test, or a linear combination that is better."""
        beta = number("beta", self.beta, most=1)
        epsilon = number("epsilon", self.epsilon)
        merit = compiled_merit(self.merit)
        univariate = Univariate(merit=merit, categories=self.categories).fit(node, rng)
        complete = Complete.of(node, merit)
        if complete is None:
            return univariate
        slope = complete.slope
        w = search(slope, first_test(slope), epsilon)
        kept, w = eliminate(slope, w, beta)
        if len(kept) < len(slope.columns):
            w = search(slope.take(kept), w, epsilon)
        # As for a univariate test, rows that it cannot be tried on lower the merit.
        share = complete.weight / node.total
        value = slope.take(kept).score(w) * share
        if univariate is not None and not is_better(value, univariate.merit):
            return univariate
        return complete.split(kept, w, value)


@dataclass(frozen=True, eq=False)
class Complete:
    """The rows of a node that are complete in the numeric features, and these features."""

    # Of the columns by medians, the one with the best single cut first.
    scaling: Scaling
    slope: Slope  # the columns as (x - median) / scale

    @classmethod
    def of(cls, node: Node, merit: Merit) -> Complete | None:
        """None where fewer than two features vary, or only one class is complete."""
        encoded = node.sample.table.encoded
        columns = np.flatnonzero(encoded.category < 0)
        x = encoded.cells[np.ix_(node.rows, columns)].T
        rows = np.flatnonzero(~np.isnan(x).any(axis=0))
        classes, y = np.unique(node.y[rows], return_inverse=True)
        if len(classes) < 2:
            return None
        x, weight = x[:, rows], node.weight[rows]
        median, scale = robust_units(x, weight)
        z = (x - median[:, None]) / np.where(scale > 0, scale, 1.0)[:, None]
        varies = np.flatnonzero(np.ptp(z, axis=1) > 0)
        if len(varies) < 2:
            return None
        slope = Slope(
            np.ascontiguousarray(z[varies]),
            y.astype(np.int32),
            np.ascontiguousarray(weight),
            len(classes),
            merit,
        )
        order = slope.best_first()
        used = varies[order]
        scaling = Scaling(columns[used], median[used], scale[used])
        return cls(scaling, slope.take(order))

    @property
    def weight(self) -> float:
        """Weight of the complete rows."""
        return float(self.slope.weight.sum())

    def split(self, kept: NDArray[np.intp], w: Floats, merit: float) -> Split | None:
        """A combination of the kept columns in the table's own units."""
        scaling = self.scaling.take(kept)
        return scaling.split(w[:-1], float(-w[-1]), np.zeros(len(kept)), merit)


def robust_units(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Median and interquartile range of each row of `x`.

    A row of weight two counts as two. Where half of the values are equal, so that the range
    is 0, the standard deviation takes its place.
    """
    median, scale = np.zeros(len(x)), np.zeros(len(x))
    order, total = np.argsort(x, axis=1, kind="stable"), weight.sum()
    shares = np.cumsum(weight[order], axis=1) / total
    for j, values in enumerate(x):
        at = np.searchsorted(shares[j], QUARTILES)
        low, median[j], high = values[order[j, at]]
        scale[j] = high - low
        if not scale[j] > 0:
            mean = (values * weight).sum() / total
            scale[j] = np.sqrt(((values - mean) ** 2 * weight).sum() / total)
    return median, scale


def first_test(slope: Slope) -> Floats:
    """The best cut of the first column as weights and bias."""
    w = np.zeros(len(slope.columns) + 1)
    w[0], w[-1] = 1.0, slope.cuts[0, 0]
    return w


def search(slope: Slope, w: Floats, epsilon: float) -> Floats:
    """CART's deterministic search from a test."""
    return slope.climb(w, GAMMAS, epsilon=epsilon)[0]


def eliminate(slope: Slope, w: Floats, beta: float) -> tuple[NDArray[np.intp], Floats]:
    """Give up features while the least loss is below `beta` times the greatest.

    The threshold is searched anew each time, the other coefficients stay. Gives the columns
    left, and their weights with the bias at the end.
    """
    kept = np.flatnonzero(w[:-1])
    values = w[kept] @ slope.columns[kept]
    bias, merit = slope.cut(values)
    while len(kept) > 1:
        without = [slope.cut(values - w[j] * slope.columns[j]) for j in kept]
        # What divides nothing has lost everything.
        loss = merit - np.array([max(m, 0.0) for _, m in without])
        least = int(loss.argmin())
        if not loss[least] < beta * loss.max():
            break
        bias, merit = without[least]
        values = values - w[kept[least]] * slope.columns[kept[least]]
        kept = np.delete(kept, least)
    return kept, np.append(w[kept], bias)
