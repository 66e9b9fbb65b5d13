"""The linear learner for a numeric target: a direction from two groups of rows, one cut.

The groups are the rows above and below the node's mean, or those with positive and with
negative residuals of a linear fit (as in SUPPORT and GUIDE), and Fisher's discriminant of
the two is the direction. "hinge" finds the fold of a target that is linear on both sides
(Breiman 1993): two linear models meet where their difference is 0, so the difference of
their weights is the direction; it starts from a cut along the gradient and is repeated a
few times. With all squares and products as columns the tests are quadratic.
"""

from __future__ import annotations

import numpy as np

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import EXPANSIONS, Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import number, unknown
from omnitree.learners.regression.search import (
    Cut,
    CutSearch,
    search_of,
)
from omnitree.parts.direction import Fisher
from omnitree.parts.leaves.ridge import fit_ridge
from omnitree.tree.splits import Split

GROUPS = ("mean", "residual", "hinge")
SIDES = np.array([[True, False]])
TURNS = 5
# Part of a projection's range below which two values are the same.
TIED = 1e-9


class RegressionLinear(SplitLearner):
    """Project the rows onto one direction and take the best cut of the projection.

    Parameters
    ----------
    groups : {"mean", "residual", "hinge"}, default="mean"
        What the direction comes from: rows above and below the mean, rows by the sign of
        their residuals of a linear fit, or the fold of two linear models.
    expansion : {"linear", "quadratic"}, default="linear"
        The columns: as they are, or with all their squares and products.
    max_features_per_test : int, optional
        Most weights that are not 0 in a test.
    shrinkage : None, "ledoit_wolf" or float, default=None
        Of the scatter that Fisher's discriminant divides by.
    min_branch : float, default=1
        Least weight of a branch.
    """

    def __init__(
        self,
        groups="mean",
        expansion="linear",
        max_features_per_test=None,
        shrinkage=None,
        min_branch=1,
    ):
        self.groups = groups
        self.expansion = expansion
        self.max_features_per_test = max_features_per_test
        self.shrinkage = shrinkage
        self.min_branch = min_branch

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best linear test for one node."""
        number("min_branch", self.min_branch)
        if self.groups not in GROUPS:
            raise ValueError(unknown("groups", self.groups, list(GROUPS)))
        if self.expansion not in EXPANSIONS:
            raise ValueError(unknown("expansion", self.expansion, list(EXPANSIONS)))
        if self.max_features_per_test is not None:
            number("max_features_per_test", self.max_features_per_test, 1)
        search = search_of(node, self.min_branch)
        if self.groups == "hinge":
            found = self._hinge(node.view(self.expansion), node, search)
        else:
            found = self._discriminant(node, search)
        if found is None:
            return None
        rows, weights, cut = found
        threshold = cut.threshold + rows.mean @ weights
        return rows.split(weights, threshold, max(cut.gain, 0.0) / search.total)

    def _discriminant(self, node: Node, search: CutSearch):
        rows = search.by_mean(self.expansion)
        if self.groups == "residual":
            x, t = _centred(rows, node)
            weights = _slope(x, t, node.weight)
            above = (t - x @ weights > 0).astype(np.int32)
            if not 0 < above.sum() < len(above):
                return None
            rows = rows.grouped(above, 2)
        if len(rows.present) < 2:
            return None
        direction = Fisher(pca="never", shrinkage=self.shrinkage)
        most = self.max_features_per_test
        if most is not None and int(most) < rows.n_columns:
            weights = direction.sparse(rows, SIDES[0], int(most))
        else:
            weights = direction.project(rows).weights(SIDES[0])
        return _cut_along(rows, weights, search)

    def _hinge(self, rows: NodeColumns, node: Node, search: CutSearch):
        x, t = _centred(rows, node)
        weights = _slope(x, t, node.weight)
        best = _cut_along(rows, weights, search)
        if best is None:
            return None
        side = x @ weights > best[2].threshold
        for _ in range(TURNS):
            slopes = []
            for part in (side, ~side):
                if node.weight[part].sum() < max(3.0, self.min_branch):
                    return best
                slopes.append(_slope_of(x[part], t[part], node.weight[part]))
            weights = slopes[0] - slopes[1]
            most = self.max_features_per_test
            if most is not None and np.count_nonzero(weights) > int(most):
                weak = np.argsort(-np.abs(weights), kind="stable")[int(most) :]
                weights[weak] = 0.0
            found = _cut_along(rows, weights, search)
            if found is None or found[2].gain <= best[2].gain * (1 + 1e-6):
                return best
            best = found
            side = x @ weights > found[2].threshold
        return best


def _cut_along(
    rows: NodeColumns, weights: Floats, search: CutSearch
) -> tuple[NodeColumns, Floats, Cut] | None:
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


def _centred(rows: NodeColumns, node: Node) -> tuple[Floats, Floats]:
    """Columns and target of a node around their means."""
    t = node.y - np.average(node.y, weights=node.weight)
    return rows.columns - rows.mean, t


def _slope(x: Floats, t: Floats, weight: Floats) -> Floats:
    """Weights of a linear fit with a slight penalty."""
    total = float(weight.sum())
    found = fit_ridge(x, t, weight, np.array([1e-3, 1e-2, 0.1, 1.0]) * total)
    return np.zeros(x.shape[1]) if found is None else found


def _slope_of(x: Floats, t: Floats, weight: Floats) -> Floats:
    total = float(weight.sum())
    return _slope(x - weight @ x / total, t - weight @ t / total, weight)
