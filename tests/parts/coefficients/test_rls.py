"""Recursive least squares: the recursion, its closed form, and ridge regression agree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from tests.cases import accuracy, cases_from, random_cases

from omnitree.parts.coefficients import RLS, FisherUnit


def weights(machine):
    return np.append(machine.weights[0], machine.bias)


def test_the_recursion_ends_at_the_closed_form(rng):
    for _ in range(200):
        cases = random_cases(rng, k=2, missing_share=0.1)
        # Columns of categories can depend on each other, and so far as the ridge alone
        # decides the weights the recursion keeps few digits; what the test sees is the sum.
        closed, recursion = (RLS(sequential=s).train(cases, rng) for s in (False, True))
        sums = [cases.z @ m.weights[0] + m.bias for m in (closed, recursion)]
        np.testing.assert_allclose(*sums, atol=1e-4)


def test_weights_agree_where_columns_are_independent(rng):
    for _ in range(50):
        z = rng.normal(size=(60, 4))
        cases = cases_from(z, rng.integers(2, size=60), rng.integers(1, 4, size=60))
        both = [weights(RLS(sequential=s).train(cases, rng)) for s in (False, True)]
        np.testing.assert_allclose(*both, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("passes", [1, 3])
def test_it_is_ridge_regression(rng, passes):
    cases = random_cases(rng, k=2, n=30, d=4, categorical=0)
    x = np.column_stack([np.ones(30), cases.z])
    ridge = Ridge(alpha=1e-3 / passes, fit_intercept=False, tol=1e-12)
    ridge.fit(x, 2.0 * cases.y - 1, sample_weight=cases.weight)
    unit = RLS(passes=passes, variance=1e3).train(cases, rng)
    np.testing.assert_allclose(
        np.append(unit.bias, unit.weights[0]), ridge.coef_, rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize("sequential", [False, True])
def test_a_weight_is_a_number_of_rows(rng, sequential):
    cases = random_cases(rng, k=2, n=20, d=3, weight="whole", categorical=0)
    repeats = cases.weight.astype(int)
    again = cases_from(np.repeat(cases.z, repeats, axis=0), np.repeat(cases.y, repeats))
    rls = RLS(sequential=sequential)
    np.testing.assert_allclose(
        weights(rls.train(cases, rng)), weights(rls.train(again, rng)), rtol=1e-5
    )


def test_known_answer():
    # Least squares through (-1, -1), (1, 1): t = z.
    unit = RLS().train(cases_from(np.array([[-1.0], [1.0]]), [0, 1]), None)
    np.testing.assert_allclose(weights(unit), [1, 0], atol=1e-6)


def test_huge_weights_and_equal_columns(rng):
    z = rng.normal(size=(40, 2))
    y = (z.sum(axis=1) > 0).astype(int)
    cases = cases_from(np.column_stack([z, z]), y, np.full(40, 1e15))
    unit = RLS().train(cases, rng)
    assert np.isfinite(weights(unit)).all()
    np.testing.assert_allclose(unit.weights[0, :2], unit.weights[0, 2:], rtol=1e-5)
    assert accuracy(unit, cases) > 0.9


@pytest.mark.parametrize(
    "options", [{"passes": 0}, {"variance": -1.0}, {"variance": "big"}]
)
def test_bad_options_are_named(rng, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        RLS(**options).train(random_cases(rng, k=2), rng)


def test_fisher_is_bayes_rule_with_the_pooled_covariance(rng):
    for _ in range(20):
        n0, n1, m = (int(v) for v in rng.integers([20, 20, 1], [60, 60, 6]))
        y = np.repeat([0, 1], [n0, n1])
        z = rng.normal(size=(n0 + n1, m)) @ rng.normal(size=(m, m)) + 0.8 * y[:, None]
        weight = rng.integers(1, 4, size=len(y))
        found = FisherUnit().train(cases_from(z, y, weight), rng)
        rows, label = z.repeat(weight, axis=0), y.repeat(weight)
        parts = [rows[label == k] for k in (0, 1)]
        low, high = (part.mean(axis=0) for part in parts)
        scatter = sum(len(p) * np.cov(p.T, bias=True).reshape(m, m) for p in parts)
        w = np.linalg.solve(scatter / (len(rows) - 2), high - low)
        b = np.log(len(parts[1]) / len(parts[0])) - (low + high) @ w / 2
        scale = np.linalg.norm(w) / np.linalg.norm(found.weights)
        np.testing.assert_allclose(scale * found.weights[0], w, rtol=1e-4, atol=1e-5)
        assert scale * found.bias[0] == pytest.approx(b, rel=1e-4, abs=1e-5)
