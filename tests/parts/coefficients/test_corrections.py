"""Thermal training and the pocket: step by step as the oracle, and what users expect."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive_machine as naive
from tests.cases import accuracy, cases_from, random_cases

from omnitree._core.linear import machine as kernel
from omnitree.parts.coefficients import LMDTThermal, Machine, Pocket, Thermal
from omnitree.parts.coefficients.cases import instances, merged, repeats

LEARNERS = [
    Thermal(),
    LMDTThermal(),
    LMDTThermal(tries=3),
    Pocket(),
    Pocket(ratchet=True),
]


def tables(rng, n_tables, clashes=True):
    """Small tables with 2 to 5 classes and some equal rows, also of different classes."""
    for _ in range(n_tables):
        n, m, k = rng.integers(5, 15), rng.integers(1, 6), rng.integers(2, 6)
        y = rng.integers(k, size=n).astype(np.int32)
        z = rng.normal(size=(n, m)) + y[:, None] * rng.normal(size=m) * rng.integers(3)
        equal = rng.random(n) < 0.2
        z[equal] = z[0]
        if not clashes:
            y[equal] = y[0]
        yield np.column_stack([np.ones(n), z]), y, int(k)


def as_machine(w):
    """A unit as a machine of two classes."""
    return np.stack([-w[0], w[0]]) if len(w) == 1 else w


def start(k, d):
    return np.zeros((1 if k == 2 else k, d))


# Cooling is fast here: errors of rounding double with each correction.
COOLING = (0.5, 0.05)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_passes_step_by_step(rng, epsilon, alpha):
    for x, y, k in tables(rng, 150):
        w = start(k, x.shape[1])
        seen = kernel.thermal(x, y, w, 2.0, *COOLING, epsilon, alpha, 0.0, 0.0)
        W, naive_seen = naive.thermal_passes(x, y, k, *COOLING, epsilon, alpha)
        assert seen == naive_seen
        np.testing.assert_allclose(as_machine(w), W, atol=1e-6)


def test_draws_step_by_step(rng):
    for x, y, k in tables(rng, 200):
        w, seed = start(k, x.shape[1]), int(rng.integers(2**63))
        seen = kernel.thermal(x, y, w, 2.0, *COOLING, 0.0, 0.0, 0.001, 0.99, seed)
        W, naive_seen = naive.thermal_draws(x, y, k, *COOLING, 0.0, 0.001, 0.99, seed)
        assert seen == naive_seen
        np.testing.assert_allclose(as_machine(w), W, atol=1e-6)


@pytest.mark.parametrize("ratchet", [False, True])
def test_pocket_step_by_step(rng, ratchet):
    # Without clashes: the rule makes exact ties of them, which rounding would decide.
    for x, y, k in tables(rng, 100, clashes=False):
        w, seed = start(k, x.shape[1]), int(rng.integers(2**63))
        seen = kernel.pocket(x, y, w, 0.1, ratchet, 200, seed)
        W, naive_seen = naive.pocket(x, y, k, 0.1, ratchet, 200, seed)
        assert seen == naive_seen
        np.testing.assert_allclose(as_machine(w), W, atol=1e-8)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_separable_classes_are_separated(rng, learner, k):
    centres = 12 * rng.normal(size=(k, 8))
    y = np.arange(40 * k) % k
    z = centres[y] + rng.normal(size=(len(y), 8))
    cases = cases_from((z - z.mean(axis=0)) / z.std(axis=0), y)
    machine = learner.train(cases, rng)
    assert machine.weights.shape == (1 if k == 2 else k, 8)
    # LMDT may end when an error is unlikely.
    assert accuracy(machine, cases) >= (0.98 if isinstance(learner, LMDTThermal) else 1)


def test_the_best_of_several_tries_is_kept(rng):
    """With the same draws, the second of two trainings only ever helps."""
    helped = 0
    for seed in range(30):
        cases = random_cases(rng, weight="whole")
        once, twice = (
            accuracy(learner.train(cases, np.random.default_rng(seed)), cases)
            for learner in (LMDTThermal(), LMDTThermal(tries=2))
        )
        assert twice >= once - 1e-12
        helped += twice > once + 1e-12
    assert helped > 3


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_one_row_a_class(rng, learner):
    cases = cases_from(rng.normal(size=(4, 6)), np.arange(4))
    assert accuracy(learner.train(cases, rng), cases) == 1


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_nothing_to_learn_ends(rng, learner):
    """Equal rows of several classes, and rows without columns."""
    for z in (np.ones((9, 2)), np.empty((9, 0))):
        machine = learner.train(cases_from(z, np.arange(9) % 3), rng)
        assert np.isfinite(machine.weights).all() and np.isfinite(machine.bias).all()


@pytest.mark.parametrize("learner", [Thermal(epsilon=0.0), LMDTThermal()], ids=repr)
def test_clashing_rows_end(rng, learner):
    """A row given with three classes hands weights around at an unchanged magnitude."""
    for _ in range(50):
        z = rng.normal(size=(6, 2))
        z[1:5] = z[0]
        learner.train(cases_from(z, rng.integers(4, size=6)), rng)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_way_rows_are_given_does_not_matter(seed, learner):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        cases = random_cases(rng, weight="whole", missing_share=0.1)
        order = rng.permutation(
            np.repeat(np.arange(len(cases.y)), cases.weight.astype(int))
        )
        noise = 1 + 1e-14 * rng.normal(size=cases.z[order].shape)
        again = cases_from(cases.z[order] * noise, cases.y[order])
        one, two = (
            learner.train(c, np.random.default_rng(seed)) for c in (cases, again)
        )
        np.testing.assert_array_equal(one.weights, two.weights)
        np.testing.assert_array_equal(one.bias, two.bias)


def test_weights_are_repeats():
    cases = cases_from(np.array([[2.0], [1.0], [2.0]]), [0, 1, 0], [1, 3, 1])
    x, y = instances(cases)
    assert sorted(zip(x[:, 1], y, strict=True)) == [(1, 1)] * 3 + [(2, 0)] * 2
    assert merged(cases).weight.tolist() in ([3, 2], [2, 3])


@pytest.mark.parametrize(
    ("weight", "shown"),
    [([0.2, 0.4], [1, 2]), ([1e9, 1e9], [10, 10]), ([1.0, 0.6, 0.4], [3, 1, 1])],
)
def test_odd_weights(weight, shown):
    assert repeats(np.array(weight)).tolist() == shown


def test_heavy_rows_win(rng):
    z = np.repeat([[0.0], [1.0]], 2, axis=0)
    cases = cases_from(z, [0, 1, 0, 1], [1, 50, 50, 1])
    for learner in LEARNERS:
        machine = learner.train(cases, np.random.default_rng(0))
        assert accuracy(machine, cases) > 0.9


@pytest.mark.parametrize("learner", [Thermal(alpha=0.0), LMDTThermal()], ids=repr)
@pytest.mark.parametrize("k", [2, 4])
def test_training_goes_on_from_a_machine(rng, learner, k):
    centres = 15 * rng.normal(size=(k, 6))
    y = np.arange(10 * k) % k
    cases = cases_from(centres[y] + rng.normal(size=(len(y), 6)), y)
    right = learner.train(cases, rng)
    assert accuracy(right, cases) == 1
    again = learner.train(cases, rng, start=right)
    np.testing.assert_array_equal(again.weights, right.weights)
    wrong = Machine(-right.weights, -right.bias)
    before = wrong.weights.copy()
    assert accuracy(learner.train(cases, rng, start=wrong), cases) > accuracy(
        wrong, cases
    )
    np.testing.assert_array_equal(wrong.weights, before)


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (Thermal(a=1.5), "a"),
        (Thermal(b=0), "b"),
        (Thermal(alpha=-1), "alpha"),
        (LMDTThermal(certainty=1), "certainty"),
        (LMDTThermal(least="x"), "least"),
        (LMDTThermal(tries=0), "tries"),
        (Pocket(passes=0), "passes"),
        (Pocket(epsilon=-0.1), "epsilon"),
    ],
)
def test_bad_options_are_named(rng, learner, name):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        learner.train(random_cases(rng), rng)
