"""Scales of scores beside a search by SciPy, and penalties that are compared with them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from omnitree.growing.target import ClassTarget
from omnitree.parts.discriminants.calibration import (
    SCALES,
    calibrated,
    calibrated_loss,
)
from omnitree.parts.discriminants.softmax import Whitened
from omnitree.parts.discriminants.softmax_folds import validate


def lost(scale, scores, y, weight):
    z = scale * scores
    return weight @ (logsumexp(z, axis=1) - z[np.arange(len(y)), y])


def naive(scores, y, weight):
    def loss(log_scale):
        far = 0.5 * log_scale**2 / len(y)
        return lost(np.exp(log_scale), scores, y, weight) / weight.sum() + far

    bounds = np.log(SCALES)
    found = minimize_scalar(
        loss, bounds=bounds, method="bounded", options={"xatol": 1e-9}
    )
    return float(np.exp(found.x))


@pytest.mark.parametrize("seed", range(60))
def test_scales_are_those_of_a_naive_search(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 60)), int(rng.integers(2, 5))
    y = rng.integers(k, size=n)
    truth = rng.choice([0.0, 0.3, 1.0, 3.0, 30.0])
    scores = truth * np.eye(k)[y] + rng.normal(size=(n, k)) * rng.choice(
        [0.0, 0.1, 5.0]
    )
    weight = rng.uniform(0.1, 3.0, size=n)
    scale, expected = calibrated(scores, y, weight), naive(scores, y, weight)
    assert SCALES[0] <= scale <= SCALES[1]
    assert scale == pytest.approx(expected, rel=1e-5)
    own = lost(scale, scores, y, weight)
    assert calibrated_loss(scores, y, weight) == pytest.approx(own, rel=1e-9, abs=1e-12)


def test_a_large_penalty_is_not_held_against_small_scores():
    """Of twenty tables, some get a larger penalty, and calibrated scores are likelier."""
    saved, larger = 0.0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, p = 60, 20
        y = np.repeat([0, 1], n // 2).astype(np.int32)
        X = rng.normal(size=(n, p))
        X[:, :5] += 1.5 * y[:, None]
        whitened = Whitened.of(X, np.ones(n))
        target, fold = ClassTarget(y, np.arange(2)), np.arange(n) % 5
        more = (np.ones(n), fold, [1.0, 0.1, 0.01, 0.001, 0.0001], None)
        plain, scaled = (validate(whitened, target, *more, c) for c in (False, True))
        a, b = (calibrated_loss(v.scores, y, np.ones(n)) for v in (plain, scaled))
        assert b <= a + 1e-9
        saved, larger = saved + a - b, larger + (scaled.penalty > plain.penalty)
    assert saved > 0 and larger > 0
