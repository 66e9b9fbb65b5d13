"""Friedman's learner: plain and adaptive variables under the Kolmogorov-Smirnov distance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.tables import random_sample

from omnitree import presets
from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.standard_columns import StandardColumns
from omnitree.parts.merit import Gain
from omnitree.parts.threshold import KolmogorovSmirnovCut
from omnitree.parts.threshold.base import Projected

STUMP = {"max_depth": 1, "pruning": None}


def root(X, y):
    return presets.make("friedman", **STUMP).fit(X, y).tree_.split(0)


def test_a_column_that_separates_is_cut_as_it_is(rng):
    X = rng.normal(size=(200, 3))
    y = (X[:, 1] > 0.2).astype(int)
    assert root(X, y).kind == "axis" and root(X, y).feature == 1


def test_an_oblique_boundary_takes_the_adaptive_variable(rng):
    X = rng.normal(size=(400, 3))
    y = (X @ [1.0, 1.0, -1.0] > 0).astype(int)
    test = root(X, y)
    assert test.kind == "linear"
    w = np.array(test.weights)
    np.testing.assert_allclose(w / w[0], [1, 1, -1], atol=0.3)


def test_merit_is_the_distance_of_one_class_from_the_rest(rng):
    y = rng.integers(4, size=300)
    x = np.where(y == 2, 1.5, 0.0) + rng.normal(size=300)
    X = np.column_stack([np.round(rng.normal(size=300)), x])
    best = max(
        stats.ks_2samp(X[y == k, j], X[y != k, j]).statistic
        for j in range(2)
        for k in range(4)
    )
    test = root(X, y)
    if test.kind == "axis":
        assert test.merit == pytest.approx(best)
    else:  # the combination is better than any column
        assert test.merit > best


def test_distance_of_classes_that_differ_in_one_column(rng):
    y = np.repeat([0, 1, 2], 100)
    X = rng.normal(size=(300, 1)) + 3 * (y == 1)[:, None]
    test = root(X, y)
    assert test.merit == pytest.approx(
        stats.ks_2samp(X[y == 1, 0], X[y != 1, 0]).statistic
    )


def test_many_cuts_at_once_are_those_of_each(rng, monkeypatch):
    monkeypatch.setattr("omnitree.parts.threshold.exhaustive.CELLS", 100)
    for _ in range(100):
        sample = random_sample(rng, missing_share=0.1)
        standard = StandardColumns.of(sample.table, sample.weight)
        n, k = len(sample.y), sample.n_classes
        rows = NodeColumns.of(standard, np.arange(n), sample.y, sample.weight, k)
        left = np.eye(k, dtype=bool)
        scores = np.round(rng.normal(size=(n, k)))
        cuts = KolmogorovSmirnovCut().find(Projected(rows, scores, left), Gain())
        for c in range(k):
            values = np.unique(scores[:, c])
            if len(values) == 1:
                assert np.isnan(cuts[c])
                continue
            side = left[c][sample.y]
            share = [
                [
                    sample.weight[s & (scores[:, c] <= v)].sum()
                    / sample.weight[s].sum()
                    for s in (side, ~side)
                ]
                for v in values[:-1]
            ]
            apart = np.abs(np.diff(share, axis=1))[:, 0]
            at = np.searchsorted(values, cuts[c]) - 1
            assert apart[at] == pytest.approx(apart.max())
            assert cuts[c] == pytest.approx(values[at : at + 2].mean())
