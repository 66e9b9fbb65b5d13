"""K-way discriminant nodes, and the labels of tied leaves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.samples import sample_of

from omnitree import TreeClassifier, load, presets, save
from omnitree.learners import KWay
from omnitree.parts.discriminants import QDA
from omnitree.pruning import Evidence
from omnitree.refinement import UnassignedTies

STUMP = {"max_depth": 1, "pruning": None}


def blobs(rng, k=4, each=100, d=3, apart=2.0):
    y = np.repeat(np.arange(k), each)
    mix = rng.normal(size=(d, d))
    X = apart * rng.normal(size=(k, d))[y] + rng.normal(size=(len(y), d)) @ mix
    return X, y


def test_root_of_fact_is_linear_discriminant_analysis(rng):
    """With as many rows of each class, the scale of the covariance does not matter."""
    X, y = blobs(rng)
    clf = presets.make("fact", **STUMP).fit(X, y)
    other = rng.normal(scale=3, size=(2000, 3))
    branch = clf.apply(other) - 1
    assert clf.tree_.split(0).n_children == 4
    np.testing.assert_array_equal(
        branch, LinearDiscriminantAnalysis().fit(X, y).predict(other)
    )


def test_root_of_two_gaussians_is_the_bayes_boundary(rng):
    means, share = np.array([[0.0, 0.0], [2.0, 1.0]]), 0.2
    y = (rng.random(40_000) < share).astype(int)
    X = means[y] + rng.normal(size=(len(y), 2))
    test = presets.make("fact", **STUMP).fit(X, y).tree_.split(0)
    w = np.subtract(*test.weights[::-1])
    b = test.bias[1] - test.bias[0]
    np.testing.assert_allclose(w, means[1], atol=0.06)
    expected = np.log(share / (1 - share)) - means[1] @ means[1] / 2
    assert b == pytest.approx(expected, abs=0.12)


def test_absent_classes_have_no_branch(rng):
    X, y = blobs(rng, k=3)
    X, y = np.vstack([X, X[:2] + 0.01]), np.r_[y, 3, 3]  # a class that never wins
    assert presets.make("fact", **STUMP).fit(X, y).tree_.split(0).n_children == 3


def test_univariate_node_uses_the_best_column(rng):
    y = np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 4))
    X[:, 2] = 5 * y + rng.normal(size=180)
    test = presets.make("fact", node="univariate", **STUMP).fit(X, y).tree_.split(0)
    assert test.columns == (2,) and test.n_children == 3
    branch = presets.make("fact", node="univariate", **STUMP).fit(X, y).apply(X) - 1
    lda = LinearDiscriminantAnalysis().fit(X[:, [2]], y)
    np.testing.assert_array_equal(branch, lda.predict(X[:, [2]]))


def same_class_everywhere():
    """A rare class at two ends of a line: LDA's three branches all hold class 0 most."""
    x = np.r_[np.linspace(-1, 1, 400), -1.2, -1.1, 1.1, 1.2, 1.3]
    y = np.r_[np.zeros(400), 1, 1, 2, 2, 2].astype(int)
    return x[:, None], y


def test_cruise_wants_children_of_different_classes():
    X, y = same_class_everywhere()
    plain = TreeClassifier(learner=KWay(), max_depth=1).fit(X, y)
    assert plain.tree_.n_nodes == 1  # with its priors, class 0 takes all
    clf = TreeClassifier(learner=KWay(distinct=True), max_depth=1).fit(X, y)
    assert clf.tree_.n_nodes > 1


def test_cruise_takes_the_next_column():
    """The column with the most gain has the same class in both branches."""
    y = np.repeat([0, 1], [72, 31])
    X = np.zeros((103, 2))
    X[40:, 0] = 1  # 40 of class 0 | 32 of class 0, 31 of class 1
    X[70:82, 1] = 1  # 70 of class 0, 21 of class 1 | 2 of class 0, 10 of class 1
    for distinct, column in ((False, 0), (True, 1)):
        learner = KWay(node="univariate", distinct=distinct)
        clf = TreeClassifier(learner=learner, max_depth=1).fit(X, y)
        assert clf.tree_.split(0).columns == (column,)


def test_fact_stops_where_nothing_improves(rng):
    def errors(tree, nodes):
        return (tree.value[nodes].sum(axis=1) - tree.value[nodes].max(axis=1)).sum()

    leaves = np.zeros(2)
    for _ in range(10):
        X = rng.normal(size=(300, 2))
        y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
        grown = presets.make("fact", pruning=None).fit(X, y).tree_
        stopped = presets.make("fact", pruning=None, improve=True).fit(X, y).tree_
        leaves += grown.n_leaves, stopped.n_leaves
        for node in np.flatnonzero(stopped.kind):
            first = stopped.first_child[node]
            below = np.arange(first, first + stopped.n_children[node])
            assert errors(stopped, below) < errors(stopped, [node])
    assert leaves[1] < leaves[0]


def test_quadratic_discriminants_make_no_machine():
    with pytest.raises(ValueError, match="linear discriminants, not QDA"):
        TreeClassifier(learner=KWay(QDA())).fit([[1.0], [2.0]], [0, 1])


def test_unknown_node():
    with pytest.raises(ValueError, match="did you mean 'linear'"):
        TreeClassifier(learner=KWay(node="line")).fit([[1.0], [2.0]], [0, 1])


# -- ties ----------------------------------------------------------------------------


def tied():
    """Three leaves: class a; a tie of a and b; a tie of a, b and c."""
    X = np.repeat([[0.0], [1.0], [2.0]], [4, 4, 6], axis=0)
    return X, np.array(list("aaaaaabbaabbcc"))


def test_ties_go_to_classes_without_a_leaf(tmp_path):
    X, y = tied()
    plain = TreeClassifier(max_depth=2).fit(X, y)
    assert set(plain.predict(X)) == {"a"}
    clf = TreeClassifier(max_depth=2, refinement=UnassignedTies()).fit(X, y)
    assert clf.predict([[0.0], [1.0], [2.0]]).tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(clf.tree_.value, plain.tree_.value, rtol=1e-8)
    save(clf, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.predict(X).tolist() == clf.predict(X).tolist()
    assert again.pruning == clf.pruning
    assert ": c (6 rows, 4 wrong)" in clf.describe()


def test_ties_where_every_class_has_a_leaf():
    X = np.repeat([[0.0], [1.0], [2.0]], [4, 4, 4], axis=0)
    y = np.array(list("aaaabbbbaabb"))
    clf = TreeClassifier(max_depth=2, refinement=UnassignedTies()).fit(X, y)
    assert clf.predict([[2.0]]).tolist() == ["a"]


def test_ties_are_broken_after_pruning():
    X, y = load_iris(return_X_y=True)
    whole = presets.make("cruise", random_state=0).fit(X, y)
    plain = presets.make("cruise", random_state=0, refinement=None).fit(X, y)
    assert whole.tree_.n_nodes == plain.tree_.n_nodes
    again = UnassignedTies().refine(whole.tree_, Evidence(sample_of(X, y)))
    np.testing.assert_array_equal(again.labels, whole.tree_.labels)


@pytest.mark.parametrize("name", ["friedman", "fact", "cruise", "ltree", "qtree"])
@pytest.mark.parametrize("cell", [1.0, "a"])
def test_table_of_equal_rows_is_a_leaf(name, cell):
    clf = presets.make(name, pruning=None).fit([[cell]] * 10, [0, 1] * 5)
    assert clf.tree_.n_nodes == 1
