"""The univariate learner with analytic cuts: one feature, two groups, one Gaussian each.

For every encoded column the classes are grouped and the cut follows from the groups' means
and variances; the column with the best merit wins. All columns are searched in lock-step:
groups are merged from the class statistics of each column, and only the counts beside a cut
touch rows (`_core/cuts.hpp`). A cut of a category's column is a test of that category
against the rest; categories may instead get a branch each. Used by the presets ldt-u1,
ldt-u2, quest-u and friedman.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate.cuts import count_sides
from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import one_of
from omnitree.learners.linear import cut_merits
from omnitree.parts.grouping import GROUPINGS
from omnitree.parts.grouping.base import share_of_classes
from omnitree.parts.merit import MERITS, Merit
from omnitree.parts.threshold import THRESHOLDS, Threshold
from omnitree.parts.threshold.base import Projected
from omnitree.tree.splits import MultiwaySplit, Split


class ColumnMoments:
    """Sums and squares of every column by class, (K, p), around the node's mean.

    From the rows themselves: the node's scatter matrix is not needed here.
    """

    def __init__(self, rows: NodeColumns):
        self.rows = rows
        self.mean = rows.weight @ rows.columns / rows.total
        centred = rows.columns - self.mean
        self.sums = rows.one_hot.T @ centred
        self.squares = rows.one_hot.T @ centred**2


class ProjectedColumns(Projected):
    """Plain columns as projections, some of them several times, with other groups."""

    def __init__(
        self, moments: ColumnMoments, column: NDArray[np.intp], left: NDArray[np.bool_]
    ):
        self.rows, self.left = moments.rows, left
        self.moments, self.column = moments, column

    @cached_property
    def scores(self) -> Floats:  # type: ignore[override]
        """The columns themselves, (n, C); analytic cuts do not look at them."""
        return self.rows.columns[:, self.column]

    def groups(self) -> tuple[Floats, Floats, Floats]:
        moments, column = self.moments, self.column
        side = np.stack([self.left, ~self.left]).astype(float)  # (2, C, K)
        weight = side @ self.rows.class_weight
        safe = np.maximum(weight, np.finfo(float).tiny)
        mean = np.einsum("gck,ck->gc", side, moments.sums.T[column]) / safe
        squares = np.einsum("gck,ck->gc", side, moments.squares.T[column])
        scatter = np.maximum(squares - weight * mean**2, 0.0)
        return weight, mean + moments.mean[column], scatter

    def counts(self, cuts: Floats) -> Floats:
        own = self.column
        # A cut that is no number has no row above it.
        cuts = np.where(np.isnan(cuts), np.inf, cuts)
        order = np.lexsort((cuts, own))
        column, size = np.unique(own, return_counts=True)
        counts = np.empty((len(cuts), 2, self.rows.n_classes))
        count_sides(
            self.rows.columns,
            column.astype(np.int64),
            np.concatenate([[0], np.cumsum(size)]).astype(np.int64),
            cuts[order],
            self.rows.y,
            self.rows.weight,
            counts,
        )
        out = np.empty_like(counts)
        out[order] = counts
        return out


class ColumnProblems:
    """What a grouping asks, with each of some columns as the direction."""

    def __init__(
        self,
        rows: NodeColumns,
        columns: NDArray[np.intp],
        threshold: Threshold,
        merit: Merit,
    ):
        self.rows, self.columns = rows, columns
        self.threshold, self.merit = threshold, merit
        self.moments = ColumnMoments(rows)
        self.class_weight = rows.class_weight
        size = np.maximum(rows.class_weight, np.finfo(float).tiny)
        means = self.moments.sums / size[:, None] + self.moments.mean
        self.means = means.T[columns, :, None]

    def cuts(
        self, at: NDArray[np.intp], left: NDArray[np.bool_]
    ) -> tuple[Floats, Floats]:
        """Cut and merit for groupings (A, C, K) of the problems `at`, both (A, C)."""
        a, c, k = left.shape
        column = np.repeat(self.columns[at], c)
        projected = ProjectedColumns(self.moments, column, left.reshape(a * c, k))
        cuts = self.threshold.find(projected, self.merit)
        merits = cut_merits(projected, cuts, self.merit)
        return cuts.reshape(a, c), merits.reshape(a, c)

    def merits(self, at: NDArray[np.intp], left: NDArray[np.bool_]) -> Floats:
        """Merit of the cut for each grouping."""
        return self.cuts(at, left)[1]

    def exchange(self, left: NDArray[np.bool_]) -> None:
        """No compiled search: the columns are searched together."""

    def left_shares(self, left: NDArray[np.bool_], placed: NDArray[np.bool_]) -> Floats:
        """Share of each class on the left of a cut trained on the classes placed."""
        shares = np.empty(left.shape)
        for b, j in enumerate(self.columns):
            part = self.rows.of_classes(np.flatnonzero(placed[b])).of_column(j)
            projected = Projected(part, part.columns, left[[b]])
            cut = self.threshold.find(projected, self.merit)[0]
            _, mean, _ = projected.groups()
            above = self.rows.columns[:, j] > cut
            side = above if mean[0, 0] >= mean[1, 0] else ~above
            shares[b] = share_of_classes(self.rows, side)
        return shares


class Analytic(SplitLearner):
    """Cut one feature where the densities of two Gaussians are equal.

    Parameters
    ----------
    grouping : str or Grouping, default="exchange"
        Found for each column by itself.
    threshold : str or Threshold, default="unequal_variance"
    merit : str or Merit, default="gain"
    categories : {"columns", "multiway"}, default="columns"
        Categorical features as one column per category, which is cut like any other, or as
        tests with one branch per category, which compete by merit.
    """

    grouping: Any = "exchange"
    threshold: str | Threshold = "unequal_variance"
    merit: str | Merit = "gain"
    categories: str = "columns"
    draws = False

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test on one feature."""
        grouping = GROUPINGS.resolve(self.grouping)
        threshold = THRESHOLDS.resolve(self.threshold)
        merit = MERITS.resolve(self.merit, "classification")
        one_of("categories", self.categories, ("columns", "multiway"))
        rows, schema = node.linear, node.sample.table.schema
        usable = varying(rows)
        best, best_merit = None, -np.inf
        if self.categories == "multiway":
            usable &= schema.linear_columns()[1] < 0
            best = best_multiway(node, merit)
            best_merit = best_merit if best is None else best.merit
        columns = np.flatnonzero(usable)
        if len(columns):
            problems = ColumnProblems(rows, columns, threshold, merit)
            left = grouping.find_all(problems)
            cuts, merits = problems.cuts(np.arange(len(columns)), left[:, None])
            at = -1
            for i, value in enumerate(merits[:, 0].tolist()):
                if value > best_merit + 1e-12:
                    best_merit, at = value, i
            if at >= 0:
                j, cut = int(columns[at]), cuts[at, 0]
                fill = problems.moments.mean[j]
                best = rows.scaling.cut(schema, j, cut, fill, best_merit)
        return best


def varying(rows: NodeColumns) -> NDArray[np.bool_]:
    """Which columns are not constant among the rows."""
    low, high = rows.columns.min(axis=0), rows.columns.max(axis=0)
    # A missing value filled with the mean of a constant column may differ from it by
    # rounding.
    return high - low > 1e-13 * np.maximum(np.abs(low), np.abs(high))


def best_multiway(node: Node, merit: Merit) -> Split | None:
    """Best test with a branch for each category; missing values count as the most
    frequent one."""
    table, best = node.sample.table, None
    for j in np.flatnonzero(table.schema.n_categories):
        cells = table.values[node.rows, j]
        known = ~np.isnan(cells)
        m, k = int(table.schema.n_categories[j]), node.target.n_classes
        code = np.where(known, cells, 0).astype(np.int64)
        frequent = np.bincount(code[known], node.weight[known], m).argmax()
        code[~known] = frequent
        counts = np.bincount(code * k + node.y, node.weight, m * k).reshape(m, k)
        if np.count_nonzero(counts.sum(axis=1)) < 2:
            continue
        value = float(merit(counts))
        if best is None or value > best.merit + 1e-12:
            best = MultiwaySplit(
                int(j), tuple(range(m)), merit=value, missing=int(frequent)
            )
    return best
