"""Linear discriminant nodes: known boundaries, oracles of scikit-learn, hard tables."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from omnitree import TreeClassifier, presets
from omnitree.data.table import learn_table
from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.standard_columns import StandardColumns
from omnitree.learners import Analytic, Linear
from omnitree.parts.direction import Fisher
from omnitree.parts.grouping import GROUPINGS

STUMP = {"max_depth": 1, "pruning": None}


def two_gaussians(rng, n=2000, d=4, share=0.5):
    """Two classes with a common covariance, and that covariance."""
    A = rng.normal(size=(d, d))
    covariance = A @ A.T + 0.5 * np.eye(d)
    y = (rng.random(n) < share).astype(int)
    means = np.stack([np.zeros(d), rng.normal(size=d)])
    X = means[y] + rng.normal(size=(n, d)) @ np.linalg.cholesky(covariance).T
    return X, y, means, covariance


def hyperplane(clf, d):
    """Weights and threshold of the root, as the side of class 1."""
    split = clf.tree_.split(0)
    w = np.zeros(d)
    w[list(split.columns)] = split.weights
    upper = clf.tree_.value[clf.tree_.first_child[0] + 1]
    sign = 1 if upper[1] > upper[0] else -1
    return sign * w, sign * split.threshold


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_root_is_the_bayes_boundary(rng, share):
    X, y, means, covariance = two_gaussians(rng, n=40_000, share=share)
    w, threshold = hyperplane(presets.make("ldt", **STUMP).fit(X, y), X.shape[1])
    true_w = np.linalg.solve(covariance, means[1] - means[0])
    true_t = true_w @ means.mean(axis=0) - np.log(share / (1 - share))
    scale = np.linalg.norm(true_w) / np.linalg.norm(w)
    cosine = w @ true_w / np.linalg.norm(w) / np.linalg.norm(true_w)
    assert cosine > np.cos(np.radians(3))
    assert threshold * scale == pytest.approx(true_t, abs=0.1)


def test_two_classes_equal_scikit_learn(rng):
    X, y, _, _ = two_gaussians(rng, n=300, share=0.3)
    w, threshold = hyperplane(presets.make("ldt", **STUMP).fit(X, y), X.shape[1])
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    scale = np.linalg.norm(lda.coef_) / np.linalg.norm(w)
    np.testing.assert_allclose(w * scale, lda.coef_[0], rtol=1e-8)
    # scikit-learn divides the scatter by n, we by n - 2, which moves the prior term.
    prior = np.log(y.mean() / (1 - y.mean()))
    ours = -threshold * scale - prior * (1 - 2 / len(y)) ** -1
    assert ours == pytest.approx(lda.intercept_[0] - prior, abs=0.02)


@pytest.fixture
def plain(rng):
    """Three classes in five columns, with its predictions by `ldt`."""
    means = 2 * rng.normal(size=(3, 5))
    y = rng.integers(3, size=240)
    X = means[y] + rng.normal(size=(240, 5))
    return X, y


def partition(X, y, **changes):
    clf = presets.make("ldt", pruning=None, max_depth=4, **changes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return clf.fit(X, y), clf.apply(X)


@pytest.mark.parametrize("scale", [1e8, 1e-8])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_units_do_not_matter(plain, scale, offset):
    X, y = plain
    factor = np.array([scale, 1, 1, scale, 1])
    other = X * factor + offset * factor
    np.testing.assert_array_equal(partition(X, y)[1], partition(other, y)[1])


def test_useless_columns_do_not_matter(plain):
    X, y = plain
    _, leaves = partition(X, y)
    constant = np.column_stack([X, np.full(len(X), 7.0)])
    np.testing.assert_array_equal(partition(constant, y)[1], leaves)


def test_duplicated_columns_are_survived(plain):
    X, y = plain
    clf, _ = partition(np.column_stack([X, X, X[:, :1]]), y)
    assert clf.score(np.column_stack([X, X, X[:, :1]]), y) > 0.9


def test_more_columns_than_rows(rng):
    X = rng.normal(size=(20, 60))
    y = np.repeat([0, 1], 10)
    X[:, 0] += 3 * y
    clf, _ = partition(X, y)
    assert clf.score(X, y) > 0.9


def test_class_with_one_row(rng):
    X = rng.normal(size=(41, 3))
    y = np.repeat([0, 1, 2], [20, 20, 1])
    X[y == 1] += 4
    clf, _ = partition(X, y)
    assert clf.score(X[:40], y[:40]) > 0.9


def test_constant_table_is_a_leaf():
    clf = presets.make("ldt", pruning=None)
    assert clf.fit(np.ones((10, 3)), np.arange(10) % 2).tree_.n_nodes == 1


@pytest.mark.parametrize("pca", ["singular", "always", "never"])
def test_pca_is_folded_back(plain, pca):
    X, y = plain
    clf = TreeClassifier(learner=Linear(direction=Fisher(pca=pca))).fit(X, y)
    assert clf.score(X, y) > 0.9
    assert clf.tree_.split(0).kind == "linear"


def test_always_pca_with_all_variance_is_no_pca(plain):
    X, y = plain
    trees = [
        TreeClassifier(learner=Linear(direction=direction)).fit(X, y).apply(X)
        for direction in (Fisher("never"), Fisher("always", epsilon=1.0))
    ]
    np.testing.assert_array_equal(*trees)


def test_shrinkage_helps_where_columns_are_many(rng):
    X = rng.normal(size=(260, 50))
    y = rng.integers(2, size=260)
    X[:, :5] += 0.7 * y[:, None]
    train, test = slice(60), slice(60, None)
    score = {
        shrinkage: TreeClassifier(
            learner=Linear(direction=Fisher("never", shrinkage=shrinkage)), max_depth=1
        )
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for shrinkage in (None, "ledoit_wolf", 0.5)
    }
    assert score["ledoit_wolf"] > score[None] and score[0.5] > score[None]


@pytest.mark.parametrize("grouping", list(GROUPINGS))
@pytest.mark.parametrize("learner", [Linear, Analytic])
def test_groupings_separate_far_classes(rng, grouping, learner):
    centres = np.array([[0, 0], [10, 0], [0, 10], [10, 10], [5, 5]])
    y = np.repeat(np.arange(5), 20)
    X = centres[y] + rng.normal(size=(100, 2))
    clf = TreeClassifier(learner=learner(grouping=grouping)).fit(X, y)
    assert clf.score(X, y) >= 0.9


def test_missing_are_filled_with_the_node_mean(rng):
    X, y, _, _ = two_gaussians(rng, n=400)
    X[rng.random(X.shape) < 0.1] = np.nan
    clf = presets.make("ldt", **STUMP).fit(X, y)
    split = clf.tree_.split(0)
    np.testing.assert_allclose(split.fill, np.nanmean(X, axis=0)[list(split.columns)])
    assert clf.score(X, y) > 0.6


def test_categories_take_part(rng):
    colour = rng.choice(["red", "green", "blue"], size=200)
    size = rng.normal(size=200)
    y = (size + 2 * (colour == "red") > 1).astype(int)
    rows = [[c, s] for c, s in zip(colour, size, strict=True)]
    assert presets.make("ldt", **STUMP).fit(rows, y).score(rows, y) > 0.85


def test_analytic_category_is_one_against_the_rest(rng):
    colour = rng.choice(["red", "green", "blue"], size=60)
    y = (colour == "red").astype(int)
    clf = TreeClassifier(learner=Analytic()).fit(colour[:, None], y)
    assert clf.tree_.node_kinds()["subset"] == 1 and clf.score(colour[:, None], y) == 1


def test_scatter_within_groups_and_total(rng):
    """The same direction where nothing is dropped; else that of equations 11 to 13."""
    y = np.repeat([0, 1], [30, 50])
    X = rng.normal(size=(80, 4)) + np.outer(y, [2.0, 0, 1, 0])
    left = np.array([True, False])
    standard = StandardColumns.of(learn_table(X), np.ones(80))
    rows = NodeColumns.of(standard, np.arange(80), y.astype(np.int32), np.ones(80), 2)

    def direction(**options):
        w = Fisher(**options).project(rows).weights(left)
        return w / np.linalg.norm(w)

    np.testing.assert_allclose(direction(), direction(scatter="within"), atol=1e-9)
    found = direction(scatter="within", pca="always", epsilon=0.7)
    z = rows.columns
    means = [z[y == g].mean(axis=0) for g in (0, 1)]
    S = sum((z[y == g] - means[g]).T @ (z[y == g] - means[g]) for g in (0, 1))
    values, vectors = np.linalg.eigh(S)
    values, vectors = values[::-1], vectors[:, ::-1]
    k = int(np.argmax(np.cumsum(values) / values.sum() > 0.7)) + 1
    c = vectors[:, :k]
    w = c @ np.linalg.solve(c.T @ S @ c, c.T @ (means[0] - means[1]))
    np.testing.assert_allclose(found, w / np.linalg.norm(w), atol=1e-9)
    total = direction(pca="always", epsilon=0.7)
    assert np.abs(total - found).max() > 1e-3
    with pytest.raises(ValueError, match="shrinkage"):
        direction(scatter="within", shrinkage=0.5)


def test_whole_trees_by_the_scatter_within_groups():
    X, y = load_iris(return_X_y=True)
    trees = [
        presets.make("ldt", scatter=s, random_state=0).fit(X, y)
        for s in ("total", "within")
    ]
    assert trees[0].tree_.n_leaves == trees[1].tree_.n_leaves
    assert (trees[0].predict(X) == trees[1].predict(X)).all()


@pytest.mark.parametrize("name", ["lin", "qua", "ldt"])
def test_free_parameters_are_those_of_the_components(name, rng):
    """k + 1 for k components, whether compiled code grew the tree or Python did."""
    latent = rng.normal(size=(200, 2))
    X = np.column_stack([latent, latent @ [[1.0], [2.0]], latent[:, :1]])
    y = (latent[:, 0] + latent[:, 1] + 0.3 * rng.normal(size=200) > 0).astype(int)
    clf = presets.make(name, random_state=0, pruning=None, max_depth=2).fit(X, y)
    tree = clf.tree_
    inner = np.flatnonzero(tree.n_children > 0)
    assert tree.complexity(0) == {"lin": 3, "ldt": 3}.get(name, tree.complexity(0))
    assert tree.complexity(0) < tree.split(0).n_params
    again = type(tree).from_dict(tree.to_dict())
    assert [again.complexity(i) for i in inner] == [tree.complexity(i) for i in inner]
    with_gap = X.copy()
    with_gap[0, 0] = np.nan  # no compiled tree
    gap = presets.make(name, random_state=0, pruning=None, max_depth=2).fit(with_gap, y)
    assert gap.tree_.complexity(0) < gap.tree_.split(0).n_params
    assert tree.collapse(np.ones(tree.n_nodes, dtype=bool)).free is None
