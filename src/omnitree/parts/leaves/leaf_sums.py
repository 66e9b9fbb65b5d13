"""The rows of a node with the sums that models of it are fitted from.

Sums of products are the bulk of the work, so they are made once, for the richest form of a
model: simpler forms take parts of them. Columns of many rows are made block by block. Of
many rows, some are picked, by a hash of their cells, to say which penalty is best when a
row is left out. Used by models in leaves (`ridge.py`, `additive.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from omnitree.growing.clock import check_time
from omnitree.growing.sample import Sample
from omnitree.growing.standard_columns import StandardColumns
from omnitree.resampling.folds import deal

Floats = NDArray[np.float64]
FOLDS = 10  # of groups
# Of more rows, and of more than four for each column, some say what penalty is best.
MEASURED = 1000
BLOCK = 1 << 15  # rows whose columns are made at a time


@dataclass(frozen=True)
class LeafSums:
    """The rows of a node, and their sums of products, which serve all forms of a model.

    Columns of many rows are made block by block, and again when they are needed again.
    """

    standard: StandardColumns
    rows: NDArray[np.int64]
    weight: Floats  # (n,)
    fill: Floats  # of columns with missing values
    is_number: NDArray[np.bool_]  # (p,): which plain columns are numbers, no categories
    bias: float  # mean of the target
    rest: Floats  # (n,): the target around it
    # Rows on which errors of rows that are left out are measured; a slice: all of them.
    measured: Any
    fold: NDArray[np.int64] | None  # of groups; see `folds_of_groups`

    @classmethod
    def of(
        cls,
        sample: Sample,
        rows: NDArray,
        weight: Floats,
        standard: StandardColumns,
        seed: int,
    ) -> LeafSums:
        """Of some rows, in some columns."""
        target = sample.y[rows]
        bias = float(weight @ target / weight.sum())
        fold = folds_of_groups(sample, rows, weight, seed)
        measured: Any = slice(None)
        most = max(MEASURED, 4 * standard.n_columns)
        if fold is None and len(rows) > most:
            key = sample.row_hash(seed)[rows]
            measured = np.sort(np.argpartition(key, most)[:most])
        return cls(
            standard,
            rows,
            weight,
            standard.missing_means(rows, weight),
            sample.table.schema.linear_columns()[1] < 0,
            bias,
            target - bias,
            measured,
            fold,
        )

    @property
    def in_blocks(self) -> bool:
        """Whether there are too many rows for their columns to be kept."""
        return len(self.rows) > BLOCK

    @property
    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """The columns of all rows."""
        if not self.in_blocks:
            yield slice(None), self._columns
            return
        for start in range(0, len(self.rows), BLOCK):
            part = slice(start, start + BLOCK)
            yield part, self.standard.take(self.rows[part], self.fill)

    @cached_property
    def _columns(self) -> Floats:
        return self.standard.take(self.rows, self.fill)

    @cached_property
    def columns(self) -> Floats:
        """Of the measured rows."""
        if not self.in_blocks:
            return self._columns[self.measured]
        return self.standard.take(self.rows[self.measured], self.fill)

    @cached_property
    def sums(self) -> tuple[Floats, Floats, Floats | None]:
        """Means of the columns, their products with the target, and with each other.

        The last around the means; None where there are fewer rows than columns.
        """
        total, k = float(self.weight.sum()), self.standard.n_columns
        mean, products = np.zeros((2, k))
        gram = np.zeros((k, k)) if len(self.rows) >= k else None
        for part, columns in self.blocks:
            check_time(float(len(columns)) * k**2)
            weight = self.weight[part]
            mean += weight @ columns / total
            products += (weight * self.rest[part]) @ columns
            if gram is not None:
                gram += gram_of(columns, weight)
        if gram is not None:
            gram -= total * mean[:, None] * mean
        return mean, products, gram

    def ends(self) -> Floats:
        """The two least and the two largest values of each number, (4, numbers)."""
        at = np.flatnonzero(self.is_number)
        if not self.in_blocks:
            return _ends(self._columns[:, at])
        plain = self.standard.without_curves
        parts = (self.rows[s : s + BLOCK] for s in range(0, len(self.rows), BLOCK))
        some = [_ends(plain.take(rows, self.fill)[:, at]) for rows in parts]
        return _ends(np.concatenate(some))

    def answers(self, weights: Floats) -> Floats:
        """Sums of the first columns of all rows, weighted."""
        k = len(weights)
        return np.concatenate([columns[:, :k] @ weights for _, columns in self.blocks])


def folds_of_groups(
    sample: Sample, rows: NDArray, weight: Floats, seed: int
) -> NDArray[np.int64] | None:
    """Folds of some rows that keep groups together; None where there are no groups."""
    if sample.groups is None:
        return None
    target = sample.target.take(rows)
    key, groups = sample.row_hash(seed)[rows], sample.groups[rows]
    return deal(key, target.strata(), FOLDS, seed, (weight, target.y), groups)


def _ends(columns: Floats) -> Floats:
    """The two least and the two largest values of each column."""
    n = len(columns)
    ends = [0, min(1, n - 1), max(n - 2, 0), n - 1]
    return np.asarray(np.partition(columns, sorted({*ends}), axis=0)[ends])


def gram_of(x: Floats, weight: Floats) -> Floats:
    """Weighted sums of products of all pairs of columns."""
    first = float(weight[0])
    if (weight != first).any():
        x, first = x * np.sqrt(weight)[:, None], 1.0
    # Half of a symmetric matrix: half the time.
    upper = linalg.blas.dsyrk(first, x.T)
    return np.asarray(np.triu(upper, 1).T + upper)
