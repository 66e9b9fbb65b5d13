"""Scales and parts of scores beside naive searches, and penalties that scales decide."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp

from omnitree._core.linear import softmax as softmax_kernel
from omnitree.growing.target import ClassTarget
from omnitree.parts.discriminants.calibration import (
    SCALES,
    added,
    best_parts,
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


def lost_by_parts(parts, scores, y, weight, near):
    """The loss of a sum, with what it costs to be far from what is near."""
    far = 10 * ((parts - near) ** 2).sum() / len(y)
    z = sum(p * s for p, s in zip(parts, scores, strict=True))
    return lost(1.0, z, y, weight) / weight.sum() + far


@pytest.mark.parametrize("seed", range(40))
def test_parts_are_those_of_a_naive_search(seed):
    """Two to four scores, some of them alike, wrong, or steep."""
    rng = np.random.default_rng(seed)
    n, k, m = int(rng.integers(20, 80)), int(rng.integers(2, 5)), 2 + seed % 3
    y = rng.integers(k, size=n).astype(np.int32)
    signal = np.eye(k)[y]
    scores = np.stack(
        [rng.normal(size=(n, k)) + a * signal for a in rng.uniform(-1, 3, m)]
    )
    if seed % 4 == 0:
        scores[-1] = scores[0]
    scores *= rng.choice([0.1, 1.0, 20.0])
    weight = rng.uniform(0.1, 3.0, size=n)
    weight[rng.random(n) < 0.2] = 0.0
    near = rng.uniform(0, 1, size=m)
    found = best_parts(scores, y, weight, near)
    own = lost_by_parts(found, scores, y, weight, near)
    assert (found >= 0).all()
    # A search without slopes, and one that finds them by differences.
    for method, start in (("Nelder-Mead", found + 0.1), ("L-BFGS-B", np.ones(m))):
        naive = minimize(
            lambda parts: lost_by_parts(parts, scores, y, weight, near),
            start,
            method=method,
            bounds=[(0.0, None)] * m,
        )
        assert own <= naive.fun + 1e-9


def test_a_score_that_says_the_opposite_has_no_part():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400).astype(np.int32)
    good = 2.0 * np.eye(2)[y] + rng.normal(size=(400, 2))
    wrong = -np.eye(2)[y]
    assert best_parts(np.stack([good, wrong]), y, np.ones(400), np.ones(2))[1] == 0


def test_few_rows_leave_parts_near_what_they_should_be():
    rng, near = np.random.default_rng(1), np.array([0.5, 0.5])
    far = []
    for n in (8, 100, 4000):
        y = rng.integers(2, size=n).astype(np.int32)
        good = 3.0 * np.eye(2)[y] + rng.normal(size=(n, 2))
        both = np.stack([good, rng.normal(size=(n, 2))])
        far.append(abs(best_parts(both, y, np.ones(n), near) - near).max())
    assert far[0] < 0.3 < far[1] < 1.5 < far[2]


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_a_fold_are_chosen_by_the_others(seed):
    """As fold after fold without its rows; what classes they have changes nothing."""
    rng = np.random.default_rng(seed)
    n, k, m = int(rng.integers(20, 80)), int(rng.integers(2, 5)), 2 + seed % 3
    y = rng.integers(k, size=n).astype(np.int32)
    scores = rng.normal(size=(m, n, k)) + np.eye(k)[y]
    weight, fold = rng.uniform(0.1, 3.0, size=n), rng.integers(5, size=n)
    near = rng.uniform(0, 1, size=m)
    parts, sums = added(scores, y, weight, near, fold)
    np.testing.assert_array_equal(parts, best_parts(scores, y, weight, near))
    for held in np.unique(fold):
        here, rest = fold == held, fold != held
        known = (scores[:, rest], y[rest], weight[rest], near)
        naive = minimize(
            lost_by_parts,
            np.ones(m),
            known,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * m,
        )
        expected = np.tensordot(naive.x, scores[:, here], 1)
        np.testing.assert_allclose(sums[here], expected, atol=2e-3)
        others = y.copy()
        others[here] = rng.integers(k, size=here.sum())
        again = added(scores, others, weight, near, fold)[1]
        np.testing.assert_array_equal(again[here], sums[here])


@pytest.mark.parametrize("seed", range(20))
def test_slopes_of_mixed_scores_are_differences_of_the_loss(seed):
    rng = np.random.default_rng(seed)
    m, n, k = rng.integers(1, 4), rng.integers(1, 200), rng.integers(1, 5)
    scores, y = rng.normal(size=(m, n, k)), rng.integers(k, size=n).astype(np.int32)
    share, parts = rng.random(n), rng.random(m)
    slope, bend = np.empty(m), np.empty((m, m))
    by_class = np.ascontiguousarray(np.moveaxis(scores, 2, 1))

    def loss(at, slope=slope, bend=bend):
        return softmax_kernel.mixed(by_class, y, share, at, slope, bend)

    z = np.tensordot(parts, scores, 1)
    assert loss(parts) == pytest.approx(lost(1.0, z, y, share))
    found, h = bend.copy(), 1e-5
    for j, step in enumerate(h * np.eye(m)):
        low, high = np.empty(m), np.empty(m)
        rise = loss(parts + step, high) - loss(parts - step, low)
        assert rise / (2 * h) == pytest.approx(slope[j], abs=1e-7)
        np.testing.assert_allclose((high - low) / (2 * h), found[j], atol=1e-7)


@pytest.mark.parametrize("size", [1e-8, 1.0, 30.0, 1e5])
def test_losses_of_mixed_scores_are_those_of_naive_sums(size):
    """To the last digits, also where odds are too small for a number."""
    rng = np.random.default_rng(0)
    m, n, k = 2, 300, 4
    scores, y = size * rng.normal(size=(m, n, k)), rng.integers(k, size=n)
    share, parts = rng.random(n), rng.random(m)
    by_class = np.ascontiguousarray(np.moveaxis(scores, 2, 1))
    room = np.empty(m), np.empty((m, m))
    loss = softmax_kernel.mixed(by_class, y.astype(np.int32), share, parts, *room)
    naive_loss = lost(1.0, np.tensordot(parts, scores, 1), y, share)
    assert loss == pytest.approx(naive_loss, rel=1e-13)


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
        held = fold[:, None] == np.arange(5)
        more = (np.ones(n), held, [1.0, 0.1, 0.01, 0.001, 0.0001], None)
        plain, scaled = (validate(whitened, target, *more, c) for c in (False, True))
        a, b = (calibrated_loss(v.scores, y, np.ones(n)) for v in (plain, scaled))
        assert b <= a + 1e-9
        saved, larger = saved + a - b, larger + (scaled.penalty > plain.penalty)
    assert saved > 0 and larger > 0
