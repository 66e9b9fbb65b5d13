"""The univariate learner for a numeric target: every feature is cut at its best.

Numbers are cut between adjacent values; symbols are ordered by their mean target and cut
once, which is the best of all subsets under the squared error (Fisher 1958; Breiman et al.
1984, section 8.8). With constants in the leaves compiled code may grow the whole tree
(`growing/dispatch.py`). Ties go to the lowest feature
index, then to the lowest cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import general
from omnitree.data.schema import Schema
from omnitree.growing.axis_trees import AxisSearch
from omnitree.growing.constraints import Constraints
from omnitree.growing.learner import Floats, SplitLearner
from omnitree.growing.missing import Fractional, Mean, Surrogate
from omnitree.growing.node import Node
from omnitree.growing.part import number
from omnitree.learners.regression.search import (
    Cut,
    CutSearch,
    search_of,
)
from omnitree.learners.ruled import best_ruled
from omnitree.parts.leaves import ConstantLeaves
from omnitree.tree.splits import AxisSplit, Split, SubsetSplit

# Gains that differ by a smaller share of the loss are tied, as in the compiled searches.
TIED = 1e-11


class RegressionUnivariate(SplitLearner):
    """Tests on one feature at a time, for a numeric target.

    Parameters
    ----------
    min_branch : float, default=1
        Least weight of a branch.
    monotone, interactions
        As for `omnitree.learners.Univariate`, with the answer in place of a probability;
        `monotone` needs the squared error. Tests then get no surrogates.

    Examples
    --------
    >>> from omnitree import TreeRegressor
    >>> reg = TreeRegressor(learner="univariate").fit([[1], [2], [3]], [5.0, 5.0, 8.0])
    >>> reg.tree_.split(0).threshold
    2.5
    """

    def __init__(self, min_branch=1, monotone=None, interactions=None):
        self.min_branch = min_branch
        self.monotone = monotone
        self.interactions = interactions

    def constraints(self, schema: Schema) -> Constraints | None:
        """What `monotone` and `interactions` say."""
        return Constraints.of(self.monotone, self.interactions, schema)

    @property
    def _ruled(self) -> bool:
        return self.monotone is not None or self.interactions is not None

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test for one node."""
        number("min_branch", self.min_branch)
        if self._ruled:
            return self._fit_ruled(node)
        search = search_of(node, self.min_branch)
        best: Found | None = None
        features = self._features(node)
        whole = [f for f in features if not np.isnan(f.z).any()]
        cuts: dict[int, Cut | None] = {}
        if whole:
            found = search.best_of(np.array([f.z for f in whole]))
            cuts = {f.feature: cut for f, cut in zip(whole, found, strict=True)}
        for f in features:
            cut = cuts[f.feature] if f.feature in cuts else self._among_known(node, f.z)
            if cut is None:
                continue
            if best is None or cut.gain > best.cut.gain + TIED * search.loss:
                best = Found(f, cut)
        if best is None:
            return None
        return _with_surrogates(node, best.split(node, search.total))

    def _fit_ruled(self, node: Node) -> Split | None:
        """The best test among those that keep the rules."""
        features = {f.feature: f for f in self._features(node)}

        def propose(feature: int, direction: int) -> Split | None:
            f = features.get(feature)
            if f is None:
                return None
            known = np.flatnonzero(~np.isnan(f.z))
            search = CutSearch(node, self.min_branch, known)
            if direction or node.bounds != (-np.inf, np.inf):
                cut = search.best_kept(f.z[known], direction)
            else:
                cut = search.best(f.z[known])
            return None if cut is None else Found(f, cut).split(node, node.total)

        return best_ruled(self, node, propose)

    def search(self, root: Node) -> AxisSearch | None:
        """What it looks for, where leaves hold constants and no rule has to be kept."""
        if self._ruled or type(root.rules.leaves) is not ConstantLeaves:
            return None
        return AxisSearch(min_branch=number("min_branch", self.min_branch))

    def _features(self, node: Node) -> list[Projection]:
        """The features that vary at a node, as projections of its rows."""
        found = []
        for feature, m in enumerate(node.sample.table.schema.n_categories):
            cells = node.sample.table.values[node.rows, feature]
            known = ~np.isnan(cells)
            if known.any():
                made = _symbols if m else _numbers
                found.append(made(node, feature, cells, known))
        return [f for f in found if f.varies]

    def _among_known(self, node: Node, z: Floats) -> Cut | None:
        """The best cut of the rows without a gap, and what it gains there."""
        known = np.flatnonzero(~np.isnan(z))
        return CutSearch(node, self.min_branch, known).best(z[known])


@dataclass(frozen=True)
class Projection:
    """A feature as a projection of the rows of a node.

    Attributes
    ----------
    feature : int
    cells : float array
        Of the rows of the node.
    z : float array
        What is cut: the cells, or the places of symbols; gaps filled, or NaN.
    place, size : float arrays, for symbols
        Where each symbol stands in the order (NaN: not here), and its weight.
    """

    feature: int
    cells: Floats
    z: Floats
    place: Floats | None = None
    size: Floats | None = None

    @property
    def varies(self) -> bool:
        """Whether there is anything to cut."""
        # Comparisons with NaN are false: it is left out of both.
        return bool(np.fmin.reduce(self.z) < np.fmax.reduce(self.z))


def _numbers(node: Node, feature: int, cells: Floats, known: NDArray) -> Projection:
    z = cells
    if not known.all() and isinstance(node.rules.missing, Mean):
        mean = np.average(cells[known], weights=node.weight[known])
        z = np.where(known, cells, mean)
    return Projection(feature, cells, z)


def _symbols(node: Node, feature: int, cells: Floats, known: NDArray) -> Projection:
    """The symbols in the order of their mean targets."""
    m = int(node.sample.table.schema.n_categories[feature])
    codes = np.where(known, cells, 0.0).astype(np.intp)

    def sums(values: Floats) -> Floats:
        return np.bincount(codes[known], values[known], m).astype(np.float64)

    size = sums(node.weight)
    if isinstance(node.rules.missing, Mean):
        codes[~known], known = size.argmax(), np.ones(len(cells), dtype=bool)
        size = sums(node.weight)
    mean = sums(node.weight * node.y) / np.maximum(size, 1e-300)
    place = np.empty(m)
    place[np.argsort(np.where(size > 0, mean, np.inf), kind="stable")] = np.arange(m)
    z = np.where(known, place[codes], np.nan)
    return Projection(feature, cells, z, np.where(size > 0, place, np.nan), size)


@dataclass(frozen=True)
class Found:
    """The best cut of a feature."""

    of: Projection
    cut: Cut

    def split(self, node: Node, total: float) -> Split:
        """The test, with the branch that rows with a gap take."""
        policy, merit = node.rules.missing, max(self.cut.gain, 0.0) / total
        place, feature = self.of.place, self.of.feature
        known = ~np.isnan(self.of.cells)
        cells, weight = self.of.cells[known], node.weight[known]
        if place is None or self.of.size is None:
            above = cells > self.cut.threshold
            usual = np.average(cells, weights=weight) > self.cut.threshold
        else:
            side = place > self.cut.threshold
            above = side[cells.astype(np.intp)]
            usual = side[self.of.size.argmax()]
        missing = int(usual)
        if isinstance(policy, Fractional):
            missing = -1
        elif isinstance(policy, Surrogate):
            missing = int(2 * weight[above].sum() > weight.sum())
        if place is None:
            cut = self.cut.threshold
            return AxisSplit(feature, cut, merit=merit, missing=missing)
        branch = np.where(np.isnan(place), -1, side)
        return SubsetSplit(
            feature, tuple(branch.tolist()), merit=merit, missing=missing
        )


def _with_surrogates(node: Node, split: Split) -> Split:
    """The test with those that stand in for it, where the policy has any."""
    table, policy = node.sample.table, node.rules.missing
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
