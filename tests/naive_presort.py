"""The obvious grower: every cut of every column, every count recomputed.

The oracle of `_core.presort`.
"""

from itertools import pairwise

import numpy as np


def impurity(count, merit):
    """Gini index (merit 0) or entropy in bits (merit 1) of class weights."""
    share = count[count > 0] / count.sum()
    return 1 - (share**2).sum() if merit == 0 else -(share * np.log2(share)).sum()


def middle(a, b):
    """Midpoint of a < b that is never b."""
    with np.errstate(over="ignore"):
        t = a + (b - a) / 2
    return t if t < b else a


def best_cut(X, y, weight, n_classes, merit, min_branch):
    """Return (column, threshold, gain) of the best cut, or None.

    Of equal cuts the one of the first column, there the lowest, is kept.
    """

    def count(rows):
        return np.bincount(y[rows], weight[rows], minlength=n_classes)

    total = weight.sum()
    tolerance = 1e-12 if merit == 0 else 1e-11
    best = None
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        for a, b in pairwise(values):
            left = X[:, column] <= a
            share = weight[left].sum() / total
            if min(share, 1 - share) * total < min_branch - 1e-9:
                continue
            gain = (
                impurity(count(np.ones(len(y), bool)), merit)
                - share * impurity(count(left), merit)
                - (1 - share) * impurity(count(~left), merit)
            )
            if best is None or gain > best[2] + tolerance:
                best = column, middle(a, b), gain
    return best


def grow(X, y, weight, n_classes, merit, min_rows, min_branch, max_depth):
    """Grow a tree as nested tuples.

    A leaf is (counts,), a split (counts, column, threshold, gain, left, right).
    """
    weight = np.ones(len(y)) if weight is None else weight
    count = np.bincount(y, weight, minlength=n_classes)
    if (count > 0).sum() < 2 or weight.sum() < min_rows - 1e-9 or max_depth == 0:
        return (count,)
    found = best_cut(X, y, weight, n_classes, merit, min_branch)
    if found is None:
        return (count,)
    column, threshold, gain = found
    left = X[:, column] <= threshold
    branches = [
        grow(
            X[side],
            y[side],
            weight[side],
            n_classes,
            merit,
            min_rows,
            min_branch,
            max_depth - 1,
        )
        for side in (left, ~left)
    ]
    return (count, column, threshold, gain, *branches)


def nested(tree, node=0):
    """Bring the arrays of `grow_numeric` into the form of `grow`."""
    count = tree["value"][node]
    child = tree["first_child"][node]
    if child < 0:
        return (count,)
    head = count, tree["feature"][node], tree["threshold"][node], tree["merit"][node]
    return (*head, nested(tree, child), nested(tree, child + 1))


def assert_same(ours, naive):
    """Compare nested trees: thresholds exactly, counts and gains up to rounding."""
    assert len(ours) == len(naive)
    np.testing.assert_allclose(ours[0], naive[0], rtol=1e-10, atol=1e-12)
    if len(ours) > 1:
        assert ours[1:3] == naive[1:3]
        np.testing.assert_allclose(ours[3], naive[3], rtol=1e-7, atol=1e-10)
        assert_same(ours[4], naive[4])
        assert_same(ours[5], naive[5])
