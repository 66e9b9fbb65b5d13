"""How far trees are cut back, and the probabilities of their leaves."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from tests.refinement.test_score_trees import RULES, node_of

from omnitree import OmniTreeClassifier, TreeClassifier, presets
from omnitree.data.table import learn_table
from omnitree.growing.growth import Growth
from omnitree.learners import Univariate
from omnitree.pruning.base import Evidence
from omnitree.refinement import Contest
from omnitree.refinement.sizing import Grown, deviances
from omnitree.tree.tree import Tree


def rare(n=3000, seed=0):
    """A class of about 4 % whose probability depends on two columns, never above 1/2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    p = 0.01 + 0.25 * ((X[:, 0] > 0.5) & (X[:, 1] > 0.5))
    return X, (rng.random(n) < p).astype(int)


def naive_shrunken(tree: Tree, m: float) -> np.ndarray:
    """Class shares of every node, from its path."""
    out = np.empty(tree.value.shape)
    k = tree.value.shape[1]
    for node in range(tree.n_nodes):
        path = [node]
        while tree.parent[path[-1]] >= 0:
            path.append(int(tree.parent[path[-1]]))
        share, extra = np.full(k, 1 / k), 1.0
        for at in reversed(path):
            counts = tree.value[at]
            share = (counts + extra * share) / (counts.sum() + extra)
            extra = m
        out[node] = share
    return out


@pytest.mark.parametrize("m", [0.5, 1.0, 20.0])
def test_shrunken_shares_follow_the_path(m):
    X, y = rare(400)
    tree = TreeClassifier(max_depth=5).fit(X, y).tree_
    shares = tree.shrunken_shares(m)
    np.testing.assert_allclose(shares, naive_shrunken(tree, m), rtol=1e-13)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares > 0).all()
    again = tree.collapse(tree.depths >= 2).replace(shrinkage=m)
    np.testing.assert_array_equal(again.outputs[:3], shares[:3])


def test_shrinkage_is_part_of_the_format_and_of_every_answer():
    X, y = rare(800)
    clf = TreeClassifier(max_depth=4).fit(X, y)
    plain = clf.predict_proba(X)
    clf._set_fitted(clf.tree_.replace(shrinkage=7.5), clf.classes_)
    proba = clf.predict_proba(X)
    assert not np.allclose(plain, proba)
    again = Tree.from_dict(clf.tree_.to_dict())
    assert again.shrinkage == 7.5
    table = learn_table(X)
    np.testing.assert_array_equal(again.predict_value(table, again.outputs), proba)
    np.testing.assert_array_equal(again.predict_labels(table), again.decide(proba))
    from omnitree.export.model import Model

    np.testing.assert_array_equal(Model(again.to_dict()).outputs, again.outputs)


@pytest.mark.parametrize("bad", [0, -1.0, "1", True, float("nan"), 1e300])
def test_bad_shrinkage_is_refused(bad):
    X, y = rare(200)
    data = TreeClassifier(max_depth=2).fit(X, y).tree_.to_dict()
    with pytest.raises(ValueError, match="shrinkage"):
        Tree.from_dict(data | {"shrinkage": bad})


def test_deviance_of_counts():
    counts = np.array([[2.0, 2.0], [4.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(deviances(counts), [4 * np.log(2), 0.0, 0.0])


def test_many_classes_are_counted_once_in_each_tree(rng):
    """Beside the counts of ten trees there is room for a few tables of their size."""
    X, y = rng.normal(size=(1200, 3)), np.arange(1200) % 400
    sample = node_of(X, y, np.ones(1200)).sample
    growth = Growth(Univariate(), RULES)
    tree = growth.grow(sample)
    tracemalloc.start()
    grown = Grown.of(tree, Evidence(sample, None, growth=growth), 10, None)
    grown.by_log_loss()
    grown.by_errors()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    own = sum(f.tree.value.nbytes for f in grown.folds)
    answers = 2 * 8 * 1200 * 400
    assert peak < own + answers + 6 * tree.value.nbytes


def test_a_rare_class_gets_a_tree_that_ranks():
    from sklearn.metrics import log_loss, roc_auc_score

    X, y = rare()
    new, truth = rare(seed=1)
    clf = OmniTreeClassifier(random_state=0).fit(X, y)
    proba = clf.predict_proba(new)[:, 1]
    assert roc_auc_score(truth, proba) > 0.75
    share = np.full(len(truth), y.mean())
    assert log_loss(truth, proba) < log_loss(truth, share) - 0.01
    assert clf.score(new, truth) >= 1 - truth.mean() - 1e-12
    # Errors alone do not ask for any test.
    cart = presets.make("cart", random_state=0).fit(X, y)
    assert cart.tree_.n_leaves == 1


def test_without_smoothing_leaves_answer_their_shares():
    X, y = rare()
    y = y ^ (X[:, 2] > 0)
    clf = TreeClassifier(
        refinement=Contest(rivals=(), smooth=False), random_state=0
    ).fit(X, y)
    assert clf.tree_.shrinkage is None and clf.tree_.n_leaves > 1
    np.testing.assert_array_equal(
        clf.predict_proba(X), clf.tree_.class_shares[clf.apply(X)]
    )
