"""The softmax learner: kinds of test, held-out answers, hard cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from tests.samples import root_of

from omnitree import TreeClassifier
from omnitree.data.table import learn_table
from omnitree.learners import Boosted, Softmax
from omnitree.learners import trial as trial_module
from omnitree.parts.discriminants.calibration import calibrated
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModels


def root(X, y, seed=0):
    return root_of(X, y, seed=seed)


@pytest.mark.parametrize(
    ("expansion", "two", "kind"),
    [
        ("linear", True, "linear"),
        ("linear", False, "machine"),
        ("quadratic", True, "quadratic"),
        ("quadratic", False, "quadratic_machine"),
        ("curves", True, "additive"),
        ("curves", False, "additive_machine"),
        ("blocks", True, "additive"),
        ("blocks", False, "additive_machine"),
    ],
)
def test_kind_and_held_out_error(expansion, two, kind, monkeypatch):
    monkeypatch.setattr(trial_module, "STRAIGHT", -1.0)  # all knots stay
    X, y = load_iris(return_X_y=True)
    if two:
        X, y = X[y > 0], y[y > 0] - 1
    trial = Softmax(expansion).trial(root(X, y))
    found = trial.replacement
    split, error = found.split, trial.held_out.mean("errors")
    assert split.kind == trial.kind == kind and found.n_leaves == len(np.unique(y))
    assert split.n_params == trial.n_parameters
    assert error <= 0.07
    branch = split.route(learn_table(X), np.arange(len(y)))
    assert (branch == y).mean() >= 1 - error - 0.02


@pytest.mark.parametrize("expansion", ["linear", "quadratic", "curves", "blocks"])
@pytest.mark.parametrize("k", [2, 3])
def test_the_model_answers_as_the_test_and_is_calibrated(expansion, k):
    rng = np.random.default_rng(k)

    def draw(n):
        X = rng.normal(size=(n, 4))
        truth = X[:, :2] @ [[2, -1, 0], [0, 1, -2]]
        return X, (truth + rng.gumbel(size=(n, 3)))[:, :k].argmax(axis=1)

    X, y = draw(500)
    trial = Softmax(expansion).trial(root(X, y))
    found = trial.replacement
    models = LeafModels.of([found.model])
    X, y = draw(20000)
    table, rows = learn_table(X), np.arange(len(y))
    proba = np.empty((len(y), k))
    models.answer(table, rows, np.zeros(len(y)), proba)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(proba.argmax(axis=1), found.split.route(table, rows))
    lost = -np.log(proba[rows, y]).mean()
    assert lost == pytest.approx(trial.held_out.mean("log_loss"), abs=0.1)
    assert 0.6 < calibrated(np.log(proba), y, np.ones(len(y))) < 1.4


def test_the_scale_has_the_least_log_loss():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    y = (2.0 * scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    assert calibrated(scores, y, np.ones(4000)) == pytest.approx(2.0, rel=0.1)
    assert calibrated(8 * scores, y, np.ones(4000)) == pytest.approx(0.25, rel=0.1)
    assert calibrated(scores, scores.argmax(axis=1), np.ones(4000)) < 2.1


def test_a_class_that_is_absent_here_keeps_a_small_probability():
    X, y = load_iris(return_X_y=True)
    table, here = learn_table(X), np.flatnonzero(y != 1)
    node = root_of(table, y)
    trial = Softmax().trial(replace(node, rows=here, weight=np.ones(len(here))))
    models = LeafModels.of([trial.replacement.model])
    proba = np.empty((len(y), 3))
    models.answer(table, np.arange(len(y)), np.zeros(len(y)), proba)
    assert ((proba[:, 1] > 0) & (proba[:, 1] < 0.5 / len(here))).all()
    assert (proba.argmax(axis=1)[here] == y[here]).all()


def test_quadratic_separates_what_no_line_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    bent, straight = (
        TreeClassifier(learner=Softmax(e), max_depth=1).fit(X, y).score(X, y)
        for e in ("quadratic", "linear")
    )
    assert bent > 0.97 > 0.7 > straight


def test_curves_find_what_is_neither_straight_nor_square():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, size=(600, 3))
    y = (np.sin(9 * X[:, 0]) + X[:, 1] > 0.5).astype(int)
    scores = {
        e: TreeClassifier(learner=Softmax(e), max_depth=1).fit(X, y).score(X, y)
        for e in ("linear", "quadratic", "curves", "blocks")
    }
    assert min(scores["curves"], scores["blocks"]) > 0.96
    assert max(scores["linear"], scores["quadratic"]) < 0.94


@pytest.mark.parametrize("expansion", ["curves", "blocks"])
def test_a_missing_value_is_a_value_of_its_own(expansion):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    missing = rng.random(400) < 0.3
    X[missing, 0] = np.nan
    y = np.where(missing, 1, np.abs(X[:, 0]) > 1.5).astype(int)
    clf = TreeClassifier(learner=Softmax(expansion), max_depth=1).fit(X, y)
    assert clf.score(X[missing], y[missing]) > 0.95
    assert clf.score(X, y) > 0.93


def test_curves_and_products_without_information_leave(monkeypatch):
    monkeypatch.setattr(trial_module, "STRAIGHT", -1.0)  # all knots stay
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 9))
    truth = 3 * np.sin(2 * X[:, 0]) + 2 * X[:, 1]
    y = (truth + rng.logistic(size=800) > 0).astype(int)
    trial = Softmax("blocks").trial(root(X, y))
    sparse = trial.sparser(0.5)
    assert sparse.kind == "additive" and sparse.n_parameters < trial.n_parameters / 2
    found = sparse.replacement
    assert found.split.n_params == sparse.n_parameters
    assert 0 in found.split.curve_columns and len(found.split.curve_columns) < 7
    assert sparse.held_out.mean("errors") < trial.held_out.mean("errors") + 0.02
    assert found.model.curve_columns == found.split.curve_columns


def test_products_begin_with_the_penalties_of_curves():
    X, y = load_wine(return_X_y=True)
    before = root(X, y)
    Softmax("curves").trial(before)
    (key,) = (key for key in before.memo if "penalties of curves" in key)
    found, other = before.memo[key], root(X, y)
    alone, after = (Softmax("blocks").trial(node) for node in (other, before))
    np.testing.assert_array_equal(alone.scores, after.scores)
    assert before.memo[key] is found and other.memo[key] == found


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
    found = Softmax().trial(root(X, y)).replacement
    assert found.split.n_children == 2 and len(found.model.bias) == 3


def test_where_all_rows_take_one_branch_there_is_only_a_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = rng.random(2000) < 0.02 * np.exp(0.5 * X[:, 0])
    found = Softmax().trial(root(X, y)).replacement
    assert found.split is None and found.n_leaves == 1
    assert found.model.weights[1][0] > 0


def test_what_is_hopeless_on_the_first_fold_is_given_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    node = root(X, y)
    alone = Softmax().trial(node)
    perfect = HeldOut(np.ones(600), np.zeros(600), np.zeros(600))
    ahead = Softmax().trial(node, perfect)
    equal = Softmax().trial(node, alone.held_out)
    assert (alone.held_out.weight == 1).all() and (equal.held_out.weight == 1).all()
    assert 0 < ahead.held_out.weight.sum() <= 600 / 5
    errors = ahead.held_out.mean("errors"), alone.held_out.mean("errors")
    assert abs(errors[0] - errors[1]) < 0.1
    small = Softmax().trial(root(X[:400], y[:400]), perfect.take(np.arange(400)))
    assert (small.held_out.weight == 1).all()


def test_limits_of_columns_and_bad_values():
    X, y = load_iris(return_X_y=True)
    assert Softmax("quadratic", max_columns=5).trial(root(X, y)) is None
    assert Softmax().trial(root(np.ones((10, 2)), np.arange(10) % 2)) is None
    with pytest.raises(ValueError, match="linear, quadratic, curves, blocks"):
        Softmax("cubic").trial(root(X, y))


@pytest.mark.parametrize("learner", [Softmax(), Boosted()])
def test_costs_where_a_class_is_absent(learner):
    """The costs of a node are those of its own classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 25))
    y = np.where(X[:, 0] + X[:, 1] > 0, 2, 0)
    costs = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    trial = learner.trial(root_of(X, y, n_classes=3, costs=costs))
    dear = trial.held_out.errors
    assert set(dear) <= {0.0, 1.0, 2.0, 5.0}
    thin = trial.sparser(100.0)
    if thin is not None:
        two = learner.trial(root_of(X, y // 2, costs=costs[::2, ::2])).sparser(100.0)
        np.testing.assert_array_equal(thin.scores, two.scores)


@pytest.mark.parametrize("two", [True, False])
def test_knots_where_curves_are_straight_leave(two):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4))
    truth = [np.abs(X[:, 0]) - 0.8, 0.7 * X[:, 1], 0.3 * X[:, 2]]
    y = (sum(truth) + rng.logistic(size=600) / 3 > 0).astype(int)
    y = y if two else y + (X[:, 3] > 1)
    trial = Softmax("curves").trial(root(X, y))
    found = trial.replacement
    assert found.split.n_params < trial.n_parameters
    assert found.split.knots == found.model.knots
    assert found.split.curve_columns == (0, 1, 2, 3)
    sizes = [len(knots) for knots in found.split.knots]
    assert sizes[0] > sizes[2]
    # Curves move by little: at most the room of each.
    weights, bias = trial.fitted
    sums = trial.scale * (trial.rows.columns @ weights.T + bias)
    proba = np.empty((600, len(bias)))
    first = np.zeros(600, dtype=np.int32)
    LeafModels.of([found.model]).answer(learn_table(X), np.arange(600), first, proba)
    off = np.log(proba) - sums
    assert 1e-6 < np.ptp(off, axis=1).max() <= 4 * trial_module.STRAIGHT + 1e-9
