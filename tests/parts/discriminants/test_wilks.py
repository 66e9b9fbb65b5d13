"""Wilks' lambda against statsmodels, and its level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from omnitree.parts.discriminants.wilks import wilks_p_value


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_lambda_is_that_of_statsmodels(seed, k):
    from statsmodels.multivariate.manova import MANOVA

    rng = np.random.default_rng([seed, k])
    y = (np.arange(120) % k).astype(np.int32)
    x = rng.normal(size=(120, 4)) @ rng.normal(size=(4, 4))
    x[:, 0] += 0.4 * y
    model = MANOVA(x, np.column_stack([np.ones(120), np.eye(k)[y][:, 1:]]))
    contrast = np.hstack([np.zeros((k - 1, 1)), np.eye(k - 1)])
    table = model.mv_test([("classes", contrast)]).results["classes"]["stat"]
    value = float(table.loc["Wilks' lambda", "Value"])
    statistic = -(120 - 1 - (4 + k) / 2) * np.log(value)
    expected = stats.chi2.sf(statistic, 4 * (k - 1))
    assert wilks_p_value(x, y) == pytest.approx(expected, rel=1e-6)


def test_level_and_dependent_columns():
    rng = np.random.default_rng(0)
    p = []
    for _ in range(400):
        x = rng.exponential(size=(80, 3)) ** 1.5
        x = np.column_stack([x, x[:, 0] + x[:, 1], np.ones(80)])
        p.append(wilks_p_value(x, (rng.random(80) < 0.3).astype(np.int32)))
    assert np.mean(np.array(p) < 0.05) < 0.09
    assert 0.4 < np.mean(p) < 0.6


def test_too_few_rows_or_nothing_to_compare():
    rng = np.random.default_rng(0)
    y = (np.arange(40) % 2).astype(np.int32)
    assert wilks_p_value(rng.normal(size=(40, 14)) + y[:, None], y) == 1.0
    assert wilks_p_value(np.ones((40, 2)), y) == 1.0
    assert wilks_p_value(rng.normal(size=(40, 2)), np.zeros(40, dtype=np.int32)) == 1.0
