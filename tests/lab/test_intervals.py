"""Measures against scikit-learn's, and intervals against what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn import metrics

from omnitree.lab.intervals import ScoredRows, wilson


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_measures_are_those_of_scikit_learn(rng: np.random.Generator):
    truth = rng.random(200) < 0.3
    score = np.round(rng.normal(truth, 1), 1)  # with ties
    weight = rng.integers(1, 5, 200).astype(float)
    rows = ScoredRows(weight)
    area = metrics.roc_auc_score(truth, score, sample_weight=weight)
    assert rows.area(score, truth).value == pytest.approx(area)
    y, answer = rng.normal(size=200), rng.normal(size=200)
    centre = rows.mean(y)
    found = rows.determination((y - answer) ** 2, (y - centre) ** 2)
    assert found.value == pytest.approx(
        metrics.r2_score(y, answer, sample_weight=weight)
    )
    assert found.low < found.value < found.high


def test_weights_are_shares_and_groups_are_units(rng: np.random.Generator):
    wrong = rng.random(120) < 0.2
    weight = rng.random(120) + 0.5
    plain, scaled = ScoredRows(weight), ScoredRows(7 * weight)
    assert scaled.share(wrong) == pytest.approx(plain.share(wrong))
    assert scaled.positive(wrong) == pytest.approx(plain.positive(wrong))
    # Every row four times, kept together, says no more than every row once.
    four = np.repeat(np.arange(120), 4)
    together = ScoredRows(weight[four], four)
    assert together.share(wrong[four]) == pytest.approx(plain.share(wrong))
    assert together.difference(wrong[four]) == pytest.approx(plain.difference(wrong))
    apart = ScoredRows(weight[four]).share(wrong[four])
    assert apart.high - apart.low < 0.6 * np.ptp(plain.share(wrong)[1:])
    # Few rows hold nearly all the weight: the interval is that of few rows.
    heavy = np.where(np.arange(120) < 4, 1e6, 1.0)
    assert ScoredRows(heavy).n_units == pytest.approx(4, abs=0.01)
    assert np.ptp(ScoredRows(heavy).share(np.zeros(120, bool))[1:]) > 0.4


def test_folds_share_training_rows(rng: np.random.Generator):
    values = rng.normal(size=60)
    once, folds = (
        ScoredRows(np.ones(60), folds=k).difference(values) for k in (None, 10)
    )
    factor = np.sqrt(1 + 10 / 9)  # Nadeau & Bengio: 1/k + 1/(k - 1) instead of 1/k
    assert folds.high - folds.value == pytest.approx(factor * (once.high - once.value))
    wrong = np.zeros(60, dtype=bool)
    assert ScoredRows(np.ones(60), folds=2).share(wrong) == wilson(0.0, 60 / 3)
    some = ScoredRows(np.ones(60), folds=2).take(np.arange(30))
    assert some.share(wrong[:30]) == wilson(0.0, 30 / 3)


def test_wilson_is_that_of_statsmodels():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for count in (0, 1, 10, 39, 40):
        expected = proportion.proportion_confint(count, 40, method="wilson")
        assert wilson(count / 40, 40)[1:] == pytest.approx(expected)


def test_calibration_slope(rng: np.random.Generator):
    logits = rng.normal(size=(4000, 3))
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = np.array([rng.choice(3, p=p) for p in proba])
    rows = ScoredRows(np.ones(4000))
    right = rows.calibration_slope(proba, truth)
    assert right.low < 1 < right.high
    extreme = proba**2 / (proba**2).sum(axis=1, keepdims=True)
    found = rows.calibration_slope(extreme, truth)
    assert found.value == pytest.approx(right.value / 2, abs=1e-3)

    def loss(slope: float) -> float:
        powers = extreme**slope
        shares = powers / powers.sum(axis=1, keepdims=True)
        return -np.log(shares[np.arange(4000), truth]).sum()

    assert found.value == pytest.approx(minimize_scalar(loss).x, abs=1e-3)
    assert rows.calibration_slope(np.full((4000, 3), 1 / 3), truth) is None


def test_extremes():
    rows = ScoredRows(np.ones(30))
    none = rows.share(np.zeros(30, dtype=bool))
    assert none.value == none.low == 0 and 0.05 < none.high < 0.2
    assert rows.positive(np.zeros(30)) == (0, 0, 0)
    truth = np.arange(30) < 10
    perfect = rows.area(truth.astype(float), truth)
    assert perfect.value == perfect.high == 1 and 0.6 < perfect.low < 1


@pytest.mark.parametrize("kind", ["share", "difference", "positive", "area"])
def test_intervals_hold_the_truth_as_often_as_they_say(rng, kind: str):
    hits = 0
    for _ in range(400):
        weight = rng.integers(1, 4, 80).astype(float)
        rows = ScoredRows(weight)
        if kind == "area":
            truth = np.arange(80) < 30
            found = rows.area(rng.normal(truth * 1.0), truth)
            expected = 0.76025  # P(N(1, 2) > 0)
        else:
            values = rng.random(80) < 0.15 if kind == "share" else rng.gamma(2, 1, 80)
            found = getattr(rows, kind)(values)
            expected = 0.15 if kind == "share" else 2.0
        hits += found.low <= expected <= found.high
    assert 0.91 <= hits / 400 <= 0.99
