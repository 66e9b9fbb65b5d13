"""Leaves with curves: what they fit, and how they go on beyond the values they have seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from tests.samples import sample_of

from omnitree import OmniTreeRegressor, TreeRegressor
from omnitree.growing.missing import MISSING
from omnitree.growing.node import Node, Rules
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


def test_lines_are_nothing_for_an_average_row(rng):
    """They are told beside curves, and beside the answer that such a row gets."""
    X = 100 + rng.normal(size=(300, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * rng.normal(size=300)
    model = leaf(AdditiveLeaves(), X, y).tree_.models[0]
    assert model.bias[0] == pytest.approx(y.mean())
    (curves,) = model.curve_values
    for column, knots, (low, high, missing) in zip(
        model.curve_columns, model.knots, curves, strict=True
    ):
        values = np.interp(X[:, column], knots, (low, high))
        assert values.mean() == pytest.approx(0, abs=0.02)
        assert missing == 0


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


def test_the_fit_of_the_chosen_bend_is_used_again(rng):
    """It is what the root would get without it."""
    X, y = waves(rng, 300)
    sample = sample_of(X, y)
    rows, rules = np.arange(300), Rules(MISSING.resolve("mean"))
    part = AdditiveLeaves(knots="table").settled(sample, rules)
    (((known,),),) = [[*sample.known_fits.values()]]
    assert part.fitted(sample, rows, sample.weight, 0) is known
    assert not sample.known_fits
    again = part.fitted(sample, rows, sample.weight, 0)
    assert again is not known
    np.testing.assert_array_equal(again.weights, known.weights)
    np.testing.assert_array_equal(again.left_out, known.left_out)


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


def test_knots_of_the_table_or_of_the_leaf(rng):
    X, y = waves(rng, 400)
    sample, rows = sample_of(X, y), np.flatnonzero(X[:, 0] > 1.0)
    weight = sample.weight[rows]
    for knots, last in (("table", X[:, 0].max()), ("leaf", X[rows, 0].max())):
        for first, of in ((X[:, 0].min(), "table"), (X[rows, 0].min(), "leaf")):
            part = AdditiveLeaves(bends=(3.0,), knots=knots)
            curve = part.best_of(sample, rows, weight, 0).standard.scaling.curves[0]
            own = sample.standardised.scaling.own_knots(curve)
            assert own[-1] == pytest.approx(last)
            assert (own[0] == pytest.approx(first)) == (of == knots)
    with pytest.raises(ValueError, match="knots"):
        leaf(AdditiveLeaves(knots="none"), X, y)


def test_models_found_with_the_tests_are_those_of_the_leaves(rng):
    """What a sample remembers is what the rows of a node would get again."""
    X, y = waves(rng, 200)
    sample = sample_of(X, y, rng.uniform(0.5, 2.0, 200))
    part = AdditiveLeaves(bends=(1.0,), knots="table")
    node = Node.root(sample, Rules(MISSING.resolve("mean"), leaves=part))
    rest = part.unexplained(node)
    found = part.best_of(sample, node.rows, node.weight, 0)
    ((model, loss),) = sample.known_models.values()
    assert model == part.finished(found.model, found)
    assert loss == pytest.approx(found.loss)
    plain = np.abs(found.left_out) <= 4 * np.abs(found.residual)
    np.testing.assert_allclose(rest[plain], found.left_out[plain])
    noise = sample_of(X, np.where(np.arange(200) % 2, 1.0, -1.0))
    node = Node.root(noise, node.rules)
    np.testing.assert_allclose(part.unexplained(node), node.y - node.y.mean())


@st.composite
def tables(draw):
    """Numbers with ties, gaps and far values, a category, and a target."""
    n = draw(st.integers(20, 120))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = {}
    for j in range(draw(st.integers(1, 4))):
        shape = draw(st.sampled_from(["normal", "heavy", "few", "close"]))
        x = rng.normal(size=n)
        if shape == "heavy":
            x = np.sinh(3 * x)
        elif shape == "few":
            x = np.round(x)
        elif shape == "close" and j:
            x = columns["x0"] + 1e-3 * x
        columns[f"x{j}"] = x
    frame = pd.DataFrame(columns) * draw(st.sampled_from([1e-3, 1.0, 1e6]))
    y = sum(rng.normal() * np.tanh(x) for x in columns.values())
    y = y + draw(st.sampled_from([0.0, 0.3, 3.0])) * rng.normal(size=n)
    if draw(st.booleans()):
        frame = frame.mask(rng.random(frame.shape) < 0.1)
    if draw(st.booleans()):
        frame["kind"] = pd.Categorical(rng.choice(["u", "v", "w"], n))
        y = y + (frame["kind"] == "u").to_numpy()
    return frame, np.asarray(y, dtype=float)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(tables(), st.integers(0, 2**32 - 1))
def test_far_from_the_training_data_answers_stand_still(table, seed):
    """Half a range beyond the data, every answer is what it is further out.

    And none is further from the targets than three times their range.
    """
    frame, y = table
    reg = OmniTreeRegressor(random_state=0).fit(frame, y)
    rng = np.random.default_rng(seed)
    far = frame.sample(30, replace=True, random_state=seed % 1000).reset_index(
        drop=True
    )
    numbers = frame.select_dtypes("number")
    low, high = numbers.min(), numbers.max()
    for name in numbers:
        spread = max(high[name] - low[name], 1e-9) * 10.0 ** rng.integers(0, 9, 30)
        moved = rng.random(30) < 0.7
        there = far[name].to_numpy() + spread * rng.normal(size=30)
        far[name] = np.where(moved, there, far[name])
    near = far.copy()
    for name in numbers:
        half = (high[name] - low[name]) / 2 * (1 + 1e-9)
        near[name] = far[name].clip(low[name] - half, high[name] + half)
    answers = reg.predict(far)
    scale = np.ptp(y) + 1e-12
    np.testing.assert_allclose(answers, reg.predict(near), atol=1e-6 * scale)
    assert (answers >= y.min() - 3 * scale).all()
    assert (answers <= y.max() + 3 * scale).all()
