"""Cross-validated penalties against folds fitted one by one."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree.growing.target import ClassTarget
from omnitree.parts.discriminants import softmax_folds
from omnitree.parts.discriminants.softmax import Whitened
from omnitree.parts.discriminants.softmax_folds import best_penalty, losses, validate
from omnitree.resampling.folds import held_by
from omnitree.resampling.held_out import HeldOut


def some_rows(k, n=60):
    rng = np.random.default_rng(k)
    y = (np.arange(n) % k).astype(np.int32)
    X = rng.normal(size=(k, 4))[y] + rng.normal(size=(n, 4))
    weight = rng.integers(1, 3, size=n).astype(float)
    fold = rng.permutation(n) % 5
    return X, y, weight, fold


def classes(y, costs=None):
    return ClassTarget(y, np.arange(y.max() + 1), costs)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("room", [1, 10**6])
def test_errors_and_loss_are_those_of_the_folds(k, room, monkeypatch):
    monkeypatch.setattr(softmax_folds, "ROOM", room)
    X, y, weight, fold = some_rows(k)
    whitened = Whitened.of(X, weight)
    found = validate(whitened, classes(y), weight, held_by([fold]), [0.1])
    scores, loss = np.empty((len(y), k)), 0.0
    for i in range(5):
        left, held = weight * (fold != i), fold == i
        (w,) = whitened.fit(y, left[:, None], k, 0.1, tolerance=1e-6, most=500)
        scores[held] = whitened.scores[held] @ w.T
        p = np.exp(scores[held])
        p /= p.sum(axis=1, keepdims=True)
        loss -= weight[held] @ np.log(p[np.arange(len(p)), y[held]])
    assert found.penalty == 0.1
    # Fewer steps, so the scores are a little off.
    np.testing.assert_allclose(found.scores, scores, atol=0.1)
    assert found.loss == pytest.approx(loss / weight.sum(), rel=0.02)
    assert losses(found.scores, classes(y), weight).mean("log_loss") == pytest.approx(
        found.loss
    )


def test_costs_of_errors():
    """A row is answered by least expected cost."""
    X, y, weight, fold = some_rows(3)
    found = validate(Whitened.of(X, weight), classes(y), weight, held_by([fold]), [0.1])
    plain = losses(found.scores, classes(y), weight)
    equal = losses(found.scores, classes(y, 1 - np.eye(3)), weight)
    np.testing.assert_array_equal(plain.errors, equal.errors)
    dear = np.array([[0.0, 9.0, 9.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    costly = losses(found.scores, classes(y, dear), weight)
    assert costly.errors[y == 0].sum() <= 9 * plain.errors[y == 0].sum()
    as_likeliest = dear[y, found.scores.argmax(axis=1)]
    assert costly.mean("errors") <= np.average(as_likeliest, weights=weight)


def test_a_hopeless_discriminant_is_given_up_after_one_fold():
    X, y, weight, fold = some_rows(2, 600)
    whitened = Whitened.of(X, weight)
    perfect = HeldOut(weight, np.zeros(600), np.zeros(600))
    found = validate(whitened, classes(y), weight, held_by([fold]), [0.1], perfect)
    assert np.isnan(found.scores).any() and not np.isnan(found.scores).all()
    bad = HeldOut(weight, np.ones(600), np.full(600, 5.0))
    found = validate(whitened, classes(y), weight, held_by([fold]), [0.1], bad)
    assert not np.isnan(found.scores).any()


class Valley:
    """Folds whose loss is known."""

    def __init__(self, least):
        self.least, self.asked = least, []

    def loss(self, penalty):
        self.asked.append(penalty)
        return abs(np.log(penalty / self.least))


@pytest.mark.parametrize("least", [1.0, 0.1, 0.01, 0.001])
def test_the_lowest_point_of_a_valley(least):
    penalties = [1.0, 0.1, 0.01, 0.001]
    valley = Valley(least)
    assert best_penalty([valley], penalties, calibrates=False) == least
    assert (1.0 in valley.asked) == (least >= 0.1)
    assert best_penalty([Valley(least)], penalties[:1], calibrates=False) == 1.0


def test_folds_go_far_enough_for_small_penalties():
    """Two of six features have their first value: products say it, with large weights."""
    rng = np.random.default_rng(10)
    values = rng.integers(0, 3, size=(220, 6))
    y = ((values == 0).sum(axis=1) == 2).astype(np.int32)
    signs = np.hstack([np.where(values == i, 1.0, -1.0) for i in range(3)])
    products = [signs[:, i] * signs[:, j] for i in range(18) for j in range(i)]
    X, weight = np.column_stack([signs, *products]), np.ones(220)
    penalties = (1.0, 0.1, 0.01, 0.001, 0.0001)
    whitened = Whitened.of(X, weight)
    found = validate(
        whitened, classes(y), weight, held_by([np.arange(220) % 5]), penalties
    )
    assert found.penalty <= 0.001 and found.loss < 0.4


@pytest.mark.parametrize("room", [1, 10**6])
def test_of_several_deals_the_mean_counts(room, monkeypatch):
    monkeypatch.setattr(softmax_folds, "ROOM", room)
    X, y, weight, fold = some_rows(3)
    other = np.random.default_rng(9).permutation(fold)
    whitened, target = Whitened.of(X, weight), classes(y)
    alone = [
        validate(whitened, target, weight, held_by([f]), [0.1]) for f in (fold, other)
    ]
    both = validate(whitened, target, weight, held_by([fold, other]), [0.1])
    np.testing.assert_allclose(both.scores, (alone[0].scores + alone[1].scores) / 2)
    assert len(both.weights) == 10 and both.held.sum(axis=1).tolist() == [2] * 60
    means = [losses(x.scores, target, weight).mean("log_loss") for x in (*alone, both)]
    assert means[2] <= np.mean(means[:2])  # a mean of answers
    # Where folds are fitted by parts, each part counts its own scores.
    assert both.loss == pytest.approx(means[2] if room > 1 else np.mean(means[:2]))
