"""The columns of a table as numbers, which all tests over many columns see.

A categorical feature with two categories is one column of +1/-1, one with m > 2 categories
is m such columns (Brodley & Utgoff 1995, 2.1). `standardise` centres each column on its
weighted mean and divides it by its weighted deviation, both over the values present in
some rows; a missing value then becomes 0, the mean (their 2.2). `growing/scaling.py` is the
way back. Made once per table (`Table.encoded`).
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import discriminant as kernel
from omnitree.data.switches import cached_property

if TYPE_CHECKING:
    from omnitree.data.table import Table

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EncodedColumns:
    """The encoded columns of a table.

    Examples
    --------
    >>> from omnitree.data.table import learn_table
    >>> encoded = EncodedColumns.of(learn_table([[1.0, "a"], [3.0, "b"], [None, "b"]]))
    >>> encoded.cells
    array([[ 1., -1.],
           [ 3.,  1.],
           [nan,  1.]])
    >>> mean, std, Z = encoded.standardise(np.array([0, 1, 2]))
    >>> Z[:, 0]
    array([-1.,  1.,  0.])
    """

    cells: FloatArray  # (n, p): numbers, or +1/-1 for a category; NaN is missing
    # (p,): as from `Schema.linear_columns`.
    feature: NDArray[np.int32]
    category: NDArray[np.int32]

    @classmethod
    def of(cls, table: Table) -> EncodedColumns:
        """The columns of a table; its own values, not a copy, where they serve as is."""
        feature, category = table.schema.linear_columns()
        if len(feature) == table.n_features and np.all(category < 0):
            whole = cls(table.values, feature, category)
            whole.__dict__["has_missing"] = table.has_missing  # known: saves a pass
            return whole
        encoded = np.empty((table.n_rows, len(feature)), order="F")
        for j, (f, c) in enumerate(zip(feature, category, strict=True)):
            cells = table.values[:, f]
            if c < 0:
                encoded[:, j] = cells
            else:
                signs = np.where(cells == c, 1.0, -1.0)
                encoded[:, j] = np.where(np.isnan(cells), np.nan, signs)
        return cls(encoded, feature, category)

    @property
    def n_columns(self) -> int:
        """Number of encoded columns."""
        return self.cells.shape[1]

    @cached_property
    def has_missing(self) -> bool:
        """True when any value is missing."""
        return bool(np.isnan(self.cells).any())

    def standardise(
        self,
        rows: NDArray[Any],
        weights: FloatArray | None = None,
        order: Literal["C", "F"] = "F",
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Centre and scale the columns over some rows.

        `weights` are those of these rows, not of all rows of the table; rows of weight 0 get
        their Z but shape nothing. `order` is that of Z in memory.

        Returns
        -------
        mean : float64 array (p,)
            Weighted mean of the values present; 0 where there are none.
        std : float64 array (p,)
            Weighted deviation about `mean`; exactly 0 in a constant column.
        Z : float64 array (m, p)
            ``(x - mean) / std``; 0 where missing, and all 0 in a constant column.
        """
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        if weights is None:
            weights = np.ones(len(rows))
        elif len(weights) != len(rows):
            raise ValueError(f"{len(rows)} rows have {len(weights)} weights.")
        mean, std = np.zeros(self.n_columns), np.zeros(self.n_columns)
        Z = np.empty((len(rows), self.n_columns), order=order)
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        kernel.standardise(self.cells, rows, weights, self.has_missing, mean, std, Z)
        return mean, std, Z

    def spreads(
        self, weights: FloatArray, pool: Executor
    ) -> tuple[FloatArray, FloatArray]:
        """`mean` and `std` of `standardise` over all rows, each column by a thread."""
        rows = np.arange(len(self.cells))
        mean, std = np.zeros(self.n_columns), np.zeros(self.n_columns)

        def find(j: int) -> None:
            own = slice(j, j + 1)
            given = self.cells[:, own], rows, weights, self.has_missing
            kernel.standardise(*given, mean[own], std[own], None)

        list(pool.map(find, range(self.n_columns)))  # raises what a thread raised
        return mean, std
