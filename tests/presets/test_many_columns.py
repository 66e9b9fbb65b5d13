"""Quadratic tests of wide tables: little memory for products, and a bound in words."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from omnitree import OmniTreeClassifier, presets
from omnitree.growing import scaling

# Bytes of a test for each of its products: two numbers, a pair and a weight as Python has
# them, and the arrays that they come from.
OF_A_TERM = 400


def wide(rng, n, p):
    X = rng.normal(size=(n, p)).round(2)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_products_are_never_held_all_at_once(rng):
    """90 rows with 400,000 products are 290 MB, twice; a test of them takes far less."""
    X, y = wide(rng, 90, 900)
    model = presets.make("qua", pruning=None, max_depth=1)
    tracemalloc.start()
    try:
        model.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert model.tree_.node_kinds()["quadratic"] == 1
    n_terms = len(model.tree_.split(0).terms)
    assert n_terms > 400_000
    assert peak < OF_A_TERM * n_terms


@pytest.fixture
def few_products(monkeypatch):
    monkeypatch.setattr(scaling, "MOST_PRODUCTS", 100)


@pytest.mark.parametrize("name", ["qua", "qtree"])
def test_too_many_products_are_refused_in_words(name, rng, few_products):
    X, y = wide(rng, 60, 14)
    with pytest.raises(ValueError, match=r"has 105 products.*fewer columns"):
        presets.make(name).fit(X, y)
    presets.make(name).fit(X[:, :13], y)


@pytest.mark.parametrize("name", ["omni-aic", "omni-bic", "omni-cv"])
def test_candidates_with_too_many_products_are_left_out(name, rng, few_products):
    X, y = wide(rng, 60, 14)
    with pytest.warns(UserWarning, match="candidate 'quadratic' is left out"):
        model = presets.make(name, pruning=None).fit(X, y)
    assert model.tree_.node_kinds()["quadratic"] == 0
    for node in np.flatnonzero(model.tree_.kind):
        candidates = model.tree_.split(int(node)).candidates
        assert all(c.score is None for c in candidates if c.learner == "quadratic")


@pytest.mark.filterwarnings("error")
def test_the_contest_counts_products_before_it_makes_them(rng, monkeypatch):
    """Its rivals have limits of their own, far below, and leave products out silently."""
    X, y = wide(rng, 60, 2001)
    y = (X[:, 0] > 0).astype(int)
    monkeypatch.setattr(scaling.Scaling, "with_products", None)
    model = OmniTreeClassifier(random_state=0).fit(X, y)
    assert model.tree_.node_kinds()["quadratic"] == 0
