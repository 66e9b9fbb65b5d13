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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from omnitree.table import Table

FloatArray = NDArray[np.float64]

# A column whose range is below this counts as constant: a weight in the user's units
# is divided by the deviation and would overflow.
_TINY = 1e-290


@dataclass(frozen=True, eq=False)
class LinearView:
    """The encoded columns of a table.

    Parameters
    ----------
    columns : float64 array (n, p), Fortran-ordered
        Numbers, or +1/-1 for a symbol; NaN is missing.
    feature, symbol : int32 arrays (p,)
        As from `Schema.linear_columns`.

    Examples
    --------
    >>> from omnitree.table import learn_table
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
            return cls(np.asfortranarray(table.values), feature, symbol)
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
        self, rows: NDArray[Any], weights: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Centre and scale the columns over the rows of one node.

        Parameters
        ----------
        rows : int array (m,)
            The rows of the node.
        weights : float array (m,), optional
            The weight of each of these rows (not of all rows of the table); 1 each
            when left out. Rows of weight 0 get their Z but shape nothing.

        Returns
        -------
        mean : float64 array (p,)
            Weighted mean of the present cells; 0 where there are none.
        std : float64 array (p,)
            Weighted deviation about `mean`; exactly 0 in a constant column.
        Z : float64 array (m, p), Fortran-ordered
            ``(x - mean) / std``; 0 where missing, and all 0 in a constant column.
        """
        # One row per column from here on, so that every sum runs along memory. Sums
        # are NumPy's, not BLAS's: its result may depend on the number of threads.
        Z = self.columns.T.take(rows, axis=1)
        if weights is None:
            weights = np.ones(Z.shape[1])
        elif len(weights) != Z.shape[1]:
            raise ValueError(f"{Z.shape[1]} rows have {len(weights)} weights.")
        share = np.broadcast_to(weights, Z.shape)
        gaps = np.isnan(Z) if self.has_gaps else None
        if gaps is not None:
            share = np.where(gaps, 0.0, share)
        masked = gaps is not None or not np.all(weights > 0)
        low, high = _extremes(Z, share > 0 if masked else True)
        total = share.sum(axis=1)
        total[total == 0] = 1.0

        # Work in units of the column's own range: then neither an offset of 1e6 at a
        # scale of 1e-8 nor values near 1e300 lose digits or overflow.
        middle = np.where(low < high, low / 2 + high / 2, low)
        reach = high / 2 - low / 2
        constant = reach < _TINY
        unit = np.where(constant, 1.0, reach)[:, None]
        U = (Z - middle[:, None]) / unit
        if gaps is not None:
            U[gaps] = 0.0
        mean = middle + unit[:, 0] * (np.einsum("ji,ji->j", share, U) / total)
        # Deviations are taken from the mean as rounded, the one that a folded test
        # subtracts, so Z is what the test will see.
        Z -= mean[:, None]
        if gaps is not None:
            Z[gaps] = 0.0
        np.divide(Z, unit, out=U)
        std = unit[:, 0] * np.sqrt(np.einsum("ji,ji,ji->j", share, U, U) / total)
        std[constant] = 0.0
        Z /= np.where(std > 0, std, 1.0)[:, None]
        Z[std == 0] = 0.0
        return mean, std, Z.T

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


def _extremes(
    Z: FloatArray, where: NDArray[np.bool_] | bool
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest cell of each row of Z, among some; 0 where there is none."""
    low = Z.min(axis=1, initial=np.inf, where=where)
    high = Z.max(axis=1, initial=-np.inf, where=where)
    empty = low > high
    low[empty] = high[empty] = 0.0
    return low, high
