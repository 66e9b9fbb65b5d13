"""The rows of a node as coefficient learners see them, and the machines they find.

Columns are standardised on the node's own rows (Brodley & Utgoff 1995, 2.2); missing values
become 0, the mean.

Training by corrections is chaotic: a difference in the last digit grows until the machine is
another. So `merged` rounds the rows to nine digits, sorts them by what they hold, and makes
equal rows one. Then neither the order of rows, nor units, nor the way repeats are given
matters. Learners by correction are shown each row as often as its weight says (`instances`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node import Node
from omnitree.growing.scaling import Floats, Scaling
from omnitree.tree.splits import Split

# Added and subtracted again, it leaves multiples of 2^-30, nine digits after the point.
ROUNDING = 1.5 * 2.0**22
MOST_REPEATS = 10
# With more discriminants (rows times classes) they are made piece by piece.
MANY, PIECE = 2**22, 2**17


@dataclass(frozen=True)
class Machine:
    """Weights on standardised columns."""

    # (D, m): with D = 1 a threshold unit, whose class is 1 where its discriminant is
    # above 0; with D > 1 a linear machine, whose class has the largest discriminant
    # (the first of several).
    weights: Floats
    bias: Floats  # (D,)

    def branches(self, z: Floats) -> NDArray[np.intp]:
        """Branch of each row."""
        k = len(self.bias)
        if k == 1 or len(z) * k <= MANY:
            g = z @ self.weights.T + self.bias
            return (g[:, 0] > 0).astype(np.intp) if k == 1 else g.argmax(axis=1)
        step = max(PIECE // k, 1)
        g, branch = np.empty((step, k)), np.empty(len(z), dtype=np.intp)
        for start in range(0, len(z), step):  # in the same memory, which is slow to get
            rows = slice(start, min(start + step, len(z)))
            own = np.matmul(z[rows], self.weights.T, out=g[: rows.stop - start])
            own += self.bias
            branch[rows] = own.argmax(axis=1)
        return branch


@dataclass(frozen=True)
class Cases:
    """Rows of a node as coefficient learners see them."""

    # (n, m), C-ordered: columns with mean 0 and deviation 1 at this node; missing
    # values are 0.
    z: Floats
    # (n,): position of the row's class among the classes present, `classes`.
    y: NDArray[np.int32]
    weight: Floats  # (n,)
    classes: NDArray[np.intp]  # (D,)
    # Which encoded columns of the table these are, with their means and deviations.
    scaling: Scaling

    @classmethod
    def of(cls, node: Node) -> Cases:
        """The rows of a node; columns that are constant there are left out."""
        encoded = node.sample.table.encoded
        mean, std, z = encoded.standardise(node.rows, node.weight, order="C")
        used = np.flatnonzero(std > 0)
        classes = np.flatnonzero(node.statistics > 0)
        return cls(
            np.ascontiguousarray(z[:, used]),
            np.searchsorted(classes, node.y).astype(np.int32),
            node.weight,
            classes,
            Scaling(used, mean[used], std[used]),
        )

    @property
    def columns(self) -> NDArray[np.intp]:
        """The encoded columns, by number."""
        return self.scaling.which

    @property
    def n_classes(self) -> int:
        """Number of classes present."""
        return len(self.classes)

    @cached_property
    def class_weight(self) -> Floats:
        """Weight of each class present."""
        return np.bincount(self.y, self.weight, self.n_classes).astype(np.float64)

    @cached_property
    def n_distinct(self) -> int:
        """Number of rows with different cells, whatever their class."""
        return len(np.unique(self.z, axis=0))

    def take(self, columns: NDArray[np.intp]) -> Cases:
        """Only some of the columns, by their positions here."""
        return replace(
            self,
            z=np.ascontiguousarray(self.z[:, columns]),
            scaling=self.scaling.take(columns),
        )

    def counts(self, branch: NDArray[np.intp], n_branches: int) -> Floats:
        """Weighted table branches x classes present, as merits read it."""
        cell = branch * self.n_classes + self.y
        size = n_branches * self.n_classes
        table = np.bincount(cell, weights=self.weight, minlength=size)
        # No copy: of 10,000 classes it would take 800 MB and two seconds.
        return np.asarray(table, np.float64).reshape(n_branches, self.n_classes)

    def split(self, machine: Machine, merit: float) -> Split:
        """The machine as a test in the table's own units.

        Branches of a machine that get none of these rows are dropped; their rows then go
        to the best of the others.
        """
        fill = np.zeros(len(self.columns))
        if len(machine.bias) == 1:
            (w,), (b,) = machine.weights, machine.bias
            test = self.scaling.test(w, float(-b), fill)
            return replace(test, merit=merit).in_own_unit()
        used = np.unique(machine.branches(self.z))
        return self.scaling.machine(
            machine.weights[used], machine.bias[used], fill, merit
        )


def merged(cases: Cases) -> Cases:
    """The rows rounded, sorted, and equal rows of a class made one."""
    z, first, weight = _distinct(cases)
    return replace(cases, z=z[first], y=cases.y[first], weight=weight)


def instances(
    cases: Cases, shuffle: np.random.Generator | None = None
) -> tuple[Floats, NDArray[np.int32]]:
    """Rows repeated by weight, with a first column of ones, and their classes."""
    z, first, weight = _distinct(cases)
    shown = np.repeat(first, repeats(weight))
    if shuffle is not None:
        shown = shuffle.permutation(shown)
    x = np.empty((len(shown), z.shape[1] + 1))
    x[:, 0] = 1.0
    x[:, 1:] = z[shown]
    return x, cases.y[shown]


def _distinct(cases: Cases) -> tuple[Floats, NDArray[np.intp], Floats]:
    """All rows rounded; which of them are distinct, in order; and the weights of these."""
    z = cases.z + ROUNDING
    z -= ROUNDING
    # One number a row sorts them: a sum with factors that mean nothing. NumPy adds up equal
    # rows equally, which BLAS need not do.
    factors = _factors(z.shape[1] + 1)
    key = np.einsum("ij,j->i", z, factors[1:]) + factors[0] * cases.y
    order = np.argsort(key)
    if not (cases.weight > 0).all():
        order = order[cases.weight[order] > 0]
    sorted_key = key[order]
    new = np.ones(len(order), dtype=bool)
    np.not_equal(sorted_key[1:], sorted_key[:-1], out=new[1:])
    if new.all():
        return z, order, cases.weight[order]
    alike = np.flatnonzero(~new)
    a, b = order[alike - 1], order[alike]
    new[alike] = (cases.y[a] != cases.y[b]) | (z[a] != z[b]).any(axis=1)
    together = np.bincount(np.cumsum(new) - 1, weights=cases.weight[order])
    return z, order[new], together.astype(np.float64)


@cache
def _factors(n: int) -> Floats:
    return np.random.default_rng(0).standard_normal(n)


def repeats(weight: Floats) -> NDArray[np.intp]:
    """How often each row is shown.

    Weights below one are multiplied until every row is shown, but so that the average row is
    not shown more than ten times; weights that are then not whole are rounded so that sums
    over neighbours stay true.

    Examples
    --------
    >>> repeats(np.array([1.0, 3.0, 1.0])).tolist()
    [1, 3, 1]
    >>> repeats(np.array([0.5, 1.5, 0.5])).tolist()
    [1, 3, 1]
    """
    if (weight == 1).all():
        return np.ones(len(weight), dtype=np.intp)
    most = MOST_REPEATS * len(weight) / weight.sum()
    factor = min(max(1.0, 1 / weight.min()), most)
    # Sums of whole weights are whole but for rounding, which must not decide.
    edges = np.floor(np.cumsum(weight) * factor + 0.5 + 1e-9).astype(np.intp)
    edges[1:] -= edges[:-1].copy()
    return edges
