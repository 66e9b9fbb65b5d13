"""Tests on one feature where a number is predicted: every feature is cut at its best.

Numbers are cut between adjacent values; categories are ordered by their mean target and cut
once, which is the best of all subsets under the squared error (Fisher 1958; Breiman et al.
1984, section 8.8). Ties go to the lowest feature index, then to the lowest cut. Used by the
univariate learner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import general
from omnitree.growing.learner import Floats
from omnitree.growing.missing import Fractional, Mean, Surrogate
from omnitree.growing.node import Node
from omnitree.learners.numeric_cuts import CutSearch, NumericCut, search_of
from omnitree.tree.splits import AxisSplit, Split, SubsetSplit

# Gains that differ by a smaller share of the loss are tied, as in the compiled searches.
TIED = 1e-11


def best_feature(node: Node, min_branch: float, min_gain: float = 0.0) -> Split | None:
    """The best test of a node on one feature; None where it gains too little.

    See `CutSearch.is_chance`.
    """
    search = search_of(node, min_branch)
    best: FeatureCut | None = None
    features = _features(node)
    features = [features[i] for i in search.promising([f.z for f in features])]
    complete = [f for f in features if f.is_complete]
    cuts: dict[int, NumericCut | None] = {}
    if complete:
        found = search.best_of(np.array([f.z for f in complete]))
        cuts = {f.feature: cut for f, cut in zip(complete, found, strict=True)}
    for f in features:
        if f.feature in cuts:
            cut = cuts[f.feature]
        else:
            known = np.flatnonzero(~np.isnan(f.z))
            cut = CutSearch(node, min_branch, known).best(f.z[known])
        if cut is None:
            continue
        if best is None or cut.gain > best.cut.gain + TIED * search.loss:
            best = FeatureCut(f, cut)
    if best is None or search.is_chance(best.cut, min_gain):
        return None
    return with_surrogates(node, best.split(node, search.total))


def proposals(node: Node, min_branch: float) -> Callable[[int, int], Split | None]:
    """A function that gives the best test on a feature whose answers go in a direction."""
    features = {f.feature: f for f in _features(node)}

    def propose(feature: int, direction: int) -> Split | None:
        f = features.get(feature)
        if f is None:
            return None
        known = np.flatnonzero(~np.isnan(f.z))
        search = CutSearch(node, min_branch, known)
        if direction or node.bounds != (-np.inf, np.inf):
            cut = search.best_kept(f.z[known], direction)
        else:
            cut = search.best(f.z[known])
        return None if cut is None else FeatureCut(f, cut).split(node, node.total)

    return propose


def _features(node: Node) -> list[Projection]:
    """The features that vary at a node, as projections of its rows."""
    table = node.sample.table
    every = np.ascontiguousarray(table.values[node.rows].T)
    known = ~np.isnan(every)
    found = []
    for feature, m in enumerate(table.schema.n_categories.tolist()):
        if known[feature].any():
            made = _categories if m else _numbers
            found.append(made(node, feature, every[feature], known[feature]))
    return [f for f in found if f.varies]


@dataclass(frozen=True)
class Projection:
    """A feature as a projection of the rows of a node."""

    feature: int
    cells: Floats  # of the rows of the node
    # What is cut: the cells, or the places of categories; missing values filled, or NaN.
    z: Floats
    is_complete: bool  # whether nothing in it is NaN
    # Where each category stands in the order (NaN: not here), and its weight.
    place: Floats | None = None
    size: Floats | None = None

    @property
    def varies(self) -> bool:
        """Whether there is anything to cut."""
        if self.is_complete:
            return bool(self.z.min() < self.z.max())
        # Comparisons with NaN are false: it is left out of both.
        return bool(np.fmin.reduce(self.z) < np.fmax.reduce(self.z))


def _numbers(node: Node, feature: int, cells: Floats, known: NDArray) -> Projection:
    z, is_complete = cells, bool(known.all())
    if not is_complete and isinstance(node.rules.missing, Mean):
        weight = node.weight[known]
        mean = (cells[known] * weight).sum() / weight.sum()
        z, is_complete = np.where(known, cells, mean), True
    return Projection(feature, cells, z, is_complete)


def _categories(node: Node, feature: int, cells: Floats, known: NDArray) -> Projection:
    """The categories in the order of their mean targets."""
    m = int(node.sample.table.schema.n_categories[feature])
    is_complete = bool(known.all())
    codes = (cells if is_complete else np.where(known, cells, 0.0)).astype(np.intp)

    def sums(values: Floats) -> Floats:
        here = slice(None) if is_complete else known
        return np.bincount(codes[here], values[here], m).astype(np.float64, copy=False)

    size = sums(node.weight)
    if not is_complete and isinstance(node.rules.missing, Mean):
        codes[~known], is_complete = size.argmax(), True
        size = sums(node.weight)
    mean = sums(node.weight * node.y) / np.maximum(size, 1e-300)
    place = np.empty(m)
    place[np.argsort(np.where(size > 0, mean, np.inf), kind="stable")] = np.arange(m)
    z = place[codes] if is_complete else np.where(known, place[codes], np.nan)
    there = np.where(size > 0, place, np.nan)
    return Projection(feature, cells, z, is_complete, there, size)


@dataclass(frozen=True)
class FeatureCut:
    """The best cut of a feature."""

    of: Projection
    cut: NumericCut

    def split(self, node: Node, total: float) -> Split:
        """The test, with the branch that rows with a missing value take."""
        policy, merit = node.rules.missing, max(self.cut.gain, 0.0) / total
        place, feature = self.of.place, self.of.feature
        cut, known = self.cut.threshold, ~np.isnan(self.of.cells)
        cells, weight = self.of.cells[known], node.weight[known]
        if isinstance(policy, Fractional):
            missing = -1
        elif isinstance(policy, Surrogate):
            at = cells if place is None else place[cells.astype(np.intp)]
            missing = int(2 * weight[at > cut].sum() > weight.sum())
        elif place is None or self.of.size is None:
            missing = int((cells * weight).sum() / weight.sum() > cut)
        else:
            missing = int(place[self.of.size.argmax()] > cut)
        if place is None:
            return AxisSplit(feature, cut, merit=merit, missing=missing)
        branch = np.where(np.isnan(place), -1, place > cut)
        return SubsetSplit(
            feature, tuple(branch.tolist()), merit=merit, missing=missing
        )


def with_surrogates(node: Node, split: Split) -> Split:
    """The test with those that stand in for it, where the policy has any."""
    table, policy = node.sample.table, node.rules.missing
    if not isinstance(policy, Surrogate) or not table.has_missing:
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
