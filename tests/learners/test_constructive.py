"""Discriminants as features: what is constructed, handed down and cut."""

from __future__ import annotations

import numpy as np
import pytest
from tests.samples import root_of

from omnitree import TreeClassifier, load, presets, save
from omnitree.data.table import learn_table
from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.standard_columns import StandardColumns
from omnitree.learners import Constructive, Univariate
from omnitree.parts.discriminants import LDA

TREES = {"ltree": "linear", "qtree": "quadratic", "lgtree": "linear"}


def test_oblique_boundary_takes_one_test(rng):
    X = rng.normal(size=(600, 3))
    y = (X @ [1.0, 2.0, -1.5] > 0.3).astype(int)
    clf = presets.make("ltree").fit(X, y)
    assert clf.tree_.split(0).kind == "linear"
    assert clf.score(X, y) > 0.97
    w = np.array(clf.tree_.split(0).weights)
    cosine = w @ [1.0, 2.0, -1.5] / np.linalg.norm(w) / np.linalg.norm([1.0, 2.0, -1.5])
    assert abs(cosine) > 0.99


def test_ellipse_takes_one_quadratic_test(rng):
    X = rng.normal(size=(800, 2)) @ [[2.0, 1.0], [0.0, 0.7]]
    inside = np.einsum("ij,ij->i", X @ np.linalg.inv(np.cov(X.T)), X) < 1.4
    clf = presets.make("qtree", max_depth=1, pruning=None).fit(X, inside)
    assert clf.tree_.split(0).kind == "quadratic" and clf.score(X, inside) > 0.95
    line = presets.make("ltree", max_depth=1, pruning=None).fit(X, inside)
    assert line.score(X, inside) < 0.8


def test_a_feature_of_one_column_is_the_column(rng):
    """Ties go to the original feature, so nothing linear is made of a single column."""
    X = rng.normal(size=(200, 1))
    y = (X[:, 0] > 0.4).astype(int)
    clf = presets.make("ltree").fit(X, y)
    assert clf.tree_.node_kinds()["linear"] == 0 and clf.score(X, y) == 1


def lines(rng, n=2000):
    """Rows along an oblique line: one class on its upper half, two that take turns below.

    The upper class gives the direction; where the two others are left alone, it cannot be
    found again as well.
    """
    X = rng.normal(size=(n, 5))
    z = X @ np.array([1.0, -1.0, 1.0, 1.0, -1.0]) / np.sqrt(5)
    return X, np.where(z > 0, 2, np.digitize(z, [-1.1, -0.5]) % 2)


def test_features_of_the_root_are_cut_again_below(rng):
    tree = presets.make("ltree", pruning=None).fit(*lines(rng)).tree_
    first, *others = (tree.split(node) for node in np.flatnonzero(tree.kind))
    linear = [s for s in others if s.kind == "linear"]
    handed_down = [s for s in linear if s.weights == first.weights]
    assert handed_down and all(s.fill == first.fill for s in handed_down)


class Forgetful(Constructive):
    """Constructs, but hands nothing down."""

    def fit(self, node, rng):
        split = super().fit(node, rng)
        return (
            None if split is None else type(split)(**{**vars(split), "constructed": ()})
        )


def test_features_handed_down_help(rng):
    train, new = lines(rng), lines(rng)
    trees = {}
    for learner in (
        Constructive(),
        Forgetful(),
        Univariate("gain_ratio", min_branch=2),
    ):
        trees[type(learner).__name__] = TreeClassifier(learner=learner).fit(*train)
    score = {name: clf.score(*new) for name, clf in trees.items()}
    assert score["Constructive"] > score["Forgetful"] > score["Univariate"]
    assert score["Constructive"] > 0.97
    leaves = {name: clf.tree_.n_leaves for name, clf in trees.items()}
    assert 5 * leaves["Constructive"] < leaves["Univariate"]


@pytest.mark.parametrize("name", list(TREES))
@pytest.mark.parametrize(
    ("rows", "made"), [((40, 12, 8), 0), ((35, 13, 12), 1), ((30, 15, 15), 3)]
)
def test_classes_with_more_rows_than_columns_construct(rng, name, rows, made):
    X = np.column_stack([rng.normal(size=(60, 12)), np.ones(60)])
    y = np.repeat([0, 1, 2], rows).astype(np.int32)
    X[:, 0] += 3 * y
    X[:, 1] -= 3 * y
    node = root_of(X, y, missing="fractional")
    split = presets.make(name).learner.fit(node, rng)
    assert len(split.constructed) == made
    assert all(f.test.kind == TREES[name] for f in split.constructed)


def test_missing_of_a_feature_handed_down_are_filled_where_it_was_made(rng):
    X, y = lines(rng)
    X[rng.random(X.shape) < 0.05] = np.nan
    clf = presets.make("ltree", pruning=None, max_depth=3).fit(X, y)
    linear = [
        clf.tree_.split(n)
        for n in np.flatnonzero(clf.tree_.kind)
        if clf.tree_.split(n).kind == "linear"
    ]
    means = np.nanmean(X, axis=0)
    at_root = [s for s in linear if np.allclose(s.fill, means[list(s.columns)])]
    assert len(at_root) > 1


@pytest.mark.parametrize("name", list(TREES))
def test_training_rows_take_the_branches_they_were_counted_in(rng, name):
    X, y = lines(rng, n=500)
    clf = presets.make(name, pruning=None).fit(X, y)
    again = clf.tree_.recount(clf._encode(X), y.astype(np.int32), np.ones(len(y)))
    np.testing.assert_allclose(again.value, clf.tree_.value)


@pytest.mark.parametrize("name", list(TREES))
def test_saved_trees(rng, name, tmp_path):
    X, y = lines(rng, n=400)
    clf = presets.make(name).fit(X, y)
    save(clf, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.get_params() == clf.get_params()


def test_first_feature_is_the_discriminant_of_scikit_learn(rng):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = lines(rng)
    y = (X @ [1.0, 1.0, 0.0, 0.0, 2.0] + rng.normal(size=len(X)) > 0).astype(int)
    table, weight = learn_table(X), np.ones(len(y))
    standard = StandardColumns.of(table, weight)
    rows = NodeColumns.of(standard, np.arange(len(y)), y.astype(np.int32), weight, 2)
    (feature,) = LDA().fit(rows).contrasts(rows.class_weight).features(rows)
    theirs = LinearDiscriminantAnalysis().fit(X, y).decision_function(X)
    assert abs(np.corrcoef(feature.values, theirs)[0, 1]) == pytest.approx(1, abs=1e-9)
