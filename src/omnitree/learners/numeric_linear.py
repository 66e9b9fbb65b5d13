"""Directions where a number is predicted: from two groups of rows, or from a fold.

The groups are the rows above and below the node's mean, or those with positive and with
negative residuals of a linear fit (as in SUPPORT and GUIDE), and the discriminant of the
two is the direction. "hinge" finds the fold of a target that is linear on both sides
(Breiman 1993): two linear models meet where their difference is 0, so the difference of
their weights is the direction; it starts from a cut along the gradient and is repeated a
few times. Used by the linear learner.
"""

from __future__ import annotations

import numpy as np

from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.learners.numeric_cuts import CutSearch, NumericCut
from omnitree.parts.leaves.ridge import slope

GROUPS = ("mean", "residual", "hinge")
TURNS = 5
# Of the linear fits, times the weight of the rows.
PENALTY = 1e-2
# Part of a projection's range below which two values are the same.
TIED = 1e-9

# Rows, the weights of their columns, and the cut of what these sum up to.
Test = tuple[NodeColumns, Floats, NumericCut]


def by_residual(rows: NodeColumns, search: CutSearch) -> NodeColumns:
    """The rows in two groups by the sign of their residuals of a linear fit."""
    node = search.node
    x, t = rows.columns - rows.mean, search.centred
    above = t - x @ slope(x, t, node.weight, PENALTY) > 0
    return rows.grouped(above.astype(np.int32), 2)


def along_fold(rows: NodeColumns, search: CutSearch, most: int | None) -> Test | None:
    """The test where two linear models meet, of at most so many columns."""
    node = search.node
    x, t = rows.columns - rows.mean, search.centred
    weights = _largest(slope(x, t, node.weight, PENALTY), most)
    best = cut_along(rows, weights, search)
    for _ in range(TURNS if best is not None else 0):
        assert best is not None
        side = x @ weights > best[2].threshold
        slopes = []
        for part in (side, ~side):
            if node.weight[part].sum() < max(3.0, search.min_branch):
                return best
            slopes.append(_slope_of(x[part], t[part], node.weight[part]))
        weights = _largest(slopes[0] - slopes[1], most)
        found = cut_along(rows, weights, search)
        if found is None or found[2].gain <= best[2].gain * (1 + 1e-6):
            return best
        best = found
    return best


def _largest(weights: Floats, most: int | None) -> Floats:
    """The weights without all but the largest ones."""
    if most is not None:
        weights[np.argsort(-np.abs(weights), kind="stable")[most:]] = 0.0
    return weights


def cut_along(rows: NodeColumns, weights: Floats, search: CutSearch) -> Test | None:
    """The best cut of the rows along a direction."""
    if not np.abs(weights).max(initial=0.0) > 0:
        return None
    cut = search.best(without_rounding(rows.project(weights[:, None])[:, 0]))
    return None if cut is None else (rows, weights, cut)


def without_rounding(z: Floats) -> Floats:
    """A projection whose values are equal where only rounding sets them apart.

    So that no cut falls between two copies of a row, or between rows that a direction
    with as many weights as rows puts on one point.
    """
    order = np.argsort(z, kind="stable")
    steps = np.diff(z[order])
    new = np.concatenate([[True], steps > TIED * (z[order[-1]] - z[order[0]])])
    out = np.empty_like(z)
    out[order] = z[order][new][np.cumsum(new) - 1]
    return out


def _slope_of(x: Floats, t: Floats, weight: Floats) -> Floats:
    """Weights of a linear fit with a slight penalty, to rows around any point."""
    total = float(weight.sum())
    return slope(x - weight @ x / total, t - weight @ t / total, weight, PENALTY)
