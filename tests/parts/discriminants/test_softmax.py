"""Penalised multinomial regression against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from omnitree.parts.discriminants.softmax import Whitened


def random_rows(seed: int, k: int):
    rng = np.random.default_rng([seed, k])
    n, p = int(rng.integers(30, 80)), int(rng.integers(2, 8))
    y = rng.integers(k, size=n).astype(np.int32)
    y[:k] = range(k)
    X = rng.normal(size=(k, p))[y] + rng.normal(size=(n, p)) * rng.uniform(0.5, 3, p)
    return X, y, rng.integers(1, 4, size=n).astype(float), rng


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(10))
def test_equals_scikit_learn(seed, k):
    X, y, weight, rng = random_rows(seed, k)
    penalty = float(rng.choice([1.0, 0.1, 0.01]))
    whitened = Whitened.of(X, weight)
    (w,) = whitened.fit(y, weight[:, None], k, penalty, tolerance=1e-9, most=1000)
    weights, bias = whitened.functions(w)
    mean = np.average(X, axis=0, weights=weight)
    std = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    other = LogisticRegression(C=1 / penalty / weight.sum(), tol=1e-9, max_iter=5000)
    Z = (X - mean) / std
    if k == 2:
        # Two functions, each half the difference, have half its squared length.
        other.set_params(C=2 / penalty / weight.sum())
    other.fit(Z, y, sample_weight=weight)
    s = X @ weights.T + bias
    p = np.exp(s - s.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(p, other.predict_proba(Z), atol=2e-5)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_repeats_and_rows_may_weigh_nothing(seed):
    X, y, weight, _ = random_rows(seed, 3)
    weight[5] = 0.0
    again = np.repeat(np.arange(len(y)), weight.astype(int))
    one = Whitened.of(X, weight)
    two = Whitened.of(X[again], np.ones(len(again)))
    fits = [
        whitened.functions(
            whitened.fit(c, w[:, None], 3, 0.1, tolerance=1e-9, most=1000)[0]
        )
        for whitened, c, w in (
            (one, y, weight),
            (two, y[again], np.ones(len(again))),
        )
    ]
    np.testing.assert_allclose(fits[0][0], fits[1][0], atol=1e-5)
    np.testing.assert_allclose(fits[0][1], fits[1][1], atol=1e-5)


def test_more_columns_than_rows_is_the_same_problem():
    """Through the rows' products: copies of the columns change no probability."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 5))
    y = np.arange(12, dtype=np.int32) % 3
    weight = np.ones((12, 1))
    wide = Whitened.of(np.hstack([X] * 4), weight[:, 0])
    narrow = Whitened.of(X, weight[:, 0])
    assert wide.scores.shape[1] == narrow.scores.shape[1] == 6
    # Four copies share a weight of the same effect at a quarter of the price.
    a = wide.fit(y, weight, 3, 0.4, tolerance=1e-9, most=1000)
    b = narrow.fit(y, weight, 3, 0.1, tolerance=1e-9, most=1000)
    np.testing.assert_allclose(wide.sums(a), narrow.sums(b), atol=1e-5)


def test_constant_columns():
    assert Whitened.of(np.full((5, 2), 0.1), np.ones(5)) is None
    X = np.column_stack([np.full(6, 1e6 / 3), np.arange(6.0)])
    whitened = Whitened.of(X, np.ones(6))
    assert whitened.scores.shape == (6, 2)
    y = (np.arange(6) > 2).astype(np.int32)
    (w,) = whitened.fit(y, np.ones((6, 1)), 2, 0.01)
    assert whitened.functions(w)[0][0, 0] == 0


@pytest.mark.parametrize("k", [2, 4])
def test_side_by_side_is_one_by_one(k):
    X, y, weight, rng = random_rows(3, k)
    whitened = Whitened.of(X, weight)
    several = weight[:, None] * rng.integers(0, 2, size=(len(y), 3))
    several[:k] = 1.0
    exact = {"tolerance": 1e-9, "most": 1000}
    together = whitened.fit(y, several, k, 0.1, **exact)
    for i in range(3):
        (alone,) = whitened.fit(y, several[:, i : i + 1], k, 0.1, **exact)
        np.testing.assert_allclose(together[i], alone, atol=1e-5)
