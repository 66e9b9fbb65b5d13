"""The perceptron and robust linear programming, and what holds for every learner."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad, linprog
from scipy.special import expit
from tests import naive_machine
from tests.cases import accuracy, cases_from, node_of, random_cases
from tests.tables import random_sample

from omnitree._core.linear import machine as kernel
from omnitree.parts.coefficients import (
    COEFFICIENTS,
    Cases,
    Perceptron,
    RobustLP,
    StochasticPerceptron,
    Thermal,
)
from omnitree.parts.coefficients.gradient import squared_error

EVERY = [cls() for cls in COEFFICIENTS.values()]
# The paper's early end may leave a row on the wrong side.
PATIENT = [Thermal(alpha=0.0) if learner == Thermal() else learner for learner in EVERY]
DETERMINISTIC = [learner for learner in EVERY if not learner.random]


def two_clouds(rng, n=60, m=5, apart=10.0):
    y = np.arange(n) % 2
    direction = rng.normal(size=m)
    direction /= np.linalg.norm(direction)
    z = rng.normal(size=(n, m)) + np.outer(y, apart * direction)
    return cases_from((z - z.mean(axis=0)) / z.std(axis=0), y)


@pytest.mark.parametrize("learner", PATIENT, ids=repr)
def test_separable_classes_are_separated(rng, learner):
    for _ in range(10):
        cases = two_clouds(rng)
        assert accuracy(learner.train(cases, rng), cases) == 1


@pytest.mark.parametrize("learner", EVERY, ids=repr)
def test_one_row_a_class_and_useless_columns(rng, learner):
    cases = cases_from(np.array([[-1.0, 0.0, 5.0], [1.0, 0.0, 5.0]]), [0, 1])
    machine = learner.train(cases, rng)
    assert accuracy(machine, cases) == 1
    assert machine.weights[0, 1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("learner", EVERY, ids=repr)
def test_what_cannot_be_learned_is_survived(rng, learner):
    for z in (
        np.zeros((8, 2)),
        np.empty((8, 0)),
        np.repeat(rng.normal(size=(4, 1)), 2, 0),
    ):
        machine = learner.train(cases_from(z, np.arange(8) % 2), rng)
        assert machine.weights.shape == (1, z.shape[1]) and machine.bias.shape == (1,)
        assert np.isfinite(machine.weights).all() and np.isfinite(machine.bias).all()


@pytest.mark.parametrize("learner", EVERY, ids=repr)
def test_a_split_routes_as_its_machine(rng, learner):
    """In the table's own units, missing values and categories included."""
    for _ in range(20):
        sample = random_sample(rng, k=2, missing_share=0.1)
        cases = Cases.of(node_of(sample))
        if not len(cases.columns):
            continue
        machine = learner.train(cases, rng)
        g = cases.z @ machine.weights[0] + machine.bias[0]
        clear = np.abs(g) > 1e-9 * (1 + np.abs(machine.weights).sum())
        branch = cases.split(machine, 0.5).route(sample.table, np.arange(len(g)))
        np.testing.assert_array_equal(branch[clear], machine.branches(cases.z)[clear])


@pytest.mark.parametrize("learner", DETERMINISTIC, ids=repr)
def test_a_weight_is_a_number_of_rows(rng, learner):
    for _ in range(20):
        cases = random_cases(rng, k=2, weight="whole", categorical=0)
        rows = rng.permutation(
            np.repeat(np.arange(len(cases.y)), cases.weight.astype(int))
        )
        again = cases_from(cases.z[rows], cases.y[rows])
        one, two = (learner.train(c, rng) for c in (cases, again))
        scale = np.abs(one.weights).max() + 1
        np.testing.assert_allclose(one.weights, two.weights, atol=1e-3 * scale)


# -- perceptron ----------------------------------------------------------------------


def test_error_and_gradient(rng):
    cases = cases_from(np.zeros((12, 1)), rng.integers(2, size=12), rng.random(12))
    error = squared_error(cases)
    sums = rng.normal(size=12)
    naive = np.average((expit(sums) - cases.y) ** 2, weights=cases.weight)
    assert error(sums)[0] == pytest.approx(naive)
    assert check_grad(lambda s: error(s)[0], lambda s: error(s)[1], sums) < 1e-6


def test_perceptron_is_at_a_minimum(rng):
    cases = cases_from(rng.normal(size=(50, 3)), rng.integers(2, size=50))
    unit = Perceptron(epochs=1000, decay=0.01).train(cases, rng)

    def loss(w):
        value, _ = squared_error(cases)(cases.z @ w[1:] + w[0])
        return value + 0.005 * w[1:] @ w[1:]

    w = np.append(unit.bias, unit.weights[0])
    for _ in range(50):
        assert loss(w + 0.01 * rng.normal(size=4)) > loss(w)


def test_decay_bounds_the_weights(rng):
    cases = two_clouds(rng)
    lengths = [
        np.linalg.norm(Perceptron(decay=d).train(cases, rng).weights)
        for d in (1e-4, 1e-3, 1e-2)
    ]
    assert lengths[0] > lengths[1] > lengths[2] > 0


@pytest.mark.parametrize("options", [{"epochs": 0}, {"decay": -1}])
def test_bad_options_are_named(rng, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Perceptron(**options).train(two_clouds(rng), rng)


# -- perceptron, a step a row --------------------------------------------------------


@pytest.mark.parametrize("squared", [False, True])
def test_steps_as_the_oracle(rng, squared):
    for _ in range(100):
        n, d = rng.integers(2, 20), rng.integers(1, 6)
        x, y = rng.normal(size=(n, d)), rng.integers(2, size=n).astype(np.int32)
        w = rng.normal(size=(1, d))
        orders = rng.permuted(np.tile(np.arange(n), (5, 1)), axis=1)
        naive = naive_machine.descent(x, y, w[0], orders, 0.3, 0.8, 0.6, squared)
        kernel.descent(x, y, w, orders, 0.3, 0.8, 0.6, squared)
        np.testing.assert_allclose(w[0], naive, atol=1e-9)


@pytest.mark.parametrize("error", ["squared", "entropy"])
def test_stochastic_perceptron_separates(rng, error):
    cases = two_clouds(rng)
    unit = StochasticPerceptron(error).train(cases, rng)
    assert accuracy(unit, cases) > 0.95
    # What makes it less than the minimum of its error: it stops after a few epochs.
    longer = StochasticPerceptron(error, epochs=300, cooling=1).train(cases, rng)
    assert accuracy(longer, cases) >= accuracy(unit, cases)


@pytest.mark.parametrize(
    "options",
    [{"epochs": 0}, {"rate": -1}, {"cooling": 2}, {"momentum": 2}, {"error": "other"}],
)
def test_bad_options_of_steps_are_named(rng, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        StochasticPerceptron(**options).train(two_clouds(rng), rng)


def test_orders_are_checked(rng):
    x, y, w = np.ones((3, 2)), np.zeros(3, dtype=np.int32), np.zeros((1, 2))
    for orders in (np.zeros((0, 3), int), np.zeros((1, 2), int), np.full((1, 3), 3)):
        with pytest.raises(ValueError, match="orders"):
            kernel.descent(x, y, w, orders, 0.1, 1.0, 0.0, True)


# -- robust linear programming -------------------------------------------------------


def average_miss(machine, cases):
    """The objective: average distance by which each class misses its side."""
    sign = 2 * cases.y - 1
    miss = np.maximum(0, 1 - sign * (cases.z @ machine.weights[0] + machine.bias[0]))
    return sum(
        np.average(miss[cases.y == k], weights=cases.weight[cases.y == k])
        for k in (0, 1)
    )


def test_the_dual_finds_what_the_primal_finds(rng):
    for _ in range(60):
        cases = random_cases(rng, k=2, n=20, missing_share=0.1)
        n, m = cases.z.shape
        sign = (2.0 * cases.y - 1)[:, None]
        size = np.bincount(cases.y, weights=cases.weight)
        primal = linprog(
            np.concatenate([np.zeros(m + 1), cases.weight / size[cases.y]]),
            A_ub=-np.hstack([sign, sign * cases.z, np.eye(n)]),
            b_ub=-np.ones(n),
            bounds=[(None, None)] * (m + 1) + [(0, None)] * n,
        )
        found = average_miss(RobustLP().train(cases, rng), cases)
        assert found == pytest.approx(primal.fun, abs=1e-6)
