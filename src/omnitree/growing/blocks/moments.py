"""Moments of encoded columns, exact whatever the order of rows.

Columns are whole numbers of steps from the centre of their range in the table, so a product
of two is a whole number below 2^39 and BLAS adds up some thousand of them exactly; with
weights, columns have 17 bits and weights are taken in two halves of ten. Blocks add up in
int64, in digits. A missing value is filled with the node's mean when everything is summed:
that takes the same products of cells that are there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import local

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import discriminant
from omnitree._core.linear import grid as kernel
from omnitree.data.sources.coding import matrix
from omnitree.data.table import Table
from omnitree.growing.blocks.coder import CodedRows, Floats, Ints
from omnitree.growing.node import Node
from omnitree.growing.node_columns import Moments, NodeColumns
from omnitree.growing.sample import Sample
from omnitree.growing.scaling import Scaling
from omnitree.growing.standard_columns import StandardColumns, penalised_spread
from omnitree.growing.threads import threads

BITS, WEIGHTED_BITS = 20, 17  # of columns, and of those that weights multiply
DIGIT = 30  # bits of the lower digit of a sum
HALF = 10  # bits of the lower half of a weight
AT_ONCE = 1 << 11  # rows on the grid at a time: they stay in the cache until multiplied


@dataclass(frozen=True, eq=False)
class Standard:
    """How the encoded columns of a table are standardised, and their grid."""

    # (p,): as of `StandardColumns`.
    mean: Floats
    std: Floats
    spread: Floats
    # (p,): A column is `centre` plus a whole number of steps.
    centre: Floats
    step: Floats
    levels: int  # whole numbers of the grid, from one end of the range to the other
    may_miss: bool

    @classmethod
    def of(
        cls,
        sample: Sample,
        low: Floats,
        high: Floats,
        weighted: bool,
        may_miss: bool,
        n_jobs: int | None = None,
    ) -> Standard:
        """By the means and deviations of a sample, and ranges of the features."""
        encoded = sample.table.encoded
        with threads(n_jobs) as pool:
            mean, std = encoded.spreads(sample.weight, pool)
        feature, category = encoded.feature, encoded.category
        low = np.where(category >= 0, -1.0, low[feature])
        high = np.where(category >= 0, 1.0, high[feature])
        levels = 1 << (WEIGHTED_BITS if weighted else BITS)
        width = high - low
        step = np.where(width > 0, width / levels, 1.0)
        return cls(
            mean,
            std,
            penalised_spread(category, std),
            low + width / 2,
            step,
            levels,
            may_miss,
        )

    def columns(self, table: Table, room: Room | None = None) -> StandardColumns:
        """The encoded columns of some rows."""
        cells = table.encoded.cells
        n, p = cells.shape
        by_column = matrix(p, n, None if room is None else room.columns)
        if room is not None:
            room.columns = larger(room.columns, by_column)
        z = by_column.T  # rows side by side
        discriminant.in_units(cells, self.mean, self.std, z)
        with_missing = np.empty(0, dtype=np.intp)
        if table.has_missing:
            missing = np.isnan(cells)
            z[missing] = np.nan  # in constant columns, too
            with_missing = np.flatnonzero(missing.any(axis=0))
        scaling = Scaling(np.arange(len(self.mean)), self.mean, self.std)
        return StandardColumns(z, scaling, with_missing, self.spread)


class Room(local):
    """Memory of each thread for the rows of one node after the other.

    The system takes large arrays of threads back when they are given up, and has to clear
    them for the next node.
    """

    cells: Floats | None = None
    columns: Floats | None = None


def larger(a: Floats | None, b: Floats) -> Floats:
    """The one with more numbers."""
    return b if a is None or a.size < b.size else a


@dataclass(frozen=True, eq=False)
class StandardSample(Sample):
    """Some rows of a table, standardised as all of its rows are, if someone asks.

    With `room`, columns are those of one sample at a time.
    """

    standard: Callable[[], Standard] | None = None
    room: Room | None = None

    @classmethod
    def of(
        cls, sample: Sample, standard: Callable[[], Standard], room: Room | None = None
    ) -> StandardSample:
        """A sample whose columns are standardised as those of the table."""
        given = sample.table, sample.target, sample.weight, sample.groups
        return cls(*given, standard, room)

    @cached_property
    def standardised(self) -> StandardColumns:
        """The encoded columns, in units of the deviations in the table."""
        assert self.standard is not None
        return self.standard().columns(self.table, self.room)

    @property
    def deviations(self) -> Floats:
        assert self.standard is not None
        return self.standard().std  # without standardising the rows


@dataclass(frozen=True, eq=False)
class FoundMoments:
    """Sums of some slots."""

    # (slots, classes, p): sum of the columns, and weight of the cells that are there.
    class_sums: Ints
    class_present: Ints
    # (1 or 3, 2, slots, p, p): sums of products in two digits: of two columns; where
    # cells may be missing also of a cell's being there and a column, and of two cells'
    # being there.
    products: Ints

    def __add__(self, other: FoundMoments) -> FoundMoments:
        return FoundMoments(
            self.class_sums + other.class_sums,
            self.class_present + other.class_present,
            self.products + other.products,
        )

    def view(self, slot: int, of: Standard, rows: Node, scale: float) -> NodeColumns:
        """Drawn rows of a node with the moments of all its rows."""
        products = from_two_digits(np.moveaxis(self.products[:, :, slot], 1, 0))
        by_class = self.class_sums[slot].astype(np.float64)
        present = self.class_present[slot].astype(np.float64)
        sums, there = by_class.sum(axis=0), present.sum(axis=0)
        mean = np.divide(sums, there, out=np.zeros_like(sums), where=there > 0)
        second = products[0]
        if len(products) == 1:
            second = second - np.outer(sums, mean)
        else:
            cross, pairs = products[1], products[2]
            apart = mean[:, None] * cross
            second = second - apart - apart.T + np.outer(mean, mean) * pairs
        inverse = np.divide(1.0, of.std, out=np.zeros_like(of.std), where=of.std > 0)
        a, c = of.step * inverse, (of.centre - of.mean) * inverse
        filled = np.where(there > 0, a * mean + c, 0.0)
        weight = rows.statistics / scale
        total = weight.sum()
        second = np.outer(a, a) * second + total * np.outer(filled, filled)
        class_sums = a * by_class + c * present + filled * (weight[:, None] - present)
        moments = Moments(scale * class_sums, scale * (second + second.T) / 2)
        standard = rows.sample.standardised
        return NodeColumns(
            standard,
            rows.rows,
            rows.target.strata(),
            rows.weight,
            len(weight),
            filled[standard.with_missing],
            lambda: moments,
        )


@dataclass(frozen=True, eq=False)
class MomentSums:
    """Class sums and products of the columns of some slots."""

    standard: Standard
    n_slots: int
    n_classes: int

    def __call__(self, rows: CodedRows, slots: NDArray[np.int32]) -> FoundMoments:
        p, n_products = len(self.standard.mean), 3 if self.standard.may_miss else 1
        shape = (self.n_slots, self.n_classes, p)
        nothing = FoundMoments(
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, dtype=np.int64),
            np.zeros((n_products, 2, self.n_slots, p, p), dtype=np.int64),
        )
        return self.add_to(nothing, rows, slots)

    def add_to(
        self, total: FoundMoments, rows: CodedRows, slots: NDArray[np.int32]
    ) -> FoundMoments:
        """Add some rows, in place."""
        n_products, p = len(total.products), len(self.standard.mean)
        grid = (
            rows.table.values,
            *rows.table.schema.linear_columns(),
            self.standard.centre,
            self.standard.step,
            self.standard.levels / 2,
        )
        room = np.empty((1 if n_products == 1 else 2, min(AT_ONCE, len(rows)) * p))
        for of_tree in slots:
            # Slots of the pass that are not counted here come after all others; NumPy
            # sorts numbers of 16 bits by counting.
            short = np.minimum(of_tree, self.n_slots)
            if self.n_slots < 1 << 15:
                short = short.astype(np.int16)
            order = np.argsort(short, kind="stable")
            ends = np.searchsorted(short[order], np.arange(self.n_slots + 1))
            for slot in range(self.n_slots):
                by_class = total.class_sums[slot], total.class_present[slot]
                for first in range(ends[slot], ends[slot + 1], AT_ONCE):
                    here = order[first : min(first + AT_ONCE, ends[slot + 1])]
                    whole = _matrix(room[0], len(here), p)
                    seen = _matrix(room[1], len(here), p) if n_products > 1 else None
                    kernel.on_grid(
                        *grid, here, rows.y, rows.weight, whole, seen, *by_class
                    )
                    weight = None if rows.weight is None else rows.weight[here]
                    pairs = [(whole, whole)]
                    if seen is not None:
                        pairs += [(seen, whole), (seen, seen)]
                    for i, pair in enumerate(pairs):
                        total.products[i, :, slot] += exact_products(*pair, weight)
        return total


def _matrix(room: Floats, n: int, p: int) -> Floats:
    """A matrix (n, p) at the beginning of some memory, each column contiguous."""
    return room[: n * p].reshape((n, p), order="F")


def exact_products(a: Floats, b: Floats, weight: Ints | None) -> Ints:
    """Sums of weighted products of the columns of `a` and `b`, in two digits."""
    out = np.zeros((2, a.shape[1], b.shape[1]), dtype=np.int64)
    if weight is None:
        total = _exact(a, b, 1 << 13)
        out[0] = total & ((1 << DIGIT) - 1)
        out[1] = total >> DIGIT
        return out
    for shift, part in ((0, weight & ((1 << HALF) - 1)), (HALF, weight >> HALF)):
        total = _exact(a, b * part[:, None], 1 << 9)
        rest = DIGIT - shift
        out[0] += (total & ((1 << rest) - 1)) << shift
        out[1] += total >> rest
    return out


def from_two_digits(digits: Ints) -> Floats:
    """Sums as floats; the first axis are the digits. Both are exact, so is the sum."""
    low, high = digits.astype(np.float64)
    return low + high * 2.0**DIGIT


def _exact(a: Floats, b: Floats, rows: int) -> Ints:
    """a' b in whole numbers; so many rows at a time stay below 2^53."""
    total = np.zeros((a.shape[1], b.shape[1]), dtype=np.int64)
    for start in range(0, len(a), rows):
        part = slice(start, start + rows)
        total += (a[part].T @ b[part]).astype(np.int64)
    return total
