"""Standardised columns against NumPy: weights, missing values, categories, products."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tables import random_sample

from omnitree.growing.standard_columns import StandardColumns

SEEDS = range(12)


def made(seed, missing_share=0.2):
    rng = np.random.default_rng(seed)
    sample = random_sample(rng, n=30, d=4, missing_share=missing_share)
    return sample, StandardColumns.of(sample.table, sample.weight)


@pytest.mark.parametrize("seed", SEEDS)
def test_mean_zero_and_deviation_one(seed):
    sample, standard = made(seed)
    cells = sample.table.encoded.cells
    for j in range(standard.n_columns):
        known = ~np.isnan(cells[:, j])
        assert (j in standard.with_missing) == (not known.all())
        z, w = standard.plain[known, j], sample.weight[known]
        if known.any() and np.ptp(cells[known, j]):
            assert np.average(z, weights=w) == pytest.approx(0, abs=1e-9)
            assert np.average(z**2, weights=w) == pytest.approx(1)
            own = standard.scaling.mean[j] + standard.scaling.std[j] * z
            np.testing.assert_allclose(own, cells[known, j], atol=1e-9)
        else:
            assert not z.any()


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_filled_with_the_means_given(seed):
    _, standard = made(seed)
    rows, weight = np.array([3, 1, 8, 20]), np.array([1.0, 2.0, 0.5, 1.0])
    means = standard.missing_means(rows, weight)
    taken = standard.take(rows, means)
    for i, j in enumerate(standard.with_missing):
        cells = standard.plain[rows, j]
        known = ~np.isnan(cells)
        mean = np.average(cells[known], weights=weight[known]) if known.any() else 0.0
        np.testing.assert_allclose(taken[:, j], np.where(known, cells, mean))
        assert means[i] == pytest.approx(mean)
    whole = np.setdiff1d(np.arange(standard.n_columns), standard.with_missing)
    np.testing.assert_array_equal(taken[:, whole], standard.plain[rows][:, whole])


@pytest.mark.parametrize("seed", SEEDS)
def test_products_of_filled_columns(seed):
    sample, standard = made(seed)
    schema = sample.table.schema
    squared = standard.with_products(schema)
    rows = np.arange(10)
    means = standard.missing_means(rows, np.ones(10))
    z, both = standard.take(rows, means), squared.take(rows, means)
    p, feature, category = standard.n_columns, *schema.linear_columns()
    pairs = list(zip(squared.scaling.a, squared.scaling.b, strict=True))
    np.testing.assert_array_equal(both[:, :p], z)
    for i, (a, b) in enumerate(pairs):
        np.testing.assert_array_equal(both[:, p + i], z[:, a] * z[:, b])
    varies = standard.scaling.std > 0
    expected = {
        (a, b)
        for a in range(p)
        for b in range(a, p)
        if varies[a]
        and varies[b]
        and not (feature[a] == feature[b] and category[a] >= 0)
    }
    assert set(pairs) == expected
    assert standard.n_with_products(schema) == p + len(pairs)
    pieces = list(squared.by_columns(rows, means))
    np.testing.assert_array_equal(np.hstack([z for _, z in pieces]), both)
    assert [part.start for part, _ in pieces] == [
        0,
        *(part.stop for part, _ in pieces[:-1]),
    ]


def test_one_column_alone():
    _, standard = made(3)
    for j in range(standard.n_columns):
        alone = standard.column(j)
        np.testing.assert_array_equal(alone.plain[:, 0], standard.plain[:, j])
        assert alone.has_missing == (j in standard.with_missing)
