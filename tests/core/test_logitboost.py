"""The compiled LogitBoost against the obvious one."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive_logitboost as naive

from omnitree._core.linear import logitboost as kernel
from omnitree.parts.leaves.boosting import BoostedModel


def sample(seed: int):
    """A small table: ties, weights, absent classes, constant and equal columns."""
    rng = np.random.default_rng(seed)
    n, p, k = int(rng.integers(2, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 6))
    x = rng.normal(size=(n, p))
    if rng.random() < 0.4:
        x = np.round(x)
    if rng.random() < 0.4:
        x[:, 0] = np.sign(x[:, 0]) * 1.5
    if rng.random() < 0.2:
        x[:, -1] = 1.5
    if p > 1 and rng.random() < 0.3:
        x[:, -1] = x[:, 0]
    y = rng.integers(0, k if rng.random() < 0.7 else 1, n).astype(np.int32)
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    return np.ascontiguousarray(x), y, weight, k


def run(x, y, weight, start, steps, **small):
    k = start.shape[1]
    bias, weights, sums = np.zeros(k), np.zeros((k, x.shape[1])), start.copy()
    made = kernel.boost(x, y, weight, sums, steps, bias, weights, **small)
    return sums, bias, weights, made


@pytest.mark.parametrize("seed", range(200))
def test_a_step_is_the_obvious_one(seed):
    x, y, weight, k = sample(seed)
    start = np.random.default_rng(seed + 1000).normal(size=(len(y), k))
    start -= start.mean(axis=1, keepdims=True)
    steps = 1 + seed % 3
    small = {"rate": 0.3, "ridge": 0.5} if seed % 2 else {}
    got = run(x, y, weight, start, steps, **small)
    want = naive.boost(x, y, weight, start, steps, **small)
    assert got[3] == want[3]
    for a, b in zip(got[:3], want[:3], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_the_model_gives_the_sums(seed):
    x, y, weight, k = sample(seed)
    sums, bias, weights, _ = run(x, y, weight, np.zeros((len(y), k)), 10)
    np.testing.assert_allclose(x @ weights.T + bias, sums, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_weight_of_two_is_the_row_twice(seed):
    x, y, weight, k = sample(seed)
    times = weight.astype(int)
    many = np.repeat(np.arange(len(y)), times)
    one = run(x, y, weight, np.zeros((len(y), k)), 3)
    two = run(x[many], y[many], np.ones(len(many)), np.zeros((len(many), k)), 3)
    np.testing.assert_allclose(one[2], two[2], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(30))
def test_errors_are_those_of_the_rows_watched(seed):
    x, y, weight, k = sample(seed)
    half = len(y) // 2 or 1
    a, b = slice(0, half), slice(half, None)
    if not len(y[b]):
        pytest.skip("one row is too few to watch another")
    errors = np.zeros(7)
    start = BoostedModel.start(k, x.shape[1])
    made = start.watched(x, y, weight, (a, b), 6, 50, errors)
    for s in range(made + 1):
        _, bias, weights, _ = run(x[a], y[a], weight[a], np.zeros((half, k)), s)
        wrong = (x[b] @ weights.T + bias).argmax(axis=1) != y[b]
        if (
            np.ptp(np.sort(x[b] @ weights.T + bias, axis=1)[:, -2:], axis=1).min()
            > 1e-9
        ):
            assert errors[s] == weight[b][wrong].sum()
    assert not errors[made + 1 :].any()


def test_watching_stops_after_its_patience():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60).astype(np.int32)
    errors, parts = np.zeros(201), (np.arange(30), np.arange(30, 60))
    made = BoostedModel.start(2, 3).watched(x, y, np.ones(60), parts, 200, 5, errors)
    best = 1 + int(errors[1 : made + 1].argmin())
    assert made == best + 7
