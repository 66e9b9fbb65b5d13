"""Several deals of the rows to folds where a choice is close."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.refinement.test_challenge import COMPARISON, challenge

from omnitree import OmniTreeClassifier, presets
from omnitree.learners import CaseBased, Softmax, Stagewise, Steps
from omnitree.learners.trial import TrialLearner
from omnitree.refinement import Contest
from omnitree.refinement.challenge import Contender
from omnitree.refinement.deals import asked_again, is_close, made_of
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.tree import Tree

RIVALS = (
    Softmax(),
    Softmax("curves"),
    Softmax("quadratic"),
    Stagewise("blocks"),
    Steps(),
    CaseBased(),
)


def contended(rng):
    one = challenge(rng, 0.3, noise=1.0)
    return one, one.contenders([Softmax()], COMPARISON)[0]


def test_a_choice_is_close_if_anything_is_near_it(rng):
    one, found = contended(rng)
    n = 120
    close = HeldOut(np.ones(n), found[0].losses.errors, np.ones(n))
    rival = Softmax("quadratic")
    found.append(Contender(rival.trial(one.node), close, rival))
    behind = one.behind(found, 0)
    assert set(behind) == {"", "quadratic softmax"}
    least = min(behind.values())
    assert is_close(one, found, 0, least)
    assert not is_close(one, found, 0, least - 1e-9)
    assert not is_close(one, [], None, 9.0)


def test_rivals_far_behind_are_not_asked_again_unless_the_choice_has_them(rng):
    one, found = contended(rng)
    wrong = HeldOut(np.ones(120), np.ones(120), np.full(120, 9.0))
    rival = Softmax("quadratic")
    found.append(Contender(rival.trial(one.node), wrong, rival))
    assert found[0].losses.gain(wrong, "log_loss") > 1
    assert asked_again(one, found, 0, 1.0) == [found[0].rival]
    assert asked_again(one, found, 0, np.inf) == [found[0].rival, rival]
    assert asked_again(one, found, 1, 1.0) == [found[0].rival, rival]
    assert made_of(found[1]) == {"quadratic softmax"}
    sparse = replace(found[1].trial, name="sparse quadratic softmax")
    assert made_of(Contender(sparse, wrong)) == {"quadratic softmax"}


@pytest.mark.parametrize("rival", RIVALS, ids=lambda one: type(one).__name__)
def test_what_is_said_of_a_row_is_the_mean_over_the_deals(rng, rival, monkeypatch):
    """But for what each deal by itself chooses otherwise."""
    node = challenge(rng, 0.3, noise=1.0).node
    dealt = rival.dealt(node, rival.folds, 2)
    assert len({fold.tobytes() for fold in dealt}) == 2
    every = rival.trial(node, deals=2)
    assert every.tested.all()
    alone = []
    for fold in dealt:
        with monkeypatch.context() as patch:
            patch.setattr(TrialLearner, "dealt", lambda *_, fold=fold: [fold])
            alone.append(rival.trial(node).scores)
    mean = np.mean(alone, axis=0)

    def like(scores):
        return np.corrcoef(scores[:, 0], every.scores[:, 0])[0, 1]

    assert like(mean) > max(0.95, *map(like, alone))


def test_one_penalty_has_exactly_the_mean(rng, monkeypatch):
    for rival in (Softmax(penalties=(0.1,)), Softmax("quadratic", penalties=(0.1,))):
        node = challenge(rng, 0.3, noise=1.0).node
        every = rival.trial(node, deals=3).scores
        alone = []
        for fold in rival.dealt(node, rival.folds, 3):
            with monkeypatch.context() as patch:
                patch.setattr(TrialLearner, "dealt", lambda *_, fold=fold: [fold])
                alone.append(rival.trial(node).scores)
        np.testing.assert_allclose(every, np.mean(alone, axis=0), atol=1e-9)


def slightly_curved(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    curved = X[:, 0] + 0.35 * X[:, 1] * X[:, 2]
    return X, (curved + 0.5 * rng.normal(size=n) > 0).astype(int)


def asked_deals(monkeypatch):
    """The numbers of deals that softmax tests are asked with."""
    deals = []
    old = Softmax.trial

    def trial(*args):
        deals.append(args[4])
        return old(*args)

    monkeypatch.setattr(Softmax, "trial", trial)
    return deals


def test_a_close_choice_is_repeated_and_told(monkeypatch):
    deals = asked_deals(monkeypatch)
    X, y = slightly_curved(seed=6)
    clf = OmniTreeClassifier(random_state=0).fit(X, y)
    assert set(deals) == {1, 750 // len(X)}
    candidates = clf.tree_.split(0).candidates
    assert [c.behind is None for c in candidates] == [c.chosen for c in candidates]
    assert min(c.behind for c in candidates if not c.chosen) < 1
    assert [c.se for c in candidates if c.chosen] == [1.0]
    assert len({c.learner for c in candidates}) == len(candidates)
    words = " ".join(clf.describe().split())
    assert "a close choice, within a standard error" in words
    plain = clf.tree_.to_dict()
    assert Tree.from_dict(plain).to_dict() == plain
    deals.clear()
    presets.make("omni", random_state=0, refinement=Contest(repeats=1)).fit(X, y)
    assert set(deals) == {1}


def test_a_clear_choice_is_not_repeated(monkeypatch):
    deals = asked_deals(monkeypatch)
    X, _ = slightly_curved()
    y = (X[:, 0] + X[:, 1] - X[:, 2] > 0).astype(int)
    contest = Contest((Softmax(),), grows=False)
    presets.make("omni", random_state=0, refinement=contest).fit(X, y)
    assert set(deals) == {1}


def test_a_damaged_lead_is_refused():
    X, y = slightly_curved()
    plain = OmniTreeClassifier(random_state=0).fit(X, y).tree_.to_dict()
    plain["nodes"][0]["candidates"][0]["behind"] = "far"
    with pytest.raises(ValueError, match="damaged candidate"):
        Tree.from_dict(plain)
