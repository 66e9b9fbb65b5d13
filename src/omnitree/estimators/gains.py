"""What each test and each model of a fitted tree gains on its training rows, by feature.

The gain of a test is the decrease of the Gini impurity (of the loss, in a tree for numbers)
from its node to the branches, as if they were leaves without models. The gain of a node's
model is what it takes off that node's: the Gini impurity is the Brier score of class
shares, so a model of classes is measured by its Brier score. Gains along a tree therefore
add up to what the whole tree explains, with or without models. `tree.importance` divides
each by feature. Used by the estimators at the end of a fit; threads share the nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.sample import Sample
from omnitree.growing.threads import one_thread, threads
from omnitree.tree.importance import (
    NO_CURVES,
    Amounts,
    ColumnSpreads,
    curve_sizes,
    gini,
    shares,
    times,
)
from omnitree.tree.tree import LEAF, Tree

# Of more rows in a node, every second, third ... one says how much its columns vary: the
# deviations are then known to about a part in a hundred, and the fit does not wait for
# them.
ENOUGH = 4096
AT_ONCE = (
    16  # nodes that a thread takes: in small ones little else than Python is at work
)


def with_importance(tree: Tree, sample: Sample, n_jobs: int | None = None) -> Tree:
    """The tree, grown on a sample, with the importance of features in every node."""
    start, row, part = passing = tree.passing(sample.table, n_jobs)
    weight = sample.weight
    impurity = _impurity(tree, sample, passing)
    drop = impurity.copy()
    np.subtract.at(drop, tree.parent[1:], impurity[1:])
    gain = _model_gains(tree, sample, passing, impurity)
    encoded = sample.table.encoded

    def amounts(holder: dict[str, Any], at: int, total: float) -> Amounts:
        n = int(start[at + 1] - start[at])
        here = slice(start[at], start[at + 1], max(n // ENOUGH, 1))
        weights = weight[row[here]] * part[here]
        if not (total > 0 and weights.sum() > 0):
            return ()
        cells = encoded.cells[np.ix_(row[here], holder["columns"])]
        if encoded.has_missing:
            cells = np.where(np.isnan(cells), np.asarray(holder["fill"]), cells)
        curves = NO_CURVES
        if "knots" in holder:
            bent = encoded.cells[np.ix_(row[here], holder["curve_columns"])]
            curves = curve_sizes(holder, bent, weights)
        moments = ColumnSpreads.of(cells, weights, "terms" in holder, curves)
        return times(shares(holder, encoded.feature, moments), total)

    def of_test(at: int) -> Amounts:
        if tree.kind[at] == LEAF:
            return ()
        test = tree.split(at).own_values()
        if "feature" in test:
            return ((test["feature"], float(drop[at])),) if drop[at] > 0 else ()
        return amounts(test, at, float(drop[at]))

    def of_model(at: int) -> Amounts:
        model = tree.model(at)
        if model is None or not (model.columns or model.curve_columns):
            return ()
        return amounts(model.to_dict(), at, float(gain[at]))

    def of_nodes(nodes: Sequence[int]) -> list[tuple[Amounts, Amounts]]:
        return [(of_test(at), of_model(at)) for at in nodes]

    every = range(tree.n_nodes)
    some = [every[i : i + AT_ONCE] for i in every[::AT_ONCE]]
    with threads(n_jobs) as pool, one_thread():
        tests, models = zip(*chain.from_iterable(pool.map(of_nodes, some)), strict=True)
    return tree.replace(importance=tests, model_importance=models)


def _impurity(tree: Tree, sample: Sample, passing) -> NDArray[np.float64]:
    """Of every node as a leaf without a model."""
    if tree.constant is None:
        return np.array([gini(value) for value in tree.value])
    start, row, part = passing
    node = np.repeat(np.arange(tree.n_nodes), np.diff(start))
    losses = sample.target.take(row).losses(tree.constant[node][:, None])
    losses *= sample.weight[row] * part
    return np.bincount(node, losses, minlength=tree.n_nodes).astype(np.float64)


def _model_gains(tree: Tree, sample: Sample, passing, impurity) -> NDArray[np.float64]:
    """How much less each model errs than its node without it; 0 where there is none."""
    if tree.models is None:
        return np.zeros(tree.n_nodes)
    has = tree.models.there
    if tree.loss is not None:
        return np.where(has, impurity - tree.loss, 0.0)
    start, row, part = passing
    node = np.repeat(np.arange(tree.n_nodes), np.diff(start))
    at = np.flatnonzero(has[node])
    rows, nodes = row[at], node[at]
    error = tree.node_answers(sample.table, rows, nodes, tree.class_shares)
    error[np.arange(len(at)), sample.y[rows]] -= 1.0
    losses = (error**2).sum(axis=1) * sample.weight[rows] * part[at]
    brier = np.bincount(nodes, losses, minlength=tree.n_nodes)
    return np.where(has, impurity - brier, 0.0)


def measured(tree: Tree, sample: Sample, n_jobs: int | None = None) -> Tree:
    """The tree with what only its training rows can tell: spreads, importances."""
    if not tree.has_weights:
        return tree
    spreads = {"deviation": sample.deviations, "ranges": _ranges(sample)}
    return with_importance(tree.replace(**spreads), sample, n_jobs)


def _ranges(sample: Sample) -> NDArray[np.float64]:
    """The ends (n_features, 2) of each numeric feature; NaN where there are none."""
    values, schema = sample.table.values, sample.table.schema
    ends = np.stack([np.fmin.reduce(values), np.fmax.reduce(values)], axis=1)
    ends[schema.n_categories > 0] = np.nan
    return ends
