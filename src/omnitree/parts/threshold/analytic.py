"""Thresholds from two Gaussians, one a group.

`EqualVariance` cuts where normal densities with a common variance have equal posteriors:
Bayes' rule, which is what LDT05's equation 10 means. `UnequalVariance` solves the quadratic
of equation 16 (with variances) and takes the root between the means, else their midpoint.
The prior term can push a cut beyond all rows of a node, which is then no test.
Used by LDT, LDTu(1), LDTu(2), QUEST.
"""

from __future__ import annotations

import numpy as np

from omnitree.growing.node_columns import Floats
from omnitree.parts.merit import Merit
from omnitree.parts.threshold.base import Projected, Threshold


class EqualVariance(Threshold):
    """Bayes' cut for two Gaussians with a common variance (LDT05, equation 10).

    Parameters
    ----------
    between : bool, default=False
        Cut at the midpoint of the means where Bayes' cut does not lie between them. The
        prior can push it beyond all rows, of a category's column nearly always.
    """

    between: bool = False

    def find(self, projected: Projected, merit: Merit) -> Floats:
        weight, mean, scatter = projected.pooled()
        middle = mean.mean(axis=0)
        variance = scatter / max(projected.rows.total - 2, 1.0)
        apart = mean[0] - mean[1]
        # Means apart by rounding coincide: without this their prior would decide by noise.
        apart = np.where(np.abs(apart) > 1e-12 * np.sqrt(variance), apart, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = variance / apart * np.log(weight[0] / weight[1])
        shift = np.where(np.isfinite(shift), shift, 0.0)
        if self.between:
            shift = np.where(2 * np.abs(shift) < np.abs(apart), shift, 0.0)
        return middle - shift


class UnequalVariance(Threshold):
    """Bayes' cut for two Gaussians with their own variances (LDT05, equation 16)."""

    def find(self, projected: Projected, merit: Merit) -> Floats:
        weight, mean, scatter = projected.groups()
        middle = mean.mean(axis=0)
        m_l, m_r = mean - middle  # around the midpoint, for the sake of digits
        # A group without scatter has a scatter of rounding; its logarithm means nothing.
        between = weight.prod(axis=0) / weight.sum(axis=0) * (m_l - m_r) ** 2
        scatter = np.where(
            scatter > 1e-12 * (scatter.sum(axis=0) + between), scatter, 0
        )
        v_l, v_r = scatter / np.maximum(weight - 1, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            prior = np.log(weight[0] / weight[1]) + 0.5 * np.log(v_r / v_l)
            a = v_l - v_r
            b = 2 * (m_l * v_r - m_r * v_l)
            c = m_r**2 * v_l - m_l**2 * v_r + 2 * v_l * v_r * prior
            root = np.sqrt(b * b - 4 * a * c)
            # The form that does not subtract nearly equal numbers; a may be 0.
            q = -0.5 * (b + np.copysign(root, b))
            roots = np.stack([q / a, c / q])
        low, high = np.minimum(m_l, m_r), np.maximum(m_l, m_r)
        between = (roots > low) & (roots < high)
        cuts = np.where(between[0], roots[0], np.where(between[1], roots[1], 0.0))
        return np.where(np.isfinite(cuts), cuts, 0.0) + middle
