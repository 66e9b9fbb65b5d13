"""Folds depend on what rows hold, not on where they stand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from omnitree.folds import stratified_folds
from omnitree.table import learn_table


def fold(X, y, weight=None, n_folds=10, seed=0):
    weight = np.ones(len(y)) if weight is None else weight
    return stratified_folds(learn_table(X), y.astype(np.int32), weight, n_folds, seed)


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


def test_weights_are_repeats(rng):
    X, y = table(rng, 80)
    times = rng.integers(1, 5, size=80)
    weighted = fold(X, y, times.astype(float), 5)
    repeated = fold(X.repeat(times, axis=0), y.repeat(times), None, 5)
    np.testing.assert_array_equal(weighted.repeat(times), repeated)


def test_order_of_rows_does_not_matter(rng):
    X, y = table(rng, 200)
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(1, 4, size=200).astype(float)
    order = rng.permutation(200)
    np.testing.assert_array_equal(
        fold(X, y, weight)[order], fold(X[order], y[order], weight[order])
    )


def test_equal_rows_stay_together(rng):
    X = rng.integers(0, 3, size=(300, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 2, size=300)
    f = fold(X, y, n_folds=4)
    place = {}
    for row, label, where in zip(map(str, X.tolist()), y, f, strict=True):
        assert place.setdefault((row, label), where) == where


def test_zero_and_minus_zero_are_one_value():
    X = np.array([[0.0], [-0.0]] * 20 + [[1.0], [2.0]] * 20)
    f = fold(X, np.zeros(80, dtype=int), n_folds=4)
    assert len(set(f[:40])) == 1


def test_all_gaps_are_alike():
    strange = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64)
    X = np.column_stack([np.tile(strange.view(float), 10), np.zeros(20)])
    f = fold(X, np.zeros(20, dtype=int), n_folds=4)
    assert len(set(f)) == 1


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


def test_scale_of_weights_does_not_matter(rng):
    X, y = table(rng, 100)
    weight = rng.integers(1, 5, size=100).astype(float)
    np.testing.assert_array_equal(fold(X, y, weight), fold(X, y, weight / 8))


def test_order_of_named_columns_does_not_matter(rng):
    X, y = table(rng, 200)
    frame = pd.DataFrame(X, columns=list("abcd"))
    turned = frame[["c", "a", "d", "b"]]
    np.testing.assert_array_equal(fold(frame, y), fold(turned, y))
    # Yet a column is not its neighbour: rows that only swap cells differ.
    swapped = np.column_stack([np.tile([0.0, 1.0], 50), np.tile([1.0, 0.0], 50)])
    assert len(set(fold(swapped, np.zeros(100, dtype=int), n_folds=2, seed=3))) == 2
