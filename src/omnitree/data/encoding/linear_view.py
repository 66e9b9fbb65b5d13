"""What linear tests see: numbers and +1/-1 symbols, standardised at each node.

A symbol with two categories is one column of +1/-1, one with m > 2 categories is m
such columns (Brodley & Utgoff 1995, 2.1). At a node, each column is centred on its
weighted mean and divided by its weighted deviation, both over the present cells of
the node's rows; a missing cell then becomes 0, the mean (their 2.2). A test found
there is folded back to the user's units, with the mean as the fill-in for gaps:

    sum_j w_j * (x_j if present else mean_j) + b

The view is made once per fit (`Table.linear_view`) and shared by all nodes. Used by
every learner that looks at several columns at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import discriminant as kernel

if TYPE_CHECKING:
    from omnitree.data.table import Table

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearView:
    """The encoded columns of a table.

    Parameters
    ----------
    columns : float64 array (n, p)
        Numbers, or +1/-1 for a symbol; NaN is missing.
    feature, symbol : int32 arrays (p,)
        As from `Schema.linear_columns`.

    Examples
    --------
    >>> from omnitree.data.table import learn_table
    >>> view = LinearView.of(learn_table([[1.0, "a"], [3.0, "b"], [None, "b"]]))
    >>> view.columns
    array([[ 1., -1.],
           [ 3.,  1.],
           [nan,  1.]])
    >>> mean, std, Z = view.standardise(np.array([0, 1, 2]))
    >>> Z[:, 0]
    array([-1.,  1.,  0.])
    """

    columns: FloatArray
    feature: NDArray[np.int32]
    symbol: NDArray[np.int32]

    @classmethod
    def of(cls, table: Table) -> LinearView:
        """The view of a table; its own values, not a copy, where they serve as is."""
        feature, symbol = table.schema.linear_columns()
        if len(feature) == table.n_features and np.all(symbol < 0):
            view = cls(table.values, feature, symbol)
            view.__dict__["has_gaps"] = table.has_gaps  # known already: saves a pass
            return view
        columns = np.empty((table.n_rows, len(feature)), order="F")
        for j, (f, s) in enumerate(zip(feature, symbol, strict=True)):
            cells = table.values[:, f]
            if s < 0:
                columns[:, j] = cells
            else:
                signs = np.where(cells == s, 1.0, -1.0)
                columns[:, j] = np.where(np.isnan(cells), np.nan, signs)
        return cls(columns, feature, symbol)

    @property
    def n_columns(self) -> int:
        """Number of encoded columns."""
        return self.columns.shape[1]

    @cached_property
    def has_gaps(self) -> bool:
        """True when any cell is missing."""
        return bool(np.isnan(self.columns).any())

    def standardise(
        self,
        rows: NDArray[Any],
        weights: FloatArray | None = None,
        order: Literal["C", "F"] = "F",
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Centre and scale the columns over the rows of one node.

        Parameters
        ----------
        rows : int array (m,)
            The rows of the node.
        weights : float array (m,), optional
            The weight of each of these rows (not of all rows of the table); 1 each
            when left out. Rows of weight 0 get their Z but shape nothing.
        order : {"C", "F"}, default="F"
            Of Z in memory.

        Returns
        -------
        mean : float64 array (p,)
            Weighted mean of the present cells; 0 where there are none.
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
        kernel.standardise(self.columns, rows, weights, self.has_gaps, mean, std, Z)
        return mean, std, Z

    @staticmethod
    def fold(
        w: FloatArray, b: float | FloatArray, mean: FloatArray, std: FloatArray
    ) -> tuple[FloatArray, Any]:
        """Turn a test on standardised columns into one in the user's units.

        Parameters
        ----------
        w : float array (p,) or (K, p)
            Weights on Z, for one test or for the K of a machine.
        b : float or float array (K,)
            Bias on Z.
        mean, std : float arrays (p,)
            From `standardise`.

        Returns
        -------
        weights, bias
            So that ``weights @ x + bias == w @ z + b``, where gaps in x are filled with
            `mean`. A constant column gets weight 0.

        Examples
        --------
        >>> mean, std = np.array([10.0, 7.0]), np.array([4.0, 0.0])
        >>> weights, bias = LinearView.fold(np.array([2.0, 5.0]), 1.0, mean, std)
        >>> weights, float(bias)
        (array([0.5, 0. ]), -4.0)
        """
        varies = std > 0
        weights = np.where(varies, w / np.where(varies, std, 1.0), 0.0)
        return weights, b - (weights * mean).sum(axis=-1)
