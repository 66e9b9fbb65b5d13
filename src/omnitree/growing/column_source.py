"""Columns for linear tests: the encoded ones, standardised, or all monomials of them.

`Standardised` has each encoded column with mean 0 and deviation 1 over the whole training
table (a change of units that Fisher's direction does not notice, but that distances between
means and principal components do). `Quadratic` adds their squares and products (Yildiz &
Alpaydin's quadratic nodes); it makes them for the rows asked for, so no large table is kept.
Both turn a direction back into a test, and several functions into a model, in the user's
units. Made once for a `Sample` and read by `LinearRows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from omnitree.data.encoding.linear_view import LinearView
from omnitree.data.table import Table
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import (
    LinearSplit,
    QuadraticMachineSplit,
    QuadraticSplit,
    Split,
)

Floats = NDArray[np.float64]


class Source(Protocol):
    """Where the columns of linear tests come from."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""

    @property
    def n_plain(self) -> int:
        """How many of them, at the front, are plain columns."""

    @property
    def mean(self) -> Floats:
        """Means of the plain columns in the table's own units."""

    @property
    def std(self) -> Floats:
        """Deviations of the plain columns in the table's own units."""

    @property
    def spread(self) -> Floats:
        """Deviation of each column that a penalty on its weight should see.

        1 for numbers, whose units are arbitrary; for a category the square root of that
        of its own column, so that weights of rare categories, for which few rows speak,
        are shrunken more.
        """

    @property
    def has_gaps(self) -> bool:
        """Whether some cells are missing."""

    @property
    def matrix(self) -> Floats | None:
        """All columns of the whole table, where these lie there without gaps."""

    def gap_means(self, rows: NDArray[np.int64], weight: Floats) -> Floats:
        """Means of the columns with gaps over the present cells of some rows."""

    def take(self, rows: NDArray[np.int64], gap_fill: Floats) -> Floats:
        """The columns of some rows, gaps filled; not to be written to."""

    def only(self, j: int, gap_fill: Floats) -> tuple[Source, Floats]:
        """One of the columns, and the means of what has gaps in it."""

    def split(
        self, w: Floats, threshold: float, fill: Floats, merit: float
    ) -> Split | None:
        """The test `columns @ w <= threshold` in the table's own units."""

    def model(self, w: Floats, bias: Floats, fill: Floats) -> LeafModel:
        """The model of classes whose sums are `columns @ w.T + bias`, in own units.

        `w` is (k, n_columns) with a line for each class of the tree, `fill` what the
        plain columns are where a cell is missing.
        """


def _side_by_side(rows: NDArray[np.int64]) -> bool:
    """Whether rows follow each other without a hole."""
    span = len(rows) and rows[-1] - rows[0] + 1 == len(rows)
    return bool(span and (np.diff(rows) == 1).all())


@dataclass(frozen=True)
class Standardised:
    """Encoded columns of a whole table with mean 0 and deviation 1; gaps are NaN.

    `which` says which encoded columns of the table they are.
    """

    columns: Floats
    mean: Floats
    std: Floats
    with_gaps: NDArray[np.intp]
    which: NDArray[np.intp]
    spread: Floats

    @classmethod
    def of(cls, table: Table, weight: Floats) -> Standardised:
        """Standardise by weighted means and deviations over the present cells.

        Constant columns become 0 and have the deviation 0.
        """
        view = table.linear_view
        mean, std, z = view.standardise(np.arange(table.n_rows), weight, order="C")
        with_gaps = np.empty(0, dtype=np.intp)
        if view.has_gaps:
            gaps = np.isnan(view.columns)
            z[gaps] = np.nan
            with_gaps = np.flatnonzero(gaps.any(axis=0))
        _, category = table.schema.linear_columns()
        spread = np.where((category >= 0) & (std > 0), np.sqrt(std), 1.0)
        return cls(z, mean, std, with_gaps, np.arange(len(mean)), spread)

    @property
    def n_columns(self) -> int:
        return len(self.mean)

    @property
    def n_plain(self) -> int:
        return len(self.mean)

    @property
    def has_gaps(self) -> bool:
        return len(self.with_gaps) > 0

    @property
    def matrix(self) -> Floats | None:
        return None if self.has_gaps else self.columns

    def gap_means(self, rows: NDArray[np.int64], weight: Floats) -> Floats:
        fill = np.zeros(len(self.with_gaps))
        for i, j in enumerate(self.with_gaps):
            cells = self.columns[rows, j]
            present = ~np.isnan(cells)
            if present.any():
                fill[i] = np.average(cells[present], weights=weight[present])
        return fill

    def take(self, rows: NDArray[np.int64], gap_fill: Floats) -> Floats:
        if _side_by_side(rows) and not self.has_gaps:  # no copy is needed
            out = self.columns[rows[0] : rows[-1] + 1]
            out.flags.writeable = False
            return out
        out = self.columns.take(rows, axis=0)
        for j, value in zip(self.with_gaps, gap_fill, strict=True):
            column = out[:, j]
            column[np.isnan(column)] = value
        return out

    def only(self, j: int, gap_fill: Floats) -> tuple[Source, Floats]:
        fill = gap_fill[self.with_gaps == j]
        part = Standardised(
            self.columns[:, [j]],
            self.mean[[j]],
            self.std[[j]],
            np.zeros(len(fill), dtype=np.intp),
            self.which[[j]],
            self.spread[[j]],
        )
        return part, fill

    def split(
        self, w: Floats, threshold: float, fill: Floats, merit: float
    ) -> LinearSplit | None:
        used = np.flatnonzero((w != 0) & (self.std > 0))
        length = np.linalg.norm(w[used])
        if not length > 0:
            return None
        weights = w[used] / length / self.std[used]
        at = fill[used] * self.std[used] + self.mean[used]
        return LinearSplit(
            tuple(self.which[used].tolist()),
            tuple(weights.tolist()),
            tuple(at.tolist()),
            float(threshold / length + weights @ self.mean[used]),
            merit=merit,
        )

    def model(self, w: Floats, bias: Floats, fill: Floats) -> LeafModel:
        used = np.flatnonzero((w != 0).any(axis=0) & (self.std > 0))
        mean, std = self.mean[used], self.std[used]
        weights, own_bias = LinearView.fold(w[:, used], bias, mean, std)
        return LeafModel(
            tuple(self.which[used].tolist()),
            tuple((fill[used] * std + mean).tolist()),
            tuple(own_bias.tolist()),
            tuple(map(tuple, weights.tolist())),
        )


@dataclass(frozen=True)
class Quadratic:
    """The plain columns, then the product of each pair of them.

    Left out are products that are linear in the plain columns already: of two symbols of
    one feature, and squares of symbols.
    """

    plain: Standardised
    a: NDArray[np.intp]
    b: NDArray[np.intp]

    @classmethod
    def of(cls, plain: Standardised, table: Table) -> Quadratic:
        """All products of the columns of a table that vary."""
        feature, symbol = table.schema.linear_columns()
        a, b = np.triu_indices(plain.n_columns)
        varies = (plain.std[a] > 0) & (plain.std[b] > 0)
        redundant = (feature[a] == feature[b]) & (symbol[a] >= 0)
        keep = varies & ~redundant
        return cls(plain, a[keep], b[keep])

    @property
    def n_columns(self) -> int:
        return self.plain.n_columns + len(self.a)

    @property
    def n_plain(self) -> int:
        return self.plain.n_columns

    @property
    def mean(self) -> Floats:
        return self.plain.mean

    @property
    def std(self) -> Floats:
        return self.plain.std

    @property
    def spread(self) -> Floats:
        plain = self.plain.spread
        return np.concatenate([plain, plain[self.a] * plain[self.b]])

    @property
    def has_gaps(self) -> bool:
        return self.plain.has_gaps

    @property
    def matrix(self) -> Floats | None:
        return None

    def gap_means(self, rows: NDArray[np.int64], weight: Floats) -> Floats:
        return self.plain.gap_means(rows, weight)

    def take(self, rows: NDArray[np.int64], gap_fill: Floats) -> Floats:
        z = self.plain.take(rows, gap_fill)
        out = np.empty((len(rows), self.n_columns))
        out[:, : z.shape[1]] = z
        np.multiply(z[:, self.a], z[:, self.b], out=out[:, z.shape[1] :])
        return out

    def only(self, j: int, gap_fill: Floats) -> tuple[Source, Floats]:
        if j < self.n_plain:
            return self.plain.only(j, gap_fill)
        raise ValueError(f"column {j} is a product; only plain columns stand alone")

    @property
    def needed_by(self) -> Floats:
        """1 where the line's column is a product of the other column."""
        out = np.zeros((self.n_columns, self.n_columns))
        products = np.arange(self.n_plain, self.n_columns)
        out[products, self.a] = out[products, self.b] = 1.0
        return out

    @cached_property
    def _units(self) -> Floats:
        return np.where(self.plain.std > 0, self.plain.std, 1.0)

    def split(
        self, w: Floats, threshold: float, fill: Floats, merit: float
    ) -> Split | None:
        p = self.n_plain
        length = np.linalg.norm(w)
        if not length > 0:
            return None
        w, cut = w / length, float(threshold / length)
        if not w[p:].any():
            return self.plain.split(w[:p], cut, fill, merit)
        columns, terms, weights, constant = self._own_units(w[None])
        return QuadraticSplit(
            tuple(self.plain.which[columns].tolist()),
            self._own_fill(fill, columns),
            terms,
            tuple(weights[0].tolist()),
            cut - float(constant[0]),
            merit=merit,
        )

    def machine(
        self, w: Floats, bias: Floats, fill: Floats, merit: float
    ) -> QuadraticMachineSplit:
        """The test for the largest of several forms, (k, p) weights, in own units."""
        columns, terms, weights, constant = self._own_units(w)
        return QuadraticMachineSplit(
            tuple(self.plain.which[columns].tolist()),
            self._own_fill(fill, columns),
            terms,
            tuple((bias + constant).tolist()),
            tuple(tuple(row) for row in weights.tolist()),
            merit=merit,
        )

    def model(self, w: Floats, bias: Floats, fill: Floats) -> LeafModel:
        p = self.n_plain
        if not w[:, p:].any():
            return self.plain.model(w[:, :p], bias, fill)
        columns, terms, weights, constant = self._own_units(w)
        return LeafModel(
            tuple(self.plain.which[columns].tolist()),
            self._own_fill(fill, columns),
            tuple((bias + constant).tolist()),
            tuple(map(tuple, weights.tolist())),
            terms=terms,
        )

    def _own_fill(self, fill: Floats, columns: NDArray[np.intp]) -> tuple[float, ...]:
        std, mean = self.plain.std[columns], self.plain.mean[columns]
        return tuple((fill[columns] * std + mean).tolist())

    def _own_units(
        self, w: Floats
    ) -> tuple[NDArray[np.intp], tuple[tuple[int, int], ...], Floats, Floats]:
        """Columns, terms, weights of the terms and constants of forms, in own units."""
        p = self.n_plain
        mean, a, b = self.plain.mean, self.a, self.b
        linear = np.where(self.plain.std > 0, w[:, :p] / self._units, 0.0)
        product = w[:, p:] / self._units[a] / self._units[b]
        # (x_a - m_a)(x_b - m_b) = x_a x_b - m_b x_a - m_a x_b + m_a m_b
        constant = product @ (mean[a] * mean[b]) - linear @ mean
        for row, own in zip(product, linear, strict=True):
            np.subtract.at(own, a, row * mean[b])
            np.subtract.at(own, b, row * mean[a])
        keep = np.flatnonzero(product.any(axis=0))
        a, b, product = a[keep], b[keep], product[:, keep]
        used = np.flatnonzero(linear.any(axis=0))
        columns = np.union1d(used, np.concatenate([a, b]))
        place = np.searchsorted(columns, np.concatenate([used, a, b]))
        at_used, at_a, at_b = np.split(place, [len(used), len(used) + len(a)])
        terms = [(int(i), -1) for i in at_used]
        terms += zip(at_a.tolist(), at_b.tolist(), strict=True)
        return columns, tuple(terms), np.hstack([linear[:, used], product]), constant
