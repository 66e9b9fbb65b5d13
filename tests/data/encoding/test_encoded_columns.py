"""Encoded columns, and how they are centred and scaled over some rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnitree.data.table import learn_table


def naive(columns, rows, weights):
    """Mean, deviation and Z by the definition, cell by cell."""
    p = columns.shape[1]
    mean, std, Z = np.zeros(p), np.zeros(p), np.zeros((len(rows), p))
    for j in range(p):
        cells = [(columns[i, j], w) for i, w in zip(rows, weights, strict=True)]
        here = [(x, w) for x, w in cells if not np.isnan(x) and w > 0]
        if not here:
            continue
        total = sum(w for _, w in here)
        mean[j] = sum(w * x for x, w in here) / total
        if len({x for x, _ in here}) == 1:
            mean[j] = here[0][0]
            continue
        std[j] = np.sqrt(sum(w * (x - mean[j]) ** 2 for x, w in here) / total)
        for i, (x, _) in enumerate(cells):
            Z[i, j] = 0.0 if np.isnan(x) else (x - mean[j]) / std[j]
    return mean, std, Z


def test_columns_of_every_kind():
    table = learn_table(
        [[1.0, "a", "x", True], [2.0, "b", "y", False], [None, "c", None, None]]
    )
    encoded = table.encoded
    assert encoded is table.encoded
    nan = np.nan
    np.testing.assert_array_equal(
        encoded.cells,
        [[1, 1, -1, -1, -1, 1], [2, -1, 1, -1, 1, -1], [nan, -1, -1, 1, nan, nan]],
    )
    np.testing.assert_array_equal(encoded.feature, [0, 1, 1, 1, 2, 3])
    np.testing.assert_array_equal(encoded.category, [-1, 0, 1, 2, 1, 1])
    assert encoded.cells.flags.f_contiguous
    assert encoded.n_columns == 6
    assert encoded.has_missing


def test_numbers_in_fortran_order_are_shared():
    X = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    assert np.shares_memory(learn_table(X).encoded.cells, X)


def test_a_table_of_constants_has_no_columns():
    encoded = learn_table([["a"], ["a"]]).encoded
    assert encoded.cells.shape == (2, 0)
    mean, std, Z = encoded.standardise(np.array([0, 1]))
    assert mean.shape == std.shape == (0,)
    assert Z.shape == (2, 0)


@given(st.integers(0, 10_000))
def test_standardise_like_the_definition(seed):
    rng = np.random.default_rng(seed)
    n, p = rng.integers(1, 12), rng.integers(1, 5)
    X = rng.integers(-3, 4, size=(n, p)) * rng.choice([0.0, 1e-3, 1.0, 1e5], size=p)
    X[rng.random((n, p)) < rng.choice([0.0, 0.3])] = np.nan
    X[0, 0] = 1.0  # learn_table refuses a table of missing values alone
    encoded = learn_table(X).encoded
    rows = rng.permutation(n)[: rng.integers(1, n + 1)]
    weights = rng.choice([0.0, 1.0, 2.5], size=len(rows))
    mean, std, Z = encoded.standardise(rows, weights)
    for ours, slow in zip((mean, std, Z), naive(X, rows, weights), strict=True):
        np.testing.assert_allclose(ours, slow, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_spreads_are_those_of_standardised_columns(order, missing):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(3.0, 0.1, size=(500, 7)), order=order)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    encoded, weights = learn_table(X).encoded, rng.random(500)
    mean, std, _ = encoded.standardise(np.arange(500), weights)
    with ThreadPoolExecutor(2) as pool:
        found = encoded.spreads(weights, pool)
    assert (found[0] == mean).all() and (found[1] == std).all()


def test_all_weights_one_by_default():
    encoded = learn_table(np.array([[1.0], [2.0], [6.0]])).encoded
    rows = np.arange(3)
    for ours, same in zip(
        encoded.standardise(rows), encoded.standardise(rows, np.ones(3)), strict=True
    ):
        np.testing.assert_array_equal(ours, same)


def test_weights_belong_to_the_rows_given():
    encoded = learn_table(np.zeros((3, 1))).encoded
    with pytest.raises(ValueError, match="2 rows have 3 weights"):
        encoded.standardise(np.array([0, 1]), np.ones(3))


def test_no_rows_at_all():
    encoded = learn_table(np.ones((3, 2))).encoded
    mean, std, Z = encoded.standardise(np.array([], dtype=np.intp))
    assert not mean.any()
    assert not std.any()
    assert Z.shape == (0, 2)


def test_rows_of_weight_zero_shape_nothing():
    encoded = learn_table(np.array([[0.1], [0.1], [9.0]])).encoded
    mean, std, Z = encoded.standardise(np.arange(3), np.array([1.0, 1.0, 0.0]))
    assert mean[0] == 0.1
    assert std[0] == 0
    assert not Z.any()


@pytest.mark.parametrize("value", [0.1, 1e6 / 3, -1e300])
def test_constant_columns_are_exactly_constant(value):
    X = np.full((1001, 1), value)
    mean, std, Z = learn_table(X).encoded.standardise(
        np.arange(1001), np.random.default_rng(0).random(1001)
    )
    assert mean[0] == value
    assert std[0] == 0
    assert not Z.any()


def test_small_scale_on_a_large_offset():
    X = 1e6 + 1e-8 * np.random.default_rng(0).normal(size=(500, 2))
    exact = X - 1e6  # the subtraction is exact: both are within a factor of two
    _, std, Z = learn_table(X).encoded.standardise(np.arange(500))
    np.testing.assert_allclose(std, exact.std(axis=0), rtol=1e-4)
    assert np.abs(Z.mean(axis=0)).max() < 0.01  # the mean itself is rounded to 1e-10


@pytest.mark.parametrize("scale", [1e-280, 1e-160, 1e160, 1.7e308])
def test_extreme_scales_neither_vanish_nor_overflow(scale):
    X = scale * np.array([[-1.0], [1.0], [1.0], [-1.0]])
    with np.errstate(all="raise"):
        mean, std, Z = learn_table(X).encoded.standardise(np.arange(4))
    assert mean[0] == 0
    np.testing.assert_allclose(std, scale)
    np.testing.assert_allclose(Z[:, 0], [-1, 1, 1, -1])


def test_a_range_too_small_to_divide_by_is_constant():
    encoded = learn_table(np.array([[0.0], [5e-324]])).encoded
    assert encoded.standardise(np.arange(2))[1][0] == 0


def test_a_range_beyond_the_largest_number():
    X = 1.7e308 * np.array([[-1.0], [1.0], [1.0], [1.0]])
    mean, std, Z = learn_table(X).encoded.standardise(np.arange(4))
    np.testing.assert_allclose(mean, 0.85e308)
    np.testing.assert_allclose(std, 1.7e308 * np.sqrt(0.75))
    np.testing.assert_allclose(Z[:, 0], np.array([-3, 1, 1, 1]) / np.sqrt(3))
