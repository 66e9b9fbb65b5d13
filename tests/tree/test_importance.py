"""Importances: shared by contributions, as permuting columns says."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import permutation_importance
from tests.samples import sample_of
from tests.tables import random_sample

from omnitree import OmniTreeRegressor, TreeClassifier, TreeRegressor, presets
from omnitree.estimators.gains import AT_ONCE, with_importance
from omnitree.export.pictures import importance_by_level
from omnitree.tree.importance import ColumnSpreads, shares
from omnitree.tree.tree import Tree

CLASSIFIERS = ("omni", "ldt", "bu95", "lmdt", "cart", "lmt", "ft", "oc1", "c4.5")


def issue_table(rng, n=800):
    X = rng.normal(size=(n, 4))
    return X, 10 * X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_weight_twenty_times_as_large(name):
    X, score = issue_table(np.random.default_rng(0))
    clf = presets.make(name, random_state=0).fit(X, score > 0)
    found = clf.feature_importances_
    assert found.sum() == pytest.approx(1)
    assert found[0] > 0.85
    assert (found[0] > 10 * found[1:]).all()


def test_a_linear_test_gives_the_ratio_of_its_weights():
    X, score = issue_table(np.random.default_rng(0), 1500)
    X[:, 1] *= 1000  # units do not matter
    for model in (
        presets.make("bu95", random_state=0).fit(X, score > 0),
        TreeRegressor(leaves="ridge", max_depth=0).fit(X, score),
    ):
        found = model.feature_importances_
        assert found[0] == pytest.approx(10 / 10.5, abs=0.025)
        assert found[1] == pytest.approx(0.5 / 10.5, abs=0.025)


def tables():
    """Pairs of features and a score, with columns of decreasing effect."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 6)) * [1, 5, 0.1, 1, 1, 1]
    yield X, X @ [3.0, 0.3, 8.0, 0.3, 0, 0]
    X = rng.uniform(size=(500, 5))
    yield X, 4 * X[:, 0] + 2 * (X[:, 1] > 0.5) + 0.5 * X[:, 2]
    X = rng.normal(size=(500, 5))
    X[:, 1] += 3
    yield X, 2 * X[:, 0] + X[:, 1] + 0.4 * X[:, 2] + rng.normal(size=500) / 2


@pytest.mark.parametrize("name", [*CLASSIFIERS[:6], "regressor"])
def test_permuted_columns_agree(name):
    """The order is that of permutation importance on other rows."""
    agreement = []
    for X, score in tables():
        half = len(X) // 2
        if name == "regressor":
            model, y = OmniTreeRegressor(random_state=0), score
        else:
            model, y = presets.make(name, random_state=0), score > np.median(score)
        model.fit(X[:half], y[:half])
        permuted = permutation_importance(
            model, X[half:], y[half:], n_repeats=5, random_state=0
        ).importances_mean
        found = model.feature_importances_
        strong = permuted > 0.02
        assert permuted.argmax() == found.argmax()
        assert found[~strong].sum() < 0.25
        # Ranks of columns that do nothing are noise on both sides.
        agreement.append(spearmanr(np.where(strong, permuted, 0), found).statistic)
    assert np.mean(agreement) > 0.75


def test_machines_are_summed_over_functions(rng):
    """Against the definition, for all rows of a machine's node."""
    Z = rng.normal(size=(300, 3))
    y = np.argmax(Z @ np.array([[2.0, -1, -1], [0, 1, -1], [0.1, 0, 0]]), axis=1)
    X = 10 + Z * [1.0, 4.0, 0.5]
    clf = TreeClassifier(learner="softmax", max_depth=1, random_state=0).fit(X, y)
    split = clf.tree_.split(0)
    assert split.kind == "machine"
    weights = np.array(split.weights)
    weights = weights - weights.mean(axis=0)
    size = np.zeros(3)
    size[list(split.columns)] = (
        np.abs(weights).sum(axis=0) * X.std(axis=0)[list(split.columns)]
    )
    np.testing.assert_allclose(clf.feature_importances_, size / size.sum())


def test_products_are_shared_by_both_features(rng):
    """A quadratic test is measured from the means, so that a shift changes nothing."""
    X = rng.normal(size=(500, 3))
    test = {
        "columns": [0, 1, 2],
        "fill": [0.0] * 3,
        "terms": [[0, -1], [1, 0], [2, 2]],
        "weights": [1.0, 2.0, 0.5],
    }
    ones, feature = np.ones(500), np.arange(3)
    found = dict(shares(test, feature, ColumnSpreads.of(X, ones, True)))
    centred = X - X.mean(axis=0)
    slope = np.array([1 + 2 * X[:, 1].mean(), 2 * X[:, 0].mean(), X[:, 2].mean()])
    size = np.abs(slope) * X.std(axis=0)
    both = 2 * (centred[:, 0] * centred[:, 1]).std()
    size += [both / 2, both / 2, 0.5 * (centred[:, 2] ** 2).std()]
    np.testing.assert_allclose([found[j] for j in range(3)], size / size.sum())
    # The same function of columns that are shifted: (x0 + 5) stands for x0.
    moved = test | {
        "weights": [1.0, 2.0, 0.5, -10.0],
        "terms": [*test["terms"], [1, -1]],
    }
    X[:, 0] += 5.0
    shifted = ColumnSpreads.of(X, ones, True)
    again = dict(shares(moved, feature, shifted))
    np.testing.assert_allclose([again[j] for j in range(3)], size / size.sum())


def test_categories_add_up(rng):
    n = 600
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", "grey"], n),
            "size": rng.normal(size=n),
            "noise": rng.normal(size=n),
        }
    )
    effect = X["colour"].map({"red": 3.0, "green": 1.0, "blue": -1.0, "grey": -3.0})
    y = effect + X["size"] > 0
    X.loc[::9, "colour"] = None
    for name in ("ldt", "lmt", "omni"):
        found = presets.make(name, random_state=0).fit(X, y).feature_importances_
        assert found.shape == (3,) and found.sum() == pytest.approx(1)
        assert found[0] > found[1] > found[2]


def test_a_leaf_with_a_model_counts():
    X, score = issue_table(np.random.default_rng(2))
    clf = TreeClassifier(leaves="logistic", max_depth=0).fit(X, score > 0)
    assert clf.tree_.n_leaves == 1
    assert clf.feature_importances_[0] > 0.9
    ax = clf.plot_importance()
    assert sum(p.get_width() for p in ax.patches) == pytest.approx(1)


@pytest.mark.parametrize("name", ["ldt", "lmt", "omni", "cart"])
def test_saved_and_pruned_trees(name):
    rng = np.random.default_rng(5)
    sample = random_sample(rng, n=200, d=5, k=3, missing_share=0.05)
    clf = presets.make(name, random_state=0)
    if name in ("ldt", "cart"):
        clf.set_params(pruning=None)
    clf.fit(sample.frame, sample.y)
    found = clf.feature_importances_
    data = json.loads(json.dumps(clf.tree_.to_dict()))
    back = Tree.from_dict(data)
    np.testing.assert_array_equal(back.feature_importances, found)
    np.testing.assert_allclose(importance_by_level(data).sum(axis=0), found)
    # An older file has no amounts: still shares, and most of the same features.
    for node in data["nodes"]:
        node.pop("importance", None)
        node.pop("model_importance", None)
    old = Tree.from_dict(data).feature_importances
    assert old.sum() == pytest.approx(1)
    # Cutting a subtree off is the same as measuring the smaller tree.
    tree = clf.tree_
    cut = np.zeros(tree.n_nodes, dtype=bool)
    cut[tree.depths >= 1] = True
    smaller = tree.collapse(cut)
    codes = np.searchsorted(clf.classes_, sample.y)
    again = with_importance(
        smaller.replace(importance=None, model_importance=None),
        sample_of(clf._encode(sample.frame), codes),
    )
    np.testing.assert_allclose(
        smaller.feature_importances, again.feature_importances, atol=1e-12
    )


def test_threads_find_the_same(rng):
    X = rng.normal(size=(20_000, 4))
    y = (2 * np.abs(X) + rng.normal(size=X.shape)).argmax(axis=1)
    clf = presets.make("ldt", pruning=None, random_state=0).fit(X, y)
    tree = clf.tree_
    assert tree.n_nodes > 2 * AT_ONCE
    bare = tree.replace(importance=None, model_importance=None)
    again = with_importance(bare, sample_of(clf._encode(X), y), n_jobs=3)
    assert again.importance == tree.importance
    assert again.model_importance == tree.model_importance


def test_pruning_later_keeps_them_right(rng):
    X, score = issue_table(rng, 600)
    y = np.where(rng.random(600) < 0.2, score <= 0, score > 0)
    pruned = presets.make("bu95", pruning=None, random_state=0).fit(X[:400], y[:400])
    pruned.prune("reduced_error", X[400:], y[400:])
    refined = presets.make("bu95", pruning="multivariate", random_state=0)
    refined.fit(X[:400], y[:400], prune_set=(X[400:], y[400:]))
    for clf in (pruned, refined):
        assert clf.feature_importances_.sum() == pytest.approx(1)
        assert clf.feature_importances_[0] > 0.5


@pytest.mark.parametrize(
    "pairs", [[[9, 1.0]], [[0]], [[0, -1.0]], [[0, "x"]], {"0": 1.0}, [[0.5, 1.0]]]
)
def test_damaged_amounts(pairs):
    X, score = issue_table(np.random.default_rng(0))
    data = presets.make("ldt").fit(X, score > 0).tree_.to_dict()
    data["nodes"][0]["importance"] = pairs
    with pytest.raises(ValueError, match="node 0: importance must be pairs"):
        Tree.from_dict(data)


def test_selection_by_importance():
    X, score = issue_table(np.random.default_rng(3))
    score += 4 * X[:, 2]
    for model, y in (
        (presets.make("ldt", random_state=0), score > 0),
        (TreeRegressor(leaves="ridge", max_depth=2), score),
    ):
        chosen = SelectFromModel(model, threshold="mean").fit(X, y)
        assert chosen.get_support().tolist() == [True, False, True, False]
        ranked = RFE(model, n_features_to_select=2).fit(X, y)
        assert ranked.get_support().tolist() == [True, False, True, False]
