"""Folds depend on what rows hold, not on where they stand, and keep groups together."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pandas as pd
import pytest
from tests.samples import sample_of

from omnitree.data.table import learn_table
from omnitree.resampling.folds import halve, mix, parts_of, row_hash


def fold(X, y, weight=None, n_folds=10, seed=0, groups=None):
    return sample_of(X, y, weight, groups=groups).folds(n_folds, seed)


def table(rng, n, k=3):
    return rng.normal(size=(n, 4)), rng.integers(0, k, size=n)


@pytest.mark.parametrize("n_folds", [2, 3, 5, 10])
def test_sizes(n_folds, rng):
    X, y = table(rng, 503)
    f = fold(X, y, n_folds=n_folds)
    assert set(f) == set(range(n_folds))
    for k in range(3):
        assert np.ptp(np.bincount(f[y == k], minlength=n_folds)) <= 1


@pytest.mark.parametrize("share", [0.1, 0.2, 1 / 3, 0.5, 0.75])
def test_first_fold_has_the_share(share, rng):
    X, y = table(rng, 900)
    f = fold(X, y, n_folds=1 / share)
    for k in range(3):
        assert (f[y == k] == 0).mean() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("n_folds", [3, 5, 1 / 0.15])
def test_weights_do_not_matter(n_folds, rng):
    X, y = table(rng, 80)
    weight = rng.integers(1, 12, size=80).astype(float)
    for w in (weight, 5.0 * weight, np.full(80, 0.01)):
        np.testing.assert_array_equal(
            fold(X, y, w, n_folds), fold(X, y, n_folds=n_folds)
        )


@pytest.mark.parametrize("target", ["classes", "numbers"])
@pytest.mark.parametrize("grouped", [False, True])
def test_order_of_rows_does_not_matter(target, grouped, rng):
    """Not even where cells are equal: what each fold holds is the same."""
    X = rng.integers(0, 3, size=(200, 2)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, size=200)
    y = y if target == "classes" else y + 0.5
    weight = rng.integers(1, 4, size=200).astype(float)
    groups = rng.integers(0, 40, size=200) if grouped else None
    order = rng.permutation(200)
    other = None if groups is None else -groups[order]

    def contents(f, rows):
        cells = np.column_stack([np.nan_to_num(X, nan=9.0), y, weight])[rows]
        return sorted(map(tuple, np.column_stack([f, cells])))

    one = fold(X, y, weight, 4, groups=groups)
    two = fold(X[order], y[order], weight[order], 4, groups=other)
    assert contents(one, np.arange(200)) == contents(two, order)


def test_equal_rows_go_to_different_folds(rng):
    """Every fold has its share of a row that comes often, to within one."""
    X = rng.integers(0, 2, size=(400, 2)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 2, size=400)
    f = fold(X, y, n_folds=4)
    keys = [(*map(str, row), label) for row, label in zip(X, y, strict=True)]
    for key in set(keys):
        here = np.array([k == key for k in keys])
        assert np.ptp(np.bincount(f[here], minlength=4)) <= 1


def test_zero_and_minus_zero_are_one_value():
    X = np.array([[0.0], [-0.0]] * 20 + [[1.0], [2.0]] * 20)
    f = fold(X, np.zeros(80, dtype=int), n_folds=4)
    assert np.bincount(f[:40]).tolist() == [10] * 4


def test_all_missing_values_are_alike():
    strange = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64)
    X = np.column_stack([np.tile(strange.view(float), 10), np.zeros(20)])
    assert len(set(row_hash(learn_table(X), 0))) == 1


@pytest.mark.parametrize("shape", [(1, 1), (3, 20_000), (5000, 7), (20_000, 2)])
def test_hashes_as_column_by_column(shape, rng):
    """The hashes that decide folds are those of any number of columns at a time."""
    X = rng.choice([0.0, -0.0, 1.5, -2.0, 1e300, np.nan], size=shape)
    X[0] = 1.0
    table = learn_table(X)
    expected = np.zeros(table.n_rows, dtype=np.uint64)
    for j, name in enumerate(table.schema.names):
        column = table.values[:, j] + 0.0
        column[np.isnan(column)] = np.nan
        digest = blake2b(f"5:{name}".encode(), digest_size=8).digest()
        key = np.uint64(int.from_bytes(digest, "little"))
        expected += mix(column.view(np.uint64) ^ key)
    assert (row_hash(table, 5) == mix(expected)).all()


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


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_class_with_fewer_rows_than_folds(rows, rng):
    """It is in as many folds as it has rows, and where these are is random."""
    X = rng.normal(size=(100, 2))
    y = (np.arange(100) < rows).astype(int)
    met = set()
    for seed in range(30):
        f = fold(X, y, n_folds=5, seed=seed)
        assert len(set(f[:rows])) == rows
        assert np.ptp(np.bincount(f, minlength=5)) <= 2
        met |= set(f[:rows].tolist())
    assert met == set(range(5))


def test_order_of_named_columns_does_not_matter(rng):
    X, y = table(rng, 200)
    frame = pd.DataFrame(X, columns=list("abcd"))
    turned = frame[["c", "a", "d", "b"]]
    np.testing.assert_array_equal(fold(frame, y), fold(turned, y))
    # Yet a column is not its neighbour: rows that only swap cells differ.
    swapped = learn_table([[0.0, 1.0], [1.0, 0.0]])
    assert len(set(row_hash(swapped, 3))) == 2


@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_groups_stay_together_and_classes_are_spread(n_folds, rng):
    sizes = rng.integers(1, 9, size=150)
    groups = np.repeat(rng.permutation(150), sizes)
    X, y = table(rng, len(groups))
    for label in (y, groups % 3):  # mixed groups, and groups of one class
        f = fold(X, label, n_folds=n_folds, groups=groups)
        for g in range(150):
            assert len(set(f[groups == g])) == 1
        for k in range(3):
            shares = np.bincount(f[label == k], minlength=n_folds) / (label == k).sum()
            np.testing.assert_allclose(shares, 1 / n_folds, atol=0.035)
    assert (fold(X, y, groups=groups, seed=1) != f).any()


def test_a_share_of_the_groups(rng):
    groups = np.repeat(np.arange(200), 5)
    X, y = table(rng, 1000)
    f = fold(X, y, n_folds=1 / 0.15, groups=groups)
    assert (f == 0).mean() == pytest.approx(0.15, abs=0.01)
    assert len(set(groups[f == 0]) & set(groups[f != 0])) == 0


def test_fewer_groups_than_folds(rng):
    X, y = table(rng, 60)
    f = fold(X, y, n_folds=10, groups=np.arange(60) % 3)
    parts = list(parts_of(f))
    assert len(parts) == 3
    for train, test in parts:
        assert len(test) == 20 and len(train) == 40
    assert not list(parts_of(fold(X, y, groups=np.zeros(60, dtype=int))))


def test_halves(rng):
    """Every time half of each class is on either side; equal rows are left to `deal`."""
    key = row_hash(learn_table(rng.normal(size=(480, 2))), 0)
    strata = (np.arange(480) % 3).astype(np.int32)
    halves = halve(key, strata, 5)
    assert len({tuple(half) for half in halves}) == 5
    for half in halves:
        assert np.bincount(strata[half]).tolist() == [80] * 3
    key[0] = key[3]
    assert halve(key, strata, 5) is None
