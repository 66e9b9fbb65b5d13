"""What discriminants are: one function of the columns for each class, linear or quadratic.

    g_k(x) = x' A_k x + w_k' x + b_k        (A_k = 0 in linear ones)

on the filled, standardised columns of a node. The largest names the class. Here
they are turned into tests in the table's own units: a machine that asks for the largest
(`KWay`), or thresholds on contrasts, one class against the average of all
(`Constructive`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.clock import check_time
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import Part
from omnitree.tree.splits import Constructed, Split

DIGITS = 1e-9  # of a function's deviation: what lies closer is rounding


@dataclass(frozen=True)
class Functions:
    """Discriminant functions."""

    classes: NDArray[np.intp]  # (D,)
    weights: Floats  # (D, p)
    bias: Floats  # (D,)
    curvature: Floats | None = None  # (D, p, p), symmetric; None: linear

    def values(self, columns: Floats) -> Floats:
        """Every function for every row, (n, D)."""
        linear = columns @ self.weights.T + self.bias
        if self.curvature is None:
            return linear
        check_time(2.0 * len(columns) * self.curvature.size)
        bent = [np.einsum("ij,ij->i", columns @ a, columns) for a in self.curvature]
        return linear + np.stack(bent, axis=1)

    def take(self, which: NDArray[np.intp]) -> Functions:
        """Some of the functions."""
        return Functions(
            self.classes[which],
            self.weights[which],
            self.bias[which],
            None if self.curvature is None else self.curvature[which],
        )

    def of(self, basis: Floats, mean: Floats) -> Functions:
        """The same functions of x, given as functions of z = (x - mean) basis."""
        weights = self.weights @ basis.T
        if self.curvature is None:
            return Functions(self.classes, weights, self.bias - weights @ mean)
        check_time(2.0 * len(self.bias) * basis.size * sum(basis.shape))
        curvature = basis @ self.curvature @ basis.T
        bent = curvature @ mean
        bias = self.bias - weights @ mean + bent @ mean
        return Functions(self.classes, weights - 2 * bent, bias, curvature)

    def contrasts(self, share: Floats) -> Functions:
        """Each function less the average of all; of two classes one, the other's negative.

        For two classes this is their difference but for a factor: 0 is the boundary.
        """
        share = share / share.sum()

        def less_average(a: Floats) -> Floats:
            return a - np.tensordot(share, a, axes=1)

        apart = replace(
            self,
            weights=less_average(self.weights),
            bias=less_average(self.bias),
            curvature=None if self.curvature is None else less_average(self.curvature),
        )
        return apart.take(np.array([0])) if len(share) == 2 else apart

    def features(self, rows: NodeColumns) -> tuple[Constructed, ...]:
        """Each function as a feature of some rows; those that are constant are left out.

        Values are rounded, so that rows that are equal have equal values.
        """
        made = []
        for d in range(len(self.classes)):
            function = self.take(np.array([d]))
            values = function.values(rows.columns)[:, 0]
            spread = float(values.std())
            if not np.isfinite(spread) or spread <= 1e-12 * np.abs(values).max(
                initial=0
            ):
                continue
            unit = spread * DIGITS
            values = np.round(values / unit) * DIGITS
            with np.errstate(over="ignore", invalid="ignore"):
                test = function._test(rows, spread)
            if test.is_finite:  # squares of units may overflow
                made.append(Constructed(test, values))
        return tuple(made)

    def _test(self, rows: NodeColumns, spread: float) -> Split:
        """Whether the first function, over `spread`, is at most 0."""
        scaling, w = rows.scaling, self.weights[0]
        if self.curvature is not None:
            scaling = scaling.with_products()
            a, b = scaling.a, scaling.b
            twice = np.where(a == b, 1.0, 2.0)  # of x_a x_b and x_b x_a one is a term
            w = np.concatenate([w, twice * self.curvature[0][a, b]])
        return scaling.test(w / spread, float(-self.bias[0] / spread), rows.fill)


class Discriminants(Part):
    """Finds a discriminant function for each class present."""

    linear = True

    @abstractmethod
    def fit(self, rows: NodeColumns, equal_priors: bool = False) -> Functions:
        """Functions of the classes present, two or more."""
