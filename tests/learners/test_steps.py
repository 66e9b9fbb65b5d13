"""The learner of steps: jumps, honest answers, missing values, limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from tests.samples import root_of

from omnitree import OmniTreeClassifier, TreeClassifier, load, save
from omnitree.growing.curve_basis import CurveBasis, beside
from omnitree.growing.scaling import Scaling
from omnitree.learners import Softmax, Steps
from omnitree.learners.gradual import HeldOutPath, validated
from omnitree.parts.discriminants.steps import Binned
from omnitree.tree.leaf_models import LeafModels


def stairs(n=400, seed=0, k=3):
    """Classes that jump with two numbers; a number without meaning, a category, gaps."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    kind = rng.choice(["u", "v", "w"], n)
    score = 2.0 * ((X[:, 0] > 0.3) & (X[:, 0] < 0.6)) + (X[:, 1] > 0.5) + (kind == "v")
    y = np.clip(score + 0.6 * rng.normal(size=n), 0, k - 1).round().astype(int)
    frame = pd.DataFrame(X, columns=list("abc")).mask(rng.random((n, 3)) < 0.05)
    return frame.assign(kind=pd.Series(kind).mask(rng.random(n) < 0.05)), y


@pytest.mark.parametrize("k", [2, 3])
def test_jumps_are_found(k):
    X, y = stairs(k=k)
    trial = Steps().trial(root_of(X, y))
    line = Softmax().trial(root_of(X, y))
    assert trial.kind == ("additive" if k == 2 else "additive_machine")
    assert trial.held_out.complete
    assert trial.held_out.mean("log_loss") < line.held_out.mean("log_loss") - 0.05
    new, truth = stairs(4000, seed=1, k=k)
    clf = TreeClassifier(Steps(), max_depth=1).fit(X, y)
    wrong = (clf.predict(new) != truth).mean()
    assert wrong == pytest.approx(trial.held_out.mean("errors"), abs=0.05)


@pytest.mark.parametrize("k", [2, 3])
def test_the_model_says_what_the_functions_say(k):
    """Curves in the table's units give the sums of the bins, missing values included."""
    X, y = stairs(k=k)
    node = root_of(X, y)
    trial = Steps().trial(node)
    weights, bias = trial.fitted
    sums = trial.rows.columns @ weights.T + bias
    model, out = LeafModels.of([trial.leaf_model()]), np.empty((len(y), k))
    model.answer(node.sample.table, node.rows, np.zeros(len(y), np.int32), out)
    expected = np.exp(trial.scale * sums)
    expected /= expected.sum(axis=1, keepdims=True)
    # Knots that a curve hardly needs have left.
    assert np.abs(out - expected).max() < 0.08
    assert (out.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.97


def test_curves_are_the_functions():
    rng = np.random.default_rng(2)
    z = np.round(rng.normal(size=(200, 3)), 1)
    z[:, 2] = z[:, 2] > 0
    z[rng.random((200, 3)) < 0.1] = np.nan
    plain = Scaling(np.arange(3), np.zeros(3), np.ones(3))
    binned = Binned.of(z, np.array([True, True, False]), np.ones(200), plain)
    assert binned.is_line(2) and not binned.is_line(0)
    for i in range(2):
        values = rng.normal(size=(binned.first[i + 1] - binned.first[i], 2))
        basis, mean = binned.curve(i, values, np.ones(200))
        np.testing.assert_allclose(
            basis.columns(z[:, i]) + mean, values[binned.codes[i]]
        )
        assert abs(basis.columns(z[:, i]).mean(axis=0)).max() < 1e-12
    values = rng.normal(size=(3, 2))
    slope, shift = binned.line(2, values)
    known = ~np.isnan(z[:, 2])
    np.testing.assert_allclose(
        z[known, 2, None] * slope + shift, values[binned.codes[2][known]]
    )


def test_two_curves_of_a_column_become_one():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(50, 3))
    z[:5] = np.nan
    one = [CurveBasis.of(j, z[:, j], np.ones(50)) for j in (0, 1)]
    knots = np.array([-1.0, 0.0, 0.5])
    two = [CurveBasis(j, knots, rng.normal(size=(4, 2)), np.ones(2), 3) for j in (2, 1)]
    curves, own, new = beside(tuple(one), tuple(two))
    assert [curve.at for curve in curves] == [0, 1, 2]
    assert curves[1].n_free == one[1].n_free + 3
    columns = np.hstack([curve.columns(z[:, curve.at]) for curve in curves])
    for at, some in ((own, one), (new, two)):
        expected = np.hstack([curve.columns(z[:, curve.at]) for curve in some])
        np.testing.assert_allclose(columns[:, at], expected, atol=1e-12)
    assert sorted([*own, *new]) == list(range(columns.shape[1]))


def test_held_out_answers_do_not_know_the_classes():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 20)), rng.integers(3, size=200)
    trial = Steps().trial(root_of(X, y))
    if trial is not None:
        assert 0.55 < trial.held_out.mean("errors") < 0.8
        assert trial.held_out.mean("log_loss") > 1.05


@dataclass
class Shift:
    """A stage that adds a number to the sum of the second class."""

    by: float

    def add_to(self, sums, x):
        sums[:, 1] += self.by


def test_other_folds_choose_the_number_of_steps():
    """Two folds are best after two stages, and one after the first."""
    y, weight, paths = np.ones(6, np.int32), np.ones(6), []
    for i, steps in enumerate(([1, 3, -2], [1, 3, -2], [1, -1, -1])):
        test = np.array([i, i + 3])
        ahead = iter([Shift(by) for by in steps])
        paths.append(HeldOutPath.of(test, None, y, weight, ahead, 2))
        paths[-1].go_on(3)
    scores, n_stages = validated([paths])
    assert n_stages == 2
    # The third has its say about the others only.
    np.testing.assert_array_equal(scores[:, 1], [1, 1, 0] * 2)
    assert [len(path.stages) for path in paths] == [3, 3, 3]


def test_deals_have_the_mean_and_choose_together():
    """One deal is best after two stages, the other, by more, after one."""
    y, weight, deals = np.ones(4, np.int32), np.ones(4), []
    for steps in ([1, 1, -2], [1, -3, -1]):
        paths = []
        for i in range(2):
            ahead = iter([Shift(by) for by in steps])
            at = np.array([i, i + 2])
            paths.append(HeldOutPath.of(at, None, y, weight, ahead, 2))
            paths[-1].go_on(3)
        deals.append(paths)
    scores, n_stages = validated(deals)
    assert n_stages == 1
    assert [validated([paths])[1] for paths in deals] == [2, 1]
    np.testing.assert_array_equal(scores[:, 1], [1.5] * 4)


def test_a_test_that_is_far_ahead_ends_it_early():
    X, y = load_iris(return_X_y=True)
    node = root_of(X, y)
    ahead = Softmax().trial(node).held_out
    sure = type(ahead)(ahead.weight, 0 * ahead.errors, 0 * ahead.log_loss)
    assert Steps().trial(node, against=sure) is None
    assert Steps().trial(node) is not None


def test_limits_and_bad_values():
    X, y = load_iris(return_X_y=True)
    assert Steps(max_classes=2).trial(root_of(X, y)) is None
    assert Steps(max_cells=150 * 4 * 3 - 1).trial(root_of(X, y)) is None
    assert Steps(max_cells=150 * 4 * 3).trial(root_of(X, y)) is not None
    assert Steps().trial(root_of(X, np.zeros(150))) is None
    assert Steps().trial(root_of(np.zeros((150, 2)), y)) is None
    for name, value in (("rate", 0), ("ridge", 0), ("patience", 0), ("max_steps", 1)):
        with pytest.raises(ValueError, match=name):
            Steps(**{name: value}).trial(root_of(X, y))
    with pytest.raises(ValueError, match="expansion"):
        Steps("quadratic").trial(root_of(X, y))


def test_numbers_that_hardly_differ_take_no_part():
    """What held-out rows say is what the model says: no function of it gets lost."""
    X, y = stairs()
    near = 1e18 * (1 + 1e-14 * np.arange(400))
    with_near = Steps().trial(root_of(X.assign(near=near), y))
    without = Steps().trial(root_of(X, y))
    assert [c.at for c in with_near.rows.scaling.curves] == [0, 1, 2]
    assert with_near.n_parameters == pytest.approx(without.n_parameters, rel=0.5)


def test_weights_of_any_unit():
    X, y = stairs()
    one, two = (Steps().trial(root_of(X, y, np.full(400, w))) for w in (1.0, 8.0))
    np.testing.assert_allclose(one.scores, two.scores, atol=1e-6)


def test_steps_win_where_classes_jump(tmp_path):
    """A tree with steps is saved, loaded, exported and told in words."""
    X, y = stairs(600)
    clf = OmniTreeClassifier(random_state=0).fit(X, y)
    assert any("of steps" in c.learner for c in clf.tree_.split(0).candidates)
    save(clf, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
