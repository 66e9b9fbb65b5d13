"""Sums of softmax tests and trees: parts, answers, honest evidence, and when they win."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss
from tests.refinement.test_contest import noisy
from tests.refinement.test_score_trees import RULES, bent, node_of

from omnitree import load, presets, save
from omnitree.growing.growth import Growth
from omnitree.learners import Softmax, Univariate
from omnitree.learners.trial import folds_of
from omnitree.parts.discriminants.calibration import added
from omnitree.pruning.base import Evidence
from omnitree.refinement import Contest
from omnitree.refinement.comparison import Comparison
from omnitree.refinement.sizing import FEW, SMALLER, Grown, in_sizes
from omnitree.refinement.tree_sums import log_odds, tree_sums
from omnitree.resampling.held_out import HeldOut


def grown_trees(seed=0, **options):
    """A softmax test, the node, and the univariate tree with what folds say of it."""
    frame, y, weight = bent(n=300, seed=seed, **options)
    node = node_of(frame, y, weight / weight.mean())
    growth = Growth(Univariate(), RULES)
    evidence = Evidence(node.sample, None, growth=growth)
    grown = Grown.of(growth.grow(node.sample), evidence, 5, None)
    return Softmax(penalties=(0.1, 0.01)).trial(node), node, grown


@pytest.mark.parametrize(
    "options", [{}, {"k": 2}, {"missing": 0.1, "categories": True}]
)
def test_answers_are_the_sum_of_both(options):
    trial, node, grown = grown_trees(**options)
    sized = grown.by_log_loss()
    (found,) = tree_sums(node, trial, [sized])
    table = node.sample.table
    of_test, of_tree = found.parts
    weights, bias = trial.fitted
    scores = trial.scale * (trial.rows.columns @ weights.T + bias)
    shares = sized.tree.predict_value(table, sized.tree.outputs)
    expected = softmax(of_test * scores + of_tree * np.log(shares), axis=1)
    tree = found.replacement.subtree
    assert tree.n_leaves == sized.tree.n_leaves
    np.testing.assert_allclose(
        tree.predict_value(table, tree.value), expected, atol=0.03
    )  # knots and absent classes aside, the same
    kinds = {tree.split(at).kind for at in np.flatnonzero(tree.n_children > 0)}
    assert kinds <= {"axis", "subset"}


def test_held_out_answers_are_those_of_both_while_held_out():
    trial, node, grown = grown_trees(seed=1)
    sized = grown.by_log_loss()
    (found,) = tree_sums(node, trial, [sized])
    both = np.stack(
        [log_odds(softmax(trial.scale * trial.scores, 1)), log_odds(sized.answers)]
    )
    parts, sums = added(
        both, node.y, node.weight, np.array([1.0, 0.0]), folds_of(node, Softmax.folds)
    )
    assert found.parts == tuple(parts.tolist())
    proba = softmax(sums, axis=1)
    own = proba[np.arange(len(node.y)), node.y]
    np.testing.assert_allclose(found.held_out.log_loss, -np.log(own), rtol=1e-9)


def test_answers_come_from_trees_that_have_not_seen_the_row():
    """They are the shrunken shares of nodes of trees grown on the other folds."""
    _, _, grown = grown_trees(seed=2)
    small = grown.of_at_most(4)
    every = grown.train.target.statistics(grown.train.weight)
    for fold in grown.folds:
        of_nodes = np.concatenate([fold.tree.shrunken_shares(m) for m in FEW])
        for answer in np.unique(small.answers[fold.rows], axis=0):
            assert np.isclose(of_nodes, answer, rtol=0, atol=1e-12).all(axis=1).any()
        own = fold.test.target.statistics(fold.test.weight)
        np.testing.assert_allclose(fold.tree.value[0] + own, every)


def test_smaller_trees():
    _, node, grown = grown_trees(seed=3)
    whole = grown.by_log_loss()
    for n_leaves in (1, 2, 3, 6, 12):
        small = grown.of_at_most(n_leaves)
        assert 1 <= small.tree.n_leaves <= n_leaves
        np.testing.assert_allclose(small.answers.sum(axis=1), 1.0)
    sizes = [one.tree.n_leaves for one in in_sizes(grown, whole)]
    assert sizes[0] == whole.tree.n_leaves
    assert all(a > b for a, b in pairwise(sizes))
    assert len(sizes) <= 1 + len(SMALLER)
    assert len(node.y) == len(whole.answers)


def losses(surprise, errors):
    return HeldOut(np.ones(len(errors)), np.array(errors), np.array(surprise))


def test_when_a_sum_is_better():
    rng = np.random.default_rng(0)
    old = losses(rng.uniform(0.2, 1.0, 100), np.zeros(100))
    likelier = losses(old.log_loss - 0.01, np.zeros(100))
    one_error = losses(old.log_loss - 0.01, np.eye(100)[0])
    by_errors, by_log_loss = Comparison("errors"), Comparison("log_loss")
    assert by_errors.is_likelier(likelier, old, 0.25)
    assert not by_errors.is_likelier(one_error, old, 0.25)
    assert by_log_loss.is_likelier(one_error, old, 0.25)
    assert not by_errors.is_likelier(old, likelier, 0.25)
    fewer = losses(old.log_loss + 0.01, np.zeros(100))
    more = losses(old.log_loss, np.eye(100)[:5].sum(0))
    assert by_errors.is_likelier(fewer, more, 0.25)


def chosen(clf):
    return next(c.learner for c in clf.tree_.split(0).candidates if c.chosen)


def line_and_box(n, seed):
    """Two features tell the class by their difference, two others by a box."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    z = X[:, 0] - X[:, 1] + 5 * ((X[:, 2] > 0) & (X[:, 3] > -0.3)) - 1.25
    return X, (z + rng.logistic(size=n) > 0).astype(int)


def test_sums_win_are_exported_and_come_back(tmp_path):
    X, y = line_and_box(400, 2)
    rivals = (Softmax(), Softmax("curves"))
    contest, simpler = Contest(rivals=rivals), Contest(rivals=rivals, grows=False)
    clf = presets.make("omni", random_state=0, refinement=contest).fit(X, y)
    assert chosen(clf).startswith("univariate tree + ")
    new, truth = line_and_box(4000, 100)
    alone = presets.make("omni", random_state=0, refinement=simpler)
    ours, theirs = (m.predict_proba(new) for m in (clf, alone.fit(X, y)))
    assert log_loss(truth, ours) < log_loss(truth, theirs)
    assert "shift" in clf.describe() and "the sum of a" in " ".join(
        clf.describe().split()
    )
    space: dict = {}
    exec(clf.export("python"), space)
    proba = clf.predict_proba(new[:50])
    for row, expected in zip(new[:50], proba, strict=True):
        named = {f"x{i}": float(v) for i, v in enumerate(row)}
        assert space["predict"](named)[1] == expected.tolist()
    save(clf, tmp_path / "sum.json")
    again = load(tmp_path / "sum.json")
    np.testing.assert_array_equal(again.predict_proba(new), clf.predict_proba(new))


def test_limits_hold_for_sums():
    X, y = noisy(3)
    for limit in (2, 3, 5):
        clf = presets.make("omni", random_state=0, max_leaves=limit).fit(X, y)
        assert clf.tree_.n_leaves <= limit
        clf = presets.make("omni", random_state=0, max_depth=limit).fit(X, y)
        assert clf.tree_.depth <= limit
