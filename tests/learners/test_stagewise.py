"""The stagewise learner: few terms, honest answers, limits, the same for any order."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.learners.test_boosted import ring
from tests.samples import root_of

from omnitree.data.table import learn_table
from omnitree.learners import Softmax, Stagewise
from omnitree.learners.gradual import validated


@pytest.mark.parametrize("expansion", ["quadratic", "blocks"])
def test_few_of_many_terms(expansion):
    X, y = ring()
    trial = Stagewise(expansion).trial(root_of(X, y))
    split = trial.replacement.split
    assert split.kind == trial.kind
    assert trial.used_terms().sum() < 40 < len(trial.used_terms())
    assert trial.held_out.complete and trial.held_out.mean("errors") < 0.1
    new, truth = ring(4000)
    branch = split.route(learn_table(new), np.arange(4000))
    assert (branch != truth).mean() == pytest.approx(
        trial.held_out.mean("errors"), abs=0.04
    )


def test_its_name_is_not_that_of_a_sparse_form():
    X, y = ring(100)
    names = [t("blocks").trial(root_of(X, y)).name for t in (Softmax, Stagewise)]
    assert names[1] == f"stagewise {names[0]}"


def test_held_out_answers_do_not_know_the_classes():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 20)), rng.integers(2, size=200)
    held_out = Stagewise("blocks").trial(root_of(X, y)).held_out
    assert 0.4 < held_out.mean("errors") < 0.6
    assert held_out.mean("log_loss") > 0.68


def test_other_folds_choose_the_number_of_steps():
    """What is said of a fold does not change with the classes of its own rows."""
    X, y = ring(200)
    node = root_of(X, y)
    learner = Stagewise("quadratic", max_steps=60)
    rows, target = node.view("quadratic"), node.target.of_present()
    x, fold = np.ascontiguousarray(rows.columns), np.arange(200) % 4
    scores, _ = validated([learner._paths(x, target.y, rows.weight, fold)])
    other = target.y.copy()
    other[fold == 2] = 1 - other[fold == 2]
    changed, _ = validated([learner._paths(x, other, rows.weight, fold)])
    np.testing.assert_array_equal(scores[fold == 2], changed[fold == 2])
    assert (scores[fold == 1] != changed[fold == 1]).any()


def test_three_classes():
    X, y = load_iris(return_X_y=True)
    trial = Stagewise("blocks").trial(root_of(X, y))
    assert trial.replacement.split.kind == trial.kind == "additive_machine"
    assert trial.held_out.mean("errors") <= 0.08


def test_limits_and_bad_values():
    X, y = load_iris(return_X_y=True)
    assert Stagewise(max_classes=2).trial(root_of(X, y)) is None
    assert Stagewise(max_classes=3).trial(root_of(X, y)) is not None
    assert Stagewise(max_classes=2).trial(root_of(X[:100], y[:100])) is not None
    assert Stagewise(max_cells=150 * 4 * 3 - 1).trial(root_of(X, y)) is None
    assert Stagewise().trial(root_of(X, np.zeros(150))) is None
    for name, value in (("rate", 0), ("ridge", -1), ("patience", 0), ("max_steps", 1)):
        with pytest.raises(ValueError, match=name):
            Stagewise(**{name: value}).trial(root_of(X, y))
