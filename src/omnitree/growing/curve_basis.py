"""The columns that the curve of one feature is a sum of.

A curve is piecewise linear with knots at quantiles of a node's rows, and constant beyond
the least and the largest value. It is searched as a sum of columns: the rank u of the value,
which is 0 at the first knot, 1 at the last and rises by the same step from each knot to the
next, and the hinges max(u - c, 0) at the ranks c of all inner knots. The weight of a hinge
is by how much the slope changes at its knot, so a ridge penalty on these weights is one on
roughness, in ranks, which do not care how a feature is scaled. A missing value is the mean
of all of them; where there are missing values, a column of its own says so. Made for each
node that asks (`StandardColumns.with_curves`); `Scaling` turns weights into curves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import curves as kernel

Floats = NDArray[np.float64]

# Of a curve, with the least and the largest value.
KNOTS = 8


@dataclass(frozen=True, eq=False)
class CurveBasis:
    """Piecewise linear columns of one plain column, of mean 0 over the rows of a node."""

    at: int  # position of the plain column
    knots: Floats  # (m,): in its deviations
    # (m + 1, c): of the columns at the knots; the last line is where the value is missing.
    values: Floats
    # (c,): deviations that a penalty on their weights should see, as in `StandardColumns`:
    # their own, in units in which ranks have the deviation 1.
    spread: Floats
    # Free parameters of one sum of the columns; None: as many as there are columns.
    free: int | None = None

    @classmethod
    def of(cls, at: int, z: Floats, weight: Floats) -> CurveBasis | None:
        """For the values z of a column, NaN where missing; None where lines do as well."""
        missing = np.isnan(z)
        knots = quantiles(z[~missing], weight[~missing], KNOTS)
        share = float(weight[missing].sum() / weight.sum())
        if len(knots) < 3 and not (share and len(knots) == 2):
            return None
        rank = np.linspace(0.0, np.sqrt(12.0), len(knots))
        hinges = np.maximum(rank[:, None] - rank[1:-1], 0.0)
        values = np.zeros((len(knots) + 1, 1 + hinges.shape[1] + (share > 0)))
        values[:-1, 0], values[:-1, 1 : 1 + hinges.shape[1]] = rank, hinges
        if share:
            values[-1, -1] = 1.0
        basis = cls(at, knots, values, np.zeros(0))
        columns = basis.columns(z)
        present = np.where(missing, 0.0, weight)
        values[-1, : 1 + hinges.shape[1]] = (
            present @ columns[:, : 1 + hinges.shape[1]] / present.sum()
        )
        columns[missing] = values[-1]
        mean = weight @ columns / weight.sum()
        spread = np.sqrt(weight @ (columns - mean) ** 2 / weight.sum())
        if share:  # as that of a category
            spread[-1] = np.sqrt(spread[-1])
        return cls(at, knots, values - mean, spread)

    @property
    def n_free(self) -> int:
        """Free parameters of one sum of the columns."""
        return len(self.spread) if self.free is None else self.free

    def beside(self, other: CurveBasis) -> CurveBasis:
        """The columns of both, those of the other behind, with the knots of either."""
        knots = np.union1d(self.knots, other.knots)
        at = np.append(knots, np.nan)
        values = np.hstack([self.columns(at), other.columns(at)])
        spread = np.concatenate([self.spread, other.spread])
        return CurveBasis(self.at, knots, values, spread, self.n_free + other.n_free)

    def columns(self, z: Floats, out: Floats | None = None) -> Floats:
        """The columns (n, c) of rows with values z, NaN where missing."""
        if out is None:
            out = np.empty((len(z), self.values.shape[1]))
        kernel.fill(z, self.knots, self.values, out)
        return out

    def with_knots(self, keep: list[int]) -> CurveBasis:
        """Columns that are straight between some of the knots, and there as they were."""
        return replace(self, knots=self.knots[keep], values=self.values[[*keep, -1]])

    def bends(self, w: Floats, room: float) -> list[int]:
        """Knots without which one of the sums with weights `w` (k, c) would differ.

        By more than `room` at some knot: differences between the sums count, or one sum
        itself if there is no other. One knot leaves after another, the least needed first.
        """
        lines = np.ascontiguousarray(w @ self.values[:-1].T)
        return kernel.bends(self.knots, lines, room)


def beside(
    some: tuple[CurveBasis, ...], more: tuple[CurveBasis, ...]
) -> tuple[tuple[CurveBasis, ...], NDArray[np.intp], NDArray[np.intp]]:
    """Curves with others beside them; two of one column become one.

    And the places of the columns of either among those of all.
    """
    others = {curve.at: curve for curve in more}
    known = {curve.at for curve in some}
    pairs = [(curve, others.get(curve.at)) for curve in some]
    pairs += [(curve, None) for curve in more if curve.at not in known]
    curves, first, own = [], 0, []
    new: dict[int, NDArray[np.intp]] = {}
    for curve, other in pairs:
        made = curve if other is None else curve.beside(other)
        at = np.arange(first, first + len(made.spread))
        first += len(at)
        n = len(curve.spread)
        if curve.at in known:
            own.append(at[:n])
        if curve.at in others:
            new[curve.at] = at[-len(others[curve.at].spread) :]
        curves.append(made)
    none = np.empty(0, dtype=np.intp)
    behind = [new[curve.at] for curve in more]
    return tuple(curves), np.concatenate([none, *own]), np.concatenate([none, *behind])


def quantiles(x: Floats, weight: Floats, n: int) -> Floats:
    """Values at n equal steps of the weight, from the least to the largest; all, if few.

    Examples
    --------
    >>> quantiles(np.array([3.0, 1.0, 1.0, 7.0]), np.ones(4), 8)
    array([1., 3., 7.])
    >>> quantiles(np.arange(100.0), np.ones(100), 5)
    array([ 0., 25., 50., 75., 99.])
    """
    if len(x) and (weight == weight[0]).all():  # values are sorted faster than places
        x, total = np.sort(x), np.cumsum(weight)
    else:
        order = np.argsort(x, kind="stable")
        x, total = x[order], np.cumsum(weight[order])
    is_first = np.ones(len(x), dtype=bool)
    np.greater(x[1:], x[:-1], out=is_first[1:])
    if np.count_nonzero(is_first) <= n:
        return x[is_first]
    # Rounded, so that rows in another order, or equal ones in one, add up to the same.
    passed = np.round(total / total[-1], 9)
    at = np.searchsorted(passed, np.linspace(0.0, 1.0, n), side="right")
    return np.unique(x[np.minimum(at, len(x) - 1)])
