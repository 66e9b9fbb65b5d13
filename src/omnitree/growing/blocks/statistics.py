"""Sums over blocks: what a pass returns for every node that is asked about.

Each is a pure function of coded rows, with a result that adds up exactly: counts of nodes,
histograms of all features, moments of encoded columns, and rows themselves. `Pass` does
several at once, so that a level costs one reading. Sums that are large have `add_to`, too:
it adds a block to what others gave, in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import bins as kernel
from omnitree.data.sources import Block
from omnitree.data.table import Table
from omnitree.growing.blocks.coder import CodedRows, Coder, Floats, Ints, in_order
from omnitree.tree.tree import Tree

LIMB = 20  # bits of the digits that large products are added up in


@dataclass(frozen=True)
class KeyRange:
    """Rows with hashes from `lowest` up to `end`, exclusive, or all others.

    Examples
    --------
    >>> KeyRange(end=1 << 62).share, KeyRange(end=1 << 62, inside=False).share
    (0.25, 0.75)
    """

    lowest: int = 0
    end: int = 1 << 64
    inside: bool = True

    @property
    def share(self) -> float:
        """Share of all rows, about."""
        share = (self.end - self.lowest) / 2.0**64
        return share if self.inside else 1 - share

    def has(self, key: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which rows are in it."""
        within = key >= np.uint64(self.lowest)
        if self.end < 1 << 64:
            within &= key < np.uint64(self.end)
        return within == self.inside


ALL = KeyRange()


@dataclass(frozen=True)
class AskedZone:
    """Rows beside the cut of a node, which are asked for by themselves."""

    first: int  # of the two branches
    feature: int
    low: float
    high: float
    slot: int

    def mark(self, leaf: Ints, table: Table, slot: NDArray[np.int32]) -> None:
        """Put the slot of the zone where a row is in it."""
        values = table.values[:, self.feature]
        here = (leaf == self.first) | (leaf == self.first + 1)
        slot[here & (values > self.low) & (values <= self.high)] = self.slot


@dataclass(frozen=True, eq=False)
class Asked:
    """A tree as far as it has grown, and what is asked of its nodes."""

    tree: Tree
    # (n_nodes,): number of each node among those asked about; -1: not asked about.
    slot: NDArray[np.int32]
    keys: KeyRange = ALL  # the rows that are asked about
    zones: Sequence[AskedZone] = ()

    def slots(self, rows: CodedRows) -> NDArray[np.int32]:
        """Slot of each row, or -1."""
        if self.keys == ALL:
            return self._placed(rows.table)
        here = self.keys.has(rows.key)
        if self.keys.share > 0.5:  # a copy of so many rows costs more than it saves
            return np.where(here, self._placed(rows.table), np.int32(-1))
        found = np.full(len(rows), -1, dtype=np.int32)
        if here.any():
            found[here] = self._placed(
                Table(rows.table.values[here], rows.table.schema)
            )
        return found

    def _placed(self, table: Table) -> NDArray[np.int32]:
        if self.tree.n_nodes == 1:
            return np.full(table.n_rows, self.slot[0], dtype=np.int32)
        leaf = self.tree.place(table)
        slot = self.slot[leaf]
        for zone in self.zones:
            zone.mark(leaf, table, slot)
        return slot


@dataclass(frozen=True, eq=False)
class Results:
    """What the tasks of a pass found, in their order."""

    each: tuple[Any, ...]
    # Cells of the last block: the next one takes their memory, which the system would have
    # to clear again and again. They stay where they are.
    used: Floats | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Results, (self.each,)

    def __add__(self, other: Results) -> Results:
        return Results(tuple(a + b for a, b in zip(self.each, other.each, strict=True)))


Task = Callable[[CodedRows, NDArray[np.int32]], Any]


@runtime_checkable
class AddsTo(Protocol):
    """A task with large sums."""

    def add_to(self, total: Any, rows: CodedRows, slots: NDArray[np.int32]) -> Any:
        """The sums with those of some rows; `total` is used up."""


@dataclass(frozen=True, eq=False)
class Pass:
    """Several tasks for the rows of a block, each of which is placed once."""

    coder: Coder
    asked: Sequence[Asked]  # their nodes share one numbering of slots
    tasks: Sequence[Task]

    def __call__(self, block: Block) -> Results | None:
        return self.add_to(None, block)

    def add_to(self, total: Results | None, block: Block) -> Results | None:
        """The results with those of a block; `total` is used up."""
        used = None if total is None else total.used
        rows = self.coder(block, used)
        if not len(rows):
            return total
        slots = np.stack([one.slots(rows) for one in self.asked])
        found = self.add_rows(total, rows, slots)
        if used is None or used.size < rows.table.values.size:
            used = rows.table.values
        return replace(found, used=used)

    def add_rows(
        self, total: Results | None, rows: CodedRows, slots: NDArray[np.int32]
    ) -> Results:
        """The results with those of some rows, placed already; `total` is used up."""
        if total is None:
            return Results(tuple(task(rows, slots) for task in self.tasks))
        found = []
        for task, so_far in zip(self.tasks, total.each, strict=True):
            if isinstance(task, AddsTo):
                found.append(task.add_to(so_far, rows, slots))
            else:
                found.append(so_far + task(rows, slots))
        return Results(tuple(found))


@dataclass(frozen=True)
class Counts:
    """Statistics of every slot, in digits of whole numbers (slots, statistics, digits).

    Of classes their weights; of numbers weight, sum and sum of squares. Slots from
    `n_slots` on are not counted.
    """

    n_slots: int
    n_classes: int

    @property
    def shape(self) -> tuple[int, int]:
        """Statistics and digits of a slot."""
        return (self.n_classes, 1) if self.n_classes else (3, 4)

    def __call__(self, rows: CodedRows, slots: NDArray[np.int32]) -> Ints:
        out = np.zeros((self.n_slots, *self.shape), dtype=np.int64)
        weight = rows.weights
        for slot in slots:
            here = (slot >= 0) & (slot < self.n_slots)
            at, own = slot[here].astype(np.int64), weight[here]
            if self.n_classes:
                cell = at * self.n_classes + rows.y[here]
                n = self.n_slots * self.n_classes
                # Whole numbers: exact below 2^53.
                found = np.bincount(cell, own, n).astype(np.int64)
                out[:, :, 0] += found.reshape(self.n_slots, self.n_classes)
                continue
            assert rows.number is not None
            number = rows.number[here]
            for s, amount in enumerate((own, own * number, own * number * number)):
                out[:, s] += _by_slot(amount, at, self.n_slots)
        return out


def _by_slot(amount: Ints, at: Ints, n_slots: int) -> Ints:
    """Sums of whole numbers in digits, (slots, 4)."""
    out = np.empty((n_slots, 4), dtype=np.int64)
    for digit in range(4):
        part = amount if digit == 3 else amount & ((1 << LIMB) - 1)
        out[:, digit] = np.bincount(at, part, n_slots).astype(np.int64)
        amount = amount >> LIMB
    return out


def from_digits(digits: Ints) -> list[Any]:
    """Sums as Python's whole numbers, in nested lists; the last axis are the digits."""
    if digits.shape[-1] == 1:
        return digits[..., 0].tolist()
    return _number(digits.tolist())


def _number(value: Any) -> Any:
    if isinstance(value[0], list):
        return [_number(v) for v in value]
    return sum(v << (LIMB * i) for i, v in enumerate(value))


@dataclass(frozen=True, eq=False)
class Bins:
    """Where every feature is cut, once for the whole growth."""

    edges: list[Floats]  # ascending; of a categorical feature none
    n_categories: NDArray[np.int32]
    # Of numeric features, which bins hold more than one value of the sample.
    several: list[NDArray[np.bool_]]

    @cached_property
    def width(self) -> NDArray[np.int32]:
        """Bins of each feature, that of missing values included."""
        cuts = np.array([len(e) for e in self.edges])
        found = np.where(self.n_categories > 0, self.n_categories, cuts + 1) + 1
        return found.astype(np.int32)

    def size(self, n_statistics: int) -> int:
        """Numbers in the histograms of a node."""
        return int(self.width.sum()) * n_statistics

    def layout(self, n_slots: int, n_statistics: int) -> tuple[Any, Any, Any, Any, Any]:
        """What the kernel reads."""
        flat = np.concatenate([np.empty(0), *self.edges])
        edge_start = np.cumsum([0, *(len(e) for e in self.edges)]).astype(np.int64)
        sizes = self.width.astype(np.int64) * n_slots * n_statistics
        start = np.cumsum(sizes) - sizes
        is_category = (self.n_categories > 0).astype(np.uint8)
        return flat, edge_start, self.width, is_category, start

    def of_slot(self, sums: Ints, slot: int, n_slots: int, n_stat: int) -> list[Ints]:
        """Histograms (bins, statistics) of a slot, by feature."""
        found, at = [], 0
        for width in self.width.tolist():
            here = sums[at : at + n_slots * width * n_stat]
            found.append(here.reshape(n_slots, width, n_stat)[slot])
            at += n_slots * width * n_stat
        return found


@dataclass(frozen=True, eq=False)
class Histograms:
    """Histograms of all features; slots from `n_slots` on are not counted."""

    bins: Bins
    n_slots: int
    n_statistics: int

    def __call__(self, rows: CodedRows, slots: NDArray[np.int32]) -> Ints:
        size = self.n_slots * self.bins.size(self.n_statistics)
        return self.add_to(np.zeros(size, dtype=np.int64), rows, slots)

    def add_to(self, total: Ints, rows: CodedRows, slots: NDArray[np.int32]) -> Ints:
        """Count some rows more, in place."""
        slots = np.where(slots < self.n_slots, slots, np.int32(-1))
        number = None
        if rows.number is not None:
            number = rows.number * rows.weights
        kernel.count_bins(
            rows.table.values,
            np.ascontiguousarray(slots),
            rows.weight,
            None if number is not None else rows.y,
            number,
            self.n_statistics,
            *self.bins.layout(self.n_slots, self.n_statistics),
            total,
        )
        return total


@dataclass(frozen=True, eq=False)
class FoundRows:
    """Rows of slots, in pieces; in each piece the slots ascend."""

    pieces: list[tuple[NDArray[np.int32], CodedRows]]

    def __add__(self, other: FoundRows) -> FoundRows:
        return FoundRows([*self.pieces, *other.pieces])

    def of_slot(self, slot: int, used: Floats | None = None) -> CodedRows | None:
        """Rows of a slot, if any, in an order that depends on nothing but the rows.

        In the memory of `used` cells, if there are enough.
        """
        parts = []
        for of_row, rows in self.pieces:
            first, end = np.searchsorted(of_row, [slot, slot + 1]).tolist()
            if first < end:
                parts.append(rows.part(first, end))
        return in_order(parts, used) if parts else None


@dataclass(frozen=True, eq=False)
class Gather:
    """The rows themselves, of some slots: all of them, or those with the smallest hashes."""

    share: Floats  # (n_slots,): which share of the rows of each slot is taken

    def __call__(self, rows: CodedRows, slots: NDArray[np.int32]) -> FoundRows:
        pieces = []
        # Another hash than that of the folds: held-out rows have small hashes.
        draw = _remixed(rows.key)
        limit = np.append(self.share, 0.0)  # slot -1
        for slot in slots:
            own = np.where(slot < len(self.share), slot, -1)
            taken = np.flatnonzero(draw < limit[own])
            if len(taken):
                taken = taken[np.argsort(slot[taken], kind="stable")]
                pieces.append((slot[taken], rows.take(taken)))
        return FoundRows(pieces)


def _remixed(key: NDArray[np.uint64]) -> Floats:
    """Hashes as numbers from 0 to 1, independent of their size."""
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return (key ^ (key >> np.uint64(33))).astype(np.float64) / 2.0**64
