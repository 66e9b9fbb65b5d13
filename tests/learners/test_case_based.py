"""The learner of cases: patches, honest answers, weights, groups, limits, the solver."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from tests.samples import root_of

from omnitree import OmniTreeClassifier, TreeClassifier, presets
from omnitree.learners import CaseBased, Softmax
from omnitree.parts.discriminants.cases import Likeness, case_order, distances
from omnitree.tree.leaf_models import LeafModels

PENALTY = 3e-4


def board(n=500, seed=0):
    """A board of 4 x 4 squares of two classes; a few cells are missing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    y = (4 * X).astype(int).sum(axis=1) % 2
    X[rng.random(X.shape) < 0.01] = np.nan
    return X, y


def rings(n=500, seed=0):
    """Three classes around one another."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, (np.hypot(*X.T)[:, None] > [0.4, 0.75]).sum(axis=1)


def blobs(n=400, seed=0):
    """Sixteen patches of two classes in six columns."""
    centres = np.random.default_rng(7).normal(size=(16, 6))
    rng = np.random.default_rng(seed)
    at = rng.integers(16, size=n)
    return centres[at] + 0.35 * rng.normal(size=(n, 6)), at % 2


TABLES = pytest.mark.parametrize("table", [board, rings])


@TABLES
def test_patches_are_found(table):
    X, y = table()
    trial, line = CaseBased().trial(root_of(X, y)), Softmax().trial(root_of(X, y))
    assert trial.kind == "cases" and trial.held_out.complete
    assert trial.held_out.mean("log_loss") < line.held_out.mean("log_loss") - 0.2
    clf = TreeClassifier(CaseBased(), max_depth=1).fit(X, y)
    assert clf.tree_.node_kinds()["cases"] == 1
    new, truth = table(4000, seed=1)
    wrong = (clf.predict(new) != truth).mean()
    assert wrong == pytest.approx(trial.held_out.mean("errors"), abs=0.05)
    models = LeafModels.of([trial.leaf_model()])
    p = answers(models, root_of(new, truth), len(trial.rows.present))
    loss = -np.log(p[np.arange(4000), truth]).mean()
    assert loss == pytest.approx(trial.held_out.mean("log_loss"), abs=0.05)


def answers(models, node, k):
    """What the model of node 0 answers for the rows of a node."""
    n = len(node.rows)
    out = np.empty((n, k))
    models.answer(node.sample.table, node.rows, np.zeros(n, np.int32), out)
    return out


def test_held_out_answers_do_not_know_the_classes():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 5)), rng.integers(3, size=300)
    trial = CaseBased().trial(root_of(X, y))
    assert trial.held_out.mean("log_loss") > 1.05


def test_rows_of_a_group_are_held_out_together():
    """Rows that are there four times are no easier to tell, if the four are a group."""
    X, y = board(100)
    rng = np.random.default_rng(0)
    labels = rng.permutation(y)
    X, labels, groups = (np.repeat(v, 4, axis=0) for v in (X, labels, np.arange(100)))
    apart = CaseBased().trial(root_of(X, labels))
    together = CaseBased().trial(root_of(X, labels, groups=groups))
    assert apart.held_out.mean("log_loss") < 0.6
    assert together.held_out.mean("log_loss") > 0.65
    fold = together.node.held.argmax(axis=1)
    assert (np.ptp(fold.reshape(100, 4), axis=1) == 0).all()


@TABLES
def test_the_model_says_what_the_functions_say(table):
    X, y = table()
    node = root_of(X, y)
    trial = CaseBased().trial(node)
    sums = trial.scale * trial.likeness.scores(trial.weights[:, None])[..., 0].T
    expected = np.exp(sums - sums.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    out = answers(LeafModels.of([trial.leaf_model()]), node, y.max() + 1)
    np.testing.assert_allclose(out, expected, atol=1e-7)
    split = trial.replacement.split
    routed = split.route(node.sample.table, node.rows)
    assert (routed == sums.argmax(axis=1)).mean() > 0.99


def test_weights_of_any_unit():
    X, y = board()
    one, two = (CaseBased().trial(root_of(X, y, np.full(500, w))) for w in (1.0, 2.0))
    np.testing.assert_allclose(one.scores, two.scores, atol=1e-6)


def test_a_weight_of_two_is_the_row_twice():
    """In the fit; cases and folds are drawn by rows."""
    X, y = rings(60)
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    twice = np.r_[:60, :20]
    cases = np.sort(case_order(y, np.arange(60))[:12])
    cases = cases[np.argsort(y[cases], kind="stable")]
    every = np.ones((12, 1), dtype=bool)
    found = []
    for rows, own in ((np.arange(60), weight), (twice, np.ones(80))):
        like = Likeness.of(distances(X[rows], X[cases]), 4.0, y[cases], 3)
        found.append(like.fit(y[rows], own[:, None], every, PENALTY))
    np.testing.assert_allclose(found[0], found[1], atol=0.02)


def test_sparser_has_fewer_cases_and_is_not_worse():
    X, y = rings(1500)
    trial = CaseBased().trial(root_of(X, y))
    few = trial.sparser(0.5)
    assert few is not None and few.n_cases <= trial.n_cases // 2
    assert few.held_out.gain(trial.held_out, "errors") >= -0.5
    assert few.held_out.gain(trial.held_out, "log_loss") >= -0.5
    assert len(few.leaf_model().cases) == few.n_cases
    assert few.n_parameters < trial.n_parameters


def test_limits_and_tables_without_a_trial():
    X, y = load_iris(return_X_y=True)
    assert CaseBased().trial(root_of(X, y)) is not None
    assert CaseBased(max_rows=149).trial(root_of(X, y)) is None
    assert CaseBased(max_classes=2).trial(root_of(X, y)) is None
    assert CaseBased().trial(root_of(X, np.zeros(150, int))) is None
    assert CaseBased().trial(root_of(np.ones((150, 2)), y)) is None
    kinds = pd.DataFrame(X).assign(kind=np.array(list("abc"))[np.arange(150) % 3])
    node = root_of(kinds.set_axis(list("vwxyz"), axis=1), y)
    assert CaseBased(numeric_only=True).trial(node) is None
    assert CaseBased(numeric_only=True).trial(root_of(X, y)) is not None
    assert CaseBased().trial(node) is not None
    for name in ("folds", "max_cases", "max_rows"):
        with pytest.raises(ValueError, match=name):
            CaseBased(**{name: 1}).trial(root_of(X, y))
    with pytest.raises(ValueError, match="expansion"):
        CaseBased("linear").trial(root_of(X, y))


def test_precisions_are_tried_and_checked():
    X, y = rings()
    likeliest, given = CaseBased().trial(root_of(X, y)), []
    for precision in (2.0, 0.7, 6.0):
        given.append(CaseBased(precisions=(precision,)).trial(root_of(X, y)))
        assert given[-1].precision == precision
    chosen = next(t for t in given if t.precision == likeliest.precision)
    np.testing.assert_array_equal(chosen.scores, likeliest.scores)
    for wrong in ((), (0.0,), (-1.0, 2.0), ("wide",)):
        with pytest.raises(ValueError, match="precisions must"):
            CaseBased(precisions=wrong).trial(root_of(X, y))


def test_a_test_that_is_far_ahead_ends_it_early():
    X, y = rings()
    node = root_of(X, y)
    ahead = Softmax().trial(node).held_out
    sure = type(ahead)(ahead.weight, 0 * ahead.errors, 0 * ahead.log_loss)
    assert CaseBased().trial(node, against=sure) is None


def test_the_same_table_and_seed_give_the_same_tree():
    X, y = board()
    one, two = (TreeClassifier(CaseBased(), random_state=3).fit(X, y) for _ in range(2))
    assert one.tree_.to_dict() == two.tree_.to_dict()


def test_constant_columns_take_no_part():
    """Also where they come first: cells are of the columns that vary."""
    X, y = rings()
    wide = np.column_stack([np.full(500, 7.0), X[:, 0], np.zeros(500), X[:, 1]])
    node = root_of(wide, y)
    trial, plain = CaseBased().trial(node), CaseBased().trial(root_of(X, y))
    assert trial.held_out.mean("errors") == pytest.approx(
        plain.held_out.mean("errors"), abs=0.04
    )
    split = trial.replacement.split
    assert split.columns == (1, 3)
    routed = split.route(node.sample.table, node.rows)
    assert (routed != y).mean() < 0.1


def test_the_default_stores_rows_unless_it_must_not():
    X, y = blobs()
    new, truth = blobs(4000, seed=1)
    errors = []
    for stores in (True, False):
        clf = OmniTreeClassifier(store_cases=stores, random_state=0).fit(X, y)
        tree = presets.make("omni", store_cases=stores, random_state=0).fit(X, y).tree_
        assert tree.to_dict() == clf.tree_.to_dict()
        assert clf.tree_.node_kinds()["cases"] == stores
        assert ('"case_weights"' in clf.export("json")) == stores
        errors.append((clf.predict(new) != truth).mean())
    assert errors[0] < errors[1]


@pytest.mark.parametrize("given", ["no", 0, None])
def test_storing_rows_is_a_matter_of_yes_or_no(given):
    X, y = blobs(60)
    with pytest.raises(ValueError, match="store_cases must be True or False"):
        OmniTreeClassifier(store_cases=given).fit(X, y)
    with pytest.raises(ValueError, match="store_cases must be True or False"):
        presets.make("omni", store_cases=given)


def naive_loss(alike, first, y, share, w, penalty):
    """Mean log loss and half the penalty, one row at a time."""
    k = len(first) - 1
    total = penalty / 2 * (w[k:] ** 2).sum()
    for row, own, part in zip(alike, y, share, strict=True):
        z = np.array(
            [
                w[i] + row[first[i] : first[i + 1]] @ w[k + first[i] : k + first[i + 1]]
                for i in range(k)
            ]
        )
        total += part * (np.log(np.exp(z - z.max()).sum()) + z.max() - z[own])
    return total


def problem_of(seed, n=60, c=15, k=3):
    """Likeness of rows to some of them, and the classes."""
    X, y = rings(n, seed)
    cases = case_order(y, np.arange(n))[:c]
    cases = cases[np.argsort(y[cases], kind="stable")]
    return Likeness.of(distances(X, X[cases]), 3.0, y[cases], k), y, cases


@pytest.mark.parametrize("seed", range(3))
def test_the_solver_comes_near_the_least_loss(seed):
    like, y, cases = problem_of(seed)
    penalty = 0.01
    weight = np.random.default_rng(seed).uniform(0.5, 2, size=len(y))
    share = weight / weight.sum()
    every = np.ones((len(cases), 1), dtype=bool)
    found = like.fit(y, weight[:, None], every, penalty)[:, 0]

    def loss(w):
        return naive_loss(like.alike, like.first, y, share, w, penalty)

    best = minimize(loss, np.zeros(len(found)), options={"maxiter": 300}).fun
    assert best - 1e-6 <= loss(found) < best + 0.01
    assert loss(found) < loss(np.zeros(len(found))) - 0.1


def test_folds_side_by_side_are_folds_one_by_one():
    like, y, cases = problem_of(0, n=150, c=30)
    fold = np.arange(len(y)) % 4
    weight = (fold[:, None] != np.arange(4)).astype(float)
    kept = weight[cases] > 0
    together = like.fit(y, weight, kept, 0.01)
    assert not together[3:][~kept].any()
    for i in range(4):
        share = weight[:, i] / weight[:, i].sum()
        alone = like.fit(y, weight[:, [i]], kept[:, [i]], 0.01)[:, 0]
        one, other = (
            naive_loss(like.alike, like.first, y, share, w, 0.01)
            for w in (together[:, i], alone)
        )
        assert one == pytest.approx(other, abs=0.02)
