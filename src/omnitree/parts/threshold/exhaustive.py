"""Thresholds by search: all cuts under a merit, and the Kolmogorov-Smirnov cut."""

from __future__ import annotations

import numpy as np

from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.parts.merit import Gain, GainRatio, Merit
from omnitree.parts.threshold.base import Projected, Threshold

CELLS = 1 << 18


def _midpoints(scores: Floats, order: np.ndarray) -> tuple[Floats, np.ndarray]:
    """Midpoints of adjacent distinct values, and the positions they follow."""
    ordered = scores[order]
    after = np.flatnonzero(ordered[:-1] < ordered[1:])
    middle = ordered[after] + (ordered[after + 1] - ordered[after]) / 2
    return np.where(middle < ordered[after + 1], middle, ordered[after]), after


class Exhaustive(Threshold):
    """The best of all cuts between adjacent distinct values, under the learner's merit."""

    def find(self, projected: Projected, merit: Merit) -> Floats:
        # As in a univariate search, a ratio is not fit to place a cut; the gain does it.
        merit = Gain() if isinstance(merit, GainRatio) else merit
        rows = projected.rows
        found = [
            _best(z, rows.one_hot, rows.class_weight, merit) for z in projected.scores.T
        ]
        return np.array([np.nan if cut is None else cut[0] for cut in found])


def _best(
    z: Floats, statistics: Floats, total: Floats, merit: Merit
) -> tuple[float, Floats] | None:
    """The best cut of a projection and the statistics (2, s) of both sides.

    `statistics` are those of each row, (n, s), and `total` their sum.
    """
    order = np.argsort(z, kind="stable")
    middle, after = _midpoints(z, order)
    if not len(after):
        return None
    below = np.cumsum(statistics[order], axis=0)[after]
    tables = np.stack([below, total - below], axis=1)
    best = merit(tables).argmax()
    return float(middle[best]), tables[best]


def best_cut(node: Node, z: Floats, merit: Merit) -> tuple[float, float] | None:
    """The best threshold for a projection `z` of a node's rows, and its merit.

    None where all rows have the same value. For learners that search directions; `merit`
    must be one for the statistics of the node's target.
    """
    found = _best(z, node.row_statistics, node.statistics, merit)
    return None if found is None else (found[0], float(merit(found[1])))


class KolmogorovSmirnovCut(Threshold):
    """Where the distribution functions of the two groups are furthest apart (Friedman)."""

    def find(self, projected: Projected, merit: Merit) -> Floats:
        cuts = np.full(len(projected.left), np.nan)
        # Many projections at once, but not more cells than caches like.
        step = max(1, CELLS // max(len(projected.rows.y), 1))
        for c in range(0, len(cuts), step):
            part = slice(c, c + step)
            cuts[part] = _furthest_apart(
                projected.rows, projected.scores[:, part], projected.left[part]
            )
        return cuts


def _furthest_apart(rows: NodeColumns, scores: Floats, left: np.ndarray) -> Floats:
    """The Kolmogorov-Smirnov cut of each column of `scores`; NaN in a constant one."""
    own = rows.class_weight
    size = np.maximum(np.stack([left @ own, ~left @ own]), np.finfo(float).tiny)
    step = np.where(left, 1 / size[0, :, None], -1 / size[1, :, None])  # (C, K)
    order = np.argsort(scores, axis=0, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=0)
    steps = np.take_along_axis(step.T[rows.y] * rows.weight[:, None], order, axis=0)
    apart = np.abs(np.cumsum(steps, axis=0)[:-1])
    apart[ordered[:-1] >= ordered[1:]] = -1.0
    if not len(apart):
        return np.full(len(left), np.nan)
    at, each = apart.argmax(axis=0), np.arange(len(left))
    below, above = ordered[at, each], ordered[at + 1, each]
    middle = below + (above - below) / 2
    cuts = np.where(middle < above, middle, below)
    return np.where(apart[at, each] >= 0, cuts, np.nan)
