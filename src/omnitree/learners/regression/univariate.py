"""The univariate learner for a numeric target: every feature is cut at its best.

Numbers are cut between adjacent values; symbols are ordered by their mean target and cut
once, which is the best of all subsets under the squared error (Fisher 1958; Breiman et al.
1984, section 8.8). A table of complete numbers, with constants in the leaves and the squared
error, is grown whole in compiled code (`_core/presort.hpp`). Ties go to the lowest feature
index, then to the lowest cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from omnitree._core import general, presort
from omnitree.criterion import SquaredError
from omnitree.divisions import Divisions
from omnitree.learners.base import Floats, SplitLearner, Tick
from omnitree.learners.regression.search import Cut, CutSearch, trial_losses
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
        search = CutSearch(node, self.min_branch)
        best: Found | None = None
        for feature, m in enumerate(node.problem.table.schema.n_categories):
            find = self._subset if m else self._axis
            found = find(node, search, feature)
            tolerance = 1e-9 * search.loss
            if found and (best is None or found.cut.gain > best.cut.gain + tolerance):
                best = found
        if best is None:
            return None
        return _with_surrogates(node, best.split(node, search.total))

    def trial_errors(self, divisions: Divisions, rng: np.random.Generator) -> Floats:
        """Mean loss on the test part of every division, trained on the other part."""
        return trial_losses(self, divisions, rng)

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

    def _axis(self, node: Node, search: CutSearch, feature: int) -> Found | None:
        cells = node.problem.table.values[node.rows, feature]
        known = ~np.isnan(cells)
        if not known.any():
            return None
        z = cells
        if not known.all() and isinstance(node.problem.missing, Mean):
            z = np.where(
                known, cells, np.average(cells[known], weights=node.weight[known])
            )
        cut = self._cut(node, search, z)
        return None if cut is None else Found(feature, cut, cells)

    def _subset(self, node: Node, search: CutSearch, feature: int) -> Found | None:
        """Cut the symbols in the order of their mean targets."""
        cells = node.problem.table.values[node.rows, feature]
        known = ~np.isnan(cells)
        m = int(node.problem.table.schema.n_categories[feature])
        codes = np.where(known, cells, 0.0).astype(np.intp)
        size: Floats = np.bincount(codes[known], node.weight[known], m)
        if np.count_nonzero(size) < 2:
            return None
        if isinstance(node.problem.missing, Mean):
            codes[~known], known = size.argmax(), np.ones(len(cells), dtype=bool)
            size = np.bincount(codes, node.weight, m)
        sums = np.bincount(codes[known], (node.weight * node.target)[known], m)
        mean = np.where(size > 0, sums / np.maximum(size, 1e-300), np.inf)
        place = np.empty(m)
        place[np.argsort(mean, kind="stable")] = np.arange(m)
        cut = self._cut(node, search, np.where(known, place[codes], np.nan))
        if cut is None:
            return None
        return Found(feature, cut, cells, np.where(size > 0, place, np.nan), size)

    def _cut(self, node: Node, search: CutSearch, z: Floats) -> Cut | None:
        """The best cut of a projection; rows with a gap in it do not count."""
        known = ~np.isnan(z)
        if known.all():
            return search.best(z)
        return CutSearch(node, self.min_branch, np.flatnonzero(known)).best(z[known])


@dataclass(frozen=True)
class Found:
    """The best cut of a feature.

    Attributes
    ----------
    feature : int
    cut : Cut
        Of the numbers, or of the places of symbols.
    cells : float array
        Of the rows of the node.
    place, size : float arrays, for symbols
        Where each symbol stands in the order (NaN: not here), and its weight.
    """

    feature: int
    cut: Cut
    cells: Floats
    place: Floats | None = None
    size: Floats | None = None

    def split(self, node: Node, total: float) -> Split:
        """The test, with the branch that rows with a gap take."""
        policy, merit = node.problem.missing, max(self.cut.gain, 0.0) / total
        known = ~np.isnan(self.cells)
        cells, weight = self.cells[known], node.weight[known]
        if self.place is None or self.size is None:
            above = cells > self.cut.threshold
            usual = np.average(cells, weights=weight) > self.cut.threshold
        else:
            side = self.place > self.cut.threshold
            above = side[cells.astype(np.intp)]
            usual = side[self.size.argmax()]
        missing = int(usual)
        if isinstance(policy, Fractional):
            missing = -1
        elif isinstance(policy, Surrogate):
            missing = int(2 * weight[above].sum() > weight.sum())
        if self.place is None:
            return AxisSplit(
                self.feature, self.cut.threshold, merit=merit, missing=missing
            )
        branch = np.where(np.isnan(self.place), -1, side)
        return SubsetSplit(
            self.feature, tuple(branch.tolist()), merit=merit, missing=missing
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
