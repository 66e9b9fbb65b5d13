"""Do categories tell anything of the target: against pairs of rows one by one, and rates."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from omnitree import OmniTreeClassifier
from omnitree.data.encoding.informative import STANDARD_ERRORS, categories_inform


def naive(codes, y, weight, groups):
    """The same from all pairs of rows that share a category but not a group."""
    n = len(codes)
    used = [i for i in range(n) if codes[i] == codes[i] and weight[i] > 0]
    points = np.eye(y.max() + 1)[y] if y.dtype.kind == "i" else y[:, None]
    total = sum(weight[i] for i in used)
    mean = sum(weight[i] * points[i] for i in used) / total
    agreement = variance = 0.0
    for category in {codes[i] for i in used}:
        rows = [i for i in used if codes[i] == category]
        size = sum(weight[i] for i in rows)
        units: dict[int, np.ndarray] = {}
        for i in rows:
            unit = i if groups is None else groups[i]
            units[unit] = units.get(unit, 0.0) + weight[i] * (points[i] - mean)
        for one in units:
            for other in units:
                if one != other:
                    product = float(units[one] @ units[other])
                    agreement += product / size
                    variance += 2 * product**2 / size**2
    return agreement > STANDARD_ERRORS * variance**0.5


def test_pairs_of_rows_decide():
    rng = np.random.default_rng(0)
    answers = []
    for case in range(200):
        n, k = int(rng.integers(5, 60)), int(rng.integers(1, 12))
        codes = rng.integers(k, size=n).astype(np.float64)
        effect = rng.choice([0.0, 0.5, 2.0])
        y = effect * np.sin(codes) + rng.normal(size=n)
        if case % 2:
            y = np.digitize(y, [-0.5, 0.5][: 1 + case % 4 // 2])
        codes[rng.random(n) < 0.1] = np.nan
        weight = rng.choice([0.0, 1.0, 2.5], n) if case % 3 == 0 else np.ones(n)
        groups = rng.integers(n // 2, size=n) if case % 5 == 0 else None
        expected = bool(np.any(weight[~np.isnan(codes)])) and naive(
            codes, y, weight, groups
        )
        assert categories_inform(codes, y, weight, groups) == expected
        answers.append(expected)
    assert 20 < sum(answers) < 180


def targets(rng, n):
    yield rng.integers(3, size=n)
    yield (rng.random(n) < 0.05).astype(np.int32)
    yield rng.normal(size=n)
    yield rng.standard_t(2, size=n)


@pytest.mark.parametrize("k", [11, 40, 150])
def test_noise_is_found_out_and_signal_too(k):
    rng = np.random.default_rng(k)
    noise, signal = [], []
    for _ in range(25):
        codes = rng.integers(k, size=1000).astype(np.float64)
        weight = rng.exponential(size=1000)
        for y in targets(rng, 1000):
            noise.append(categories_inform(codes, y, weight))
        y = rng.normal(size=k)[codes.astype(int)] + rng.normal(size=1000)
        signal += [
            categories_inform(codes, y, weight),
            categories_inform(codes, (y > 0).astype(np.int32), weight),
        ]
    assert np.mean(noise) < 0.08
    assert np.mean(signal) > 0.95


def test_rows_of_a_group_are_no_evidence_for_each_other():
    """Patients with ten rows each, in one place each: the place says nothing of others."""
    rng = np.random.default_rng(1)
    alone, grouped = [], []
    for _ in range(40):
        patient = np.repeat(np.arange(60), 10)
        place = rng.integers(20, size=60).astype(np.float64)[patient]
        y = rng.normal(size=60)[patient] + 0.1 * rng.normal(size=600)
        alone.append(categories_inform(place, y, np.ones(600)))
        grouped.append(categories_inform(place, y, np.ones(600), patient))
    assert np.mean(alone) > 0.9
    assert np.mean(grouped) < 0.15


def test_the_scale_of_weights_and_targets_does_not_matter():
    rng = np.random.default_rng(2)
    codes = rng.integers(20, size=300).astype(np.float64)
    for effect in (0.0, 1.0):
        y = effect * np.sin(codes) + rng.normal(size=300)
        weight = rng.exponential(size=300)
        expected = categories_inform(codes, y, weight)
        assert expected == bool(effect)
        for scale in (1e-200, 1e200):
            assert categories_inform(codes, y, scale * weight) == expected
        for scale in (1e-200, 1e300):
            assert categories_inform(codes, scale * y, weight) == expected
    assert not categories_inform(codes, np.full(300, 7.0), weight)
    assert not categories_inform(np.full(300, np.nan), y, weight)


def test_columns_called_identifiers_are_mentioned(rng):
    n = 120
    X = pd.DataFrame({"patient_id": rng.integers(0, 60, n), "x": rng.normal(size=n)})
    X["acid"], X["valid"] = rng.integers(0, 60, n), rng.integers(0, 60, n)
    X["centreId"] = rng.integers(0, 3, n)  # few enough to be a category
    with pytest.warns(UserWarning, match="called identifiers.*'patient_id'") as caught:
        OmniTreeClassifier(random_state=0).fit(X, X["x"] > 0)
    (warning,) = caught
    for name in ("acid", "valid", "centreId"):
        assert name not in str(warning.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OmniTreeClassifier(random_state=0).fit(X.drop(columns="patient_id"), X["x"] > 0)
