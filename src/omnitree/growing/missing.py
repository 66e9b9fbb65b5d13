"""What a univariate test does with a missing value: the policies, by name.

A test answers -1 for a row it cannot place. What happens then is decided here, in one
place, for growing and for prediction alike: the policy makes the learner store in every
node either a branch for such rows or -1, "divide". The rows of a node are (row, weight)
entries, so a divided row is simply an entry in several children; fractional instances
live in the grower and in the router, and no learner has to know of them beyond the
weights it is given. Linear tests fill missing values with the node's means and never come
here.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitree.data.table import Table
from omnitree.growing.part import Part, Registry


class MissingPolicy(Part):
    """Where rows go whose tested value is missing."""

    code: ClassVar[int]
    max_surrogates = 0
    fills = False  # whether missing values are filled before the tree grows


class Mean(MissingPolicy):
    """Fill in the node's mean or most frequent category (BU95, LDT05)."""

    code = 0


class Filled(MissingPolicy):
    """Fill in the training set's mean or most frequent category before growing.

    Tests are then chosen among rows without missing values (Weka's LMT and FT), and a
    missing value met later counts as what fills it, in tests on several features, too.
    """

    code = 0
    fills = True


class Fractional(MissingPolicy):
    """Send the row down every branch, weighted by the known rows of each (C4.5)."""

    code = 1


class Surrogate(MissingPolicy):
    """Use the tests that agree best with the main one, then the larger branch (CART).

    Surrogates are looked for where the training table has missing values. A table without
    any is grown without them, and missing values met later follow the larger branch.

    Parameters
    ----------
    max_surrogates : int, default=5
        How many are kept at a node.
    """

    max_surrogates: int = 5

    code = 2


MISSING = Registry(
    "missing-value policy",
    MissingPolicy,
    {"mean": Mean, "filled": Filled, "fractional": Fractional, "surrogate": Surrogate},
)


def fill_values(table: Table, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each feature, or the code of its most frequent category.

    NaN where a feature has no value at all.

    Examples
    --------
    >>> from omnitree.data.table import learn_table
    >>> table = learn_table([[1.0, "a"], [4.0, "b"], [None, "b"]])
    >>> fill_values(table, np.ones(3))
    array([2.5, 1. ])
    """
    fill = np.full(table.n_features, np.nan)
    for j, feature in enumerate(table.schema.features):
        known = ~np.isnan(table.values[:, j])
        if known.any():
            cells, own = table.values[known, j], weight[known]
            if feature.kind == "numeric":
                fill[j] = np.average(cells, weights=own)
            else:
                fill[j] = np.bincount(cells.astype(np.int64), own).argmax()
    return fill
