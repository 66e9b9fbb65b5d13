"""Scores, logarithms and sizes: the methods that users of scikit-learn expect."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import roc_auc_score

from omnitree import OmniTreeRegressor, TreeClassifier, presets
from omnitree.learners import LEARNERS

MANY = ("ldt", "lmdt", "omni", "lmt", "ft", "bu95", "qua", "id-mlp", "cruise", "fact")


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("data", [load_iris, load_breast_cancer])
def test_scores_agree_with_predictions(name, data):
    X, y = data(return_X_y=True)
    X, y = X[::2], data().target_names[y[::2]]
    clf = presets.make(name, random_state=0).fit(X, y)
    if not hasattr(clf, "decision_function"):
        assert clf.tree_.models is None and clf.tree_.split(0).kind == "axis"
        return
    scores = clf.decision_function(X)
    assert np.isfinite(scores).all()
    if len(clf.classes_) == 2:
        assert scores.shape == (len(X),)
        best = (scores > 0).astype(int)
    else:
        assert scores.shape == (len(X), 3)
        best = scores.argmax(axis=1)
    # A tie of functions goes to the first branch, whatever class that answers.
    assert (clf.classes_[best] == clf.predict(X)).mean() > 0.99


def test_log_odds_of_models():
    X, y = load_breast_cancer(return_X_y=True)
    clf = presets.make("lmt", random_state=0).fit(X, y)
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(
        clf.decision_function(X), np.log(proba[:, 1]) - np.log(proba[:, 0])
    )
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), proba)


def test_margins_rank_rows_of_one_leaf():
    """One linear test with plain leaves: two probabilities, but as many scores as rows."""
    X, y = load_breast_cancer(return_X_y=True)
    clf = presets.make("ldt", max_depth=1, pruning=None).fit(X[:300], y[:300])
    assert clf.tree_.n_leaves == 2 and clf.tree_.models is None
    scores = clf.decision_function(X[300:])
    assert len(np.unique(clf.predict_proba(X[300:])[:, 1])) == 2
    assert len(np.unique(scores)) > 200
    crude = roc_auc_score(y[300:], clf.predict_proba(X[300:])[:, 1])
    assert roc_auc_score(y[300:], scores) > crude
    np.testing.assert_array_equal(scores > 0, clf.predict(X[300:]) == 1)


def test_functions_of_a_machine():
    X, y = load_wine(return_X_y=True)
    clf = TreeClassifier(learner=LEARNERS["softmax"](), max_depth=1).fit(X, y)
    split = clf.tree_.split(0)
    if split.kind == "machine" and clf.tree_.n_leaves == 3:
        functions = X[:, split.columns] @ np.transpose(split.weights) + split.bias
        order = clf.tree_.labels[1:]
        np.testing.assert_allclose(clf.decision_function(X)[:, order], functions)
    np.testing.assert_array_equal(
        clf.decision_function(X).argmax(axis=1), clf.predict(X)
    )


def test_univariate_trees_have_no_scores():
    X, y = load_iris(return_X_y=True)
    clf = presets.make("cart", random_state=0)
    assert not hasattr(clf, "decision_function")
    assert not hasattr(clf.fit(X, y), "decision_function")
    with np.errstate(all="raise"):
        found = clf.predict_log_proba(X)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(found, np.log(clf.predict_proba(X)))


def test_sizes():
    X, y = load_iris(return_X_y=True)
    for model in (presets.make("cart"), presets.make("lmt"), OmniTreeRegressor()):
        model.set_params(random_state=0).fit(X, y)
        assert model.get_depth() == model.tree_.depth
        assert model.get_n_leaves() == model.tree_.n_leaves
    assert TreeClassifier(max_depth=0).fit(X, y).get_depth() == 0


@pytest.mark.parametrize("name", ["cart", "omni", "lmt"])
def test_sparse_matrices(name):
    X, y = load_iris(return_X_y=True)
    X = np.where(X < 1, 0.0, X)
    dense = presets.make(name, random_state=0).fit(X, y)
    thin = presets.make(name, random_state=0).fit(sparse.csr_array(X), y)
    expected = dense.predict_proba(X)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        np.testing.assert_array_equal(thin.predict_proba(kind(X)), expected)
        np.testing.assert_array_equal(dense.predict(kind(X)), dense.predict(X))
