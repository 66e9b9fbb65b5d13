"""Repeated cross-validations where a choice is close."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refinement.test_challenge import COMPARISON, challenge

from omnitree import OmniTreeClassifier, presets
from omnitree.learners import Softmax
from omnitree.learners.softmax import PENALTIES
from omnitree.parts.discriminants.softmax_blocks import BlockFolds
from omnitree.refinement import Contest
from omnitree.refinement.challenge import Contender
from omnitree.refinement.rounds import Round, dealt_again, mean_round, undecided
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.tree import Tree


def rounds_of(rng, n=3):
    first = challenge(rng, 0.3, noise=1.0)
    found = []
    for seed in range(n):
        one = dealt_again(first, seed, first.subtree) if seed else first
        found.append(Round(one, one.contenders([Softmax()], COMPARISON)[0]))
    return found


def test_losses_are_averaged_row_by_row(rng):
    rounds = rounds_of(rng)
    assert mean_round(rounds[:1]) is rounds[0]
    mean = mean_round(rounds)
    (one,) = mean.contenders
    assert one.trial is rounds[0].contenders[0].trial
    for loss in ("errors", "log_loss"):
        every = [getattr(r.contenders[0].losses, loss) for r in rounds]
        assert not np.array_equal(every[0], every[1])  # other folds
        np.testing.assert_allclose(getattr(one.losses, loss), np.mean(every, axis=0))


def test_what_few_rounds_have_found_does_not_count(rng):
    rounds = rounds_of(rng)
    (trial,) = rounds[0].contenders
    odd = Contender(Softmax("quadratic").trial(rounds[0].challenge.node), trial.losses)
    given_up = HeldOut(np.zeros(120), trial.losses.errors, trial.losses.log_loss)
    rounds[0] = Round(rounds[0].challenge, [Contender(trial.trial, given_up), odd])
    (one,) = mean_round(rounds).contenders
    assert one.trial is rounds[1].contenders[0].trial


def test_only_what_may_still_be_chosen_is_judged_again(rng):
    (one, *_) = rounds_of(rng, 1)
    n = 120
    close = HeldOut(np.ones(n), one.contenders[0].losses.errors, np.ones(n))
    trial = Softmax("quadratic").trial(one.challenge.node)
    found = Round(one.challenge, [*one.contenders, Contender(trial, close)])
    behind = found.challenge.behind(found.contenders, 0)
    assert set(behind) == {"", "quadratic softmax"}
    assert undecided(found, 0, max(behind.values())) == {"linear softmax", *behind}
    assert undecided(found, 0, min(behind.values()) - 1) == set()
    last = min(behind, key=behind.__getitem__)
    assert undecided(found, 0, behind[last]) == {"linear softmax", last}


@pytest.mark.parametrize("expansion", ["linear", "curves", "blocks"])
def test_penalties_are_found_once(rng, expansion, monkeypatch):
    first = challenge(rng, 0.3, noise=1.0)
    Softmax(expansion).trial(first.node)
    found = dict(first.node.penalties)
    monkeypatch.setattr(BlockFolds, "search", None)  # not called
    again = dealt_again(first, 7, None)
    assert again.subtree is first.subtree
    trial = Softmax(expansion).trial(again.node)
    assert again.node.penalties == found
    key = (expansion, 5, *PENALTIES)
    if expansion != "linear":
        assert trial.validated.penalty == PENALTIES[found[key][0]]
    else:
        assert trial.validated.penalty in (PENALTIES[1], PENALTIES[found[key][0]])


def slightly_curved(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    curved = X[:, 0] + 0.35 * X[:, 1] * X[:, 2]
    return X, (curved + 0.5 * rng.normal(size=n) > 0).astype(int)


def test_a_close_choice_is_repeated_and_told(monkeypatch):
    calls = []
    old = Softmax.trial
    monkeypatch.setattr(
        Softmax, "trial", lambda *args: calls.append(args[1].rules.seed) or old(*args)
    )
    X, y = slightly_curved(seed=6)
    clf = OmniTreeClassifier(random_state=0).fit(X, y)
    assert 2 <= len(set(calls)) <= 3
    candidates = clf.tree_.split(0).candidates
    assert [c.behind is None for c in candidates] == [c.chosen for c in candidates]
    assert min(c.behind for c in candidates if not c.chosen) < 1
    assert [c.se for c in candidates if c.chosen] == [1.0]
    words = " ".join(clf.describe().split())
    assert "a close choice, within a standard error" in words
    plain = clf.tree_.to_dict()
    assert Tree.from_dict(plain).to_dict() == plain
    calls.clear()
    presets.make("omni", random_state=0, refinement=Contest(repeats=1)).fit(X, y)
    assert len(set(calls)) == 1


def test_a_clear_choice_is_not_repeated(monkeypatch):
    seeds = set()
    old = Softmax.trial
    monkeypatch.setattr(
        Softmax, "trial", lambda *args: seeds.add(args[1].rules.seed) or old(*args)
    )
    X, _ = slightly_curved()
    y = (X[:, 0] + X[:, 1] - X[:, 2] > 0).astype(int)
    contest = Contest((Softmax(),), grows=False)
    presets.make("omni", random_state=0, refinement=contest).fit(X, y)
    assert len(seeds) == 1


def test_a_damaged_lead_is_refused():
    X, y = slightly_curved()
    plain = OmniTreeClassifier(random_state=0).fit(X, y).tree_.to_dict()
    plain["nodes"][0]["candidates"][0]["behind"] = "far"
    with pytest.raises(ValueError, match="damaged candidate"):
        Tree.from_dict(plain)
