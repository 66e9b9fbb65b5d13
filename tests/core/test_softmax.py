"""The compiled softmax regression against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from omnitree._core.linear.softmax import descend
from omnitree.parts.discriminants.softmax_metric import regress, ridge


def table(seed: int, k: int, n: int = 120, p: int = 6):
    """Correlated columns with a last one of 1, classes, and weights of three fits."""
    rng = np.random.default_rng([seed, k])
    z = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) * rng.uniform(0.1, 5, size=p)
    y = (z @ rng.normal(size=(p, k)) / 4 + rng.gumbel(size=(n, k))).argmax(axis=1)
    weight = rng.uniform(0.5, 2.0, size=(n, 3)) * (rng.uniform(size=(n, 3)) > 0.2)
    return np.column_stack([z, np.ones(n)]), y.astype(np.int32), weight


def prices(penalty, k, p):
    """The ridge of each column; the last one has none."""
    return np.append(np.full(p, ridge(penalty, k)), 0.0)


def wanted(x, y, weight, penalty):
    """Weights and biases (k or 1, p + 1), by scikit-learn."""
    two = y.max() == 1
    ridge = penalty * weight.sum() * (0.5 if two else 1.0)
    model = LogisticRegression(
        C=1 / ridge, tol=1e-10, max_iter=20_000, solver="newton-cg"
    )
    model.fit(x[:, :-1], y, weight)
    return np.column_stack([model.coef_, model.intercept_])


@pytest.mark.parametrize("metric", ["matrix", "diagonal"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_each_fit_is_that_of_scikit_learn(k, metric):
    x, y, weight = table(0, k)
    share, price = weight / weight.sum(axis=0), prices(0.02, k, 6)
    w = np.zeros((3, 1 if k == 2 else k, 7))
    if metric == "matrix":
        found = np.linalg.cholesky(0.25 * x.T @ x / len(x) + np.diag(price))
        descend(x, y, share, price, w, 1e-9, 500, factor=np.ascontiguousarray(found))
    else:
        inverse = 1 / (0.25 * (x**2).mean(axis=0) + price)
        inverse = np.ascontiguousarray(np.broadcast_to(inverse, w.shape))
        descend(x, y, share, price, w, 1e-9, 5000, inverse=inverse)
    for fit, own in zip(w, weight.T, strict=True):
        best = wanted(x, y, own, 0.02)
        assert np.allclose(fit[:, :-1], best[:, :-1], atol=1e-4)
        apart = fit[:, -1] - best[:, -1]  # of many classes, only differences matter
        assert np.ptp(apart) < 1e-4 if k > 2 else abs(apart[0]) < 1e-4


def test_more_steps_lose_less_and_one_alone_goes_the_same_way():
    x, y, weight = table(1, 4)
    share, price = weight / weight.sum(axis=0), prices(1e-3, 4, 6)
    factor = np.linalg.cholesky(0.25 * x.T @ x / len(x) + np.diag(price) + 1e-9)

    def fitted(share, most):
        w = np.zeros((share.shape[1], 4, 7))
        descend(x, y, share, price, w, 0.0, most, factor=factor)
        return w

    def loss(w, share):
        s = x @ w.T
        lost = np.logaddexp.reduce(s, axis=1) - s[np.arange(len(y)), y]
        return share @ lost + 0.5 * (price * w**2).sum()

    losses = [loss(fitted(share, most)[0], share[:, 0]) for most in (0, 1, 3, 10, 60)]
    assert losses[0] == pytest.approx(np.log(4))
    assert np.all(np.diff(losses) < 0)
    alone = fitted(np.ascontiguousarray(share[:, 1:2]), 10)
    assert np.allclose(alone[0], fitted(share, 10)[1], atol=1e-9)


def test_weights_without_a_unit_stay_away():
    x, y, weight = table(2, 3)
    inverse = np.ones((3, 3, 7))
    inverse[0, 1, 2] = inverse[1, :, 0] = 0.0
    start = np.full((3, 3, 7), 0.3)
    w = regress(x, y, weight, 3, 0.01, start, 1e-8, 2000, inverse=inverse)
    assert w[0, 1, 2] == 0 and not w[1, :, 0].any()
    assert (w != 0).sum() == w.size - 4
    # As if the column were not there.
    less = np.ascontiguousarray(x[:, 1:])
    rest = regress(less, y, weight, 3, 0.01, None, 1e-8, 2000, inverse=inverse[..., 1:])
    assert np.allclose(rest[1, :, :-1], w[1, :, 1:-1], atol=1e-4)


def test_nothing_to_fit():
    w = np.zeros((0, 2, 3))
    none = np.zeros(0, dtype=np.int32)
    descend(np.zeros((0, 3)), none, np.zeros((0, 0)), np.zeros(3), w, 0.0, 5)
    assert w.shape == (0, 2, 3)
