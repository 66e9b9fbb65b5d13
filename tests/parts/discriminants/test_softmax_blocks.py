"""Penalties of blocks: fits against an obvious version, and where the search ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from omnitree.growing.target import ClassTarget
from omnitree.parts.discriminants import softmax_blocks
from omnitree.parts.discriminants.softmax import Standardised
from omnitree.parts.discriminants.softmax_blocks import BlockFolds
from omnitree.parts.discriminants.softmax_folds import Validated, losses
from omnitree.parts.discriminants.softmax_metric import Spread
from omnitree.resampling.held_out import HeldOut

PENALTIES = (1.0, 0.1, 0.01, 0.001)


def random_folds(seed: int, k: int, n: int = 90, penalties=PENALTIES) -> BlockFolds:
    rng = np.random.default_rng([seed, k])
    y = (np.arange(n) % k).astype(np.int32)
    X = rng.normal(size=(k, 6))[y] + rng.normal(size=(n, 6)) * 2
    if seed % 3 == 0:
        X[:, 1] = 4.0  # constant
    weight = rng.uniform(0.5, 2, size=n)
    held = (rng.permutation(n) % 3)[:, None] == np.arange(3)
    blocks = np.array([0, 0, 1, 1, 1, 2])
    spread = rng.uniform(0.3, 2, size=6)
    columns = Standardised.of(X, weight, spread)
    target = ClassTarget(y, np.arange(k))
    return BlockFolds(columns, blocks, target, weight, held, penalties)


def naive_scores(folds: BlockFolds, place, fold: int) -> np.ndarray:
    """Sums of all rows by weights that minimise the penalised loss without a fold."""
    z, y, k = folds.columns.z, folds.target.y, folds.target.n_classes
    share = np.where(folds.held[:, fold], 0.0, folds.weight)
    share /= share.sum()
    price = np.array([folds.penalties[at] for at in place])[folds.blocks]

    def loss(flat):
        w = flat.reshape(k, -1)
        s = z @ w[:, :-1].T + w[:, -1]
        lost = np.logaddexp.reduce(s, axis=1) - s[np.arange(len(y)), y]
        return share @ lost + (price * w[:, :-1] ** 2).sum() / 2

    w = minimize(loss, np.zeros(k * 7), tol=1e-9).x.reshape(k, -1)
    s = z @ w[:, :-1].T + w[:, -1]
    return s - s.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_blocks_have_their_own_penalties(monkeypatch, seed, k):
    fit = Spread.fit

    def exactly(self, y, weight, k, penalty, start=None):
        return fit(self, y, weight, k, penalty, start, 1e-9, 2000)

    monkeypatch.setattr(Spread, "fit", exactly)
    folds = random_folds(seed, k)
    folds.loss((1, 1, 1))  # others begin with what this found
    for place in ((0, 3, 1), (2, 0, 3)):
        found = Validated.of(folds.fitted(place).parts, PENALTIES[place[0]])
        for fold in range(3):
            held = folds.held[:, fold]
            wanted = naive_scores(folds, place, fold)[held]
            assert np.allclose(found.scores[held], wanted, atol=2e-4)
        lost = losses(found.scores, folds.target, folds.weight)
        assert np.isclose(found.loss, lost.mean("log_loss"))


@pytest.mark.parametrize("start", [None, (2, 1)])
@pytest.mark.parametrize("seed", range(4))
def test_the_search_ends_where_no_step_helps(seed, start):
    folds = random_folds(seed, 3)
    best = folds.search(start)
    assert best.loss == min(folds.losses.values())
    assert len(folds.losses) <= softmax_blocks.TRIALS
    steps = [np.ones(3, int), *np.eye(3, dtype=int)]
    for step in (sign * step for step in steps for sign in (1, -1)):
        new = np.add(best.place, step)
        if new.min() >= 0 and new.max() < len(PENALTIES):
            assert folds.loss(tuple(new)) > best.loss * (1 - 2 * softmax_blocks.SAVED)


def test_one_penalty_leaves_no_choice():
    folds = random_folds(1, 2, penalties=(0.5,))
    assert folds.search().place == (0, 0, 0)


def test_some_folds_choose_where_rows_are_many(monkeypatch):
    folds = random_folds(1, 3)
    monkeypatch.setattr(softmax_blocks, "ROWS", 20)
    assert folds.ahead.held.shape[1] == 1
    perfect = HeldOut(folds.weight, np.zeros(90), np.zeros(90))
    _, found, _ = folds.validate(None, perfect)
    assert np.isnan(found.scores).any() and found.held.shape[1] == 1
    spread, found, place = folds.validate(None, None)
    assert not np.isnan(found.scores).any() and found.held.shape[1] == 3
    assert place == folds.ahead.search().place
    penalty = np.array([PENALTIES[at] for at in place])
    scale = np.sqrt(penalty[0] / penalty)[folds.blocks]
    assert np.allclose(spread.unit, folds.columns.unit * scale)


def test_no_fit_begins_with_one_that_has_seen_its_rows(monkeypatch):
    monkeypatch.setattr(softmax_blocks, "ROWS", 20)
    folds = random_folds(1, 2)

    def marked(self, y, weight, k, penalty, start=None):
        if start is not None:
            return start
        w = np.zeros((weight.shape[1], k, self.scores.shape[1]))
        for own, left in zip(w, weight.T, strict=True):  # the fold as its bias
            own[:, -1] = folds.held[left == 0].any(axis=0).argmax()
        return w

    monkeypatch.setattr(Spread, "fit", marked)
    _, found, _ = folds.validate((1, 1), None)
    assert found.weights[:, 0, -1].tolist() == [0, 1, 2]
