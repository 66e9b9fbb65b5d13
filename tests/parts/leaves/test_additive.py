"""Leaves with curves: what they fit, and how they go on beyond the values they have seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from tests.samples import sample_of

from omnitree import OmniTreeRegressor, TreeRegressor
from omnitree.growing.missing import MISSING
from omnitree.growing.node import Rules
from omnitree.parts.leaves import AdditiveLeaves, RidgeLeaves


def leaf(leaves, X, y, **options):
    """A tree of one leaf."""
    return TreeRegressor(leaves=leaves, max_depth=0, **options).fit(X, y)


def waves(rng, n):
    X = rng.uniform(-3, 3, size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


def test_curves_fit_what_lines_cannot(rng):
    X, y = waves(rng, 400)
    new, truth = waves(rng, 400)
    lines, curves = (leaf(part, X, y) for part in (RidgeLeaves(), AdditiveLeaves()))
    assert curves.score(new, truth) > 0.95 > 0.9 > lines.score(new, truth)


def test_lines_where_lines_do(rng):
    X = rng.normal(size=(300, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * rng.normal(size=300)
    model = leaf(AdditiveLeaves(), X, y).tree_.models[0]
    assert all(len(knots) == 2 for knots in model.knots)


def test_the_weights_are_those_of_ridge_regression(rng):
    X, y = waves(rng, 150)
    sample = sample_of(X, y, rng.uniform(0.5, 2.0, 150))
    part = AdditiveLeaves(bends=(1.0,), penalties=(0.01,))
    found = part.best_of(sample, np.arange(150), sample.weight, 0)
    assert found.standard.n_columns > 3
    total = sample.weight.sum()
    ridge = Ridge(alpha=0.01 * total).fit(found.columns, y, sample.weight)
    np.testing.assert_allclose(found.weights, ridge.coef_, rtol=1e-6, atol=1e-9)
    left_out = [
        y[i]
        - Ridge(alpha=0.01 * total)
        .fit(
            np.delete(found.columns, i, 0), np.delete(y, i), np.delete(sample.weight, i)
        )
        .predict(found.columns[[i]])[0]
        for i in range(10)
    ]
    np.testing.assert_allclose(found.left_out[:10], left_out, rtol=1e-3, atol=1e-3)


def test_one_bend_for_a_whole_tree(rng):
    X, y = waves(rng, 300)
    settled = AdditiveLeaves().settled(sample_of(X, y), Rules(MISSING.resolve("mean")))
    assert len(settled.bends) == 1
    assert settled.bends[0] > 0.3  # a wave bends


def test_no_answer_runs_away(rng):
    X = rng.uniform(0, 1, size=(200, 2))
    y = 3 * X[:, 0] + np.sin(6 * X[:, 1]) + 0.1 * rng.normal(size=200)
    reg = leaf(AdditiveLeaves(), X, y)
    far = reg.predict([[1e6, 0.5], [1.6, 0.5], [0.5, 1e6], [0.5, 1.0]])
    assert far[0] == far[1]
    assert far[2] == far[3]
    assert np.abs(far).max() < 10


def test_lines_reach_further_where_that_suits_rows_left_out(rng):
    """On a line, the last value is no end; where the target flattens, it is."""
    x = np.sort(rng.exponential(size=200))[:, None]
    model = leaf(AdditiveLeaves(min_rows=1000), x, 2 * x[:, 0]).tree_.models[0]
    assert model.knots[0][1] > x[-1, 0]
    y = np.minimum(2 * x[:, 0], x[-3, 0])
    model = leaf(AdditiveLeaves(min_rows=1000), x, y).tree_.models[0]
    assert model.knots[0][1] == pytest.approx(x[-1, 0])


def test_a_missing_value_is_a_value_of_its_own(rng):
    x = rng.normal(size=400)
    missing = rng.random(400) < 0.3
    y = np.where(missing, 5.0, x**2) + 0.1 * rng.normal(size=400)
    X = np.where(missing, np.nan, x)[:, None]
    reg = leaf(AdditiveLeaves(), X, y, missing="mean")
    assert reg.predict([[np.nan]])[0] == pytest.approx(5.0, abs=0.3)
    assert reg.predict([[0.0]])[0] == pytest.approx(0.0, abs=0.5)


def test_the_default_regressor_takes_curves(rng):
    X, y = waves(rng, 300)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["kind"] = pd.Categorical(rng.choice(["u", "v"], 300))
    y = y + np.where(frame["kind"] == "v", 1.0, 0.0)
    reg = OmniTreeRegressor(random_state=0).fit(frame, y)
    assert any(len(knots) > 2 for knots in reg.tree_.models[0].knots)
    assert reg.score(frame, y) > 0.9
    scope: dict = {}
    exec(reg.export("python"), scope)
    rows = frame.head(20).to_dict("records")
    assert [scope["predict"](row) for row in rows] == reg.predict(
        frame.head(20)
    ).tolist()
