"""Pruning by 5x2cv tests: noise goes, structure stays, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree import TreeClassifier, presets
from omnitree.parts.choice import CombinedT
from omnitree.pruning import CrossValidatedPruning


def test_noise_becomes_a_leaf_and_structure_stays(rng):
    X = rng.normal(size=(160, 3))
    noise = rng.integers(2, size=160)
    clf = TreeClassifier(pruning="cross_validated", random_state=0)
    assert clf.fit(X, noise).tree_.n_leaves == 1
    y = (X[:, 0] > 0).astype(int)
    assert clf.fit(X, y).tree_.n_leaves == 2


def test_what_is_below_a_cut_is_gone_and_small_nodes_are_leaves(rng):
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] > 0, rng.integers(2, size=200), 2)  # noise on one side only
    clf = TreeClassifier(pruning="cross_validated", random_state=0).fit(X, y)
    assert clf.tree_.n_leaves == 2
    never = CrossValidatedPruning(CombinedT(min_rows=201))
    assert clf.set_params(pruning=never).fit(X, y).tree_.n_leaves == 1


def test_any_test_and_nothing_else():
    X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    for test in ("5x2t", "combined_5x2t", "5x2f"):
        clf = TreeClassifier(pruning=CrossValidatedPruning(test), random_state=0)
        assert clf.fit(X, y).tree_.n_leaves == 2
    with pytest.raises(ValueError, match="5x2cv test"):
        TreeClassifier(pruning=CrossValidatedPruning("aic")).fit(X, y)


def test_the_criterion_that_grew_an_omnivariate_tree_prunes_it(rng):
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    clf = presets.make("omni-cv", prune_by="choice", random_state=0)
    assert clf.fit(X, y).score(X, y) > 0.85
    assert clf.pruning.choice is not None
    y = rng.integers(2, size=120)
    assert clf.fit(X, y).tree_.n_leaves == 1
