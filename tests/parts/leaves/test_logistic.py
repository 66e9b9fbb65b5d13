"""Logistic leaves: what they learn, hand on, and how they go with learners and prunings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from tests import naive_logitboost as naive
from tests.samples import sample_of
from tests.tables import random_sample

from omnitree import TreeClassifier, load, presets, save
from omnitree.data.table import learn_table
from omnitree.growing.missing import Mean, fill_values
from omnitree.growing.node import Rules
from omnitree.learners import LEARNERS
from omnitree.parts.leaves import LEAVES, LogisticLeaves
from omnitree.parts.leaves.boosting import BoostedModel, Columns, steps_by_folds
from omnitree.pruning import PRUNINGS


def logistic_rows(rng, n=400):
    X = rng.normal(size=(n, 3)) * [1, 10, 0.1] + [0, 5, 0]
    chance = 1 / (1 + np.exp(-(1.5 * X[:, 0] - 0.2 * (X[:, 1] - 5))))
    return X, (rng.random(n) < chance).astype(int)


def test_a_leaf_is_a_logistic_regression(rng):
    X, y = logistic_rows(rng)
    clf = TreeClassifier(leaves=LogisticLeaves(steps=300), max_depth=0).fit(X, y)
    other = LogisticRegression(C=1e6, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), other.predict_proba(X), atol=0.005)
    (model,) = (clf.tree_.model(0),)
    slope = np.array(model.weights[1]) - model.weights[0]
    np.testing.assert_allclose(slope, other.coef_[0], rtol=0.05, atol=0.02)


def test_few_steps_use_few_columns(rng):
    X, y = logistic_rows(rng)
    clf = TreeClassifier(leaves=LogisticLeaves(steps=1), max_depth=0).fit(X, y)
    assert clf.tree_.model(0).columns == (1,)


@pytest.mark.parametrize("seed", range(10))
def test_children_go_on_from_their_parent(seed):
    """Every node's model is what plain Python makes of its parent's."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    clf = TreeClassifier(leaves=LogisticLeaves(steps=2), max_depth=2).fit(X, y)
    tree, table = clf.tree_, learn_table(X)
    columns = Columns.of(table, np.ones(80))
    path = tree.decision_path(table).toarray() > 0
    sums, done = {-1: np.zeros((80, 3))}, {-1: False}
    for node in range(tree.n_nodes):
        above = int(tree.parent[node])
        rows, start, done[node] = path[:, node], sums[above], done[above]
        if rows.sum() >= 5 and not done[node]:
            _, bias, weights, _ = naive.boost(
                columns.x[rows], y[rows], np.ones(rows.sum()), start[rows], 2
            )
            start = start + columns.x @ weights.T + bias
            done[node] = (start[rows].argmax(axis=1) == y[rows]).all()
        sums[node] = start
        model = tree.model(node)
        own = (
            np.array(model.bias) + X[:, list(model.columns)] @ np.array(model.weights).T
        )
        np.testing.assert_allclose(own, start, rtol=1e-6, atol=1e-6)


def test_small_nodes_keep_the_model_of_their_parent(rng):
    X, y = logistic_rows(rng, 60)
    leaves = LogisticLeaves(steps=3, min_rows=60)
    tree = TreeClassifier(leaves=leaves).fit(X, y).tree_
    assert tree.n_leaves > 3
    assert all(tree.model(node) == tree.model(0) for node in range(tree.n_nodes))


def test_without_enough_rows_there_are_no_models(rng):
    X, y = logistic_rows(rng, 60)
    tree = TreeClassifier(leaves=LogisticLeaves(min_rows=61)).fit(X, y).tree_
    assert tree.models is None


def noise(rng, n: int, mixed: bool, rare: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows that say nothing about a class of 3 %."""
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    if mixed:
        frame["colour"] = rng.choice(["red", "green", "blue"], n)
        frame["size"] = rng.choice(["small", "large", None], n)
        frame.loc[rng.random(n) < 0.2, "a"] = np.nan
    return frame, np.where(rng.random(n) < 0.03, rare, "no")


@pytest.mark.parametrize("rare", ["aye", "yes"])  # before and after "no"
@pytest.mark.parametrize("mixed", [False, True], ids=["numbers", "mixed"])
@pytest.mark.parametrize("make", [presets.lmt, presets.ft])
def test_without_a_step_the_class_shares_are_the_answer(make, mixed, rare, rng):
    frame, y = noise(rng, 1000, mixed, rare)
    clf = make(random_state=0).fit(frame, y)
    new, _ = noise(rng, 50, mixed, rare)
    shares = np.tile([(y == c).mean() for c in clf.classes_], (50, 1))
    np.testing.assert_allclose(clf.predict_proba(new), shares)


def test_steps_are_chosen_once(rng):
    X, y = logistic_rows(rng)
    training = sample_of(X, y), Rules(Mean(), seed=3)
    settled = LogisticLeaves(max_steps=60).settled(*training)
    assert 1 <= settled.steps <= 60
    assert settled.settled(*training) is settled
    assert LogisticLeaves(max_steps=60).steps is None


@pytest.mark.parametrize("seed", range(5))
def test_folds_count_errors_as_plain_python_does(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40).astype(np.int32)
    x[:, 0] += y
    fold = rng.integers(0, 4, 40)
    errors = np.zeros(9)
    for k in range(4):
        test = fold == k
        for steps in range(9):
            start = np.zeros(((~test).sum(), 2))
            one = np.ones(len(start))
            _, b, w, _ = naive.boost(x[~test], y[~test], one, start, steps)
            errors[steps] += ((x[test] @ w.T + b).argmax(axis=1) != y[test]).sum()
    got = steps_by_folds(BoostedModel.start(2, 2), x, y, np.ones(40), fold, 8, 50)
    assert got == errors.argmin()


def test_missing_take_the_mean_or_the_most_frequent_category():
    frame = pd.DataFrame(
        {"a": [1.0, 2.0, 6.0, None], "b": ["x", "y", "y", None], "c": list("uvwu")}
    )
    columns = Columns.of(learn_table(frame), np.ones(4))
    # c has no missing value here: what fills one later stands for a new category.
    np.testing.assert_allclose(columns.fill, [3.0, 1.0, 0.0, -0.5, -0.5])
    np.testing.assert_allclose(columns.x[3, :2], [0, columns.x[1, 1]], atol=1e-12)


def test_filled_before_growing(rng):
    """The policy "filled" grows what filling the missing values beforehand grows."""
    sample = random_sample(rng, n=120, d=5, k=3, missing_share=0.2)
    table = learn_table(sample.frame)
    fill = fill_values(table, sample.weight)
    values = np.where(np.isnan(table.values), fill, table.values)
    problem = {"y": sample.y, "sample_weight": sample.weight}
    clf = TreeClassifier(missing="filled").fit(sample.frame, **problem)
    whole = sample.frame.copy()
    for j, feature in enumerate(table.schema.features):
        cells = values[:, j]
        if feature.categories:
            cells = [feature.categories[int(v)] for v in cells]
        is_missing = np.isnan(table.values[:, j])
        column = whole.iloc[:, j].astype(object)
        column[is_missing] = np.array(cells, dtype=object)[is_missing]
        whole[whole.columns[j]] = column.astype(whole.dtypes.iloc[j])
    other = TreeClassifier().fit(whole, **problem)
    tests = [
        [
            {k: n.get(k) for k in ("kind", "test", "value")}
            for n in c.tree_.to_dict()["nodes"]
        ]
        for c in (clf, other)
    ]
    assert tests[0] == tests[1]
    np.testing.assert_array_equal(clf.predict(sample.frame), other.predict(whole))


def test_time_is_up(rng):
    X, y = logistic_rows(rng)
    clf = TreeClassifier(leaves="logistic", max_seconds=0).fit(X, y)
    assert clf.tree_.models is None  # class shares answer


@pytest.mark.parametrize("pruning", [None, *sorted(PRUNINGS)])
def test_every_pruning_takes_models(pruning, rng, tmp_path):
    X, y = logistic_rows(rng, 150)
    clf = TreeClassifier(leaves="logistic", pruning=pruning, random_state=0)
    if pruning == "information":
        with pytest.raises(ValueError, match="leaves='majority'"):
            clf.fit(X, y)
        return
    clf.fit(X, y)
    if pruning in ("cost_complexity", "reduced_error"):
        assert clf.tree_.n_leaves <= 5  # the root's model is the truth
        assert clf.score(X, y) > 0.7
    save(clf, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.leaves == "logistic"


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_every_learner_can_have_models(learner, rng):
    sample = random_sample(rng, n=80, d=4, k=3, missing_share=0.05)
    clf = TreeClassifier(learner, leaves="logistic", max_depth=2, random_state=0)
    clf.fit(sample.frame, sample.y)
    proba = clf.predict_proba(sample.frame)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert clf.tree_.models.there.all()


def test_models_beat_plain_leaves_on_smooth_classes():
    X, y = load_breast_cancer(return_X_y=True)
    plain = presets.make("cart", random_state=0).fit(X[::2], y[::2])
    tree = presets.make("lmt", random_state=0).fit(X[::2], y[::2])
    assert tree.score(X[1::2], y[1::2]) > plain.score(X[1::2], y[1::2]) + 0.01


def test_weights_are_repeats(rng):
    """Where the number of steps is given, so that no rows are held out."""
    X, y = logistic_rows(rng, 120)
    times = rng.integers(1, 4, 120)
    many = np.repeat(np.arange(120), times)
    clf = TreeClassifier(leaves=LogisticLeaves(steps=5), random_state=0)
    one = clone(clf).fit(X, y, sample_weight=times)
    two = clone(clf).fit(X[many], y[many])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-6)


def test_order_of_rows_does_not_matter(rng):
    X, y = load_iris(return_X_y=True)
    turned = rng.permutation(len(y))
    one = presets.make("lmt", random_state=0).fit(X, y)
    two = presets.make("lmt", random_state=0).fit(X[turned], y[turned])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"steps": -1}, "steps"),
        ({"folds": 1}, "folds"),
        ({"max_steps": 0}, "max_steps"),
        ({"patience": "long"}, "patience"),
        ({"min_rows": -2}, "min_rows"),
    ],
)
def test_bad_options(options, word):
    clf = TreeClassifier(leaves=LogisticLeaves(**options))
    with pytest.raises(ValueError, match=word):
        clf.fit([[1], [2], [3]], [0, 1, 0])


def test_unknown_leaves():
    with pytest.raises(ValueError, match="Choose one of: majority, logistic"):
        TreeClassifier(leaves="lgistic").fit([[1], [2]], [0, 1])
    assert list(LEAVES)[:2] == ["majority", "logistic"]
