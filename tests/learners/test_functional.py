"""Functional trees: the learner, its pruning and the preset."""

from __future__ import annotations

import numpy as np
import pytest
from tests.samples import root_of, sample_of
from tests.tables import random_sample

from omnitree import TreeClassifier, presets
from omnitree._core.univariate.estimate import add_errors
from omnitree.data.table import learn_table
from omnitree.growing.node import make_children
from omnitree.growing.node_folds import NodeFolds
from omnitree.learners import Functional
from omnitree.parts.leaves import LogisticLeaves
from omnitree.pruning import Evidence, FunctionalPruning
from omnitree.tree.splits import LinearSplit
from omnitree.tree.tree import LEAF


def two_lines(rng, n=300):
    """Classes that one line separates nearly, and no single feature does."""
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=n) > 0).astype(int)


def test_the_sum_of_the_model_is_cut(rng):
    X, y = two_lines(rng)
    tree = TreeClassifier(Functional(), max_depth=1).fit(X, y).tree_
    split = tree.split(0)
    assert isinstance(split, LinearSplit)
    weight = np.zeros(3)
    weight[list(split.columns)] = split.weights
    assert 0.8 < weight[0] / weight[1] < 1.25
    assert abs(weight[2]) < 0.2 * abs(weight[0])
    wrong = tree.value[1:].sum() - tree.value[1:].max(axis=1).sum()
    assert wrong < 0.06 * len(y)


def test_cuts_of_the_sum_are_cuts_of_the_model(rng):
    """The test of a node is its logistic model's sum against a threshold."""
    X, y = two_lines(rng)
    learner = TreeClassifier(Functional(steps=4), max_depth=1)
    leaf = TreeClassifier(leaves=LogisticLeaves(steps=4), max_depth=0).fit(X, y)
    split, model = learner.fit(X, y).tree_.split(0), leaf.tree_.model(0)
    assert split.columns == model.columns
    np.testing.assert_allclose(split.weights, model.weights[0], rtol=1e-9)


def test_trials_leave_no_trace(rng):
    """Models travel with the test: trials on halves of the rows do not replace them."""
    X, y = two_lines(rng)
    learner, node = Functional(steps=3), root_of(X, y)

    def two_levels():
        split = learner.fit(node, np.random.default_rng(0))
        below = make_children(node, split)
        return split, [learner.fit(c, np.random.default_rng(0)) for c in below]

    before = two_levels()
    assert isinstance(before[0], LinearSplit)
    folds = NodeFolds.five_by_two(node, rng)
    losses = [learner.trial_losses(folds, np.random.default_rng(1)) for _ in "ab"]
    np.testing.assert_array_equal(*losses)
    assert two_levels() == before


def test_nothing_to_construct():
    X = np.repeat(np.arange(8.0), 5)[:, None]
    y = np.repeat([0, 1, 0, 1, 0, 1, 0, 1], 5)
    clf = TreeClassifier(Functional()).fit(X, y)
    assert clf.score(X, y) == 1.0


@pytest.mark.parametrize("seed", range(20))
def test_pruning_takes_the_best_of_three(seed):
    """Against a plain recursion."""
    rng = np.random.default_rng(seed)
    sample = random_sample(rng, n=120, d=4, k=3, missing_share=0.0)
    clf = TreeClassifier(leaves=LogisticLeaves(steps=2), max_depth=4)
    tree = clf.fit(sample.frame, sample.y).tree_
    table = learn_table(sample.frame)
    y = np.searchsorted(clf.classes_, sample.y).astype(np.int32)
    rows = sample_of(table, y)
    path = tree.decision_path(table).toarray() > 0
    choice = {}

    def best(node: int) -> float:
        here = np.flatnonzero(path[:, node])
        n = len(here)
        if not n:
            return 0.0
        plain = n - np.bincount(y[here]).max()
        nodes = np.full(n, node, dtype=np.int32)
        answer = tree.node_answers(table, here, nodes, tree.class_shares)
        model = (answer.argmax(axis=1) != y[here]).sum()
        plain, model = (e + add_errors(n, e, 0.1) for e in (plain, model))
        if tree.kind[node] == LEAF:
            return plain
        first = tree.first_child[node]
        below = sum(best(c) for c in range(first, first + tree.n_children[node]))
        if plain <= min(model, below) + 1e-9:
            choice[node] = "plain"
        elif model <= below + 1e-9:
            choice[node] = "model"
        return min(plain, model, below)

    best(0)
    evidence = Evidence(rows)
    cut = FunctionalPruning().cut(tree, evidence)
    inner = np.flatnonzero(tree.kind != LEAF)
    names = {-1: "model", -2: "plain"}
    assert {at: names[cut[at]] for at in inner if cut[at] < 0} == choice
    pruned = FunctionalPruning().prune(tree, evidence)
    if 0 in choice:
        assert pruned.n_nodes == 1
        assert (pruned.models is not None) == (choice[0] == "model")
    inner = pruned.kind != LEAF
    assert pruned.models is None or not pruned.models.there[inner].any()


@pytest.mark.parametrize("where", ["both", "inner", "leaves"])
def test_where_the_models_are(where, rng):
    X, y = two_lines(rng, 400)
    X[:, 2] += 4 * (X[:, 0] > 0)  # something for a second test to see
    y = np.where(X[:, 2] > 5, 1 - y, y)
    clf = presets.make("ft", where=where).fit(X, y)
    kinds = clf.tree_.node_kinds()
    if where == "inner":
        assert clf.tree_.models is None
    if where == "leaves":
        assert kinds["linear"] == 0
        assert clf.tree_.models is not None
    assert clf.score(X, y) > 0.85


def test_bad_options():
    with pytest.raises(ValueError, match="Choose one of: both, inner, leaves"):
        presets.make("ft", where="roots")
    with pytest.raises(ValueError, match="confidence"):
        presets.make("ft", pruning=FunctionalPruning(2.0)).fit(
            [[1], [2]] * 9, [0, 1] * 9
        )
    with pytest.raises(ValueError, match="steps"):
        TreeClassifier(Functional(steps=0)).fit([[1], [2]] * 9, [0, 1] * 9)
