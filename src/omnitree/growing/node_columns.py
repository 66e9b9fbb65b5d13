"""The encoded columns of a node's rows, and their class statistics.

The columns are standardised once on the whole training table (`standard_columns.py`), with
products or without; missing values are filled with the node's means.
Per node: class weights, class means and the total scatter, made once (`Node.linear`) and
shared by all who ask; groups of classes are merged from them without touching rows again.
Large nodes are read in blocks that fit into the cache, one BLAS product a block, and the
moments of the largest child are those of its parent less its siblings'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import discriminant as kernel
from omnitree.growing.clock import check_time
from omnitree.growing.curve_basis import CurveBasis
from omnitree.growing.scaling import Floats, Scaling
from omnitree.growing.standard_columns import StandardColumns
from omnitree.tree.splits import (
    AdditiveMachineSplit,
    MachineSplit,
    QuadraticMachineSplit,
    Split,
)

BLOCK = 2048
# Bytes that the columns of a node with fewer rows than columns may take; larger ones are
# gone over a few columns at a time.
ROOM = 2**28
# A child keeps at least this share of each column's scatter, or its moments are summed anew:
# a difference of nearly equal numbers has no digits left.
KEPT = 1e-6
# Share of a column's second moment below which its scatter is rounding.
CONSTANT = 1e-10
# The same for a difference: the share of the moments that it was taken from.
ROUNDED = 1e-12


@dataclass(frozen=True)
class Moments:
    """Class sums (K, p) and second moments (p, p) around the origin of the table.

    `summed` has the second moments (p,) that these are a difference of, if they are one.
    """

    sums: Floats
    second: Floats
    summed: Floats | None = None


@dataclass(frozen=True)
class NodeColumns:
    """Filled, standardised columns of some rows, with their classes and weights."""

    standard: StandardColumns  # the columns of the whole training table
    rows: NDArray[np.int64]  # (n,)
    # (n,): class and weight of each row.
    y: NDArray[np.int32]
    weight: Floats
    n_classes: int
    # Of the columns with missing values, over the values present here.
    missing_means: Floats
    # Moments of these rows as a difference, cheaper than their sum; None: sum them.
    remainder: Callable[[], Moments | None] | None = None
    # Rows of which these are some, filled alike, and the positions of these there.
    within: tuple[NodeColumns, NDArray[np.intp]] | None = None

    @classmethod
    def of(
        cls,
        standard: StandardColumns,
        rows: NDArray[np.int64],
        y: NDArray[np.int32],
        weight: Floats,
        n_classes: int,
        remainder: Callable[[], Moments | None] | None = None,
        means: Floats | None = None,
    ) -> NodeColumns:
        """Rows whose missing values are filled with the means of those present.

        `means` are these, where they are known.
        """
        if means is None:
            means = standard.missing_means(rows, weight)
        y = np.ascontiguousarray(y, dtype=np.int32)
        return cls(standard, rows, y, weight, n_classes, means, remainder)

    @property
    def scaling(self) -> Scaling:
        """The way from the columns to the table's own units."""
        return self.standard.scaling

    @property
    def n_columns(self) -> int:
        """Number of columns, p."""
        return self.standard.n_columns

    @cached_property
    def columns(self) -> Floats:
        """All columns of the rows, (n, p)."""
        return self.standard.take(self.rows, self.missing_means)

    @property
    def wide(self) -> bool:
        """Whether few rows have so many products that these are not held all at once."""
        n, p = len(self.rows), self.n_columns
        return n <= p and 8 * n * p > ROOM and not self.scaling.curves

    def by_columns(self) -> Iterator[tuple[slice, Floats]]:
        """All rows, a few columns at a time."""
        return self.standard.by_columns(self.rows, self.missing_means)

    def take(self, at: NDArray[np.intp]) -> Floats:
        """The columns of some of the rows, by position."""
        if self.remembered:
            return self.columns[at]
        return self.standard.take(self.rows[at], self.missing_means)

    @property
    def remembered(self) -> bool:
        """Whether `columns` lie in memory."""
        return "columns" in self.__dict__

    def remember(self) -> NodeColumns:
        """Make `columns` now, so that whoever takes some of the rows finds them there."""
        self.columns  # noqa: B018
        return self

    def forget(self) -> None:
        """Drop what takes much room and can be made again."""
        self.__dict__.pop("columns", None)

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """The columns of consecutive rows, in pieces that fit into the cache."""
        n = len(self.rows)
        whole = n <= BLOCK or self.remembered
        for start in range(0, n, BLOCK):
            part = slice(start, min(start + BLOCK, n))
            if whole:
                yield part, self.columns[part]
            else:
                yield part, self.standard.take(self.rows[part], self.missing_means)

    def of_classes(self, classes: NDArray[np.intp]) -> NodeColumns:
        """Only the rows of some classes, with missing values filled as before."""
        here = np.isin(self.y, classes)
        return replace(
            self,
            rows=self.rows[here],
            y=self.y[here],
            weight=self.weight[here],
            remainder=None,
            within=None,
        )

    def grouped(self, y: NDArray[np.int32], n_groups: int) -> NodeColumns:
        """The same rows in other groups, filled alike."""
        out = replace(self, y=y, n_classes=n_groups, remainder=None, within=None)
        if self.remembered or (len(self.rows) <= BLOCK and not self.wide):
            out.__dict__["columns"] = self.columns
        return out

    def with_curves(self, curves: tuple[CurveBasis, ...]) -> NodeColumns:
        """The same rows with other curves."""
        standard = self.standard.with_curves_of(curves)
        return replace(self, standard=standard, remainder=None, within=None)

    def of_column(self, j: int) -> NodeColumns:
        """Only one of the columns."""
        out = replace(
            self,
            standard=self.standard.column(j),
            missing_means=self.missing_means[self.standard.with_missing == j],
            remainder=None,
            within=None,
        )
        out.__dict__["columns"] = self.columns[:, [j]]
        return out

    @cached_property
    def one_hot(self) -> Floats:
        """Weights by row and class."""
        check_time(n_cells=len(self.y) * self.n_classes)
        out = np.zeros((len(self.y), self.n_classes))
        out[np.arange(len(self.y)), self.y] = self.weight
        return out

    @cached_property
    def class_weight(self) -> Floats:
        """Weight of each class."""
        return np.bincount(self.y, self.weight, self.n_classes).astype(np.float64)

    @cached_property
    def plain(self) -> bool:
        """Whether every row counts one."""
        return bool((self.weight == 1).all())

    @cached_property
    def by_class(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the rows in the order of their classes, and where each that is
        present begins."""
        # Small numbers are sorted by radix.
        y = self.y.astype(np.uint8 if self.n_classes <= 256 else np.uint16)
        size = np.bincount(y, minlength=self.n_classes)[self.present]
        return np.argsort(y, kind="stable"), np.cumsum(size) - size

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.class_weight.sum())

    @cached_property
    def present(self) -> NDArray[np.intp]:
        """Classes that have rows here."""
        return np.flatnonzero(self.class_weight > 0)

    @cached_property
    def moments(self) -> Moments:
        """Class sums and second moments."""
        known = self.remainder() if self.remainder is not None else None
        if known is not None:
            known.sums[self.class_weight == 0] = 0.0
            return known
        sums = np.zeros((self.n_classes, self.n_columns))
        second = np.zeros((self.n_columns, self.n_columns))
        for part, block in self.blocks():
            check_time(len(block) * self.n_columns**2)
            kernel.add_class_sums(block, self.y[part], self.weight[part], sums)
            if self.plain:
                second += block.T @ block
            else:
                second += block.T @ (block * self.weight[part, None])
        return Moments(sums, second)

    @cached_property
    def sums(self) -> Floats:
        """Sum of the rows of each class."""
        many = len(self.rows) > self.n_columns and not self.scaling.curves
        if "moments" in self.__dict__ or many:
            return self.moments.sums
        # Few rows: their scatter is better not asked for (`Fisher` works on the rows). Nor
        # that of curves, which nobody else asks for.
        sums = np.zeros((self.n_classes, self.n_columns))
        if self.wide:
            for part, block in self.by_columns():
                own = np.zeros((self.n_classes, block.shape[1]))
                kernel.add_class_sums(block, self.y, self.weight, own)
                sums[:, part] = own
            return sums
        kernel.add_class_sums(self.columns, self.y, self.weight, sums)
        return sums

    @cached_property
    def mean(self) -> Floats:
        """Mean of all rows."""
        return self.sums.sum(axis=0) / self.total

    @property
    def fill(self) -> Floats:
        """What missing values count as: the means of the columns without products."""
        return self.mean[: self.scaling.n_plain]

    @cached_property
    def means(self) -> Floats:
        """Mean of each class (0 for absent ones)."""
        size = np.maximum(self.class_weight, np.finfo(float).tiny)
        return self.sums / size[:, None]

    @cached_property
    def scatter(self) -> Floats:
        """Total scatter around the mean; 0 in columns that are constant here."""
        second = self.moments.second
        scatter = second - self.total * np.outer(self.mean, self.mean)
        # What is left of a constant column is rounding, and not to be divided by.
        rounding = CONSTANT * np.diag(second)
        if self.moments.summed is not None:
            rounding = np.maximum(rounding, ROUNDED * self.moments.summed)
        constant = np.diag(scatter) <= rounding
        scatter[constant] = scatter[:, constant] = 0.0
        return scatter

    def project(self, basis: Floats) -> Floats:
        """The rows around their mean along each column of `basis`, (n, k)."""
        return self.lines(basis, self.mean).T

    def lines(
        self, basis: Floats, origin: Floats, at: NDArray[np.intp] | None = None
    ) -> Floats:
        """The rows, or some by position, less a point, along each column of `basis`.

        A line for each column, (k, n).
        """
        at = np.arange(len(self.rows)) if at is None else at
        if self.wide and not self.remembered:
            return self._wide_lines(basis, origin).take(at, axis=1)
        out = np.empty((basis.shape[1], len(at)))
        directions = np.ascontiguousarray(basis.T)
        for part, matrix, ids in self._pieces(at):
            check_time(2.0 * basis.size * len(ids))
            kernel.project(matrix, ids, directions, origin, out[:, part])
        return out

    def _wide_lines(self, basis: Floats, origin: Floats) -> Floats:
        """All rows less a point along each column of `basis`, (k, n)."""
        out = np.zeros((basis.shape[1], len(self.rows)))
        for part, block in self.by_columns():
            check_time(2.0 * block.size * basis.shape[1])
            out += basis[part].T @ (block - origin[part]).T
        return out

    def weighted_sums(self, weights: Floats) -> Floats:
        """`columns @ weights`, (n,)."""
        if self.wide and not self.remembered:
            return self._wide_lines(weights[:, None], np.zeros(len(weights)))[0]
        return self.columns @ weights

    def matrix_lines(self) -> tuple[Floats, NDArray[np.int64]] | None:
        """A matrix that holds the rows, and their lines there, if there is one."""
        if self.remembered:
            return self.columns, np.arange(len(self.rows))
        if self.standard.matrix is not None:
            return self.standard.matrix, self.rows
        return None

    def _pieces(
        self, at: NDArray[np.intp]
    ) -> Iterator[tuple[slice, Floats, NDArray[np.int64]]]:
        """Some rows, by position, as lines of matrices that lie there or are made."""
        lies = self.matrix_lines()
        if lies is not None:
            yield slice(None), lies[0], lies[1][at]
        elif self.within is not None:
            whole, own = self.within
            yield from whole._pieces(own[at])
        else:
            for start in range(0, len(at), BLOCK):
                part = slice(start, start + BLOCK)
                block = self.take(at[part])
                yield part, block, np.arange(len(block))

    def split(self, w: Floats, threshold: float, merit: float) -> Split | None:
        """Test `columns @ w <= threshold` in the table's own units.

        The direction gets length one in standardised units.
        """
        return self.scaling.split(w, threshold, self.fill, merit)

    def machine(
        self, w: Floats, bias: Floats, merit: float
    ) -> MachineSplit | QuadraticMachineSplit | AdditiveMachineSplit:
        """The test for the largest of `columns @ w.T + bias` in the table's own units."""
        return self.scaling.machine(w, bias, self.fill, merit)


def rest_of(whole: Moments, parts: list[Moments]) -> Moments | None:
    """What is left of some moments without those of parts; None where digits are lost."""
    sums, second = whole.sums.copy(), whole.second.copy()
    for part in parts:
        sums -= part.sums
        second -= part.second
    kept = np.diag(second) >= KEPT * np.diag(whole.second)
    summed = np.diag(whole.second) if whole.summed is None else whole.summed
    return Moments(sums, second, summed) if kept.all() else None
