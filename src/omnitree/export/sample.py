"""Rows to show beside a tree, and what a test sees of them.

`ShownRows` are plain arrays: the encoded cells, the class of each row if known, and the part
of each row that passes through each node. `project` gives the number that a test compares
with its cut. Used by the pictures and by the explorer; the estimators make the sample.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from omnitree.data.schema import Schema
from omnitree.export.model import NodeTest
from omnitree.tree.curves import curve_at
from omnitree.tree.expression import Column, evaluate
from omnitree.tree.shared_models import terms_of


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows with their ways through a tree."""

    values: NDArray[np.float64]  # (rows, features): numbers and codes, NaN if missing
    labels: NDArray[np.intp] | None  # places of the rows' classes among the tree's
    path: sparse.csr_array  # (rows, nodes): the part of a row that passes a node
    target: NDArray[np.float64] | None = None  # where the tree answers numbers

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def at(self, node: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The rows that come to a node, and the part of each that does."""
        begin, end = self._by_node.indptr[node : node + 2]
        return self._by_node.indices[begin:end], self._by_node.data[begin:end]

    @cached_property
    def _by_node(self) -> sparse.csc_array:
        return self.path.tocsc()


def encoded(
    test: dict[str, Any], schema: Schema, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The encoded columns of a test, (n, columns), with missing values filled."""
    features, categories = schema.linear_columns()
    columns = np.asarray(test["columns"], dtype=np.intp)
    x = values[:, features[columns]]
    category = categories[columns]
    coded = np.where(category < 0, x, np.where(x == category, 1.0, -1.0))
    return np.where(np.isnan(x), np.asarray(test["fill"], dtype=float), coded)


def term_values(
    test: dict[str, Any], schema: Schema, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What the weights of a test multiply, products included: (n, terms)."""
    x = encoded(test, schema, values)
    if "terms" not in test:
        return x
    a, b = np.reshape(np.asarray(terms_of(test), dtype=np.intp), (-1, 2)).T
    return x[:, a] * np.where(b < 0, 1.0, x[:, b])


def project(
    test: NodeTest, schema: Schema, values: NDArray[np.float64], branch: int = 0
) -> NDArray[np.float64]:
    """What a test compares with its cut (`cut_of`), for each row; NaN if it is missing.

    The test looks up no categories. Of a machine, the score of `branch` is set against
    the best of the others.
    """
    if test.can_fail:
        return values[:, test.feature]
    z = scores(test, schema, values)
    if not test.is_machine:
        return z[:, 0]
    return z[:, branch] - np.delete(z, branch, axis=1).max(axis=1)


def scores(
    test: NodeTest, schema: Schema, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The values of a test on several features: (n, 1), or a column per branch."""
    data = test.data
    if "weights" in data:
        x = term_values(data, schema, values)
        sums = x @ np.atleast_2d(data["weights"]).T + data.get("bias", 0.0)
        return sums + curve_sums(data, schema, values) if "knots" in data else sums
    columns = zip(data["columns"], data["fill"], strict=True)
    every = dict(zip(columns, encoded(data, schema, values).T, strict=True))

    features = schema.linear_columns()[0]

    def read(column: Column) -> NDArray[np.float64]:
        if math.isnan(column.fill):  # of a curve
            return values[:, features[column.number]]
        return every[column.number, column.fill]

    n = len(values)
    return np.stack([evaluate(v, read) * np.ones(n) for v in test.values], axis=1)


def curve_sums(
    test: dict[str, Any], schema: Schema, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What the curves of a test or a model add up to: (n, 1), or a column per sum."""
    lines = test["curve_values"] if "bias" in test else [test["curve_values"]]
    features = schema.linear_columns()[0]
    total = np.zeros((len(values), len(lines)))
    for j, column in enumerate(test["curve_columns"]):
        x = values[:, features[column]]
        for k, own in enumerate(lines):
            total[:, k] += curve_at(test["knots"][j], own[j], x)
    return total


def cut_of(test: NodeTest) -> float:
    """Where the projection of a test is cut."""
    return float(test.data.get("threshold", 0.0))


def bins_at_cut(
    z: NDArray[np.float64], cut: float, n_bins: int = 30
) -> NDArray[np.float64]:
    """Edges of equal bins over `z`, one edge at the cut if it lies inside.

    No bin then holds rows of two branches (a bin has its upper edge and not its lower
    one, as "<=" has it).

    Examples
    --------
    >>> import numpy as np
    >>> bins_at_cut(np.array([0.0, 4.0]), 2.5, n_bins=4)
    array([-0.5,  0.5,  1.5,  2.5,  3.5,  4.5])
    """
    low, high = float(z.min()), float(z.max())
    width = high / n_bins - low / n_bins  # the range itself may be infinite
    if not low + width > low:
        width = max(abs(low), 1.0) / n_bins  # all rows in one place
    start = cut if low <= cut <= high else low - width / 2
    before = max(int(np.ceil(start / width - low / width)), 1)
    after = max(int(np.ceil(high / width - start / width)), 1)
    with np.errstate(over="ignore"):
        edges = start + width * np.arange(-before, after + 1, dtype=np.float64)
    return np.clip(edges, -sys.float_info.max, sys.float_info.max)


def in_bins(
    z: NDArray[np.float64],
    edges: NDArray[np.float64],
    labels: NDArray[np.intp],
    weight: NDArray[np.float64],
    n_labels: int,
) -> NDArray[np.float64]:
    """Weight of the rows in each bin, (labels, bins); a bin holds its upper edge."""
    at = np.clip(np.searchsorted(edges, z, side="left") - 1, 0, len(edges) - 2)
    counts = np.zeros((n_labels, len(edges) - 1))
    np.add.at(counts, (labels, at), weight)
    return counts


def in_categories(
    codes: NDArray[np.float64],
    labels: NDArray[np.intp],
    weight: NDArray[np.float64],
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    """Weight of the rows in each category, (labels, categories)."""
    known = ~np.isnan(codes)
    counts = np.zeros(shape)
    np.add.at(counts, (labels[known], codes[known].astype(int)), weight[known])
    return counts
