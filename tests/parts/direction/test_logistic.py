"""The logistic direction against plain optimisation and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from sklearn.linear_model import LogisticRegression

from omnitree import TreeClassifier
from omnitree.learners import Linear
from omnitree.parts.direction import Logistic
from omnitree.parts.direction.logistic import logistic_weights
from omnitree.parts.threshold import THRESHOLDS


def blobs(rng, n=200, d=3, k=2):
    y = rng.integers(k, size=n)
    return rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


def loss(parameters, X, side, weight, C):
    margin = (X @ parameters[1:] + parameters[0]) * np.where(side, 1, -1)
    w = parameters[1:]
    return (weight * np.logaddexp(0, -margin)).sum() + w @ w / (2 * C)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_minimises_the_penalised_loss(rng, C):
    X, y = blobs(rng)
    weight = rng.integers(1, 5, size=len(y)) / 2
    w, b = logistic_weights(X, y == 1, weight, C)
    start = np.zeros(4)
    best = optimize.minimize(loss, start, (X, y == 1, weight, C), tol=1e-10)
    np.testing.assert_allclose([b, *w], best.x, atol=1e-4)


def test_weights_are_repeats(rng):
    X, y = blobs(rng, n=60)
    weight = rng.integers(1, 4, size=60)
    one = logistic_weights(X, y == 1, weight.astype(float), 1.0)
    again = np.repeat(np.arange(60), weight)
    two = logistic_weights(X[again], y[again] == 1, np.ones(len(again)), 1.0)
    np.testing.assert_allclose(one[0], two[0], rtol=1e-6)


def test_separable_rows_have_finite_weights():
    X = np.arange(20.0)[:, None]
    w, b = logistic_weights(X, X[:, 0] > 9.5, np.ones(20), 1.0)
    assert 0 < w[0] < 100 and -b / w[0] == pytest.approx(9.5, abs=0.01)


@pytest.mark.parametrize("threshold", list(THRESHOLDS))
def test_root_has_the_direction_of_scikit_learn(rng, threshold):
    X, y = blobs(rng)
    learner = Linear(direction="logistic", threshold=threshold)
    clf = TreeClassifier(learner=learner, max_depth=1).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression(tol=1e-8).fit(Z, y)
    expected = model.coef_[0] / X.std(axis=0)
    ours = np.array(clf.tree_.split(0).weights)
    ours *= np.linalg.norm(expected) / np.linalg.norm(ours)
    np.testing.assert_allclose(np.abs(ours), np.abs(expected), rtol=1e-4)
    assert clf.score(X, y) > 0.6


def test_bayes_boundary_of_two_gaussians(rng):
    means, share = np.array([[0.0, 0.0], [1.0, 2.0]]), 0.5
    y = (rng.random(20_000) < share).astype(int)
    X = means[y] + rng.normal(size=(len(y), 2))
    clf = TreeClassifier(learner=Linear(direction="logistic"), max_depth=1).fit(X, y)
    w = np.array(clf.tree_.split(0).weights)
    cosine = w @ means[1] / np.linalg.norm(w) / np.linalg.norm(means[1])
    assert abs(cosine) > np.cos(np.radians(2))
    crossing = clf.tree_.split(0).threshold / (w @ means[1])
    assert crossing == pytest.approx(0.5, abs=0.03)


def test_grouping_fits_each_grouping_once(rng, monkeypatch):
    from omnitree.parts.direction import logistic

    X, y = blobs(rng, n=300, k=5)
    seen = []
    fit = logistic.logistic_weights

    def watched(columns, side, weight, C):
        seen.append(side.tobytes())
        return fit(columns, side, weight, C)

    monkeypatch.setattr(logistic, "logistic_weights", watched)
    clf = TreeClassifier(learner=Linear(direction=Logistic(C=10)), max_depth=1)
    assert clf.fit(X, y).tree_.split(0).kind == "linear"
    assert len(seen) == len(set(seen)) > 5


def test_bad_penalty():
    clf = TreeClassifier(learner=Linear(direction=Logistic(C=0)))
    with pytest.raises(ValueError, match="C must be at least"):
        clf.fit([[1.0], [2.0]], [0, 1])
