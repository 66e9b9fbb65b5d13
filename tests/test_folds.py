"""Folds depend on what rows hold, not on where they stand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from omnitree.folds import fold_weights
from omnitree.table import learn_table


def weights(X, y, weight=None, n_folds=10, seed=0):
    weight = np.ones(len(y)) if weight is None else weight
    out = fold_weights(learn_table(X), y.astype(np.int32), weight, n_folds, seed)
    assert (out >= 0).all()
    np.testing.assert_allclose(out.sum(axis=1), weight)
    return out


def fold(X, y, weight=None, n_folds=10, seed=0):
    """Fold of each row, where no row is divided."""
    out = weights(X, y, weight, n_folds, seed)
    assert ((out > 0).sum(axis=1) == 1).all()
    return out.argmax(axis=1)


def table(rng, n, k=3):
    return rng.normal(size=(n, 4)), rng.integers(0, k, size=n)


@pytest.mark.parametrize("n_folds", [2, 3, 5, 10])
def test_sizes(n_folds, rng):
    X, y = table(rng, 503)
    f = fold(X, y, n_folds=n_folds)
    assert set(f) == set(range(n_folds))
    for k in range(3):
        sizes = np.bincount(f[y == k], minlength=n_folds)
        assert np.ptp(sizes) <= 2
        assert sizes.sum() == (y == k).sum()


@pytest.mark.parametrize("share", [0.1, 0.2, 1 / 3, 0.5, 0.75])
def test_first_fold_has_the_share(share, rng):
    X, y = table(rng, 900)
    f = fold(X, y, n_folds=1 / share)
    for k in range(3):
        assert (f[y == k] == 0).mean() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("n_folds", [3, 5, 1 / 0.15])
def test_weights_are_repeats(n_folds, rng):
    X, y = table(rng, 80)
    times = rng.integers(1, 12, size=80)
    weighted = weights(X, y, times.astype(float), n_folds)
    repeated = weights(X.repeat(times, axis=0), y.repeat(times), None, n_folds)
    np.testing.assert_allclose(
        weighted, np.add.reduceat(repeated, np.cumsum(times) - times), atol=1e-9
    )


def test_order_of_rows_does_not_matter(rng):
    X, y = table(rng, 200)
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(1, 4, size=200).astype(float)
    order = rng.permutation(200)
    np.testing.assert_array_equal(
        weights(X, y, weight)[order], weights(X[order], y[order], weight[order])
    )


def test_equal_rows_are_spread(rng):
    """Every fold has its share of a row that comes often, to within one."""
    X = rng.integers(0, 2, size=(400, 2)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 2, size=400)
    out = weights(X, y, n_folds=4)
    for cell in {(*map(str, row), label) for row, label in zip(X, y, strict=True)}:
        here = np.array([(*map(str, r), c) == cell for r, c in zip(X, y, strict=True)])
        dealt = out[here].sum(axis=0)
        assert np.ptp(dealt) <= 1 + 1e-9
        np.testing.assert_allclose(dealt, np.rint(dealt), atol=1e-9)


def test_zero_and_minus_zero_are_one_value():
    X = np.array([[0.0], [-0.0]] * 20 + [[1.0], [2.0]] * 20)
    out = weights(X, np.zeros(80, dtype=int), n_folds=4)
    np.testing.assert_allclose(out[:40], 1 / 4)


def test_all_gaps_are_alike():
    strange = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64)
    X = np.column_stack([np.tile(strange.view(float), 10), np.zeros(20)])
    out = weights(X, np.zeros(20, dtype=int), n_folds=4)
    np.testing.assert_allclose(out, 1 / 4)


def test_seed_moves_rows(rng):
    X, y = table(rng, 100)
    np.testing.assert_array_equal(fold(X, y, seed=1), fold(X, y, seed=1))
    assert (fold(X, y, seed=1) != fold(X, y, seed=2)).any()
    fold(X, y, seed=2**63)


def test_small_classes_do_not_share_a_fold(rng):
    """Classes of one row each are spread over the folds."""
    n = 60
    f = fold(rng.normal(size=(n, 2)), np.arange(n), n_folds=5)
    assert np.bincount(f, minlength=5).min() > 3


def test_order_of_named_columns_does_not_matter(rng):
    X, y = table(rng, 200)
    frame = pd.DataFrame(X, columns=list("abcd"))
    turned = frame[["c", "a", "d", "b"]]
    np.testing.assert_array_equal(fold(frame, y), fold(turned, y))
    # Yet a column is not its neighbour: rows that only swap cells differ.
    swapped = np.column_stack([np.tile([0.0, 1.0], 50), np.tile([1.0, 0.0], 50)])
    out = weights(swapped, np.zeros(100, dtype=int), n_folds=3, seed=3)
    assert (out[0] != out[1]).any()
