"""The encoded columns of a training table in units of their deviations.

Each column has mean 0 and deviation 1 over the whole table: a change of units that Fisher's
direction does not notice, but that distances between means, principal components and
penalties do. With products, squares and products of two columns follow (the quadratic nodes
of Yildiz & Alpaydin); with curves, the columns that curves of single features are sums of
(`curve_basis.py`). Both are made for the rows asked for, so that no large table is kept.
Made once a fit, curves once a node; read by `NodeColumns` and by models in leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import discriminant as kernel
from omnitree.data.schema import Schema
from omnitree.data.table import Table
from omnitree.growing.clock import check_time
from omnitree.growing.curve_basis import CurveBasis
from omnitree.growing.scaling import Floats, Scaling

# Products that are made at a time: few enough to stay in the cache.
PIECE = 2**17


@dataclass(frozen=True, eq=False)
class StandardColumns:
    """Columns with mean 0 and deviation 1, products of them, and columns of curves."""

    # (n, p): all rows without products and curves; a missing value is NaN, a constant
    # column 0.
    plain: Floats
    scaling: Scaling
    with_missing: NDArray[np.intp]  # plain columns that have missing values
    # (n_columns,): deviation of each column that a penalty on its weight should see; see
    # `penalised_spread` and, for those of curves, `CurveBasis`.
    spread: Floats
    # (n, c): columns of the curves for all rows, where they are kept; see `kept`.
    bent: Floats | None = None

    @classmethod
    def of(cls, table: Table, weight: Floats) -> StandardColumns:
        """Standardise by weighted means and deviations over the values present."""
        encoded = table.encoded
        mean, std, z = encoded.standardise(np.arange(table.n_rows), weight, order="C")
        with_missing = np.empty(0, dtype=np.intp)
        if encoded.has_missing:
            missing = np.isnan(encoded.cells)
            z[missing] = np.nan
            with_missing = np.flatnonzero(missing.any(axis=0))
        spread = penalised_spread(encoded.category, std)
        return cls(z, Scaling(np.arange(len(mean)), mean, std), with_missing, spread)

    def with_products(self, schema: Schema) -> StandardColumns:
        """The columns, then the products of all pairs.

        Left out are products that are linear in the columns already: of two categories of
        one feature, and squares of categories.
        """
        scaling = self.scaling.with_products(_category_of(schema))
        products = self.spread[scaling.a] * self.spread[scaling.b]
        spread = np.concatenate([self.spread, products])
        return replace(self, scaling=scaling, spread=spread)

    def n_with_products(self, schema: Schema) -> int:
        """Number of columns that `with_products` has, or would have."""
        return self.n_columns + self.scaling.n_products(_category_of(schema))

    def with_curves(
        self, schema: Schema, rows: NDArray[np.int64], weight: Floats
    ) -> StandardColumns:
        """The same with a curve for each number, made for some rows."""
        is_number, scaling = schema.linear_columns()[1] < 0, self.scaling

        def curve_of(j: int) -> CurveBasis | None:
            check_time()
            return CurveBasis.of(j, self.plain[rows, j], weight)

        made = map(curve_of, np.flatnonzero(is_number & (scaling.std > 0)).tolist())
        curves = tuple(
            curve for curve in made if curve is not None and scaling.are_apart(curve)
        )
        return self.with_curves_of(curves)

    def with_curves_of(self, curves: tuple[CurveBasis, ...]) -> StandardColumns:
        """The same with curves that were made before, with products or without."""
        spread = np.concatenate([self.spread, *(curve.spread for curve in curves)])
        scaling = replace(self.scaling, curves=curves)
        return replace(self, scaling=scaling, spread=spread)

    def kept(self) -> StandardColumns:
        """The same with the columns of its curves made for all rows, once."""
        if not self.scaling.curves:
            return self
        first = self.scaling.n_plain + len(self.scaling.a)
        bent, last = np.empty((len(self.plain), self.n_columns - first)), 0
        for curve in self.scaling.curves:
            check_time()
            begin, last = last, last + len(curve.spread)
            curve.columns(self.plain[:, curve.at], bent[:, begin:last])
        return replace(self, bent=bent)

    @property
    def without_curves(self) -> StandardColumns:
        """The same without the columns of curves."""
        scaling = replace(self.scaling, curves=())
        spread = self.spread[: scaling.n_columns]
        return replace(self, scaling=scaling, spread=spread, bent=None)

    @property
    def n_columns(self) -> int:
        """Number of columns, those of products and curves included."""
        return self.scaling.n_columns

    @property
    def has_missing(self) -> bool:
        """Whether some values are missing."""
        return len(self.with_missing) > 0

    @property
    def matrix(self) -> Floats | None:
        """All columns of the whole table, where they lie there complete."""
        plain = not (self.has_missing or len(self.scaling.a) or self.scaling.curves)
        return self.plain if plain else None

    def missing_means(self, rows: NDArray[np.int64], weight: Floats) -> Floats:
        """Means of the columns with missing values over the values present in some rows."""
        means = np.zeros(len(self.with_missing))
        if self.has_missing:
            kernel.present_means(self.plain, rows, weight, self.with_missing, means)
        return means

    def take(self, rows: NDArray[np.int64], missing_means: Floats) -> Floats:
        """The columns of some rows, missing values filled; not to be written to."""
        z = self._take_plain(rows, missing_means)
        p, a, b = self.scaling.n_plain, self.scaling.a, self.scaling.b
        if self.n_columns == p:
            return z
        out = np.empty((len(rows), self.n_columns))
        last = p + len(a)
        step = max(PIECE // last, 1)
        for start in range(0, len(rows), step):
            check_time()
            part = slice(start, start + step)
            out[part, :p] = z[part]
            kernel.multiply_pairs(z[part], a, b, out[part, p:last])
        if self.bent is not None:
            np.take(self.bent, rows, axis=0, out=out[:, last:])
            return out
        for curve in self.scaling.curves:
            first, last = last, last + len(curve.spread)
            curve.columns(self.plain[rows, curve.at], out[:, first:last])
        return out

    def by_columns(
        self, rows: NDArray[np.int64], missing_means: Floats
    ) -> Iterator[tuple[slice, Floats]]:
        """The columns of some rows, missing values filled, a few at a time; no curves."""
        z = self._take_plain(rows, missing_means)
        p, a, b = self.scaling.n_plain, self.scaling.a, self.scaling.b
        yield slice(0, p), z
        step = max(PIECE // max(len(rows), 1), 1)
        for start in range(0, len(a), step):
            check_time()
            part = slice(start, min(start + step, len(a)))
            out = np.empty((len(rows), part.stop - start))
            kernel.multiply_pairs(z, a[part], b[part], out)
            yield slice(p + start, p + part.stop), out

    def _take_plain(self, rows: NDArray[np.int64], missing_means: Floats) -> Floats:
        if _side_by_side(rows) and not self.has_missing:  # no copy is needed
            out = self.plain[rows[0] : rows[-1] + 1]
            out.flags.writeable = False
            return out
        out = self.plain.take(rows, axis=0)
        kernel.fill_missing(out, self.with_missing, missing_means)
        return out

    def column(self, j: int) -> StandardColumns:
        """One of the columns, no product."""
        with_missing = np.flatnonzero(self.with_missing == j) * 0
        scaling = self.scaling.take(np.array([j]))
        return StandardColumns(
            self.plain[:, [j]], scaling, with_missing, self.spread[[j]]
        )


def penalised_spread(category: NDArray[np.int32], std: Floats) -> Floats:
    """Deviation of each encoded column that a penalty on its weight should see.

    It is 1 for numbers, whose units are arbitrary; for a category the square root of that
    of its own column, so that weights of rare categories, for which few rows speak, are
    shrunken more.
    """
    return np.where((category >= 0) & (std > 0), np.sqrt(std), 1.0)


def _category_of(schema: Schema) -> NDArray[np.intp]:
    """The feature that each column is a category of; -1 for numbers."""
    feature, category = schema.linear_columns()
    return np.where(category >= 0, feature, -1)


def _side_by_side(rows: NDArray[np.int64]) -> bool:
    """Whether rows follow each other without a hole."""
    span = len(rows) and rows[-1] - rows[0] + 1 == len(rows)
    return bool(span and (np.diff(rows) == 1).all())
