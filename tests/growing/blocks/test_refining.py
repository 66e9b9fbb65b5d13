"""Cuts of large nodes, refined by the rows beside them: those of all rows."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree import TreeClassifier, TreeRegressor
from omnitree.estimators import large
from omnitree.growing.blocks import grower
from omnitree.growing.blocks.sizes import Sizes
from omnitree.learners import Univariate


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch):
    """Bins so wide that an edge is seldom the best cut."""
    sizes = Sizes(sample_rows=800, node_rows=400, bins=16, drawn_rows=300)
    monkeypatch.setattr(large, "SIZES", sizes)


def rows(numeric, n=5000):
    """Steps in three features, with noise that no test explains."""
    rng = np.random.default_rng(4)
    X = rng.random((n, 5))
    X[:, 3] = rng.integers(0, 40, n)  # with ties
    step = 3.0 * (X[:, 0] > 0.4637) + 2.0 * (X[:, 1] > 0.7183) + (X[:, 3] > 12)
    if numeric:
        return X, step + rng.normal(size=n) / 2, rng.integers(1, 5, n)
    other = rng.random(n) < 0.1
    return X, np.where(other, rng.integers(0, 7, n), step), rng.integers(1, 5, n)


def tree(numeric, merit="gini", **changes):
    options = {"max_depth": 3, "missing": "mean", "random_state": 0, **changes}
    if numeric:
        return TreeRegressor(Univariate(min_branch=9), **options)
    return TreeClassifier(Univariate(merit=merit, min_branch=9), **options)


def batches(*arrays, n=7):
    return [tuple(a[i::n] for a in arrays) for i in range(n)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("merit", ["gini", "gain_ratio", None])
def test_cuts_are_those_of_all_rows(merit, weighted):
    numeric = merit is None
    X, y, weight = rows(numeric)
    X[::50, 4] = np.nan
    given = (X, y, weight.astype(float)) if weighted else (X, y)
    near = tree(numeric, merit).fit(*given).tree_
    far = tree(numeric, merit, max_memory=1).fit(batches(*given)).tree_
    assert near.n_nodes == far.n_nodes > 7
    for node in range(near.n_nodes):
        assert near.n_children[node] == far.n_children[node]
        if near.n_children[node]:
            own, other = near.split(node), far.split(node)
            assert (own.feature, own.threshold) == (other.feature, other.threshold)
            assert own.merit == pytest.approx(other.merit, abs=1e-6)
    # Rows beside a cut are counted in its branches, each once.
    np.testing.assert_allclose(near.value, far.value)


def test_rows_with_a_missing_value_keep_their_branch():
    X, y, _ = rows(numeric=False)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.1] = np.nan
    for missing in ("mean", "surrogate"):
        model = tree(False, missing=missing, max_memory=1).fit(batches(X, y))
        found = model.tree_
        # Counts are those of the rows that reach a leaf.
        leaf = model.apply(X)
        for at in np.unique(leaf):
            expected = [(y[leaf == at] == c).sum() for c in model.classes_]
            assert found.value[at].tolist() == expected
        assert any(abs(s.threshold - 0.4637) < 1e-3 for s in _cuts(found))


def _cuts(found):
    return [found.split(i) for i in range(found.n_nodes) if found.n_children[i]]


def test_zones_of_too_many_rows_stay_binned(monkeypatch):
    monkeypatch.setattr(grower, "ZONE_NODES", 0)
    X, y, _ = rows(numeric=False)
    near = tree(False, max_depth=1).fit(X, y).tree_.split(0)
    binned = tree(False, max_depth=1, max_memory=1).fit(batches(X, y)).tree_.split(0)
    assert near.feature == binned.feature
    assert 0 < abs(near.threshold - binned.threshold) < 1 / 16
