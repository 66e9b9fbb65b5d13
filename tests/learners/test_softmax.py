"""The softmax learner: kinds of test, held-out answers, hard cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from omnitree import TreeClassifier
from omnitree.learners import Softmax
from omnitree.missing import MISSING
from omnitree.node import Node, Problem
from omnitree.stopping import Limits
from omnitree.table import learn_table


def root(X, y, seed=0):
    table = learn_table(X)
    y = np.asarray(y, dtype=np.int32)
    weight = np.ones(len(y))
    k = int(y.max()) + 1
    problem = Problem(table, y, weight, k, MISSING.resolve("mean"), Limits(), seed)
    return Node(problem, np.arange(len(y)), weight)


@pytest.mark.parametrize(
    ("expansion", "two", "kind"),
    [
        ("linear", True, "linear"),
        ("linear", False, "machine"),
        ("quadratic", True, "quadratic"),
        ("quadratic", False, "quadratic_machine"),
    ],
)
def test_kind_and_held_out_error(expansion, two, kind):
    X, y = load_iris(return_X_y=True)
    if two:
        X, y = X[y > 0], y[y > 0] - 1
    trial = Softmax(expansion).trial(root(X, y))
    split = trial.split()
    assert split.kind == trial.kind == kind
    assert split.n_params == trial.n_parameters
    assert trial.held_out.error <= 0.06
    branch = split.route(learn_table(X), np.arange(len(y)))
    assert (branch == y).mean() >= 1 - trial.held_out.error - 0.02


def test_quadratic_separates_what_no_line_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    bent, straight = (
        TreeClassifier(learner=Softmax(e), max_depth=1).fit(X, y).score(X, y)
        for e in ("quadratic", "linear")
    )
    assert bent > 0.97 > 0.7 > straight


def test_units_and_offsets_do_not_matter():
    X, y = load_wine(return_X_y=True)
    scale = 10.0 ** np.arange(-6, 7)
    one, two = (
        TreeClassifier(learner=Softmax("quadratic"), max_depth=1).fit(Z, y).predict(Z)
        for Z in (X, X * scale + 100 * scale)
    )
    assert (one == two).mean() > 0.99


def test_branches_without_rows_are_dropped():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 1))
    y = (X[:, 0] > 0).astype(int)
    y[:3] = 2  # a class that no row is likely to have
    split = Softmax().trial(root(X, y)).split()
    assert split.n_children == 2


def test_what_is_hopeless_on_the_first_fold_is_given_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    node = root(X, y)
    alone = Softmax().trial(node)
    ahead = Softmax().trial(node, np.zeros(600))
    equal = Softmax().trial(node, alone.held_out.wrong)
    assert (alone.held_out.weight == 1).all() and (equal.held_out.weight == 1).all()
    assert 0 < ahead.held_out.weight.sum() <= 600 / 5
    assert abs(ahead.held_out.error - alone.held_out.error) < 0.1
    small = Softmax().trial(root(X[:400], y[:400]), np.zeros(400))
    assert (small.held_out.weight == 1).all()


def test_limits_of_columns_and_bad_values():
    X, y = load_iris(return_X_y=True)
    assert Softmax("quadratic", max_columns=5).trial(root(X, y)) is None
    assert Softmax().trial(root(np.ones((10, 2)), np.arange(10) % 2)) is None
    with pytest.raises(ValueError, match="linear, quadratic"):
        Softmax("cubic").trial(root(X, y))
