"""What holds for every pruning method."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests import naive
from tests.tables import random_sample

from omnitree import TreeClassifier
from omnitree.pruning import PRUNINGS, CostComplexity, Pessimistic

ALL = list(PRUNINGS)


def method(name):
    """A method that can prune a fitted tree."""
    return CostComplexity(folds=0) if name == "cost_complexity" else PRUNINGS[name]()


def shape(tree):
    """Structure and tests, without counts."""
    return [
        {k: n.get(k) for k in ("kind", "test", "children", "missing")}
        for n in tree.collapse(np.zeros(tree.n_nodes, bool)).to_dict()["nodes"]
    ]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("missing", ["mean", "fractional", "surrogate"])
def test_never_larger_and_still_sound(name, missing, rng):
    for missing_share in (0.0, 0.2):
        sample = random_sample(rng, n=70, d=4, missing_share=missing_share)
        clf = TreeClassifier(missing=missing, random_state=0)
        clf.fit(sample.frame, sample.y, sample_weight=sample.weight)
        whole = clf.tree_.n_leaves
        pruned = clone(clf).set_params(pruning=name)
        pruned.fit(sample.frame, sample.y, sample_weight=sample.weight)
        assert pruned.tree_.n_leaves >= 1
        if not PRUNINGS[name]().needs_share:
            assert pruned.tree_.n_leaves <= whole
        assert type(clf.tree_).from_dict(pruned.tree_.to_dict())
        proba = pruned.predict_proba(sample.frame)
        np.testing.assert_allclose(proba.sum(axis=1), 1)


@pytest.mark.parametrize("name", [n for n in ALL if not PRUNINGS[n]().resamples])
def test_whole_weights_are_repeated_rows(name, rng):
    for _ in range(3):
        sample = random_sample(rng, n=50, d=4, weight="whole")
        times = sample.weight.astype(int)
        clf = TreeClassifier(pruning=name, random_state=0)
        clf.fit(sample.frame, sample.y, sample_weight=sample.weight)
        weighted = clf.tree_.collapse(np.zeros(clf.tree_.n_nodes, bool)).to_dict()
        clf.fit(
            sample.frame.loc[sample.frame.index.repeat(times)], sample.y.repeat(times)
        )
        repeated = clf.tree_.collapse(np.zeros(clf.tree_.n_nodes, bool)).to_dict()
        naive.assert_same_nodes(weighted["nodes"], repeated["nodes"])


def test_which_prunings_hold_rows_out():
    assert {name for name in ALL if PRUNINGS[name]().resamples} == {
        "cost_complexity",
        "cross_validated",
        "reduced_error",
    }
    assert not CostComplexity(alpha=0.1).resamples
    assert not CostComplexity(folds=0).resamples
    assert CostComplexity(folds=0, share=0.3).resamples


@pytest.mark.parametrize("name", ALL)
def test_prune_a_fitted_tree(name, rng):
    sample = random_sample(rng, n=120, d=4, k=3, categorical=0.3, missing_share=0.1)
    frame = sample.frame
    clf = TreeClassifier(missing="fractional").fit(frame[:60], sample.y[:60])
    whole = clf.tree_
    if name == "cross_validated":  # has to know how the tree was grown
        with pytest.raises(ValueError, match="inside fit"):
            clf.prune(method(name), frame[60:], sample.y[60:])
        return
    out = clf.prune(method(name), frame[60:], sample.y[60:])
    assert out is clf
    assert clf.tree_.n_leaves <= whole.n_leaves
    assert clf.predict(frame).shape == (120,)
    # Once more changes nothing for methods that compare with the subtree as it stands.
    if name in ("reduced_error", "cost_complexity"):
        before = shape(clf.tree_)
        assert shape(clf.prune(method(name), frame[60:], sample.y[60:]).tree_) == before


@pytest.mark.parametrize("name", ALL)
def test_prune_set_in_fit(name, rng):
    """All training rows grow the tree when there is a prune set."""
    sample = random_sample(rng, n=90, d=4, k=2, categorical=0.0, weight="one")
    X, y = sample.values, sample.y
    clf = TreeClassifier(pruning=method(name)).fit(
        X[:60], y[:60], prune_set=(X[60:], y[60:])
    )
    if name != "error_based":
        np.testing.assert_array_equal(
            clf.tree_.value[0], np.bincount(y[:60], minlength=2)
        )
    if PRUNINGS[name]().needs_share or name == "cost_complexity":
        by_hand = (
            TreeClassifier().fit(X[:60], y[:60]).prune(method(name), X[60:], y[60:])
        )
        assert shape(by_hand.tree_) == shape(clf.tree_)


@pytest.mark.parametrize("name", ALL)
def test_lone_leaf_and_stump(name):
    for X in ([[1.0]] * 6, [[1.0]] * 3 + [[2.0]] * 3):
        clf = TreeClassifier(pruning=method(name)).fit(
            X, [0, 0, 0, 1, 1, 1], prune_set=(X, [0, 0, 0, 1, 1, 1])
        )
        assert clf.tree_.n_leaves in (1, 2)


def test_pruning_a_separable_tree_keeps_it():
    X = np.arange(60.0)[:, None]
    y = (X[:, 0] > 29.5).astype(int)
    for name in ALL:
        clf = TreeClassifier(pruning=name, random_state=0).fit(X, y)
        assert clf.tree_.n_leaves == 2, name


@pytest.mark.parametrize("allowed", [1, 0, 0.5])
def test_pessimistic_by_its_formula(allowed, rng):
    for _ in range(30):
        sample = random_sample(rng, n=50, d=4, missing_share=0.1)
        clf = TreeClassifier(missing="fractional")
        clf.fit(sample.frame, sample.y, sample_weight=sample.weight)
        nodes = clf.tree_.to_dict()["nodes"]

        def corrected(at, nodes=nodes):
            node = nodes[at]
            if node["kind"] == "leaf":
                return sum(node["value"]) - max(node["value"]) + 0.5
            return sum(corrected(c) for c in node["children"])

        cut = set()
        for node in nodes:
            if node["kind"] != "leaf":
                n, e = sum(node["value"]), corrected(node["id"])
                se = (max(e * (n - e), 0) / n) ** 0.5
                if n - max(node["value"]) + 0.5 <= e + allowed * se + 1e-9:
                    cut.add(node["id"])
        clf.set_params(pruning=Pessimistic(allowed))
        clf.fit(sample.frame, sample.y, sample_weight=sample.weight)
        ours = clf.tree_.collapse(np.zeros(clf.tree_.n_nodes, bool)).to_dict()["nodes"]
        naive.assert_same_nodes(ours, naive.cut_nodes(nodes, frozenset(cut)))


def test_cost_complexity_takes_given_rows_in_the_place_of_folds(rng):
    sample = random_sample(rng, n=90, d=4, k=2, categorical=0.0, weight="one")
    X, y = sample.values, sample.y
    folds, share = CostComplexity(), CostComplexity(folds=0)
    fitted = [
        TreeClassifier(pruning=pruning, random_state=0)
        .fit(X[:60], y[:60], prune_set=(X[60:], y[60:]))
        .tree_
        for pruning in (folds, share)
    ]
    later = TreeClassifier().fit(X[:60], y[:60]).prune(folds, X[60:], y[60:]).tree_
    assert shape(fitted[0]) == shape(fitted[1]) == shape(later)


def test_classes_weigh_alike_in_training_and_prune_set(rng):
    sample = random_sample(rng, n=90, d=4, k=2, categorical=0.0, weight="one")
    X, y = sample.values, sample.y
    own = {0: 1.0, 1: 3.0}
    weighed = TreeClassifier(pruning=CostComplexity(), class_weight=own)
    weighed.fit(X[:60], y[:60], prune_set=(X[60:], y[60:]))
    more = np.concatenate([X[60:], X[60:][y[60:] == 1], X[60:][y[60:] == 1]])
    labels = np.concatenate([y[60:], np.ones(len(more) - 30, dtype=y.dtype)])
    given = TreeClassifier(pruning=CostComplexity()).fit(
        X[:60], y[:60], np.where(y[:60] == 1, 3.0, 1.0), prune_set=(more, labels)
    )
    assert shape(given.tree_) == shape(weighed.tree_)


@pytest.mark.parametrize("wrong", [None, 3, "reduced"])
def test_no_pruning_method(wrong):
    clf = TreeClassifier().fit([[1], [2], [3]], [0, 0, 1])
    with pytest.raises((TypeError, ValueError), match="pruning"):
        clf.prune(wrong, [[1]], [0])
