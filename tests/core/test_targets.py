"""Cuts under a numeric target: compiled against naive, on many small tables."""

import numpy as np
import pytest
from tests import naive_targets as naive

from omnitree._core.univariate import targets as kernel
from omnitree._core.univariate.presort import grow_targets


def random_rows(rng):
    n = int(rng.integers(2, 30))
    z = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(-2, 3, n) / 2
    target = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(-3, 4, n) / 2.0
    if rng.random() < 0.1:
        target[:] = 1.5
    weight = [np.ones(n), rng.integers(1, 4, n).astype(float), rng.random(n) + 0.05]
    return z, target, weight[rng.integers(3)], float(rng.choice([0.5, 1, 2.5, 4]))


def below(z, order, found):
    gain, after = found
    return gain, None if after < 0 else z[order[after]]


def assert_same(found, expected, size):
    assert (found[1] is None) == (expected[1] is None)
    if found[1] is not None:
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-6, atol=1e-8 * size)
        # Cuts that tie but for rounding are equally good.
        assert found[1] == expected[1] or abs(found[0] - expected[0]) < 1e-8 * size


@pytest.mark.parametrize("seed", range(10))
def test_squared(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        z, target, weight, least = random_rows(rng)
        target = target - np.average(target, weights=weight)
        order = np.argsort(z, kind="stable")
        found = below(z, order, kernel.squared(order, z, target, weight, least))
        expected = naive.best_cut(z, target, weight, least, naive.squared_loss)
        assert_same(found, expected, 1 + naive.squared_loss(target, weight))


@pytest.mark.parametrize("seed", range(10))
def test_absolute(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        z, target, weight, least = random_rows(rng)
        order = np.argsort(z, kind="stable")
        values, rank = np.unique(target, return_inverse=True)
        found = kernel.absolute(
            order, z, target, weight, least, rank.astype(np.int64), values
        )
        expected = naive.best_cut(z, target, weight, least, naive.absolute_loss)
        size = 1 + naive.absolute_loss(target, weight)
        assert_same(below(z, order, found), expected, size)


@pytest.mark.parametrize("most", [1, 3, 32])
@pytest.mark.parametrize("seed", range(10))
def test_ridge(seed, most):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        z, target, weight, least = random_rows(rng)
        p = int(rng.integers(0, 4))
        x = rng.normal(size=(len(z), p))
        if p > 1 and rng.random() < 0.3:
            x[:, 1] = x[:, 0]
        order = np.argsort(z, kind="stable")
        gain, after = np.empty(1), np.empty(1, dtype=np.int64)
        whole = kernel.ridge(
            x, target, weight, 0.5, least, most, order[None], z[None], gain, after
        )
        expected = naive.ridge_loss(x, target, weight, 0.5)
        np.testing.assert_allclose(whole, expected, rtol=1e-7, atol=1e-9)
        losses = {
            a: sum(naive.ridge_loss(x[s], target[s], weight[s], 0.5) for s in (i, ~i))
            for a, i in naive.cuts(z, weight, least)
        }
        assert (after[0] < 0) == (not losses)
        if losses:
            loss = losses[z[order[after[0]]]]
            np.testing.assert_allclose(whole - gain[0], loss, rtol=1e-7, atol=1e-9)
            if len(losses) <= 2 * most:
                assert loss <= min(losses.values()) + 1e-8 * (1 + whole)


def naive_tree(X, target, weight, min_rows, min_branch, max_depth):
    """Number of leaves and total loss of the obvious tree."""
    best = None
    total = weight.sum()
    splittable = total >= min_rows - 1e-9 and max_depth != 0 and np.ptp(target) > 0
    for j in range(X.shape[1]) if splittable else ():
        gain, at = naive.best_cut(
            X[:, j], target, weight, min_branch, naive.squared_loss
        )
        if at is not None and (best is None or gain > best[0] + 1e-9):
            best = gain, X[:, j] <= at
    if best is None:
        return 1, naive.squared_loss(target, weight)
    sides = [
        naive_tree(X[s], target[s], weight[s], min_rows, min_branch, max_depth - 1)
        for s in (best[1], ~best[1])
    ]
    return tuple(np.sum(sides, axis=0))


@pytest.mark.parametrize("seed", range(20))
def test_whole_tree(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        n, d = int(rng.integers(1, 40)), int(rng.integers(1, 4))
        X = (
            rng.normal(size=(n, d))
            if rng.random() < 0.5
            else rng.normal(size=(n, d)).round()
        )
        target = rng.normal(size=n)
        target -= target.mean()
        weight = rng.choice([1.0, 2.0, 0.5], n) if rng.random() < 0.5 else None
        rules = (
            float(rng.choice([2, 5])),
            float(rng.choice([1, 3])),
            int(rng.choice([-1, 2])),
        )
        grown = grow_targets(X, target, weight, *rules, None)
        w = np.ones(n) if weight is None else weight
        leaves, loss = naive_tree(X, target, w, *rules)
        leaf = grown["first_child"] < 0
        value = grown["value"][leaf]
        assert leaf.sum() == leaves
        found = (value[:, 2] - value[:, 1] ** 2 / value[:, 0]).sum()
        np.testing.assert_allclose(found, loss, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(value[:, 0].sum(), w.sum())
        assert (value[:, 3] <= value[:, 4]).all()
        assert (grown["merit"][~leaf] >= 0).all()
