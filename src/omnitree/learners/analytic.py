"""The univariate learner with analytic cuts: one feature, two groups, one Gaussian each.

For every encoded column the classes are grouped and the cut follows from the groups' means
and variances; the column with the best merit wins. A cut of a symbol's column is a test of
that symbol against the rest. Used by the presets ldt-u1, ldt-u2, quest-u and uni.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omnitree.grouping import GROUPINGS
from omnitree.learners.base import SplitLearner
from omnitree.learners.linear import cut_merits
from omnitree.linear_rows import Floats, LinearRows
from omnitree.merit import MERITS, Merit
from omnitree.node import Node
from omnitree.schema import Schema
from omnitree.splits import AxisSplit, Split, SubsetSplit
from omnitree.threshold import THRESHOLDS, Threshold
from omnitree.threshold.base import Projected


class FeatureDiscriminant:
    """What a grouping asks, with one column as the direction."""

    def __init__(self, rows: LinearRows, threshold: Threshold, merit: Merit):
        self.rows = rows
        self.threshold, self.merit = threshold, merit

    def project(self, left: NDArray[np.bool_]) -> Projected:
        """The column, once for each grouping."""
        return Projected(
            self.rows, np.repeat(self.rows.columns, len(left), axis=1), left
        )

    def merits(self, left: NDArray[np.bool_]) -> Floats:
        """Merit of the cut for each grouping."""
        projected = self.project(left)
        return cut_merits(
            projected, self.threshold.find(projected, self.merit), self.merit
        )

    def sides(self, left: NDArray[np.bool_], classes: NDArray) -> NDArray[np.bool_]:
        """Side of all rows by a cut trained on the rows of some classes."""
        part = self.rows.of_classes(classes)
        projected = Projected(part, part.columns, left[None])
        cut = self.threshold.find(projected, self.merit)[0]
        _, mean, _ = projected.groups()
        above = self.rows.columns[:, 0] > cut
        return above if mean[0, 0] >= mean[1, 0] else ~above


class Analytic(SplitLearner):
    """Cut one feature where two Gaussians meet.

    Parameters
    ----------
    grouping : str or Grouping, default="exchange"
        Found for each column by itself.
    threshold : str or Threshold, default="unequal_variance"
    merit : str or Merit, default="gain"
    """

    def __init__(self, grouping="exchange", threshold="unequal_variance", merit="gain"):
        self.grouping = grouping
        self.threshold = threshold
        self.merit = merit

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test on one feature."""
        grouping = GROUPINGS.resolve(self.grouping)
        threshold = THRESHOLDS.resolve(self.threshold)
        merit = MERITS.resolve(self.merit)
        rows = node.linear
        best, best_merit = None, -np.inf
        for j in range(rows.columns.shape[1]):
            column = rows.of_column(j)
            if np.ptp(column.columns) == 0:
                continue
            discriminant = FeatureDiscriminant(column, threshold, merit)
            left = grouping.find(discriminant)
            if left is None:
                continue
            projected = discriminant.project(left[None])
            cut = threshold.find(projected, merit)
            value = float(cut_merits(projected, cut, merit)[0])
            if value > best_merit + 1e-12:
                best, best_merit = (j, float(cut[0])), value
        if best is None:
            return None
        j, cut = best
        source = rows.source
        return column_split(
            node.problem.table.schema,
            j,
            float(cut * source.std[j] + source.mean[j]),
            float(rows.fill[j] * source.std[j] + source.mean[j]),
            best_merit,
        )


def column_split(
    schema: Schema, j: int, threshold: float, fill: float, merit: float
) -> Split:
    """The test `column j <= threshold` on the feature that the encoded column is of."""
    feature, symbol = (int(a[j]) for a in schema.linear_columns())
    missing = int(fill > threshold)
    if symbol < 0:
        return AxisSplit(feature, threshold, merit=merit, missing=missing)
    branch = np.where(np.arange(schema.n_categories[feature]) == symbol, 1, 0)
    return SubsetSplit(feature, tuple(branch.tolist()), merit=merit, missing=missing)
