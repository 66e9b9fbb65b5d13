"""How encoded columns are centred and scaled, and the way back to the table's own units.

Tests over many columns are searched on columns z_j = (x_j - mean_j) / std_j, on products
z_a z_b of them and on those that curves are sums of (`curve_basis.py`). A `Scaling` says
which columns these are and turns weights on them into tests and models in the table's
units, where a missing value counts as its fill. Nobody else does either. Used by every
learner, and by all leaves, that look at several columns at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree.data.schema import Schema
from omnitree.growing.curve_basis import CurveBasis
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import (
    AdditiveMachineSplit,
    AdditiveSplit,
    AxisSplit,
    LinearSplit,
    MachineSplit,
    QuadraticMachineSplit,
    QuadraticSplit,
    Split,
    SubsetSplit,
)

Floats = NDArray[np.float64]

# Products that columns may have at most: those of 2,000. A test of so many terms takes half
# a gigabyte, and nobody can read it.
MOST_PRODUCTS = 2_001_000


class TooManyProducts(ValueError):
    """The products of all pairs of columns are more than a test may have."""


def _no_pairs() -> NDArray[np.intp]:
    return np.empty(0, dtype=np.intp)


def _pairs(n: NDArray[np.intp]) -> np.intp:
    """Pairs within groups of these sizes, those of one with itself included."""
    return (n * (n + 1) // 2).sum()


@dataclass(frozen=True, eq=False)
class Scaling:
    """Some encoded columns in units of their deviations, products of pairs, and curves.

    Examples
    --------
    >>> scaling = Scaling(np.arange(2), np.array([10.0, 7.0]), np.array([4.0, 2.0]))
    >>> test = scaling.test(np.array([2.0, 5.0]), 1.0, fill=np.zeros(2))
    >>> test.weights, test.threshold, test.fill
    ((0.5, 2.5), 23.5, (10.0, 7.0))
    """

    which: NDArray[np.intp]  # (p,): encoded columns of the table, by number
    # (p,): in the table's units. A constant column has deviation 0, and no test uses
    # it.
    mean: Floats
    std: Floats
    # (q,): positions of the two factors of each product.
    a: NDArray[np.intp] = field(default_factory=_no_pairs)
    b: NDArray[np.intp] = field(default_factory=_no_pairs)
    curves: tuple[CurveBasis, ...] = ()  # what follows the columns and products

    @property
    def n_plain(self) -> int:
        """Number of columns without the products, p."""
        return len(self.mean)

    @cached_property
    def n_columns(self) -> int:
        """Number of all columns: plain ones, products and those of curves."""
        return self._first_of_curves + sum(len(c.spread) for c in self.curves)

    @property
    def _first_of_curves(self) -> int:
        return len(self.mean) + len(self.a)

    @property
    def blocks(self) -> NDArray[np.intp]:
        """The block of each column: 0 plain, 1 of a curve, 2 a product."""
        out = np.ones(self.n_columns, dtype=np.intp)
        out[: self.n_plain], out[self.n_plain : self._first_of_curves] = 0, 2
        return out

    @property
    def terms(self) -> NDArray[np.intp]:
        """The term that each column is part of: itself, or a curve."""
        first = self._first_of_curves
        sizes = [len(c.spread) for c in self.curves]
        of_curves = np.repeat(first + np.arange(len(sizes)), sizes)
        return np.concatenate([np.arange(first), of_curves])

    @property
    def n_free(self) -> NDArray[np.intp]:
        """Free parameters of each term in one sum."""
        of_curves = [curve.n_free for curve in self.curves]
        return np.array([1] * self._first_of_curves + of_curves, dtype=np.intp)

    @cached_property
    def varies(self) -> NDArray[np.bool_]:
        """Whether each plain column has more than one value."""
        return self.std > 0

    @cached_property
    def _divisor(self) -> Floats:
        return np.where(self.varies, self.std, 1.0)

    def take(self, at: NDArray[np.intp]) -> Scaling:
        """Only some of the columns, by position."""
        return Scaling(self.which[at], self.mean[at], self.std[at])

    def with_products(self, category_of: NDArray[np.intp] | None = None) -> Scaling:
        """The columns and all products of two that vary, squares included.

        `category_of` (p,) has the feature that a column is a category of, or -1: products
        of categories of one feature are left out, being linear in the columns already.
        """
        self.check_products(category_of)
        a, b = np.triu_indices(self.n_plain)
        keep = self.varies[a] & self.varies[b]
        if category_of is not None:
            keep &= (category_of[a] != category_of[b]) | (category_of[a] < 0)
        return replace(self, a=a[keep], b=b[keep])

    def n_products(self, category_of: NDArray[np.intp] | None = None) -> int:
        """How many products `with_products` adds."""
        n = np.array([np.count_nonzero(self.varies)])
        if category_of is None:
            return int(_pairs(n))
        of_features = np.bincount(category_of[self.varies & (category_of >= 0)])
        return int(_pairs(n) - _pairs(of_features))

    def check_products(self, category_of: NDArray[np.intp] | None = None) -> None:
        """Refuse columns whose products are more than a test may have."""
        n = self.n_products(category_of)
        if n > MOST_PRODUCTS:
            raise TooManyProducts(
                f"a quadratic test over {self.n_plain:,} columns has {n:,} products, "
                f"more than the {MOST_PRODUCTS:,} that are possible: use fewer columns, "
                "or a preset or learner without quadratic tests"
            )

    def with_few_knots(self, w: Floats, room: float) -> Scaling:
        """The same with fewer knots, where the sums with weights `w` (k, n_columns) allow.

        No curve of a difference between two sums moves by more than `room`.
        """
        if not self.curves:
            return self
        first = self._first_of_curves
        ends = np.cumsum([len(curve.spread) for curve in self.curves])
        parts = np.split(w[:, first:], ends[:-1], axis=1)
        curves = (
            curve.with_knots(curve.bends(own, room))
            for curve, own in zip(self.curves, parts, strict=True)
        )
        return replace(self, curves=tuple(curves))

    @property
    def factors(self) -> Floats | None:
        """1 where the line's term is a product of the other; None without products."""
        if not len(self.a):
            return None
        n = self._first_of_curves + len(self.curves)
        out = np.zeros((n, n))
        products = np.arange(self.n_plain, self._first_of_curves)
        out[products, self.a] = out[products, self.b] = 1.0
        return out

    def in_products(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether each term (..., t) is a factor of one of the products that are used."""
        out = np.zeros_like(used)
        for own, line in zip(np.atleast_2d(out), np.atleast_2d(used), strict=True):
            at = line[self.n_plain : self._first_of_curves]
            own[self.a[at]] = own[self.b[at]] = True
        return out

    def own(self, z: Floats) -> Floats:
        """Values of the columns, without products, in the table's units."""
        return z * self.std + self.mean

    def own_knots(self, curve: CurveBasis) -> Floats:
        """The knots of a curve in the table's units, without the noise of last digits."""
        return self.own_values(curve.at, curve.knots)

    def own_values(self, j: int, z: Floats) -> Floats:
        """Values of a column in the table's units, without the noise of last digits."""
        own = z * self.std[j] + self.mean[j]
        noise = 1e-12 * (np.abs(own).max() + self.std[j])
        own = np.where(np.abs(own) > noise, own, 0.0)
        return np.array([float(f"{x:.12g}") for x in own])

    def are_apart(self, curve: CurveBasis) -> bool:
        """Whether its knots are apart; see `can_be_knots`."""
        return self.can_be_knots(curve.at, curve.knots)

    def can_be_knots(self, j: int, z: Floats) -> bool:
        """Whether values of a column are apart in the table's units.

        And no further than numbers go.
        """
        own = self.own_values(j, z)
        return bool((np.diff(own) > 0).all() and np.isfinite(own[-1] - own[0]))

    @cached_property
    def _knots(self) -> list[tuple[float, ...]]:
        """Those of all curves: while a tree grows, many models have the same."""
        return [tuple(self.own_knots(curve).tolist()) for curve in self.curves]

    def standardised(self, x: Floats) -> Floats:
        """Values in the table's units in deviations; 0 in a constant column."""
        return np.where(self.varies, (x - self.mean) / self._divisor, 0.0)

    def fold(self, w: Floats, bias: Floats) -> tuple[Floats, Floats]:
        """Weights (..., p) of the columns and biases (...) in the table's units.

        ``weights @ x + bias == w @ z + b``; constant columns get the weight 0.
        """
        weights = np.where(self.varies, w / self._divisor, 0.0)
        return weights, bias - weights @ self.mean

    def model(
        self, w: Floats, bias: Floats, fill: Floats, link: str = "softmax"
    ) -> LeafModel:
        """The model whose sums are `columns @ w.T + bias`.

        `w` is (k, n_columns). `fill` (p,) is what the columns are where a value is missing,
        in deviations. The weight of a column that has a curve becomes part of the curve,
        which stays constant beyond the rows that it was made for.
        """
        p, terms = self.n_plain, ()
        w, bias, curves = self._with_curves(w, bias, fill)
        if w[:, p:].any():
            at, terms, weights, bias = self._with_terms(w, bias)
        else:
            at = np.flatnonzero((w[:, :p] != 0).any(axis=0) & self.varies)
            weights = w[:, at] / self.std[at]
            bias = bias - weights @ self.mean[at]
        return LeafModel(
            tuple(self.which[at].tolist()),
            tuple((fill[at] * self.std[at] + self.mean[at]).tolist()),
            tuple(bias.tolist()),
            tuple(map(tuple, weights.tolist())),
            link,
            terms,
            *curves,
        )

    def _with_curves(self, w: Floats, bias: Floats, fill: Floats):
        """Weights of columns and products, biases, and the fields of a model's curves."""
        first = self._first_of_curves
        if not w[:, first:].any():
            return w[:, :first], bias, ()
        own, bias = w[:, :first].copy(), np.array(bias, dtype=np.float64)
        columns, knots, values = [], [], []
        for at, curve in enumerate(self.curves):
            j, last = curve.at, first + len(curve.spread)
            part, first = w[:, first:last], last
            if part.any():
                line = np.append(curve.knots - fill[j], 0.0)
                values.append(part @ curve.values.T + own[:, [j]] * line)
                bias += own[:, j] * fill[j]
                own[:, j] = 0.0
                columns.append(int(self.which[j]))
                knots.append(self._knots[at])
        lines = [tuple(tuple(v[i].tolist()) for v in values) for i in range(len(w))]
        return own, bias, (tuple(columns), tuple(knots), tuple(lines))

    def _with_terms(self, w: Floats, bias: Floats):
        """Positions of the columns, terms, their weights, and biases in own units."""
        a, b, mean, std = self.a, self.b, self.mean, self._divisor
        linear = np.where(self.varies, w[:, : self.n_plain] / std, 0.0)
        product = w[:, self.n_plain :] / std[a] / std[b]
        # (x_a - m_a)(x_b - m_b) = x_a x_b - m_b x_a - m_a x_b + m_a m_b
        bias = bias + (product @ (mean[a] * mean[b]) - linear @ mean)
        for row, own in zip(product, linear, strict=True):
            np.subtract.at(own, a, row * mean[b])
            np.subtract.at(own, b, row * mean[a])
        keep = np.flatnonzero(product.any(axis=0))
        a, b, product = a[keep], b[keep], product[:, keep]
        used = np.flatnonzero(linear.any(axis=0))
        at = np.union1d(used, np.concatenate([a, b]))
        terms = [(int(i), -1) for i in np.searchsorted(at, used)]
        pairs = np.searchsorted(at, a).tolist(), np.searchsorted(at, b).tolist()
        terms += zip(*pairs, strict=True)
        return at, tuple(terms), np.hstack([linear[:, used], product]), bias

    def test(
        self, w: Floats, threshold: float, fill: Floats, merit: float = 0.0
    ) -> LinearSplit | QuadraticSplit | AdditiveSplit:
        """The test `columns @ w <= threshold`, with weights of this very length."""
        m = self.model(w[None], np.array([-threshold]), fill)
        if m.curve_columns:
            return AdditiveSplit.of(m, merit=merit)
        weights, own = m.weights[0], 0.0 - m.bias[0]
        if m.terms:
            return QuadraticSplit(m.columns, m.fill, m.terms, weights, own, merit=merit)
        return LinearSplit(m.columns, weights, m.fill, own, merit=merit)

    def split(
        self, w: Floats, threshold: float, fill: Floats, merit: float
    ) -> Split | None:
        """The same test with weights of length one; None if no column has a weight.

        A test of one column is in that column's unit.
        """
        p = self.n_plain
        used = np.concatenate([w[:p][(w[:p] != 0) & self.varies], w[p:]])
        length = np.linalg.norm(used)
        if not length > 0:
            return None
        test = self.test(w / length, float(threshold / length), fill, merit)
        return test.in_own_unit()

    def machine(
        self, w: Floats, bias: Floats, fill: Floats, merit: float
    ) -> MachineSplit | QuadraticMachineSplit | AdditiveMachineSplit:
        """The test for the largest of several sums, as in `model`."""
        m = self.model(w, bias, fill)
        if m.curve_columns:
            return AdditiveMachineSplit.of(m, merit=merit)
        if m.terms:
            return QuadraticMachineSplit(
                m.columns, m.fill, m.terms, m.bias, m.weights, merit=merit
            )
        return MachineSplit(m.columns, m.fill, m.bias, m.weights, merit=merit)

    def cut(
        self, schema: Schema, j: int, threshold: float, fill: float, merit: float
    ) -> AxisSplit | SubsetSplit:
        """The test of column `j` alone, as one of the feature that it encodes."""
        feature, category = (int(a[self.which[j]]) for a in schema.linear_columns())
        own, usual = (float(z * self.std[j] + self.mean[j]) for z in (threshold, fill))
        missing = int(usual > own)
        if category < 0:
            return AxisSplit(feature, own, merit=merit, missing=missing)
        branch = np.where(np.arange(schema.n_categories[feature]) == category, 1, 0)
        return SubsetSplit(
            feature, tuple(branch.tolist()), merit=merit, missing=missing
        )
