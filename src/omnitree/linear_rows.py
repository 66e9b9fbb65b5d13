"""The rows of a node as linear tests see them, and their class statistics.

Encoded columns are standardised once on the whole training table (a change of units that
Fisher's direction does not notice, but that distances between means and principal
components do), gaps are filled with the node's means. Per node, from one pass of BLAS: class
weights, class means, and the total scatter. Groups of classes are merged from these without
touching rows again. Made once per node (`Node.linear`) and shared by all who ask.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree.splits import LinearSplit
from omnitree.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Standardised:
    """Encoded columns of a whole table with mean 0 and deviation 1; gaps are NaN."""

    columns: Floats
    mean: Floats
    std: Floats
    with_gaps: NDArray[np.intp]

    @classmethod
    def of(cls, table: Table, weight: Floats) -> Standardised:
        """Standardise by weighted means and deviations over the present cells.

        Constant columns become 0 and have the deviation 0.
        """
        view = table.linear_view
        mean, std, z = view.standardise(np.arange(table.n_rows), weight)
        z = np.ascontiguousarray(z)
        gaps = np.isnan(view.columns)
        z[gaps] = np.nan
        return cls(z, mean, std, np.flatnonzero(gaps.any(axis=0)))


@dataclass(frozen=True)
class LinearRows:
    """Filled, standardised columns of some rows, with their classes and weights."""

    source: Standardised
    columns: Floats
    fill: Floats
    y: NDArray[np.int32]
    weight: Floats
    n_classes: int

    @classmethod
    def of(
        cls,
        source: Standardised,
        rows: NDArray[np.int64],
        y: NDArray[np.int32],
        weight: Floats,
        n_classes: int,
    ) -> LinearRows:
        """Take rows and fill their gaps with the means of the cells present."""
        columns = source.columns[rows]
        fill = np.zeros(columns.shape[1])
        for j in source.with_gaps:
            present = ~np.isnan(columns[:, j])
            if present.any():
                fill[j] = np.average(columns[present, j], weights=weight[present])
            columns[~present, j] = fill[j]
        others = np.setdiff1d(np.arange(columns.shape[1]), source.with_gaps)
        fill[others] = weight @ columns[:, others] / weight.sum()
        return cls(source, columns, fill, y, weight, n_classes)

    def of_classes(self, classes: NDArray[np.intp]) -> LinearRows:
        """Only the rows of some classes."""
        here = np.isin(self.y, classes)
        return replace(
            self, columns=self.columns[here], y=self.y[here], weight=self.weight[here]
        )

    def of_column(self, j: int) -> LinearRows:
        """Only one of the columns."""
        return replace(self, columns=self.columns[:, [j]])

    @cached_property
    def one_hot(self) -> Floats:
        """Weights by row and class."""
        out = np.zeros((len(self.y), self.n_classes))
        out[np.arange(len(self.y)), self.y] = self.weight
        return out

    @cached_property
    def class_weight(self) -> Floats:
        """Weight of each class."""
        return self.one_hot.sum(axis=0)

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.class_weight.sum())

    @cached_property
    def present(self) -> NDArray[np.intp]:
        """Classes that have rows here."""
        return np.flatnonzero(self.class_weight > 0)

    @cached_property
    def mean(self) -> Floats:
        """Mean of all rows."""
        return self.class_weight @ self.means / self.total

    @cached_property
    def means(self) -> Floats:
        """Mean of each class (0 for absent ones)."""
        size = np.maximum(self.class_weight, np.finfo(float).tiny)
        return (self.one_hot.T @ self.columns) / size[:, None]

    @cached_property
    def scatter(self) -> Floats:
        """Total scatter around the mean."""
        centred = self.columns - self.mean
        return centred.T @ (centred * self.weight[:, None])

    def split(self, w: Floats, threshold: float, merit: float) -> LinearSplit | None:
        """Test `columns @ w <= threshold` in the table's own units.

        The direction gets length one in standardised units.
        """
        used = np.flatnonzero((w != 0) & (self.source.std > 0))
        length = np.linalg.norm(w[used])
        if not length > 0:
            return None
        weights = w[used] / length / self.source.std[used]
        fill = self.fill[used] * self.source.std[used] + self.source.mean[used]
        return LinearSplit(
            tuple(int(j) for j in used),
            tuple(weights.tolist()),
            tuple(fill.tolist()),
            float(threshold / length + weights @ self.source.mean[used]),
            merit=merit,
        )
