"""Softmax discriminants with few weights: against an obvious version, and what they keep."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from omnitree.growing.target import ClassTarget
from omnitree.parts.discriminants import softmax_sparse
from omnitree.parts.discriminants.softmax import Whitened
from omnitree.parts.discriminants.softmax_folds import kept, losses
from omnitree.parts.discriminants.softmax_sparse import (
    Thinned,
    enough,
    fewest,
    judge,
    sizes,
)


def random_rows(seed: int, k: int, n: int = 60):
    rng = np.random.default_rng([seed, k])
    p = int(rng.integers(3, 7))
    y = (np.arange(n) % k).astype(np.int32)
    X = rng.normal(size=(k, p))[y] + rng.normal(size=(n, p)) * rng.uniform(0.5, 3, p)
    if seed % 3 == 0:
        X[:, 0] = 7.0  # constant
    weight = rng.integers(1, 4, size=n).astype(float)
    fold = rng.permutation(n) % 4
    return X, y, weight, fold[:, None] == np.arange(4), rng


def start(X, y, k, weight, held, penalty, needed_by=None):
    whitened = Whitened.of(X, weight)
    left = kept(weight, held)
    w = whitened.fit(y, left, k, penalty, tolerance=1e-8, most=1000)
    return Thinned.of(whitened, X, y, left, penalty, w, needed_by)


def naive_thin(x, y, k, weight, penalty, w, alive, size):
    """Drop the weights nearest to 0 one by one, then fit what is left by brute force."""
    lines = range(1, 2) if k == 2 else range(k)
    alive = alive.copy()
    while alive.sum() > size:
        places = [
            (abs(w[c, j]), -i, -j)
            for i, c in enumerate(lines)
            for j in range(alive.shape[1])
            if alive[i, j]
        ]
        _, i, j = min(places)
        alive[-i, -j] = False
    free = np.hstack([alive, np.ones((len(alive), 1), dtype=bool)])

    def whole(v):
        lines = np.zeros(free.shape)
        lines[free] = v
        return np.vstack([-lines / 2, lines / 2]) if k == 2 else lines

    def loss(v):
        w = whole(v)
        s = x @ w.T
        lost = np.logaddexp.reduce(s, axis=1) - s[np.arange(len(y)), y]
        return weight @ lost / weight.sum() + penalty / 2 * (w[:, :-1] ** 2).sum()

    v = minimize(loss, np.zeros(free.sum()), tol=1e-10).x
    return whole(v), alive


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_equals_the_naive_version(seed, k):
    X, y, weight, held, rng = random_rows(seed, k)
    full = start(X, y, k, weight, held, 0.1)
    size = int(rng.integers(1, full.n_terms))
    thin = full.thinner(size).fitted(1e-9, 1000)
    assert thin.n_terms == size
    for i in range(held.shape[1]):
        w, alive = naive_thin(
            full.x, y, k, full.weight[:, i], 0.1, full.w[i], full.alive[i], size
        )
        np.testing.assert_array_equal(thin.alive[i], alive)
        a, b = thin.w[i] @ full.x.T, w @ full.x.T  # but for a constant of all classes
        np.testing.assert_allclose(a - a[0], b - b[0], atol=2e-3)
        np.testing.assert_array_equal(thin.w[i][-len(alive) :, :-1] != 0, alive)


@pytest.mark.parametrize("costs", [None, [[0, 5, 5], [1, 0, 1], [1, 1, 0]]])
def test_judged_as_fold_by_fold(costs):
    X, y, weight, held, _ = random_rows(1, 3)
    costs = None if costs is None else np.array(costs, dtype=float)
    thin = start(X, y, 3, weight, held, 0.1).thinner(4)
    scores, lost = judge(thin, ClassTarget(y, np.arange(3), costs), weight, held)
    paid = 1 - np.eye(3) if costs is None else costs
    for w, fold in zip(thin.w, held.T, strict=True):
        for i in np.flatnonzero(fold):
            p = np.exp(thin.x[i] @ w.T)
            p /= p.sum()
            assert lost.errors[i] == paid[y[i], (p @ paid).argmin()]
            assert lost.log_loss[i] == pytest.approx(-np.log(p[y[i]]))
            np.testing.assert_allclose(scores[i], thin.x[i] @ w.T)
    np.testing.assert_array_equal(lost.weight, weight)


def test_a_column_stays_as_long_as_its_products():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 200))
    X = np.column_stack([a, b, c, a * b])
    y = (a * b + 0.3 * c > 0).astype(np.int32)
    needed_by = np.zeros((4, 4))
    needed_by[3, :2] = 1.0
    held = np.eye(4, dtype=bool)[np.arange(200) % 4]
    full = start(X, y, 2, np.ones(200), held, 0.01, needed_by)
    three, two = full.thinner(3), full.thinner(3).thinner(2)
    assert three.alive[:, 0].tolist() == [[True, True, False, True]] * 4
    assert two.alive[:, 0, 3].tolist() == [False] * 4  # its product goes first


def test_sizes():
    assert sizes(1520, 100) == [760, 380, 190, 100]
    assert sizes(22, 10) == [10]
    assert sizes(10, 10) == sizes(3, 10) == []


def test_margin_and_few_terms(monkeypatch):
    monkeypatch.setattr(softmax_sparse, "TERMS", 1)
    X, y, weight, held, _ = random_rows(1, 3)
    full, target = start(X, y, 3, weight, held, 0.1), ClassTarget(y, np.arange(3))
    tried, found = fewest(full, target, weight, held, (100.0, 100.0))
    assert tried == sizes(full.n_terms, 3)
    least = judge(full, target, weight, held)[1]
    assert losses(found, target, weight).mean("errors") >= least.mean("errors")
    assert fewest(full, target, weight, held, (-100.0, -100.0)) is None
    monkeypatch.setattr(softmax_sparse, "TERMS", 100)
    assert fewest(full, target, weight, held, (100.0, 100.0)) is None


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_fewest_that_are_good_enough(seed, k, monkeypatch):
    """Against every number on the way, each begun anew."""
    monkeypatch.setattr(softmax_sparse, "TERMS", 1)
    monkeypatch.setattr(softmax_sparse, "HOPELESS", np.inf)
    X, y, weight, held, rng = random_rows(seed, k)
    X = np.hstack([X, rng.normal(size=(len(X), 6))])
    full, target = start(X, y, k, weight, held, 0.1), ClassTarget(y, np.arange(k))
    _, before = judge(full, target, weight, held)

    def good(path):
        thin = full
        for size in path:
            thin = thin.thinner(size)
        scores, after = judge(thin, target, weight, held)
        gains = [after.gain(before, loss) for loss in ("errors", "log_loss")]
        return min(gains) >= -0.5, max(gains) < -0.5, scores

    tried, path = sizes(full.n_terms, 1 if k == 2 else k), []
    for i in range(1, len(tried) + 1):
        fine, hopeless, _ = good(tried[:i])
        path = tried[:i] if fine else path
        if hopeless:
            break
    if len(path) < len(tried):
        middle = ([full.n_terms, *tried][len(path)] + tried[len(path)]) // 2
        path = [*path, middle] if good([*path, middle])[0] else path
    found = fewest(full, target, weight, held, (0.5, 0.5))
    assert (found is None) == (path == [])
    if found is not None:
        assert found[0] == path
        np.testing.assert_array_equal(found[1], good(path)[2])


def test_enough_folds(monkeypatch):
    held = np.eye(5, dtype=bool)[np.arange(100) % 5]
    assert enough(held) == 5
    for rows, folds in ((20, 1), (21, 2), (60, 3), (101, 5)):
        monkeypatch.setattr(softmax_sparse, "ROWS", rows)
        assert enough(held) == folds
