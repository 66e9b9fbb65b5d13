"""Stagewise regression: the obvious steps, and a look at few of many columns."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from tests import naive_logitboost as naive
from tests.core.test_logitboost import sample

from omnitree.parts.discriminants import stagewise
from omnitree.parts.discriminants.stagewise import LOOK, PROMISING, stages


def fitted(x, y, weight, k, n_stages, rate=0.3, ridge=0.5):
    """Weights and biases after some stages, and how many there were."""
    weights, bias, made = np.zeros((k, x.shape[1])), np.zeros(k), 0
    for stage in islice(stages(x, y, weight, k, rate, ridge), n_stages):
        weights[:, stage.columns] += stage.weights
        bias += stage.bias
        made += 1
    return weights, bias, made


@pytest.mark.parametrize("seed", range(60))
def test_steps_are_the_obvious_ones(seed):
    x, y, weight, k = sample(seed)
    if len(np.unique(y)) < 2:
        y[: len(y) // 2] = 1 - y[0]
    weights, bias, made = fitted(x, y, weight, k, 1)
    start = np.zeros((len(y), k))
    _, naive_bias, naive_weights, done = naive.boost(
        x, y, weight, start, LOOK, rate=0.3, ridge=0.5
    )
    assert made == (done > 0)
    np.testing.assert_allclose(weights, naive_weights, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(bias, naive_bias, rtol=1e-6, atol=1e-7)


def wide(n=300, p=400, k=2, seed=0):
    """Three of many columns tell the class."""
    rng = np.random.default_rng(seed)
    x = np.ascontiguousarray(rng.normal(size=(n, p)))
    scores = 2.0 * np.column_stack([x[:, c] for c in range(k)])
    return x, (scores + rng.gumbel(size=(n, k))).argmax(axis=1).astype(np.int32)


@pytest.mark.parametrize("k", [2, 3])
def test_few_columns_are_looked_at_and_the_right_ones_found(k, monkeypatch):
    x, y = wide(k=k)
    weight = np.ones(len(y))
    few, _, _ = fitted(x, y, weight, k, 4)
    assert (np.count_nonzero(few.any(axis=0))) <= 4 * LOOK * (1 if k == 2 else k)
    largest = np.argsort(-np.abs(few).max(axis=0))[:k]
    assert set(largest) == set(range(k))
    monkeypatch.setattr(stagewise, "PROMISING", x.shape[1])
    every, _, _ = fitted(x, y, weight, k, 4)
    agree = np.corrcoef((x @ few.T).ravel(), (x @ every.T).ravel())[0, 1]
    assert agree > 0.999


def test_columns_are_chosen_whatever_they_all_have_in_common():
    """Products have means; the first steps must not take them for information."""
    x, y = wide(p=PROMISING + 50)
    x[:, 100:] += 50.0
    chosen = next(stages(x, y, np.ones(len(y)), 2, 0.3, 0.5)).columns
    assert {0, 1} <= set(chosen.tolist())
    assert (chosen >= 100).mean() < 0.5


def test_weights_of_all_rows_alike_do_not_matter():
    x, y = wide()
    one, three = (fitted(x, y, np.full(len(y), w), 2, 3) for w in (1.0, 3.0))
    np.testing.assert_allclose(one[0], three[0], rtol=1e-7, atol=1e-10)


def test_a_rare_value_takes_no_large_weight():
    """One row stands out in a column: without a penalty its slope would be steep."""
    x, y = np.zeros((200, 1)), np.arange(200, dtype=np.int32) % 2
    x[1] = 0.01
    weights, _, _ = fitted(x, y, np.ones(200), 2, 20)
    assert np.abs(weights).max() < 1.0
