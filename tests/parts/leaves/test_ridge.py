"""Ridge leaves against plain linear algebra, and criteria against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive_targets as naive
from tests.samples import sample_of

from omnitree import TreeRegressor
from omnitree.growing.criterion import AbsoluteError, SquaredError
from omnitree.growing.missing import MISSING
from omnitree.growing.node import Rules
from omnitree.parts.leaves import RidgeLeaves, leaf_sums
from omnitree.parts.leaves.ridge import fit_ridge
from omnitree.tree.tree import LEAF


def solve(x, t, weight, penalty):
    """Weights and bias by the normal equations."""
    total = weight.sum()
    mean, bias = weight @ x / total, weight @ t / total
    x = x - mean
    gram = (x * weight[:, None]).T @ x + penalty * np.eye(x.shape[1])
    w = np.linalg.solve(gram, (x * weight[:, None]).T @ (t - bias))
    return w, bias - mean @ w


def left_out_error(x, t, weight, penalty, fold=None):
    """Each row, or fold, left out in turn; penalty None is the constant."""
    error = 0.0
    fold = np.arange(len(t)) if fold is None else fold
    for k in set(fold):
        test = fold == k
        rest = np.where(test, 0.0, weight)
        if penalty is None:
            answer = rest @ t / rest.sum()
        else:
            w, b = solve(x, t, rest, penalty)
            answer = x[test] @ w + b
        error += weight[test] @ (t[test] - answer) ** 2
    return error


@pytest.mark.parametrize("n", [8, 30])
def test_weights(n, rng):
    for _ in range(20):
        x, t = rng.normal(size=(n, 10)), rng.normal(size=n)
        t = t + 2 * x[:, 0]
        weight = rng.integers(1, 4, n).astype(float)
        total = weight.sum()
        x -= weight @ x / total
        t -= weight @ t / total
        found = fit_ridge(x, t, weight, np.array([3.0]))
        if found is not None:
            np.testing.assert_allclose(found[0], solve(x, t, weight, 3.0)[0], atol=1e-9)


@pytest.mark.parametrize("grouped", [False, True])
def test_penalty_by_leaving_out(grouped, rng):
    """The one that is chosen has nearly the least error on what is left out."""
    penalties = np.array([0.1, 3.0, 100.0])
    for _ in range(20):
        x = rng.normal(size=(25, 4))
        t = x @ rng.normal(size=4) * rng.choice([0.0, 0.5, 2.0]) + rng.normal(size=25)
        weight = rng.integers(1, 6, 25).astype(float)
        fold = rng.permutation(25) % 5 if grouped else None
        total = weight.sum()
        x -= weight @ x / total
        t -= weight @ t / total
        errors = [left_out_error(x, t, weight, p, fold) for p in (*penalties, None)]
        found = fit_ridge(x, t, weight, penalties, fold)
        if found is None:
            chosen = errors[-1]
        else:
            near = [
                np.abs(found[0] - solve(x, t, weight, p)[0]).max() for p in penalties
            ]
            assert min(near) < 1e-9
            chosen = errors[int(np.argmin(near))]
        # Leverage takes the means as known; the error is the same up to that.
        assert chosen <= min(errors) * 1.02


def test_nothing_to_learn(rng):
    x, t = rng.normal(size=(50, 3)), rng.normal(size=50)
    t = np.where(np.arange(50) % 2, 1.0, -1.0) * np.abs(t)
    assert fit_ridge(x * 0.0, t, np.ones(50), np.array([0.1])) is None


def test_model_answers_in_own_units(rng):
    X = rng.normal(size=(60, 3)) * [1.0, 100.0, 0.01] + [5.0, -300.0, 0.0]
    y = X @ [2.0, 0.01, 50.0] + 7
    reg = TreeRegressor(leaves="ridge", max_depth=0).fit(X, y)
    np.testing.assert_allclose(reg.predict(X), y, rtol=0.01, atol=0.1)
    model = reg.tree_.model(0)
    assert model.link == "identity"
    loss = ((reg.predict(X) - y) ** 2).sum()
    assert reg.tree_.loss[0] == pytest.approx(loss, rel=1e-6, abs=1e-9)


def test_missing_are_filled_with_means(rng):
    X = rng.normal(size=(80, 2))
    y = 3 * X[:, 0]
    X[:10, 1] = np.nan
    reg = TreeRegressor(leaves="ridge", max_depth=0).fit(X, y)
    at_mean = [[1.0, float(np.nanmean(X[:, 1]))]]
    assert reg.predict([[1.0, np.nan]])[0] == pytest.approx(reg.predict(at_mean)[0])


def test_constants(rng):
    for _ in range(50):
        n = int(rng.integers(1, 12))
        target = rng.integers(-3, 4, n).astype(float)
        weight = rng.integers(1, 4, n).astype(float)
        mean = SquaredError().constant(target, weight)
        assert mean == pytest.approx(np.average(target, weights=weight))
        middle = AbsoluteError().constant(target, weight)
        repeated = np.repeat(target, weight.astype(int))
        assert middle == pytest.approx(np.median(repeated))
        loss = float(weight @ AbsoluteError().losses(target - middle))
        assert loss == pytest.approx(naive.absolute_loss(target, weight))


def test_likelihood_grows_as_the_loss_falls():
    for criterion in (SquaredError(), AbsoluteError()):
        values = [criterion.log_likelihood(loss, 50.0) for loss in (10.0, 1.0, 0.0)]
        assert values == sorted(values) and np.isfinite(values).all()


def planted(rng, n, d=4):
    X = rng.normal(size=(n, d))
    weight = rng.uniform(0.5, 2.0, n)
    return sample_of(X, X @ rng.normal(size=d) + rng.normal(size=n), weight)


def test_rows_in_blocks(rng, monkeypatch):
    """Sums over blocks give what all rows at once give."""
    sample = planted(rng, 500)
    rows = np.flatnonzero(rng.random(500) < 0.9)
    whole = RidgeLeaves().best_of(sample, rows, sample.weight[rows], 0)
    monkeypatch.setattr(leaf_sums, "BLOCK", 64)
    blocks = RidgeLeaves().best_of(sample, rows, sample.weight[rows], 0)
    assert len(list(blocks.scatter.blocks)) == -(-len(rows) // 64)
    np.testing.assert_allclose(blocks.weights, whole.weights, rtol=1e-9)
    np.testing.assert_allclose(blocks.residual, whole.residual, atol=1e-9)
    np.testing.assert_allclose(blocks.left_out, whole.left_out, atol=1e-9)
    np.testing.assert_array_equal(blocks.scatter.ends(), whole.scatter.ends())


def test_errors_measured_on_some_rows(rng, monkeypatch):
    """All rows are fitted; those that are measured lose what they would among all."""
    sample = planted(rng, 300)
    rows = np.arange(300)
    whole = RidgeLeaves(penalties=(0.01,)).best_of(sample, rows, sample.weight, 0)
    monkeypatch.setattr(leaf_sums, "MEASURED", 40)
    some = RidgeLeaves(penalties=(0.01,)).best_of(sample, rows, sample.weight, 0)
    at = some.scatter.measured
    assert len(at) == 40 and len(whole.left_out) == 300
    np.testing.assert_allclose(some.weights, whole.weights, rtol=1e-9)
    np.testing.assert_allclose(some.left_out, whole.left_out[at], atol=1e-9)
    np.testing.assert_allclose(some.columns, whole.columns[at])
    assert some.loss == pytest.approx(whole.loss)
    assert some.inflation == pytest.approx(np.median(whole.inflation[at]))


def test_the_ends_of_columns(rng):
    sample = planted(rng, 60)
    scatter = RidgeLeaves().best_of(sample, np.arange(60), sample.weight, 0).scatter
    ordered = np.sort(scatter.columns, axis=0)
    np.testing.assert_array_equal(scatter.ends(), ordered[[0, 1, -2, -1]])


def test_some_nodes_are_fitted_and_the_others_keep_what_they_have(rng):
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, 2.0, -1.0) * X[:, 1] + 0.1 * rng.normal(size=200)
    y = y + X[:, 2]
    tree = TreeRegressor(leaves="ridge", max_depth=1).fit(X, y).tree_
    rules, sample = Rules(MISSING.resolve("mean")), sample_of(X, y)
    light, heavy = RidgeLeaves(penalties=(1e-4,)), RidgeLeaves(penalties=(1.0,))
    before, every = (part.fit(tree, sample, rules) for part in (light, heavy))
    some = heavy.fit_some(before, sample, rules, tree.kind == LEAF)
    assert some.model(0) == before.model(0) != every.model(0)
    assert some.loss[0] == before.loss[0] < every.loss[0]
    for leaf in (1, 2):
        assert some.model(leaf) == every.model(leaf) != before.model(leaf)
        assert some.loss[leaf] == every.loss[leaf]


def test_the_loss_of_many_rows_comes_from_their_sums(rng, monkeypatch):
    sample, rows = planted(rng, 400), np.arange(400)
    exact = RidgeLeaves().best_of(sample, rows, sample.weight, 0).loss
    monkeypatch.setattr(leaf_sums, "BLOCK", 100)
    found = RidgeLeaves().best_of(sample, rows, sample.weight, 0)
    assert found.loss == pytest.approx(exact, rel=1e-9)
    assert "residual" not in vars(found)
