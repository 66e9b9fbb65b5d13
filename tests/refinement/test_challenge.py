"""One node of the contest: which rival wins, and what takes the subtree's place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.samples import root_of
from tests.trees import random_tree

from omnitree.learners import Softmax
from omnitree.learners.trial import folds_of
from omnitree.refinement.arena import subtree
from omnitree.refinement.challenge import Challenge, Contender
from omnitree.refinement.comparison import Comparison
from omnitree.refinement.tree_sums import FOLDS
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.splits import SPLITS

COMPARISON = Comparison("errors")


def challenge(rng, wrong, noise=0.0, tested=False):
    """Rows that one linear test separates, against a subtree that errs so often."""
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + X[:, 1] + noise * rng.normal(size=120) > 0).astype(int)
    node, every = root_of(X, y), np.arange(120)
    errors = (every % 10 < 10 * wrong).astype(float)
    losses = HeldOut(np.ones(120), errors, errors + 1e-6)
    own = node.sample if tested else None
    return Challenge(node, own, every, np.ones(120), losses, 9, "axis", 0)


@pytest.mark.parametrize("tested", [False, True])
@pytest.mark.parametrize(("wrong", "wins"), [(0.4, True), (0.0, False)])
def test_a_rival_wins_where_the_subtree_errs(wrong, wins, tested, rng):
    one = challenge(rng, wrong, tested=tested)
    contenders, winner = one.contenders([Softmax()], COMPARISON)
    assert (winner == 0) == wins
    found = one.considered(contenders, winner, "errors")
    assert [c.chosen for c in found] == [not wins, wins]
    assert [c.learner for c in found] == ["univariate subtree", "linear softmax"]
    assert found[0].parameters == 9
    if wins:
        assert found[0].score == pytest.approx(wrong)
        new, losses = one.replacement(contenders[0], 2.5)
        assert new.split is not None and new.model is not None
        assert losses.mean("errors") < wrong


def equals(rng, tested=False):
    """A subtree and three tests that err as often as each other, in different rows."""
    one = challenge(rng, 0.0, tested=tested)
    trial = Softmax().trial(one.node)

    def losses():
        wrong = rng.random(120) < 0.3
        return HeldOut(np.ones(120), wrong.astype(float), wrong + rng.random(120))

    return replace(one, subtree=losses()), [Contender(trial, losses()) for _ in "abc"]


@pytest.mark.parametrize("tested", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_rows_have_no_say_in_what_is_chosen_for_them(tested, seed):
    one, contenders = equals(np.random.default_rng(seed), tested)
    found, replaced = one.chosen_by_others(contenders, COMPARISON)
    every = [one.subtree, *(c.losses for c in contenders)]
    fold = folds_of(one.node, FOLDS)
    for k in range(FOLDS):
        rest, own = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        judged = [Contender(c.trial, c.losses.take(rest)) for c in contenders]
        others = replace(one, subtree=one.subtree.take(rest))
        winner = others.choose(judged, COMPARISON)
        assert (replaced[own] == (winner is not None)).all()
        expected = every[0 if winner is None else winner + 1]
        np.testing.assert_array_equal(found.log_loss[own], expected.log_loss[own])
        np.testing.assert_array_equal(found.errors[own], expected.errors[own])


def test_the_best_of_equals_is_no_better():
    """On the rows that chose it, it seems to be."""
    best, told = [], []
    for seed in range(200):
        one, contenders = equals(np.random.default_rng(seed))
        winner = one.choose(contenders, COMPARISON)
        chosen = one.subtree if winner is None else contenders[winner].losses
        best.append(chosen.mean("errors"))
        told.append(one.chosen_by_others(contenders, COMPARISON)[0].mean("errors"))
    se = np.std(told) / np.sqrt(200)
    assert abs(np.mean(told) - 0.3) < 2.5 * se
    assert np.mean(best) < 0.3 - 2.5 * se


def test_a_sparse_test_of_many_rows_can_be_compared(rng):
    """Some folds judge it; rows of the others once counted as guessed."""
    n = 2600
    X = rng.normal(size=(n, 24))
    y = (X[:, :3].sum(axis=1) + rng.normal(size=n) > 2.5).astype(int)
    node, every = root_of(X, y, rng.uniform(0.5, 2.0, size=n)), np.arange(n)
    subtree = HeldOut(node.weight, y.astype(float), np.full(n, 0.7))
    one = Challenge(node, None, every, np.ones(n), subtree, 9, "axis", 0)
    contenders, winner = one.contenders([Softmax()], COMPARISON)
    assert winner == 0
    sparse = one.sparser(contenders[0], 0.5)
    assert sparse is not None
    assert not sparse.trial.tested.all()
    assert sparse.losses.complete
    for loss in ("errors", "log_loss"):
        dense = contenders[0].losses
        assert abs(sparse.losses.gain(dense, loss)) < 3
        assert sparse.losses.mean(loss) == pytest.approx(dense.mean(loss), rel=0.05)
    found = one.considered([*contenders, sparse], 1, "log_loss", 1.0)
    assert abs(found[1].behind) < 3


def test_below_the_root_curves_need_rows(rng):
    one = challenge(rng, 0.4)
    rivals = [Softmax(), Softmax("curves")]
    names = [c.name for c in one.contenders(rivals, COMPARISON)[0]]
    assert names == ["linear softmax", "additive softmax"]
    assert one.node.view("curves").n_columns == 24
    for n, found in ((120, 2), (47, 1)):
        few = replace(
            one, node=root_of(one.node.sample.table.values[:n], one.node.y[:n])
        )
        few = replace(few, subtree=one.subtree.take(np.arange(n)), depth=1)
        assert len(few.contenders(rivals, COMPARISON)[0]) == found


def test_leaves_ask_for_curves_only_where_a_line_leads(rng):
    rivals = [Softmax(), Softmax("curves")]
    for wrong, found in ((0.0, 1), (0.4, 2)):
        leaf = replace(challenge(rng, wrong), kind="leaf", depth=1)
        assert len(leaf.contenders(rivals, COMPARISON)[0]) == found
        root = replace(leaf, depth=0)
        assert len(root.contenders(rivals, COMPARISON)[0]) == 2


def test_where_trees_grow_rivals_need_not_lead(rng):
    """Curves and products together are tried behind a subtree, but not far behind."""
    rivals = [Softmax(), Softmax("curves"), Softmax("blocks")]
    for errors, found in ((0.1, 3), (0.0, 2)):
        one = challenge(rng, 0.0, noise=0.5)
        wrong = (rng.random(120) < errors).astype(float)
        subtree = HeldOut(np.ones(120), wrong, 0.01 + 0.3 * wrong)
        one = replace(one, subtree=subtree)
        contenders, winner = one.contenders(rivals, COMPARISON, grows=True)
        assert winner is None
        assert len(contenders) == found
        assert len(one.contenders(rivals, COMPARISON)[0]) == 2


def test_the_prune_set_judges_by_the_model(rng):
    one = challenge(rng, 0.4, tested=True)
    trial = Softmax().trial(one.node)
    losses = one.losses_of(trial)
    model = trial.replacement.model
    sums = [
        [s + sum(w * x[c] for w, c in zip(line, model.columns, strict=True))
         for s, line in zip(model.bias, model.weights, strict=True)]
        for x in one.node.sample.table.values
    ]  # fmt: skip
    wrong = np.argmax(sums, axis=1) != one.node.y
    np.testing.assert_array_equal(losses.errors, wrong)


@pytest.mark.parametrize("seed", range(8))
def test_subtree(seed):
    tree = random_tree(np.random.default_rng(seed), tuple(SPLITS))
    assert subtree(tree, 0) is tree
    for at in range(1, tree.n_nodes):
        below = {at}
        for node in range(at + 1, tree.n_nodes):
            below |= {node} if tree.parent[node] in below else set()
        part = subtree(tree, at)
        assert part.n_nodes == len(below)
        np.testing.assert_array_equal(part.value[0], tree.value[at])
