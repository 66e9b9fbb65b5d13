"""Importance of features: who a test on several features owes its gain to.

A test on one feature gives all of its gain (decrease of the Gini impurity, or of the loss)
to that feature. One on several shares it by contributions: what a term adds varies by
|weight| times the standard deviation of the term among the rows of the node, summed over
the functions of a machine or a model. Features are measured from their means there, which
changes no function but keeps a product from repeating what its features do alone. A
product's part goes to both of its features in halves, and the columns of a categorical
feature add up. A curve varies by its own standard deviation. Of a machine only differences
of functions matter, so that the mean weight is taken off first.

`shares` divides; `estimators.gains` measures the gains when a tree is fitted and stores them
by node and feature, because the rows are gone later. `node_importances` reads them from the
public dict; a tree without them (from an older file) is divided by the deviations of whole
columns. Used by `Tree.feature_importances` and `plot_importance`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.schema import Schema
from omnitree.tree.routing import LEAF
from omnitree.tree.shared_models import terms_of

if TYPE_CHECKING:
    from omnitree.tree.tree import Tree

Floats = NDArray[np.float64]
# Importance by feature: pairs (feature, amount) of those that have any.
Amounts = tuple[tuple[int, float], ...]
NO_CURVES = np.empty(0)


@dataclass(frozen=True)
class ColumnSpreads:
    """What the columns of a test do among some rows."""

    mean: Floats  # (m,)
    deviation: Floats  # (m,)
    # (m, m): standard deviation of the product of two columns, each less its mean.
    products: Floats
    curves: Floats  # what each curve of the test varies by, `curve_sizes`

    @classmethod
    def of(
        cls,
        columns: Floats,
        weight: Floats,
        quadratic: bool,
        curves: Floats = NO_CURVES,
    ) -> ColumnSpreads:
        """From the cells (n, m), without missing ones, and the weights of rows."""
        part = weight / weight.sum()
        mean = part @ columns
        x = columns - mean
        deviation = np.sqrt(part @ x**2)
        if not quadratic:
            return cls(mean, deviation, np.empty((0, 0)), curves)
        weighted = part[:, None] * x
        both = (weighted * x).T @ x**2 - (weighted.T @ x) ** 2
        return cls(mean, deviation, np.sqrt(np.maximum(both, 0.0)), curves)

    @classmethod
    def without_rows(
        cls, fill: Any, deviation: Floats, curves: Floats = NO_CURVES
    ) -> ColumnSpreads:
        """From what stands in for missing cells, and deviations over all rows."""
        return cls(np.asarray(fill), deviation, np.outer(deviation, deviation), curves)


def curve_sizes(
    test: dict[str, Any], cells: Floats | None = None, weight: Floats | None = None
) -> Floats:
    """What each curve of a test or a model varies by, summed over the sums.

    `cells` (n, curves) are those of `curve_columns`, NaN where missing, with the weights of
    rows. Without them, knots are taken for rows: they lie at quantiles.
    """
    values = test.get("curve_values", [])
    lines = values if "bias" in test else [values]
    sizes = np.zeros(len(test.get("curve_columns", ())))
    part = None if weight is None else weight / weight.sum()
    for j in range(len(sizes)):
        own = np.array([line[j] for line in lines], dtype=float)
        if len(own) > 1:
            own = own - own.mean(axis=0)
        for line in own:
            if cells is None or part is None:
                sizes[j] += line[:-1].std()
                continue
            x = cells[:, j]
            # As `curve_at` but for the last digits, and faster.
            at = np.interp(x, test["knots"][j], line[:-1])
            at = np.where(np.isnan(x), line[-1], at)
            sizes[j] += np.sqrt(part @ (at - part @ at) ** 2)
    return sizes


def shares(
    test: dict[str, Any], feature: NDArray[Any], moments: ColumnSpreads
) -> Amounts:
    """What each feature contributes to a test on several, or to a model; adds up to one.

    The test is plain, as in `Tree.to_dict`; `feature` is that of each encoded column
    (`Schema.linear_columns`), and the moments are those of the columns of the test.

    Examples
    --------
    >>> test = {"columns": [0, 1], "weights": [10.0, 0.5], "fill": [0.0, 0.0]}
    >>> moments = ColumnSpreads.without_rows([0.0, 0.0], np.array([1.0, 1.0]))
    >>> [(j, round(share, 3)) for j, share in shares(test, np.array([0, 1]), moments)]
    [(0, 0.952), (1, 0.048)]
    """
    every = [*test["columns"], *test.get("curve_columns", ())]
    owner = np.asarray(feature)[np.asarray(every, dtype=np.intp)]
    if not len(owner):
        return ()
    size = np.concatenate([_sizes(test, moments), moments.curves])
    # Constant columns alone, no weights, or numbers too large to square.
    if not 0 < size.sum() < np.inf:
        size = np.ones(len(owner))
    part = np.bincount(owner, size / size.sum())
    return tuple((int(j), float(part[j])) for j in np.flatnonzero(part))


def _sizes(test: dict[str, Any], moments: ColumnSpreads) -> Floats:
    """How much the sums of a test vary with each of its columns."""
    if "hidden_weights" in test:
        hidden = np.abs(np.asarray(test["hidden_weights"], dtype=float))
        out = np.abs(np.asarray(test["output_weights"], dtype=float))
        return out @ hidden * moments.deviation
    if "cases" in test:  # its part in squared distances
        return np.asarray(test["precision"]) * moments.deviation**2
    weights = np.atleast_2d(np.asarray(test["weights"], dtype=float))
    if len(weights) > 1:
        weights = weights - weights.mean(axis=0)
    if "terms" not in test:
        return np.abs(weights).sum(axis=0) * moments.deviation
    p = len(moments.mean)
    a, b = np.array(terms_of(test), dtype=np.intp).reshape(-1, 2).T
    other = np.where(b < 0, a, b)
    both = np.stack(
        [a, other], axis=1
    ).ravel()  # each term adds to two columns, or twice
    mean = np.asarray(moments.mean)
    times = np.stack([mean[other], mean[a]], axis=1)
    times[b < 0] = 1.0, 0.0
    slope = np.zeros((p, len(weights)))
    amounts = times[:, :, None] * weights.T[:, None]
    np.add.at(slope, both, amounts.reshape(len(both), len(weights)))
    spread, pairs = np.zeros(len(a)), b >= 0
    spread[pairs] = moments.products[a[pairs], b[pairs]] / 2
    total = np.ascontiguousarray(np.abs(weights.T)).sum(axis=1)
    size = np.zeros(p)
    np.add.at(size, both, np.repeat(total * spread, 2))
    slope = np.ascontiguousarray(slope.T)
    return size + np.abs(slope).sum(axis=0) * moments.deviation


def feature_importances(tree: Tree) -> Floats:
    """Share of each feature in what a tree explains; see `Tree.feature_importances`."""
    importance = np.zeros(tree.schema.n_features)
    if tree.has_weights:
        for amounts in node_importances(tree.to_dict()):
            for feature, amount in amounts:
                importance[feature] += amount
    else:
        impurity = tree.loss
        if impurity is None:
            weight = tree.value.sum(axis=1)
            safe = np.maximum(weight, np.finfo(float).tiny)
            impurity = weight - (tree.value**2).sum(axis=1) / safe
        drop = impurity.copy()
        np.subtract.at(drop, tree.parent[1:], impurity[1:])
        inner = tree.kind != LEAF
        tested = tree.index[tree.index_ptr[tree.test_start[:-1][inner]]]
        np.add.at(importance, tested, np.maximum(drop[inner], 0.0))
    total = importance.sum()
    return importance / total if total > 0 else importance


def node_importances(tree: dict[str, Any]) -> list[Amounts]:
    """What every node of a plain tree adds to the importance of features."""
    nodes = tree["nodes"]
    if any("importance" in node or "model_importance" in node for node in nodes):
        return [_stored(node) for node in nodes]
    impurity = np.array([_impurity(node) for node in nodes])
    schema = Schema.from_dict(tree["schema"])
    found: list[Amounts] = []
    for node in nodes:
        if node["kind"] == "leaf":
            found.append(())
            continue
        drop = float(impurity[node["id"]] - impurity[node["children"]].sum())
        found.append(times(_without_rows(node["test"], tree, schema), max(drop, 0.0)))
    if not any(amount > 0 for amounts in found for _, amount in amounts):
        # What models gain is not known: by the rows that they answer for.
        return [
            times(_without_rows(node["model"], tree, schema), sum(node["value"]))
            if node["kind"] == "leaf" and "model" in node
            else ()
            for node in nodes
        ]
    return found


def times(amounts: Amounts, factor: float) -> Amounts:
    """All amounts multiplied."""
    return tuple((j, amount * factor) for j, amount in amounts)


def gini(value: Sequence[float]) -> float:
    """Gini impurity of class counts, times their total."""
    total = float(np.sum(value))
    return total - float(np.square(value).sum()) / total if total > 0 else 0.0


def _impurity(node: dict[str, Any]) -> float:
    return node["loss"] if "loss" in node else gini(node["value"])


def _stored(node: dict[str, Any]) -> Amounts:
    pairs = node.get("model_importance" if node["kind"] == "leaf" else "importance", ())
    return tuple((j, amount) for j, amount in pairs)


def _without_rows(
    test: dict[str, Any], tree: dict[str, Any], schema: Schema
) -> Amounts:
    if "feature" in test:
        return ((test["feature"], 1.0),)
    deviations = np.asarray(tree.get("deviations", np.ones(schema.n_columns)))
    own = np.asarray(test["columns"], dtype=np.intp)
    moments = ColumnSpreads.without_rows(
        test["fill"], deviations[own], curve_sizes(test)
    )
    return shares(test, schema.linear_columns()[0], moments)
