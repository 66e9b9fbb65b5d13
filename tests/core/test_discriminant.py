"""The loops over the rows of a linear node against plain NumPy and Python."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree._core.linear import discriminant as kernel
from omnitree.data.table import learn_table
from omnitree.growing.node_columns import NodeColumns, rest_of
from omnitree.growing.standard_columns import StandardColumns
from omnitree.learners.linear import LinearDiscriminant
from omnitree.parts.direction import Fisher
from omnitree.parts.grouping import Exchange
from omnitree.parts.merit import MERITS
from omnitree.parts.threshold import EqualVariance

MANY = [f"{seed}" for seed in range(60)]


def naive_standardise(x, weight):
    """Mean, deviation and units of one column, from the definitions."""
    present = ~np.isnan(x)
    w, v = weight[present], x[present]
    if not w.sum():
        return 0.0, 0.0, np.zeros(len(x))
    mean = np.average(v, weights=w)
    std = np.sqrt(np.average((v - mean) ** 2, weights=w))
    if np.ptp(v[w > 0]) == 0:
        std = 0.0
    z = np.zeros(len(x))
    if std > 0:
        z[present] = (v - mean) / std
    return mean, std, z


@pytest.mark.parametrize("seed", MANY)
def test_standardise(seed):
    rng = np.random.default_rng([1, int(seed)])
    n, p = rng.integers(1, 40), rng.integers(1, 5)
    X = np.asarray(
        rng.integers(-2, 3, size=(n, p)) * rng.choice([1.0, 0.3]),
        order=rng.choice(["C", "F"]),
    )
    with_missing = int(seed) % 3 > 0
    if with_missing:
        X[rng.random((n, p)) < 0.2] = np.nan
    rows = np.sort(rng.choice(n, size=rng.integers(1, n + 1), replace=False))
    weight = rng.integers(0, 3, size=len(rows)).astype(float)
    mean, std = np.zeros(p), np.zeros(p)
    Z = np.empty((len(rows), p), order=rng.choice(["C", "F"]))
    kernel.standardise(X, rows, weight, with_missing, mean, std, Z)
    alone = np.zeros((2, p))
    kernel.standardise(X, rows, weight, with_missing, *alone, None)
    assert (alone == [mean, std]).all()
    for j in range(p):
        m, s, z = naive_standardise(X[rows, j], weight)
        np.testing.assert_allclose(mean[j], m, atol=1e-12)
        np.testing.assert_allclose(std[j], s, atol=1e-12)
        np.testing.assert_allclose(Z[:, j], z, atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n, p", [(0, 3), (1, 1), (255, 8), (600, 19)])
def test_in_units(n, p, order):
    rng = np.random.default_rng([n, p])
    X = np.asarray(rng.normal(size=(n, p)), order=order)
    X[rng.random((n, p)) < 0.1] = np.nan
    mean, std = rng.normal(size=p), rng.choice([0.0, 0.3, 2.0], p)
    Z = np.empty((n, p))
    kernel.in_units(X, mean, std, Z)
    for i in range(n):
        for j in range(p):
            z = (X[i, j] - mean[j]) / std[j] if std[j] > 0 else 0.0
            np.testing.assert_equal(Z[i, j], z)


def random_rows(seed, n_classes=5):
    """A node with ties, weights, absent classes and constant columns."""
    rng = np.random.default_rng([2, int(seed)])
    n, p, k = rng.integers(8, 80), rng.integers(1, 6), rng.integers(2, n_classes + 1)
    y = rng.integers(k, size=n).astype(np.int32)
    y[:2] = [0, 1]
    X = rng.normal(size=(k, p))[y] * rng.choice([0.5, 2.0]) + rng.normal(size=(n, p))
    if rng.random() < 0.5:
        X = np.round(X)
    if rng.random() < 0.3:
        X[:, 0] = 7.0
    weight = rng.integers(1, 4, size=n).astype(float)
    table = learn_table(X)
    standard = StandardColumns.of(table, weight)
    return NodeColumns.of(standard, np.arange(n), y, weight, n_classes), table


@pytest.mark.parametrize("seed", MANY)
def test_class_sums_and_scatter(seed):
    rows, _ = random_rows(seed)
    repeated = np.repeat(np.arange(len(rows.y)), rows.weight.astype(int))
    columns, y = rows.columns[repeated], rows.y[repeated]
    for k in range(rows.n_classes):
        np.testing.assert_allclose(rows.sums[k], columns[y == k].sum(axis=0), atol=1e-9)
    centred = columns - columns.mean(axis=0)
    np.testing.assert_allclose(rows.scatter, centred.T @ centred, atol=1e-9)


@pytest.mark.parametrize("seed", MANY)
def test_moments_by_subtraction(seed):
    rows, _ = random_rows(seed)
    here = np.random.default_rng(int(seed)).random(len(rows.y)) < 0.4
    part, rest = (
        NodeColumns.of(
            rows.standard, np.flatnonzero(m), rows.y[m], rows.weight[m], rows.n_classes
        )
        for m in (here, ~here)
    )
    left = rest_of(rows.moments, [part.moments])
    if left is None:  # the rest is too small a part of some column's scatter
        small = np.diag(rest.moments.second) < 1e-6 * np.diag(rows.moments.second)
        assert small.any()
    else:
        np.testing.assert_allclose(left.sums, rest.moments.sums, atol=1e-9)
        np.testing.assert_allclose(left.second, rest.moments.second, atol=1e-9)


@pytest.mark.parametrize("seed", MANY)
def test_project(seed):
    rng = np.random.default_rng([4, int(seed)])
    m, p, k = rng.integers(1, 30), rng.integers(0, 12), rng.integers(1, 20)
    x, basis, origin = (rng.normal(size=s) for s in ((m, p), (k, p), (p,)))
    rows = rng.integers(m, size=rng.integers(0, 40))
    out = np.full((k, len(rows) + 3), np.nan)
    kernel.project(x, rows, basis, origin, out[:, 1 : len(rows) + 1])
    expected = basis @ (x[rows] - origin).T
    np.testing.assert_allclose(out[:, 1 : len(rows) + 1], expected, atol=1e-12)
    assert np.isnan(out[:, [0, -2, -1]]).all()


@pytest.mark.parametrize("seed", MANY)
def test_nearest_starts(seed):
    """The two furthest classes, then the nearest to the mean of either group."""
    rng = np.random.default_rng([5, int(seed)])
    k, p = rng.integers(2, 8), rng.integers(1, 5)
    means, size = rng.normal(size=(3, k, p)), rng.integers(1, 9, size=k).astype(float)
    if int(seed) % 4 == 0:
        means[:] = means[:, :1]  # all coincide
    found = np.empty((3, k), dtype=np.uint8)
    kernel.nearest_starts(means, size, found)
    for own, left in zip(means, found, strict=True):
        pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
        apart = [((own[a] - own[b]) ** 2).sum() for a, b in pairs]
        groups = [[c] for c in pairs[int(np.argmax(apart))]]
        while len(rest := sorted({*range(k)}.difference(*groups))):
            centres = [np.average(own[g], axis=0, weights=size[g]) for g in groups]
            near = [((own[c] - m) ** 2).sum() for c in rest for m in centres]
            c, g = divmod(int(np.argmin(near)), 2)
            groups[g].append(rest[c])
        if int(seed) % 4:
            assert np.flatnonzero(left).tolist() == sorted(groups[0])
        else:
            assert 0 < left.sum() < k


def test_rows_in_any_order_are_taken_as_asked():
    """Also where the first and the last are as far apart as if none were missing."""
    standard = StandardColumns.of(
        learn_table(np.arange(12.0).reshape(6, 2)), np.ones(6)
    )
    for rows in ([0, 2, 1, 3], [2, 3, 4], [5, 0], [1], []):
        at = np.array(rows, dtype=np.int64)
        taken = standard.take(at, np.empty(0))
        np.testing.assert_array_equal(taken, standard.plain[at])


@pytest.mark.parametrize("merit", ["gain", "gini", "gain_ratio", "twoing"])
@pytest.mark.parametrize("seed", MANY)
def test_exchange_equals_python(seed, merit, monkeypatch):
    rows, _ = random_rows(seed)
    compiled = LinearDiscriminant(rows, Fisher(), EqualVariance(), MERITS[merit]())
    plain = LinearDiscriminant(rows, Fisher(), EqualVariance(), MERITS[merit]())
    monkeypatch.setattr(plain, "exchange", lambda left: None)
    a, b = Exchange().find(compiled), Exchange().find(plain)
    if not (a == b).all():  # only where two moves are worth the same
        both = plain.merits(np.stack([a, b]))
        assert both[0] == pytest.approx(both[1], abs=1e-6)


@pytest.mark.parametrize("seed", MANY)
def test_pooled_statistics_and_counts_equal_those_of_the_scores(seed):
    rows, _ = random_rows(seed)
    left = np.zeros((1, rows.n_classes), dtype=bool)
    left[0, rows.present[0]] = True
    mixed = Fisher().project(rows).project(left)
    _, mean, within = mixed.pooled()
    _, plain_mean, scatter = mixed.groups()
    np.testing.assert_allclose(mean, plain_mean, atol=1e-8)
    np.testing.assert_allclose(within, scatter.sum(axis=0), atol=1e-7)
    cut = EqualVariance().find(mixed, MERITS["gain"]())
    above = np.bincount(
        rows.y, rows.weight * (mixed.scores[:, 0] > cut[0]), rows.n_classes
    )
    np.testing.assert_allclose(mixed.counts(cut)[0, 1], above)


@pytest.mark.parametrize("seed", MANY[:20])
def test_large_nodes_are_read_in_blocks(seed, monkeypatch):
    rows, _ = random_rows(seed)
    monkeypatch.setattr("omnitree.growing.node_columns.BLOCK", 7)
    again = NodeColumns.of(
        rows.standard, rows.rows, rows.y, rows.weight, rows.n_classes
    )
    np.testing.assert_allclose(again.moments.second, rows.moments.second, atol=1e-9)
    basis = np.eye(rows.n_columns)
    np.testing.assert_allclose(
        again.project(basis), rows.columns - rows.mean, atol=1e-9
    )
    assert "columns" not in again.__dict__


@pytest.mark.parametrize("seed", MANY[:30])
def test_quadratic_split_in_the_users_units(seed):
    rng = np.random.default_rng([3, int(seed)])
    n = 40
    X = np.empty((n, 4), dtype=object)
    X[:, 0] = rng.normal(100, 5, size=n)
    X[:, 1] = rng.normal(size=n)
    X[:, 2] = rng.choice(["a", "b", "c"], size=n)
    X[:, 3] = rng.choice(["u", "v"], size=n)
    X[rng.random((n, 4)) < 0.1] = None
    table, weight = learn_table(X.tolist()), np.ones(n)
    standard = StandardColumns.of(table, weight).with_products(table.schema)
    y = rng.integers(2, size=n).astype(np.int32)
    rows = NodeColumns.of(standard, np.arange(n), y, weight, 2)
    w = rng.normal(size=rows.n_columns)
    scores = rows.columns @ w
    cut = float(np.median(scores)) + 1e-6
    split = rows.split(w, cut, 0.0)
    np.testing.assert_array_equal(split.route(table, np.arange(n)), scores > cut)
    # 2 numbers, 3 + 1 category columns; products within one category are left out
    assert rows.n_columns == 6 + (2 + 1) + 2 * 4 + 3


@pytest.mark.parametrize("seed", MANY)
def test_count_parts(seed):
    rng = np.random.default_rng([7, int(seed)])
    n, parts, k = (int(rng.integers(*of)) for of in ((0, 40), (1, 5), (2, 4)))
    above, tested = rng.random((2, parts, n)) < 0.5
    y = rng.integers(0, k, size=n).astype(np.int32)
    weight = rng.integers(0, 3, size=n).astype(float)
    counts = np.zeros((parts, 2, 2, k))
    kernel.count_parts(tested.view(np.uint8), above.view(np.uint8), y, weight, counts)
    expected = np.zeros_like(counts)
    for d in range(parts):
        for i in range(n):
            expected[d, int(tested[d, i]), int(above[d, i]), y[i]] += weight[i]
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("seed", range(5))
def test_missing_values_and_products(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(12, 5))
    x[rng.random(x.shape) < 0.4] = np.nan
    x[:, 3] = np.nan
    rows = np.flatnonzero(rng.random(12) < 0.7)
    weight, columns = rng.random(len(rows)), np.array([0, 3, 4])
    means = np.full(3, 9.0)
    kernel.present_means(x, rows, weight, columns, means)
    for j, mean in zip(columns, means, strict=True):
        known = [(w, x[i, j]) for i, w in zip(rows, weight, strict=True)]
        known = [(w, v) for w, v in known if v == v]
        total = sum(w for w, _ in known)
        expected = sum(w * v for w, v in known) / total if known else 0.0
        assert mean == pytest.approx(expected)
    filled = x.copy()
    kernel.fill_missing(filled, columns, means)
    for (i, j), value in np.ndenumerate(x):
        put = j in columns and np.isnan(value)
        expected = means[list(columns).index(j)] if put else value
        np.testing.assert_equal(filled[i, j], expected)
    a, b = np.array([0, 1, 4]), np.array([0, 4, 2])
    out = np.zeros((12, 5))
    kernel.multiply_pairs(x, a, b, out[:, 1:4])
    np.testing.assert_array_equal(out[:, 1:4], x[:, a] * x[:, b])
    assert not out[:, [0, 4]].any()
