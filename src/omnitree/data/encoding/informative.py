"""Whether the categories of a column tell anything of the target, beyond chance.

Rows of one category agree with each other if the category says something: how far their
target is from the mean (classes: indicators of them) has the same sign. The sum of these
products over all pairs of different rows of a category, divided by the rows of the category
and added up over the categories, is expected to be zero for categories without a meaning,
whatever the distribution of the target. It is what the chi-square statistic of a table of
categories by classes and the between-group sum of an analysis of variance have beyond their
expectation. Its variance comes from the same products.

No row is paired with itself, so that rare categories prove nothing, and rows of a group
(one patient) count as one: what a category says is then tested on other patients. A weight
makes a row count for more but not for several rows; the scale of the weights does not
matter. Missing cells are passed over. Used by `omnitree.data.encoding.learning`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Of 100 columns of noise about 97 are found out. Asking for more would cost weak columns
# that help a little, and what the three do is little, too.
STANDARD_ERRORS = 2.0


def categories_inform(
    codes: FloatArray,
    y: NDArray,
    weight: FloatArray,
    groups: NDArray[np.int64] | None = None,
) -> bool:
    """Whether rows of one category have more alike targets than chance would give them.

    `codes` are those of the categories, NaN where missing; `y` has codes of classes as ints,
    or numbers.

    Examples
    --------
    >>> town, weight = np.repeat(np.arange(12.0), 5), np.ones(60)
    >>> categories_inform(town, np.repeat([0, 1], 30), weight)
    True
    >>> categories_inform(town, np.tile([0, 1], 30), weight)
    False

    A patient lives in one town, so nothing is known of other patients there:

    >>> categories_inform(town, np.repeat([0, 1], 30), weight, groups=town.astype(int))
    False
    """
    present = ~np.isnan(codes) & (weight > 0)
    codes, y, weight = codes[present], y[present], weight[present]
    if not len(codes):
        return False
    weight = weight / weight.max()
    if y.dtype.kind == "i":
        deviations = np.eye(y.max() + 1) - np.bincount(y, weight) / weight.sum()
        which = y
    else:
        # Of a size that has a fourth power; equal targets do not deviate at all.
        spread = y / max(np.abs(y).max(), np.finfo(float).tiny)
        spread -= spread.min()
        deviations = (spread - np.average(spread, weights=weight))[:, None]
        which = np.arange(len(y))
    order = np.argsort(codes, kind="stable")
    agreement = variance = 0.0
    for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        units = deviations[which[rows]] * weight[rows, None]
        if groups is not None:
            units = _sums(units, groups[present][rows])
        size = weight[rows].sum()
        total, own = units.sum(axis=0), (units**2).sum(axis=1)
        products = units.T @ units if len(units) > units.shape[1] else units @ units.T
        agreement += (total @ total - own.sum()) / size
        variance += 2 * ((products**2).sum() - own @ own) / size**2
    return bool(agreement > STANDARD_ERRORS * np.sqrt(max(variance, 0.0)))


def _sums(units: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """The sum of each group's rows."""
    found, member = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(found), units.shape[1]))
    np.add.at(sums, member, units)
    return sums
