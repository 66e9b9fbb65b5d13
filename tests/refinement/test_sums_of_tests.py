"""Sums of two softmax tests: one test with the terms of both, and when they win."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from tests.learners.test_boosted import ring
from tests.refinement.test_score_trees import node_of

from omnitree import OmniTreeClassifier, load, presets, save
from omnitree.learners import Boosted, Softmax, Stagewise, Steps
from omnitree.learners.trial import STRAIGHT, folds_of
from omnitree.parts.discriminants.calibration import best_parts
from omnitree.refinement import Contest
from omnitree.refinement.challenge import Challenge, Contender
from omnitree.refinement.comparison import Comparison
from omnitree.refinement.deals import made_of
from omnitree.refinement.sums_of_tests import places, sum_of_tests
from omnitree.refinement.tree_sums import FAINT, held_out_log_odds
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModels


def mixed(n=300, seed=0):
    """Lines, a curve, a product and a category tell the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    kind = rng.choice(["x", "y", "z"], n)
    z = X[:, 0] + 2 * np.abs(X[:, 1]) + 2 * X[:, 2] * X[:, 3] + 2 * (kind == "y") - 2
    y = (z + rng.logistic(size=n) > 0).astype(int)
    frame = pd.DataFrame(X, columns=list("abcdef")).mask(rng.random((n, 6)) < 0.03)
    return frame.assign(kind=kind), y, rng.uniform(0.5, 2.0, size=n)


@pytest.mark.parametrize("expansion", ["linear", "curves", "quadratic", "blocks"])
@pytest.mark.parametrize("other", ["linear", "quadratic", "blocks", "steps"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_sum_answers_as_both_together(expansion, other, turned):
    node = node_of(*mixed())
    gradual = Steps() if other == "steps" else Stagewise(other)
    one, two = Softmax(expansion).trial(node), gradual.trial(node)
    if turned:
        one, two = two, one
    found = sum_of_tests(node, [one, two])
    if found is None:  # one of them adds nothing
        both = np.stack([held_out_log_odds(one), held_out_log_odds(two)])
        near = np.array([0.5, 0.5])
        parts = best_parts(both, node.target.of_present().y, node.weight, near)
        assert parts.min() < FAINT
        return
    said = [
        t.scale * (t.rows.columns @ t.fitted[0].T + t.fitted[1]) for t in (one, two)
    ]
    expected = softmax(sum(p * s for p, s in zip(found.parts, said, strict=True)), 1)
    weights, bias = found.fitted
    got = softmax(found.rows.columns @ weights.T + bias, axis=1)
    np.testing.assert_allclose(got, expected, atol=1e-9)
    used = found.rows.scaling.terms[weights.any(axis=0)]
    assert found.used_terms()[used].all()
    model, out = LeafModels.of([found.leaf_model()]), np.empty((len(node.rows), 2))
    model.answer(node.sample.table, node.rows, np.zeros(len(node.rows), np.int32), out)
    # Each curve may differ by so many log odds, to have fewer knots.
    room = STRAIGHT * max(len(found.rows.scaling.curves), 1) / 4
    assert np.abs(out - softmax(found.scale * np.log(expected), 1)).max() < room
    assert found.name == f"{one.name} + {two.name}"
    losses = HeldOut(np.ones(300), np.zeros(300), np.zeros(300))
    assert made_of(Contender(found, losses)) == {one.name, two.name}


def test_held_out_answers_are_those_of_both_while_held_out():
    node = node_of(*mixed(seed=1))
    one, two = Softmax("curves").trial(node), Stagewise("blocks").trial(node)
    found, fold = sum_of_tests(node, [one, two]), folds_of(node, Softmax.folds)
    both = np.stack([held_out_log_odds(one), held_out_log_odds(two)])
    y, weight, near = node.target.of_present().y, node.weight, np.array([0.5, 0.5])
    assert found.parts == tuple(best_parts(both, y, weight, near).tolist())
    for held in range(Softmax.folds):
        rest = fold != held
        parts = best_parts(both[:, rest], y[rest], weight[rest], near)
        expected = np.tensordot(parts, both[:, ~rest], 1)
        np.testing.assert_allclose(found.scores[fold == held], expected)
    for alone in (one, two):
        assert found.held_out.mean("log_loss") < alone.held_out.mean("log_loss") + 0.01


def test_columns_are_found_among_others():
    node = node_of(*mixed())
    every = node.view("blocks").scaling
    for expansion in ("linear", "curves", "quadratic", "blocks"):
        view = node.view(expansion)
        at = places(view.scaling, every)
        np.testing.assert_array_equal(
            node.view("blocks").columns[:, at], view.columns, expansion
        )


def test_a_test_of_few_terms_can_be_chosen():
    """Its name begins like that of a sparse form, and it once was taken for one."""
    X, y = ring(300, 4)
    node = node_of(pd.DataFrame(X), y, np.ones(300))
    errors = (np.arange(300) % 3 == 0).astype(float)
    losses = HeldOut(np.ones(300), errors, errors + 1e-6)
    every = np.arange(300)
    one = Challenge(node, None, every, np.ones(300), losses, 9, "axis", 0)
    for learner in (Boosted("quadratic"), Stagewise("blocks")):
        trial = learner.trial(node)
        chosen = one.choose([Contender(trial, trial.held_out)], Comparison("errors"))
        assert chosen == 0


def test_the_default_takes_a_sum_where_it_is_better(tmp_path):
    """Sixty lines with little to say each, and two products."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 60))
    z = X @ rng.normal(size=60) / 4 + 2.5 * X[:, 0] * X[:, 1] + 2 * X[:, 2] * X[:, 3]
    y = (z + rng.logistic(size=1000) > 0).astype(int)
    a, b = slice(0, 400), slice(400, None)
    clf = OmniTreeClassifier(random_state=0).fit(X[a], y[a])
    (chosen,) = [c.learner for c in clf.tree_.candidates[0] if c.chosen]
    assert "stagewise" in chosen and " + " in chosen
    lines = presets.make(
        "omni", random_state=0, refinement=Contest(rivals=(Softmax(),))
    ).fit(X[a], y[a])
    assert clf.score(X[b], y[b]) > lines.score(X[b], y[b]) + 0.03
    save(clf, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X[b]), clf.predict_proba(X[b]))
