"""The univariate learner for a numeric target: every feature is cut at its best.

Numbers are cut between adjacent values; symbols are ordered by their mean target and cut
once, which is the best of all subsets under the squared error (Fisher 1958; Breiman et al.
1984, section 8.8). A table of complete numbers, with constants in the leaves and the squared
error, is grown whole in compiled code (`_core/presort.hpp`). Ties go to the lowest feature
index, then to the lowest cut.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from omnitree._core import general, presort
from omnitree.criterion import SquaredError
from omnitree.learners.base import SplitLearner, Tick
from omnitree.learners.regression.search import Cut, CutSearch
from omnitree.learners.univariate import axis_tree
from omnitree.leaves import ConstantLeaves
from omnitree.missing import Fractional, Mean, Surrogate
from omnitree.node import Node
from omnitree.parts import number
from omnitree.splits import AxisSplit, Split, SubsetSplit
from omnitree.tree import Tree


class RegressionUnivariate(SplitLearner):
    """Tests on one feature at a time, for a numeric target.

    Parameters
    ----------
    min_branch : float, default=1
        Least weight of a branch.

    Examples
    --------
    >>> from omnitree import TreeRegressor
    >>> reg = TreeRegressor(learner="univariate").fit([[1], [2], [3]], [5.0, 5.0, 8.0])
    >>> reg.tree_.split(0).threshold
    2.5
    """

    def __init__(self, min_branch=1):
        self.min_branch = min_branch

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test for one node."""
        number("min_branch", self.min_branch)
        n_categories = node.problem.table.schema.n_categories
        search = CutSearch(node, self.min_branch)
        best: Split | None = None
        for feature, m in enumerate(n_categories):
            found = (
                self._subset(node, search, feature, int(m))
                if m
                else self._axis(node, search, feature)
            )
            tolerance = 1e-9 * search.loss / search.total
            if found is not None and (
                best is None or found.merit > best.merit + tolerance
            ):
                best = found
        return None if best is None else _with_surrogates(node, best)

    def grows(self, node: Node) -> bool:
        """Whether the kernel for complete numbers can do it."""
        problem = node.problem
        return (
            type(problem.criterion) is SquaredError
            and type(problem.leaves) is ConstantLeaves
            and not problem.table.has_gaps
            and not problem.table.schema.n_categories.any()
        )

    def grow(self, node: Node, classes: tuple, tick: Tick | None) -> Tree:
        """The whole tree of a training table (all its rows, in order)."""
        limits = node.problem.limits
        mean = np.average(node.target, weights=node.weight)
        grown = presort.grow_targets(
            node.problem.table.values,
            node.target - mean,
            None if (node.weight == 1.0).all() else node.weight,
            limits.min_rows,
            number("min_branch", self.min_branch),
            limits.depth_needed,
            tick,
        )
        stats = grown["value"]
        weight, sums, squares = stats[:, 0], stats[:, 1], stats[:, 2]
        grown["value"] = weight[:, None]
        tree = axis_tree(node, classes, grown, 1.0)
        loss = np.maximum(squares - sums**2 / weight, 0.0)
        loss[stats[:, 3] == stats[:, 4]] = 0.0
        return tree.replace(constant=sums / weight + mean, loss=loss)

    def _axis(self, node: Node, search: CutSearch, feature: int) -> Split | None:
        cells = node.problem.table.values[node.rows, feature]
        known = ~np.isnan(cells)
        if not known.any():
            return None
        if known.all():
            cut = search.best(cells)
        elif isinstance(node.problem.missing, Mean):
            mean = np.average(cells[known], weights=node.weight[known])
            cut = search.best(np.where(known, cells, mean))
        else:
            cut = self._among_known(node, known, cells[known])
        return None if cut is None else self._finish(node, feature, cells, cut, search.total)

    def _among_known(self, node: Node, known, z) -> Cut | None:
        """The best cut of the rows without a gap, and what it gains there."""
        return CutSearch(node, self.min_branch, np.flatnonzero(known)).best(z)

    def _finish(self, node, feature, cells, cut: Cut, total: float) -> Split:
        """The test, with the branch that rows with gaps take."""
        known = ~np.isnan(cells)
        weight = node.weight[known]
        above = cells[known] > cut.threshold
        policy = node.problem.missing
        if isinstance(policy, Fractional):
            missing = -1
        elif isinstance(policy, Surrogate):
            missing = int(2 * weight[above].sum() > weight.sum())
        else:
            mean = np.average(cells[known], weights=weight)
            missing = int(mean > cut.threshold)
        return AxisSplit(
            feature, cut.threshold, merit=max(cut.gain, 0.0) / total, missing=missing
        )

    def _subset(
        self, node: Node, search: CutSearch, feature: int, m: int
    ) -> Split | None:
        cells = node.problem.table.values[node.rows, feature]
        known = ~np.isnan(cells)
        codes = cells[known].astype(np.intp)
        weight = node.weight[known]
        size = np.bincount(codes, weight, m)
        policy = node.problem.missing
        if np.count_nonzero(size) < 2:
            return None
        if isinstance(policy, Mean) and not known.all():
            codes = np.full(len(cells), size.argmax(), dtype=np.intp)
            codes[known] = cells[known].astype(np.intp)
            known = np.ones(len(cells), dtype=bool)
            weight = node.weight
            size = np.bincount(codes, weight, m)
        sums = np.bincount(codes, weight * node.target[known], m)
        mean = np.where(size > 0, sums / np.maximum(size, 1e-300), np.inf)
        place = np.empty(m)
        place[np.argsort(mean, kind="stable")] = np.arange(m)
        z = place[codes]
        cut = search.best(z) if known.all() else self._among_known(node, known, z)
        if cut is None:
            return None
        side = (place > cut.threshold).astype(int)
        branch = np.where(size > 0, side, -1)
        if isinstance(policy, Fractional):
            missing = -1
        elif isinstance(policy, Surrogate):
            missing = int(2 * size[side == 1].sum() > size.sum())
        else:
            missing = int(side[size.argmax()])
        merit = max(cut.gain, 0.0) / search.total
        return SubsetSplit(
            feature, tuple(branch.tolist()), merit=merit, missing=missing
        )


def _with_surrogates(node: Node, split: Split) -> Split:
    """The test with those that stand in for it, where the policy has any."""
    table, policy = node.problem.table, node.problem.missing
    if not isinstance(policy, Surrogate) or not table.has_gaps:
        return split
    found = general.surrogates(
        table.values[node.rows],
        node.weight,
        table.schema.n_categories,
        split.route(table, node.rows),
        split.feature,  # type: ignore[attr-defined]
        policy.max_surrogates,
    )
    tests = tuple(
        AxisSplit(feature, threshold, low)
        if codes is None
        else SubsetSplit(feature, tuple(codes))
        for feature, low, threshold, codes in found
    )
    return replace(split, surrogates=tests)
