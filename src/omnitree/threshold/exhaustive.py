"""Thresholds by search: all cuts under a merit, and the Kolmogorov-Smirnov cut."""

from __future__ import annotations

import numpy as np

from omnitree.linear_rows import Floats
from omnitree.merit import Gain, GainRatio, Merit
from omnitree.threshold.base import Projected, Threshold


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
        rows, cuts = projected.rows, np.full(projected.scores.shape[1], np.nan)
        for c in range(len(cuts)):
            order = np.argsort(projected.scores[:, c], kind="stable")
            middle, after = _midpoints(projected.scores[:, c], order)
            if len(after):
                below = np.cumsum(rows.one_hot[order], axis=0)[after]
                tables = np.stack([below, rows.class_weight - below], axis=1)
                cuts[c] = middle[merit(tables).argmax()]
        return cuts


class KolmogorovSmirnovCut(Threshold):
    """Where the distribution functions of the two groups are furthest apart (Friedman)."""

    def find(self, projected: Projected, merit: Merit) -> Floats:
        rows, cuts = projected.rows, np.full(projected.scores.shape[1], np.nan)
        for c in range(len(cuts)):
            left = projected.left[c][rows.y]
            order = np.argsort(projected.scores[:, c], kind="stable")
            middle, after = _midpoints(projected.scores[:, c], order)
            if len(after):
                share = [
                    np.cumsum(np.where(side, rows.weight, 0.0)[order])
                    / max(rows.weight[side].sum(), np.finfo(float).tiny)
                    for side in (left, ~left)
                ]
                cuts[c] = middle[np.abs(share[0] - share[1])[after].argmax()]
        return cuts
