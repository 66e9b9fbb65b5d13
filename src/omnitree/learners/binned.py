"""Univariate tests from histograms: the best edge between bins, or sets of categories.

All edges of some features are scored in one call of the merit: one call a feature would
spend most of its time in Python, where threads take turns. Where the bins beside the best
edge hold several values, the rows there can refine the cut (`Zone`). Categories are searched
by the compiled code that searches rows, on one row for each category and class. Used by
`Univariate` where a tree is grown from sums over blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from omnitree.data.schema import Schema
from omnitree.data.table import Table
from omnitree.growing.blocks.sum_node import Floats, FoundSplit, SumNode, Zone
from omnitree.growing.missing import Mean
from omnitree.growing.node import Node
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget
from omnitree.learners.numeric_features import with_surrogates
from omnitree.parts.merit import Gain, GainRatio, Merit
from omnitree.tree.splits import AxisSplit, Split, SubsetSplit

# In the tables of one call of a merit: for larger ones the system has to clear memory.
SCORED_CELLS = 1 << 15


@dataclass(frozen=True, eq=False)
class Candidate:
    """A test on one feature, the weights of its branches, and what it is worth."""

    split: Split
    weights: Floats
    gain: float  # what places a cut
    value: float  # what compares features
    edge: int = -1  # of a cut: the bins up to it are below


def best_binned(
    node: SumNode,
    merit: Merit | None,
    min_branch: float,
    by_rows: Callable[[Node], Split | None],
) -> FoundSplit | None:
    """The best test of a node.

    `merit` is that of class counts; None: numbers are predicted, and the squared error
    counts. `by_rows` finds the best test of a node with a single categorical feature.
    """
    assert node.histograms is not None
    by_feature: dict[int, Candidate] = {}
    alike: dict[int, list[int]] = {}  # numeric features by their number of edges
    for j, counts in enumerate(node.histograms):
        candidate = None
        if not node.schema.features[j].is_categorical:
            if len(node.edges[j]):
                alike.setdefault(len(node.edges[j]), []).append(j)
        elif merit is None:
            candidate = _ordered_categories(node, j, counts, min_branch)
        else:
            candidate = _categories(node, j, counts, merit, by_rows)
        if candidate is not None:
            by_feature[j] = candidate
    for n_edges, features in alike.items():
        cells = 2 * n_edges * len(node.statistics)
        each = max(SCORED_CELLS // cells, 1)
        for start in range(0, len(features), each):
            by_feature |= _cuts(node, features[start : start + each], merit, min_branch)
    found = [by_feature[j] for j in sorted(by_feature)]
    if isinstance(merit, GainRatio) and found:
        # As in the search over rows: only features of at least average gain compete.
        average = np.mean([c.gain for c in found])
        found = [c for c in found if c.gain >= average - 1e-12]
    if not found:
        return None
    best = max(found, key=lambda c: c.value)  # the first of equals
    shares = best.weights / best.weights.sum()
    split = best.split
    zone = None
    if isinstance(split, AxisSplit):
        zone = _zone(node, split, best.edge, merit, min_branch)
    if node.rows is not None:
        split = with_surrogates(node.rows, split)
    return FoundSplit(split, tuple(shares.tolist()), zone)


def _cuts(
    node: SumNode, features: list[int], merit: Merit | None, min_branch: float
) -> dict[int, Candidate]:
    """Best edges of numeric features that have the same number of edges.

    Only that of the best feature, where no other is asked for.
    """
    assert node.histograms is not None
    rows = np.stack([node.histograms[j] for j in features])
    weight = _weight(rows, merit)
    there = np.count_nonzero(weight[:, :-1], axis=1) > 1
    if not there.all():
        features = [j for j, one in zip(features, there.tolist(), strict=True) if one]
        rows, weight = rows[there], weight[there]
    if not features:
        return {}
    # Statistic by statistic, each with all edges side by side: sums over the few classes of
    # a table are ten times as fast as where the classes lie side by side.
    counts = np.ascontiguousarray(rows.transpose(2, 0, 1))
    known, missing = counts[:, :, :-1], counts[:, :, -1]
    usual: list[int] | None = None
    if isinstance(node.rules.missing, Mean):
        usual = [
            _usual_bin(node.edges[j], own[:-1])
            for j, own in zip(features, weight, strict=True)
        ]
        known = known.copy()
        known[:, np.arange(len(features)), usual] += missing
    up_to = np.cumsum(known, axis=2)
    n_edges = up_to.shape[2] - 1
    sides = np.empty((2, len(counts), len(features), n_edges))
    sides[0] = up_to[:, :, :-1]
    np.subtract(up_to[:, :, -1:], sides[0], out=sides[1])
    tables = sides.transpose(2, 3, 0, 1)  # (features, edges, 2, statistics)
    size = _weight(tables, merit)
    smaller = size.min(axis=2)
    usable = (smaller > 0) & (smaller >= min_branch - 1e-9)
    worth = _worth(sides.reshape(2, len(counts), -1).transpose(2, 0, 1), merit)
    gains = np.where(usable, worth.reshape(usable.shape), -np.inf)
    each = np.arange(len(features))
    place = gains.argmax(axis=1)
    shares = np.ones(len(features))
    if usual is None:  # of the rows without a missing value
        shares = size[each, place].sum(axis=1) / weight.sum(axis=1)
    gain = gains[each, place] * shares
    possible = np.flatnonzero(usable[each, place])
    if len(possible) and not isinstance(merit, GainRatio):
        possible = possible[[gain[possible].argmax()]]  # the first of equals
    found = {}
    for i in possible.tolist():
        j, at, share = features[i], place[i], float(shares[i])
        # Of edges that divide the rows alike, the one in the middle.
        same = np.flatnonzero((size[i, :, 0] == size[i, at, 0]) & usable[i])
        edge = int(same[len(same) // 2])
        branch = int(size[i, at, 1] > size[i, at, 0])
        if usual is not None:
            branch = int(usual[i] > edge)
        split = AxisSplit(j, float(node.edges[j][edge]), missing=branch)
        candidate = _candidate(
            split, tables[i, at], gain[i], merit, missing[:, i], branch, share
        )
        found[j] = replace(candidate, edge=edge)
    return found


def _zone(
    node: SumNode,
    split: AxisSplit,
    edge: int,
    merit: Merit | None,
    min_branch: float,
) -> Zone | None:
    """The bins with several values next to an edge, and how to find the best cut there."""
    assert node.histograms is not None
    counts = node.histograms[split.feature]
    edges, several = node.edges[split.feature], node.several[split.feature]
    known, missing = counts[:-1], counts[-1]
    filled = np.flatnonzero(_weight(known, merit))
    first, last = filled[filled <= edge][-1], filled[filled > edge][0]
    begin = int(first) if several[first] else edge + 1
    end = int(last) + 1 if several[last] else edge + 1
    if begin == end:
        return None
    sides = np.stack([known[:begin].sum(axis=0), known[end:].sum(axis=0)])
    if isinstance(node.rules.missing, Mean):
        sides[split.missing] += missing
    total = _weight(counts, merit).sum()

    def refine(values: Floats, up_to: Floats) -> tuple[float, float]:
        cuts = values[:-1] + (values[1:] - values[:-1]) / 2
        cuts = np.where(cuts < values[1:], cuts, values[:-1])
        below = sides[0] + np.vstack([np.zeros_like(sides[0]), up_to])
        # The edge is a cut of its own where the zone does not go beyond it.
        at_first, at_last = begin == edge + 1, end == edge + 1
        below = below[0 if at_first else 1 : None if at_last else -1]
        cuts = np.concatenate(
            [[split.threshold] * at_first, cuts, [split.threshold] * at_last]
        )
        tables = np.stack([below, sides.sum(axis=0) + up_to[-1] - below], axis=1)
        size = _weight(tables, merit)
        usable = (size > 0).all(axis=1) & (size >= min_branch - 1e-9).all(axis=1)
        if not usable.any():
            return split.threshold, split.merit
        gains = np.where(usable, _worth(tables, merit), -np.inf)
        at = int(gains.argmax())
        share = size[at].sum() / max(total, 1e-300)
        value = gains[at] * share
        if isinstance(merit, GainRatio):
            value = float(merit(tables[at])) * share
        return float(cuts[at]), float(value)

    within = _weight(known[begin:end], merit).sum()
    return Zone(
        float(edges[begin - 1]) if begin else -np.inf,
        float(edges[end - 1]) if end <= len(edges) else np.inf,
        float(within / max(total, 1e-300)),
        refine,
    )


def _ordered_categories(
    node: SumNode, feature: int, counts: Floats, min_branch: float
) -> Candidate | None:
    """Two sets of categories, in the order of their mean targets."""
    known, missing = counts[:-1].copy(), counts[-1]
    if not known[:, 0].any():
        return None
    usual = int(known[:, 0].argmax())
    if isinstance(node.rules.missing, Mean):
        known[usual] += missing
    here = np.flatnonzero(known[:, 0] > 0)
    order = here[np.argsort(known[here, 1] / known[here, 0], kind="stable")]
    below = np.cumsum(known[order], axis=0)[:-1]
    tables = np.stack([below, known.sum(axis=0) - below], axis=1)
    usable = (tables[:, :, 0] >= max(min_branch - 1e-9, 1e-300)).all(axis=1)
    if not usable.any():
        return None
    gains = np.where(usable, _worth(tables, None), -np.inf)
    at = int(gains.argmax())
    side = np.full(len(known), -1)
    side[order] = np.arange(len(order)) > at
    branch = int(tables[at, 1, 0] > tables[at, 0, 0])
    if isinstance(node.rules.missing, Mean):
        branch = int(side[usual])
    share = tables[at, :, 0].sum() / counts[:, 0].sum()
    split = SubsetSplit(feature, tuple(side.tolist()), missing=branch)
    return _candidate(
        split, tables[at], gains[at] * share, None, missing, branch, share
    )


def _categories(
    node: SumNode,
    feature: int,
    counts: Floats,
    merit: Merit,
    by_rows: Callable[[Node], Split | None],
) -> Candidate | None:
    """The test on a categorical feature that a search over rows finds."""
    code, label = np.nonzero(counts)
    cells = np.where(code == len(counts) - 1, np.nan, code)[:, None]
    own = Schema((node.schema.features[feature],), node.schema.named)
    target = ClassTarget(label.astype(np.int32), np.arange(counts.shape[1]))
    sample = Sample(Table(cells, own), target, counts[code, label])
    rows = Node.root(sample, node.rules)
    split = by_rows(rows)
    if split is None:
        return None
    branch = split.route(sample.table, rows.rows)
    branch = np.where(branch < 0, split.missing, branch)
    table = target.statistics_by(branch, split.n_children, sample.weight)
    gain = float(Gain()(table))
    # The one feature of that table is number 0.
    renamed = replace(split, feature=feature)  # type: ignore[call-arg]
    return Candidate(renamed, table.sum(axis=1), gain, split.merit)


def _candidate(
    split: Split,
    table: Floats,
    gain: float,
    merit: Merit | None,
    missing: Floats,
    branch: int,
    share: float,
) -> Candidate:
    """A test with its merit; `table` are the statistics of its branches."""
    value = gain if not isinstance(merit, GainRatio) else float(merit(table)) * share
    weights = _weight(table, merit).copy()
    if share < 1:
        weights[branch] += _weight(missing, merit)
    return Candidate(replace(split, merit=float(value)), weights, gain, value)


def _weight(statistics: Floats, merit: Merit | None) -> Floats:
    """Weight of the rows with these statistics."""
    return statistics[..., 0] if merit is None else statistics.sum(axis=-1)


def _worth(tables: Floats, merit: Merit | None) -> Floats:
    """What each of several divisions (n, 2, statistics) is worth."""
    if merit is not None:
        return (Gain() if isinstance(merit, GainRatio) else merit)(tables)
    weight, sums = tables[..., 0], tables[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = np.where(weight > 0, sums**2 / weight, 0.0).sum(axis=1)
    total, whole = weight.sum(axis=1), sums.sum(axis=1)
    return (explained - whole**2 / total) / total


def _usual_bin(edges: Floats, weight: Floats) -> int:
    """The bin of the mean, as bins show it: halfway between their edges."""
    low, high = np.append(edges[0], edges), np.append(edges, edges[-1])
    mean = np.average((low + high) / 2, weights=weight)
    return int(np.searchsorted(edges, mean))
