"""The first pass over a table: what its columns hold, and a sample of its rows.

The sample has the rows with the smallest hashes, so it does not depend on how the table is
divided. Equal rows (cells, target and weight) are one row of it with a number, and all of
them are counted: a table of few different rows is in the sample whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import bins as kernel
from omnitree.data.encoding.columns import TableColumn
from omnitree.data.sources import Block
from omnitree.data.sources.coding import (
    Rows,
    compact,
    joined,
    read_rows,
    target_hash,
)
from omnitree.growing.blocks.engine import Engine
from omnitree.growing.blocks.sizes import Sizes
from omnitree.growing.threads import CallingThread

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampleRows:
    """Different rows, by ascending hash, and how often each occurs."""

    rows: Rows
    tie: NDArray[np.uint64]
    count: NDArray[np.int64]
    is_full: bool = False  # whether rows with larger hashes were left out

    def __len__(self) -> int:
        return len(self.count)

    def below(self, others: Sequence[SampleRows]) -> SampleRows:
        """Without the rows that full samples leave no place for."""
        full = [int(p.rows.key[-1]) for p in others if p.is_full]
        if not full or self.is_full:
            return self
        kept = self.rows.key <= np.uint64(min(full))
        if kept.all():
            return self
        rows = self.rows.take(kept)
        rows = replace(rows, columns=[compact(c) for c in rows.columns])
        return SampleRows(rows, self.tie[kept], self.count[kept])

    def smallest(
        self, most: int, pieces: Sequence[SampleRows], pool: Executor
    ) -> SampleRows:
        """Those with the smallest hashes, at most so many, of these and other pieces."""
        every = [self, *pieces]
        key = np.concatenate([p.rows.key for p in every])
        tie = np.concatenate([p.tie for p in every])
        order = np.argsort(key)
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.diff(key[order]) != 0
        if not new.all():  # equal cells
            order = np.lexsort((tie, key))
            new[1:] |= np.diff(tie[order]) != 0
        first = np.flatnonzero(new)
        count = np.concatenate([p.count for p in every])[order]
        count = np.add.reduceat(count, first)[:most]
        kept = order[first[:most]]
        rows = _taken([p.rows for p in every], kept, pool)
        # Only categories of these rows: texts that tell rows apart would pile up.
        rows = replace(rows, columns=[compact(c) for c in rows.columns])
        return SampleRows(rows, tie[kept], count, is_full=len(first) > most)


def _taken(pieces: Sequence[Rows], at: NDArray[np.intp], pool: Executor) -> Rows:
    """Some rows of several pieces, which are numbered one after the other.

    A thread puts only one column at a time together: all of them would take much memory,
    and the time to clear it.
    """
    first = pieces[0]
    if len(pieces) == 1:
        return first.take(at)
    places = [p.place for p in pieces]
    cells = np.empty((len(at), len(first.columns)), order="F")

    def taken(j: int) -> TableColumn:
        column = joined([p.columns[j] for p in pieces], places)
        np.take(column.values, at, out=cells[:, j], mode="clip")
        return replace(column, values=cells[:, j])

    columns = list(pool.map(taken, range(len(first.columns))))
    y = None if first.y is None else np.concatenate([_plain(p.y) for p in pieces])[at]
    weight = None
    if first.weight is not None:
        weight = np.concatenate([p.weight for p in pieces if p.weight is not None])[at]
    key = np.concatenate([p.key for p in pieces])[at]
    return replace(first, columns=columns, y=y, weight=weight, key=key)


def _plain(y: NDArray[Any] | None) -> NDArray[Any]:
    """Labels in a form that joins without making texts of numbers."""
    assert y is not None
    return y.astype(object) if y.dtype.kind in "SUT" else y


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass tells of a table; surveys of parts add up."""

    n_rows: int  # rows with a weight
    # Range of each column.
    low: Floats
    high: Floats
    missing: NDArray[np.bool_]  # whether each column has missing values
    # Where classes are predicted; else all rows have the label None.
    labels: dict[Any, tuple[int, Fraction]]
    y_range: tuple[float, float]  # where numbers are predicted
    largest_weight: float
    whole_weights: bool  # whether all weights are whole numbers
    pieces: list[SampleRows] = field(repr=False)
    sample_rows: int
    complete: bool  # whether no row was left out of the sample
    is_finished: bool = False  # whether the sample is in one piece

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.pieces[0].rows.names

    def __add__(self, other: Survey) -> Survey:
        mine, theirs = self.names, other.names
        pieces = other.pieces
        low, high, missing = other.low, other.high, other.missing
        if mine != theirs:
            if set(mine) != set(theirs):
                odd = sorted(set(mine) ^ set(theirs))
                places = self.pieces[0].rows.place, pieces[0].rows.place
                raise ValueError(
                    f"Column {odd[0]!r} is not in both {places[0]} and {places[1]}."
                )
            if list(mine) != sorted(mine):
                return self.sorted() + other.sorted()
            other = other.sorted()
            pieces, missing = other.pieces, other.missing
            low, high = other.low, other.high
        labels = dict(self.labels)
        for label, (n, weight) in other.labels.items():
            n_before, before = labels.get(label, (0, Fraction()))
            labels[label] = n_before + n, before + weight
        every, complete = [*self.pieces, *pieces], self.complete and other.complete
        every = [piece.below(every) for piece in every]
        if sum(map(len, every)) > 2 * self.sample_rows:
            every, complete = _cut(every, self.sample_rows, complete)
        return Survey(
            self.n_rows + other.n_rows,
            np.fmin(self.low, low),
            np.fmax(self.high, high),
            self.missing | missing,
            labels,
            (
                min(self.y_range[0], other.y_range[0]),
                max(self.y_range[1], other.y_range[1]),
            ),
            max(self.largest_weight, other.largest_weight),
            self.whole_weights and other.whole_weights,
            every,
            self.sample_rows,
            complete,
        )

    def sorted(self) -> Survey:
        """The same with the columns in the order of their names."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        pieces = [
            replace(p, rows=replace(p.rows, columns=[p.rows.columns[j] for j in order]))
            for p in self.pieces
        ]
        arrays = {n: getattr(self, n)[order] for n in ("low", "high", "missing")}
        return replace(self, **arrays, pieces=pieces)

    @property
    def sample(self) -> SampleRows:
        """The sample, the same however the surveys were added up."""
        return self.finished().pieces[0]

    def finished(self, pool: Executor | None = None) -> Survey:
        """The survey with its sample in one piece, put together by some threads."""
        if self.is_finished:
            return self
        pieces, complete = _cut(self.pieces, self.sample_rows, self.complete, pool)
        return replace(self, pieces=pieces, complete=complete, is_finished=True)


def _cut(
    pieces: list[SampleRows], most: int, complete: bool, pool: Executor | None = None
) -> tuple[list[SampleRows], bool]:
    """The pieces as one with the smallest hashes, and whether nothing was left out."""
    one = pieces[0].smallest(most, pieces[1:], pool or CallingThread())
    return [one], complete and not one.is_full


@dataclass(frozen=True)
class SurveyBlock:
    """The survey of a block."""

    seed: int
    classes: bool  # whether classes are predicted
    sizes: Sizes  # how large the sample is
    limit: int = 1 << 64  # only hashes below it can be in the sample

    def __call__(self, block: Block) -> Survey | None:
        rows = read_rows(block, self.seed, not self.classes)
        if not len(rows):
            return None
        if rows.y is None:
            raise ValueError(
                "The target y is None: give the name of its column, or an array."
            )
        low, high, missing = _ranges([c.values for c in rows.columns])
        if np.isinf([low, high]).any():
            j = int(np.isinf([low, high]).any(axis=0).argmax())
            raise ValueError(
                f"{rows.place}: column {rows.names[j]!r} contains an infinite value. "
                "Replace it by a number, or by NaN to make it missing, or drop the row."
            )
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        y_range = (0.0, 0.0)
        if self.classes:
            labels = _by_label(rows.y, weight, rows.place)
        else:
            (least,), (most,), _ = _ranges([_numbers(rows)])
            y_range = (float(least), float(most))
            labels = {None: (len(rows), exact_sum(weight))}
        candidates, complete = rows, self.limit >> 64 == 1
        if not complete:
            candidates = rows.take(rows.key < np.uint64(self.limit))
            columns = [compact(c) for c in candidates.columns]
            candidates = replace(candidates, columns=columns)
        tie = target_hash(candidates, self.seed)
        piece = SampleRows(candidates, tie, np.ones(len(candidates), dtype=np.int64))
        return Survey(
            len(rows),
            low,
            high,
            missing,
            labels,
            y_range,
            float(weight.max()),
            not (weight % 1).any(),
            [piece],
            self.sizes.rows_of_sample(len(rows.columns)),
            complete,
        )


def survey(
    engine: Engine,
    seed: int,
    classes: bool,
    sizes: Sizes,
    n_rows: int | None,
    pool: Executor,
) -> Survey:
    """Go through the table once; twice if so many rows are equal that too few are found."""
    # With a known number of rows most of them need not be carried around.
    limit, most = 1 << 64, sizes.sample_rows
    if n_rows is not None and 2 * n_rows > 3 * most:
        limit = (1 << 63) * 3 * most // n_rows
    found = engine.map_blocks(SurveyBlock(seed, classes, sizes, limit))
    if found is None:
        raise ValueError("Found array with 0 sample(s): no row has a weight above 0.")
    finished = found.finished(pool)
    if limit < 1 << 64 and len(finished.pieces[0]) < finished.sample_rows:
        found = engine.map_blocks(SurveyBlock(seed, classes, sizes))
        assert found is not None
        finished = found.finished(pool)
    return finished


def _ranges(columns: list[Floats]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Least and greatest values, NaN if all are missing, and whether some are missing."""
    low, high = np.empty((2, len(columns)))
    missing = np.zeros(len(columns), dtype=np.uint8)
    kernel.find_ranges(columns, low, high, missing)
    return low, high, missing.astype(bool)


def _by_label(
    y: NDArray[Any], weight: Floats, place: str
) -> dict[Any, tuple[int, Fraction]]:
    """Number of rows, and sum of weights, of each label."""
    if y.dtype.kind == "O":
        missing = any(label is None or label != label for label in y)
    else:
        missing = y.dtype.kind == "f" and bool(np.isnan(y).any())
    if missing:
        raise ValueError(
            f"y has a missing value in {place}: drop rows without a label first"
        )
    labels, at = np.unique(y, return_inverse=True)
    return {
        label: (int(np.count_nonzero(at == k)), exact_sum(weight[at == k]))
        for k, label in enumerate(labels.tolist())
    }


def exact_sum(values: Floats) -> Fraction:
    """Sum without rounding, so that the order does not matter.

    Examples
    --------
    >>> exact_sum(np.array([1.0, 2.0**-60, -1.0])) == Fraction(1, 2**60)
    True
    """
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    total = Fraction()
    for e in np.unique(exponent).tolist():
        own = whole[exponent == e]
        high, low = int((own >> 26).sum()), int((own & ((1 << 26) - 1)).sum())
        total += Fraction((high << 26) + low) * Fraction(2) ** (e - 53)
    return total


def _numbers(rows: Rows) -> Floats:
    """The target as numbers."""
    assert rows.y is not None
    try:
        numbers = rows.y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"y holds something that is no number in {rows.place}; for labels take a "
            "classifier"
        ) from None
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"Input y contains NaN or infinity in {rows.place}: drop the rows without a "
            "target first"
        )
    return numbers
