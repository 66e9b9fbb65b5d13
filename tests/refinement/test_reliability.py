"""How often held-out rows are right in the nodes of a tree."""

from __future__ import annotations

import numpy as np
import pytest
from tests.samples import sample_of

from omnitree import OmniTreeClassifier, TreeClassifier
from omnitree.refinement.reliability import with_reliability
from omnitree.resampling.held_out import HeldOut, share_interval
from omnitree.tree.tree import Tree


def noisy_boxes(n=400, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)
    y = np.where(rng.random(n) < 0.1, rng.integers(3, size=n), y)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("grouped", [False, True])
def test_shares_are_those_of_the_rows_of_each_node(missing, grouped):
    X, y = noisy_boxes(missing=missing)
    rng = np.random.default_rng(1)
    weight, wrong = rng.choice([0.0, 1.0, 2.0], len(y)), rng.random(len(y)) < 0.3
    groups = rng.integers(40, size=len(y)) if grouped else None
    clf = TreeClassifier(missing="fractional", max_leaves=6).fit(X, y)
    losses = HeldOut(weight, wrong.astype(float), np.ones(len(y)), groups)
    sample = sample_of(X, y, weight, groups=groups)
    tree = with_reliability(clf.tree_, sample, losses, n_folds=10)
    passes = clf.decision_path(X).toarray()
    for node in range(tree.n_nodes):
        w = passes[:, node] * weight
        right = (w * ~wrong).sum() / w.sum()
        units = w if groups is None else np.bincount(groups, w)
        n = units.sum() ** 2 / (units**2).sum() / (1 + 10 / 9)
        low, high = share_interval(right, n)
        np.testing.assert_allclose(tree.reliability[node], [right, low, high])


def test_leaves_tell_how_far_they_can_be_trusted():
    X, y = noisy_boxes()
    clf = OmniTreeClassifier(random_state=0).fit(X, y)
    tree = clf.tree_
    root = tree.reliability[0]
    new, truth = noisy_boxes(4000, seed=1)
    assert root[1] < clf.score(new, truth) < root[2]
    assert "; held out: " in clf.describe()
    plain = tree.to_dict()
    again = Tree.from_dict(plain)
    np.testing.assert_array_equal(again.reliability, tree.reliability)
    cut = tree.collapse(np.ones(tree.n_nodes, dtype=bool))
    np.testing.assert_array_equal(cut.reliability, tree.reliability[:1])


@pytest.mark.parametrize("damage", [0.5, {"right": 2.0, "low": 0.0, "high": 1.0}, {}])
def test_damage_is_refused(damage):
    plain = OmniTreeClassifier(random_state=0).fit(*noisy_boxes()).tree_.to_dict()
    plain["nodes"][0]["held_out"] = damage
    with pytest.raises(ValueError, match="held_out"):
        Tree.from_dict(plain)
