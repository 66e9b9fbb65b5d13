"""Fisher's discriminant: one factorisation of the total scatter serves every grouping.

With total scatter T, groups L and R, d = m_L - m_R and c = n_L n_R / n, the within-group
scatter is S = T - c dd', so by Sherman and Morrison S^-1 d is T^-1 d up to a factor. That
holds as long as no components are dropped: the leading components of T are others than those
of S, which has less variance along d, so `scatter="within"` works on S itself. Per
node: factorise T once, Z = T^-1 M for the K class means, P = X Z for the rows; the
projection of any grouping is then P times K numbers, and its groups' means and common
variance follow from the K x K matrix M' T^-1 M alone. No pass over the columns per grouping.
A node with fewer rows than columns is factorised through its rows' inner products; where
products of columns would fill memory, they are made a few at a time and summed up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from omnitree._core.linear import discriminant as kernel
from omnitree.growing.clock import CHOLESKY, EIGH, check_time, tick
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import number, one_of
from omnitree.growing.standard_columns import PIECE
from omnitree.parts.direction.base import Direction
from omnitree.parts.direction.sparse import best_columns
from omnitree.parts.threshold.base import Projected

PCA = ("singular", "always", "never")
SCATTERS = ("total", "within")


@dataclass(frozen=True)
class Projections:
    """Rows of a node along T^-1 (m_k - m) for every class k that is present."""

    rows: NodeColumns
    basis: Floats  # (p, k)
    shrunk: bool
    rank: int  # dimensions of the columns that were kept

    @cached_property
    def by_class(self) -> Floats:
        """The rows in the order of their classes along the columns of the basis, (k, n)."""
        rows = self.rows
        check_time(n_cells=len(rows.rows) * self.basis.shape[1])
        return rows.lines(self.basis, rows.mean, rows.by_class[0])

    @cached_property
    def scores(self) -> Floats:
        """The rows, in their own order, along each column of the basis, (n, k)."""
        by_class = self.by_class
        check_time(n_cells=by_class.size)
        out = np.empty(by_class.T.shape)
        out[self.rows.by_class[0]] = by_class.T
        return out

    @cached_property
    def centres(self) -> Floats:
        """Mean of the scores in each class."""
        return (self.rows.means[self.rows.present] - self.rows.mean) @ self.basis

    @cached_property
    def spread(self) -> Floats:
        """Total scatter of the scores.

        It is M' T^-1 T T^-1 M, which is M' T^-1 M, unless T was shrunk.
        """
        if self.shrunk:
            return self.scores.T @ (self.scores * self.rows.weight[:, None])
        return (self.centres + self.centres.T) / 2

    def mix(self, left: NDArray[np.bool_]) -> Floats:
        """Shares of the class means in m_L - m_R for each grouping, (C, k)."""
        n = self.rows.class_weight[self.rows.present]
        left = left[:, self.rows.present]
        n_left = (left @ n)[:, None]
        return np.where(left, n / n_left, -n / (self.rows.total - n_left))

    def project(self, left: NDArray[np.bool_]) -> Projected:
        """The rows on Fisher's direction of each grouping."""
        return MixedProjection(self, left)

    def exchange(self, left: NDArray[np.bool_], merit: int) -> NDArray[np.bool_]:
        """The exchange search with analytic cuts for equal variances, from a start."""
        rows, present = self.rows, self.rows.present
        order, first = rows.by_class
        sides = left[present].astype(np.uint8)
        kernel.exchange(
            self.by_class,
            np.append(first, len(order)),
            None if rows.plain else rows.weight[order],
            rows.class_weight[present],
            self.centres,
            self.spread,
            merit,
            sides,
            tick,
        )
        out = np.zeros_like(left)
        out[present] = sides
        return out

    def weights(self, left: NDArray[np.bool_]) -> Floats:
        """Weights of the columns for one grouping."""
        return self.basis @ self.mix(left[None])[0]


class MixedProjection(Projected):
    """Fisher's directions of several groupings: mixes of those of the classes."""

    def __init__(self, projections: Projections, left: NDArray[np.bool_]):
        self.rows, self.left = projections.rows, left
        self.of, self.mix = projections, projections.mix(left)

    @cached_property
    def scores(self) -> Floats:  # type: ignore[override]
        # Only where a threshold looks at the rows one by one.
        return self.of.scores @ self.mix.T

    def pooled(self) -> tuple[Floats, Floats, Floats]:
        n = self.rows.class_weight[self.rows.present]
        weight = self.weights()
        by_class = (self.mix @ self.of.centres.T) * n  # (C, k)
        low = (by_class * self.left[:, self.rows.present]).sum(axis=1)
        sums = np.stack([low, by_class.sum(axis=1) - low])
        mean = sums / np.maximum(weight, np.finfo(float).tiny)
        total = ((self.mix @ self.of.spread) * self.mix).sum(axis=1)
        between = weight[0] * weight[1] / self.rows.total * (mean[0] - mean[1]) ** 2
        return weight, mean, np.maximum(total - between, 0.0)

    def counts(self, cuts: Floats) -> Floats:
        order, first = self.rows.by_class
        side = self.mix @ self.of.by_class > cuts[:, None]
        weight = side if self.rows.plain else side * self.rows.weight[order]
        above = np.zeros((len(cuts), self.rows.n_classes))
        above[:, self.rows.present] = np.add.reduceat(
            weight, first, axis=1, dtype=np.float64
        )
        # Weights were added up in another order: what is rounding only is nothing.
        below = self.rows.class_weight - above
        below[below <= 1e-12 * self.rows.class_weight] = 0.0
        return np.stack([below, above], axis=1)


class WithinProjections:
    """Directions by the scatter within the groups of each grouping, factorised for each."""

    def __init__(self, fisher: Fisher, rows: NodeColumns):
        self.fisher, self.rows = fisher, rows
        self._known: dict[bytes, tuple[Floats, int]] = {}

    def solved(self, left: NDArray[np.bool_]) -> tuple[Floats, int]:
        """Weights of the columns for one grouping, and the number of dimensions kept."""
        key = left.tobytes()
        if key not in self._known:
            difference, scatter = within_groups(self.rows, left)
            inverse = _inverse_scale(np.diag(self.rows.scatter))
            basis, rank = self.fisher._solve(
                scatter * np.outer(inverse, inverse), (difference * inverse)[:, None]
            )
            self._known[key] = basis[:, 0] * inverse, rank
        return self._known[key]

    def weights(self, left: NDArray[np.bool_]) -> Floats:
        """Weights of the columns for one grouping."""
        return self.solved(left)[0]

    def rank_of(self, left: NDArray[np.bool_]) -> int:
        """Number of dimensions kept for a grouping."""
        return self.solved(left)[1]

    def project(self, left: NDArray[np.bool_]) -> Projected:
        """The rows on the direction of each grouping."""
        basis = np.column_stack([self.weights(groups) for groups in left])
        return Projected(self.rows, self.rows.project(basis), left)


def within_groups(rows: NodeColumns, left: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Difference of the means of two groups of classes, and the scatter within them."""
    n, means = rows.class_weight, rows.means
    sizes = n[left].sum(), n[~left].sum()
    difference = n[left] @ means[left] / sizes[0] - n[~left] @ means[~left] / sizes[1]
    share = sizes[0] * sizes[1] / rows.total
    return difference, rows.scatter - share * np.outer(difference, difference)


class Fisher(Direction):
    """Fisher's linear discriminant (LDT05, section 2.1).

    Parameters
    ----------
    pca : {"singular", "always", "never"}, default="singular"
        Where to go through principal components of the node's columns: where the scatter
        is singular (LDT05), always (OMNI and the authors' program), or never, which drops
        only directions without any scatter.
    epsilon : float, default=0.99
        Share of the variance that the kept components explain.
    shrinkage : None, "ledoit_wolf" or float, default=None
        Our addition: shrink the scatter towards a multiple of the identity.
    scatter : {"total", "within"}, default="total"
        The scatter whose principal components are kept. "within" is LDT05's equation 11,
        the scatter around the means of the two groups, which takes a factorisation for
        each grouping that is tried; "total" needs one for the node. Where no component is
        dropped the two give the same direction.
    """

    pca: str = "singular"
    epsilon: float = 0.99
    shrinkage: Any = None
    scatter: str = "total"

    def checked(self) -> Fisher:
        """Itself, if its parameters make sense."""
        one_of("pca", self.pca, PCA)
        if one_of("scatter", self.scatter, SCATTERS) == "within" and (
            self.shrinkage is not None
        ):
            raise ValueError("shrinkage is for scatter='total'")
        number("epsilon", self.epsilon, 0, 1)
        return self

    def project(self, rows: NodeColumns) -> Projections | WithinProjections:
        """Factorise the scatter of a node."""
        if self.checked().scatter == "within":
            return WithinProjections(self, rows)
        deviations = (rows.means[rows.present] - rows.mean).T
        if self.shrinkage is None and len(rows.rows) <= rows.n_columns:
            basis, rank = self._by_rows(rows, deviations)
        else:
            scatter = rows.scatter if self.shrinkage is None else self._shrunk(rows)
            inverse = _inverse_scale(np.diag(scatter))
            basis, rank = self._solve(
                scatter * np.outer(inverse, inverse), deviations * inverse[:, None]
            )
            basis *= inverse[:, None]
        return Projections(rows, basis, self.shrinkage is not None, rank)

    def sparse(self, rows: NodeColumns, left: NDArray[np.bool_], most: int) -> Floats:
        """Weights for one grouping, at most `most` of them not 0."""
        n, k = rows.class_weight, rows.means
        d = np.average(k[left], axis=0, weights=n[left])
        d -= np.average(k[~left], axis=0, weights=n[~left])
        scatter = rows.scatter if self.shrinkage is None else self._shrunk(rows)
        inverse = _inverse_scale(np.diag(scatter))
        correlation = scatter * np.outer(inverse, inverse)
        some = best_columns(correlation, d * inverse, most)
        weights = np.zeros(len(d))
        part, _ = self._solve(
            correlation[np.ix_(some, some)], (d * inverse)[some, None]
        )
        weights[some] = part[:, 0] * inverse[some]
        return weights

    def _shrunk(self, rows: NodeColumns) -> Floats:
        share = self.shrinkage
        if share == "ledoit_wolf":
            # Imported here: it loads half of scikit-learn, which few will need.
            from sklearn.covariance import ledoit_wolf_shrinkage

            share = ledoit_wolf_shrinkage(rows.columns)
        number("shrinkage", share, 0, 1)
        target = np.trace(rows.scatter) / rows.n_columns
        return (1 - share) * rows.scatter + share * target * np.eye(rows.n_columns)

    def _solve(self, correlation: Floats, right: Floats) -> tuple[Floats, int]:
        """T^-1 times the class means, and the number of dimensions kept.

        `correlation` has a unit diagonal (0 where a column is constant), so what counts as
        singular does not depend on units.
        """
        if not len(correlation):  # no columns
            return right, 0
        size = float(len(correlation)) ** 3
        if self.pca != "always":
            check_time(CHOLESKY * size)
            factor, info = linalg.lapack.dpotrf(correlation, lower=1)
            if info == 0 and np.diag(factor).min() > 1e-5:
                solved = linalg.lapack.dpotrs(factor, right, lower=1)[0]
                return solved, len(correlation)
        check_time(EIGH * size)
        values, vectors = _axes(correlation)
        keep = self._keep(values)
        part = vectors[:, keep]
        return part @ ((part.T @ right) / values[keep, None]), len(keep)

    def _by_rows(self, rows: NodeColumns, right: Floats) -> tuple[Floats, int]:
        """The same for fewer rows than columns, whose scatter is singular anyway.

        The inner products of the rows have the eigenvalues of the scatter.
        """
        if rows.wide:
            return self._by_columns(rows, right)
        centred, inverse = _scaled(rows)
        n, p = centred.shape
        check_time(float(n) ** 2 * p + EIGH * n**3)
        values, vectors = _axes(centred @ centred.T)
        keep = self._keep(values)
        # Components are rows mixed by eigenvectors: few classes are sooner multiplied by
        # rows and eigenvectors in turn than by the components.
        part = vectors[:, keep]
        mixed = part.T @ (centred @ (right * inverse[:, None]))
        solved = part @ (mixed / values[keep, None] ** 2)
        return (centred.T @ solved) * inverse[:, None], len(keep)

    def _by_columns(self, rows: NodeColumns, right: Floats) -> tuple[Floats, int]:
        """The same for so many columns that they are made a few at a time, thrice."""
        n, p, mean, root = len(rows.rows), rows.n_columns, rows.mean, rows.weight**0.5
        check_time(float(n) ** 2 * p + EIGH * n**3)

        def centred() -> Iterator[tuple[slice, Floats]]:
            for part, block in rows.by_columns():
                yield part, (block - mean[part]) * root[:, None]

        squares = np.empty(p)
        for part, block in centred():
            squares[part] = (block**2).sum(axis=0)
        inverse = _inverse_scale(squares)
        products, mixed = np.zeros((n, n)), np.zeros((n, right.shape[1]))
        for part, block in centred():
            block *= inverse[part]
            products += block @ block.T
            mixed += block @ (right[part] * inverse[part, None])
        values, vectors = _axes(products)
        keep = self._keep(values)
        kept = vectors[:, keep]
        solved = kept @ ((kept.T @ mixed) / values[keep, None] ** 2)
        basis = np.empty((p, right.shape[1]))
        for part, block in centred():
            basis[part] = (block.T @ solved) * inverse[part, None] ** 2
        return basis, len(keep)

    def _keep(self, values: Floats) -> NDArray[np.intp]:
        """Which components to keep, by their variances in ascending order."""
        largest = max(float(values[-1]), 1e-300)
        order = np.flatnonzero(values > 1e-9 * largest)[::-1]
        if self.pca != "never":
            share = np.cumsum(values[order])
            enough = np.searchsorted(share, self.epsilon * share[-1:].sum(), "right")
            order = order[: enough + 1]
        return order


def _axes(symmetric: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues in ascending order, and eigenvectors, of a matrix that is not empty."""
    if len(symmetric) == 1:  # SciPy before 1.12 asks LAPACK for too little room
        return symmetric[0], np.ones((1, 1))
    return linalg.eigh(symmetric, check_finite=False, driver="evd")


def _scaled(rows: NodeColumns) -> tuple[Floats, Floats]:
    """The columns, centred, weighted and of length one, and one over what they had."""
    columns, mean, root = rows.columns, rows.mean, np.sqrt(rows.weight)[:, None]
    if columns.size <= PIECE:
        out = columns - mean
        out *= root
        inverse = _inverse_scale((out**2).sum(axis=0))
        out *= inverse
        return out, inverse
    out, squares = np.empty(columns.shape), np.zeros((1, len(mean)))
    step = max(PIECE // max(len(mean), 1), 1)
    parts = [slice(at, at + step) for at in range(0, len(out), step)]
    for part in parts:
        check_time()
        out[part] = (columns[part] - mean) * root[part]
        # What is there already is a row more, so that the order of the sum is that of rows.
        squares = np.concatenate([squares, out[part] ** 2]).sum(axis=0, keepdims=True)
    inverse = _inverse_scale(squares[0])
    for part in parts:
        check_time()
        out[part] *= inverse
    return out, inverse


def _inverse_scale(scatter: Floats) -> Floats:
    """One over the deviation of each column, 0 where it is constant."""
    scale = np.sqrt(np.maximum(scatter, 0.0))
    varies = scale > 1e-12 * max(scale.max(initial=0.0), 1e-300)
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=varies)
