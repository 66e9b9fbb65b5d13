"""Blocks as rows of whole numbers: weights, targets and columns on a grid.

Whole numbers below 2^53 add up exactly in float64, and all others here are int64, so sums
over rows do not depend on the order of rows, blocks, threads or workers. Weights are on a
grid of a millionth of the largest (as they are, where they are whole numbers), a numeric
target on one of a millionth of its range, and columns on one of 2^-20 of their range (2^-17
with weights, which take some of the bits). Trees see cells, thresholds and leaves as they
are: the grid is only in what decides between tests of large nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import bins as kernel
from omnitree.data.schema import Schema
from omnitree.data.sources import Block
from omnitree.data.sources.coding import encoded, matrix, read_rows, some_rows
from omnitree.data.table import Table
from omnitree.growing.criterion import Criterion
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget, NumericTarget, Target

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVELS = 1 << 20  # of weights and numeric targets
TOTAL_BITS = 42  # of the sum of all weights: times a target it stays below 2^62


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Encoded rows."""

    table: Table
    y: NDArray[Any]
    number: Ints | None  # a numeric target on its grid
    weight: Ints | None  # weights in units; None: all 1
    key: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.key)

    @property
    def weights(self) -> Ints:
        """Weights in units."""
        return (
            np.ones(len(self), dtype=np.int64) if self.weight is None else self.weight
        )

    def take(self, at: NDArray) -> CodedRows:
        """Some of the rows."""
        cells = some_rows(list(self.table.values.T), at)
        return self.picked(cells, at)

    def part(self, first: int, end: int) -> CodedRows:
        """Consecutive rows, which are not copied."""
        here = slice(first, end)
        return self.picked(self.table.values[here], here)

    def picked(self, cells: Floats, at: Any) -> CodedRows:
        """Some of the rows, whose cells are given."""
        return CodedRows(
            Table(cells, self.table.schema),
            self.y[at],
            None if self.number is None else self.number[at],
            None if self.weight is None else self.weight[at],
            self.key[at],
        )


def concatenated(pieces: Sequence[CodedRows]) -> CodedRows:
    """Coded rows one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    return _with_cells(np.concatenate([p.table.values for p in pieces]), pieces)


def in_order(pieces: Sequence[CodedRows], used: Floats | None = None) -> CodedRows:
    """Coded rows of several pieces in an order that depends on nothing but the rows.

    In the memory of `used` cells, if there are enough.
    """
    n = sum(map(len, pieces))
    cells = matrix(n, pieces[0].table.n_features, used)
    rows = _with_cells(cells, pieces)
    order = np.argsort(rows.key)
    key = rows.key[order]
    if (key[1:] == key[:-1]).any():  # equal cells
        order = np.lexsort((rows.weights, rows.y, rows.key))
    # Straight to their places: to put the pieces together first would cost another copy.
    to, first = np.empty(n, dtype=np.int64), 0
    to[order] = np.arange(n)
    for piece in pieces:
        last = first + len(piece)
        kernel.scatter_rows(list(piece.table.values.T), to[first:last], cells)
        first = last
    return rows.picked(cells, order)


def _with_cells(cells: Floats, pieces: Sequence[CodedRows]) -> CodedRows:
    """Pieces one after the other, but for their cells, which are given."""
    first = pieces[0]
    number = weight = None
    if first.number is not None:
        number = np.concatenate([p.number for p in pieces if p.number is not None])
    if first.weight is not None:
        weight = np.concatenate([p.weight for p in pieces if p.weight is not None])
    y = np.concatenate([p.y for p in pieces])
    key = np.concatenate([p.key for p in pieces])
    return CodedRows(Table(cells, first.table.schema), y, number, weight, key)


@dataclass(frozen=True, eq=False)
class Coder:
    """How blocks become coded rows."""

    schema: Schema
    seed: int  # of the hash
    classes: NDArray[Any]  # labels in order; none where numbers are predicted
    class_weight: Floats | None = None  # what a row of each class counts
    unit: float = 1.0  # weight of a whole number 1
    weighted: bool = False  # whether rows have different weights
    # Grid of a numeric target.
    centre: float = 0.0
    step: float = 1.0
    # As of a `Target`.
    costs: Floats | None = None
    criterion: Criterion | None = None
    may_miss: bool = True  # whether cells may be missing

    @property
    def n_statistics(self) -> int:
        """Numbers that a node is judged by: class counts, or weight and sum."""
        return len(self.classes) or 2

    def __call__(self, block: Block, used: Floats | None = None) -> CodedRows:
        """The rows of a block, in the memory of `used` cells if there are enough."""
        rows = read_rows(block, self.seed, not len(self.classes))
        assert rows.y is not None
        number = None
        if len(self.classes):
            y: NDArray[Any] = class_codes(rows.y, self.classes)
        else:
            y = rows.y.astype(np.float64)
            number = self.on_grid(y)
        weight = None
        if self.weighted:
            given = np.ones(len(rows)) if rows.weight is None else rows.weight
            if self.class_weight is not None:
                given = given * self.class_weight[y]
            weight = np.rint(given / self.unit).astype(np.int64)
            weight[(weight == 0) & (given > 0)] = 1
        table = encoded(rows, self.schema, used)
        coded = CodedRows(table, y, number, weight, rows.key)
        if weight is not None and not weight.all():
            coded = coded.take(weight > 0)
        return coded

    def on_grid(self, y: Floats) -> Ints:
        """A numeric target in steps from the centre of its range."""
        return np.rint((y - self.centre) / self.step).astype(np.int64)

    def target(self, y: NDArray[Any]) -> Target:
        """What is predicted for some rows."""
        if len(self.classes):
            return ClassTarget(y.astype(np.int32), self.classes, self.costs)
        assert self.criterion is not None
        return NumericTarget(y, self.criterion)

    def sample(self, rows: CodedRows, scale: float) -> Sample:
        """Rows as the in-memory way sees them; `scale` is the weight of one unit."""
        weight = rows.weights.astype(np.float64) * scale
        return Sample(rows.table, self.target(rows.y), weight)


def class_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Places of labels among the classes, which are in order."""
    if labels.dtype.kind in "iufb" and classes.dtype.kind in "iufb":
        return np.searchsorted(classes, labels).astype(np.int32)
    import pandas as pd

    code = {label: k for k, label in enumerate(classes.tolist())}
    at, found = pd.factorize(labels)  # quicker than a look-up for each row
    return np.array([code[label] for label in found.tolist()], dtype=np.int32)[at]


def weight_unit(largest: float, whole: bool, n_rows: int) -> float:
    """Weight of a whole number 1 on the grid of weights.

    Examples
    --------
    >>> weight_unit(7.0, True, 1000), weight_unit(0.5, False, 1000) == 0.5 / 2**20
    (1.0, True)
    """
    bits = min(20, TOTAL_BITS - int(n_rows).bit_length())
    if whole and largest <= 1 << bits:
        return 1.0
    return largest / (1 << bits)
