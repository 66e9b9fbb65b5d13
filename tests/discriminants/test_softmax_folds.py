"""Cross-validated penalties against folds fitted one by one."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree.discriminants import softmax_folds
from omnitree.discriminants.softmax import Whitened
from omnitree.discriminants.softmax_folds import best_penalty, validate


def some_rows(k, n=60):
    rng = np.random.default_rng(k)
    y = (np.arange(n) % k).astype(np.int32)
    X = rng.normal(size=(k, 4))[y] + rng.normal(size=(n, 4))
    weight = rng.integers(1, 3, size=n).astype(float)
    fold = rng.permutation(n) % 5
    return X, y, weight, fold


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("room", [1, 10**6])
def test_errors_and_loss_are_those_of_the_folds(k, room, monkeypatch):
    monkeypatch.setattr(softmax_folds, "ROOM", room)
    X, y, weight, fold = some_rows(k)
    whitened = Whitened.of(X, weight)
    found = validate(whitened, y, k, weight, fold, [0.1])
    wrong, loss = np.zeros(len(y)), 0.0
    for h in (weight * (fold == i) for i in range(5)):
        (w,) = whitened.fit(y, (weight - h)[:, None], k, 0.1, tolerance=1e-6, most=500)
        s = whitened.scores @ w.T
        p = np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)
        wrong += h * (s.argmax(axis=1) != y)
        loss -= h @ np.log(p[np.arange(len(y)), y])
    assert found.penalty == 0.1
    np.testing.assert_array_equal(found.held_out.weight, weight)
    assert (
        found.held_out.wrong != wrong
    ).sum() <= 1  # fewer steps, so a row may differ
    assert found.loss == pytest.approx(loss / weight.sum(), rel=0.02)


def test_costs_of_errors():
    X, y, weight, fold = some_rows(3)
    whitened = Whitened.of(X, weight)
    plain = validate(whitened, y, 3, weight, fold, [0.1])
    equal = validate(whitened, y, 3, weight, fold, [0.1], 1 - np.eye(3))
    # A branch answers its majority, which is its own class but for bad luck.
    assert (plain.held_out.wrong == equal.held_out.wrong).mean() > 0.9
    dear = np.array([[0.0, 9.0, 9.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    costly = validate(whitened, y, 3, weight, fold, [0.1], dear)
    assert costly.held_out.wrong[y == 0].sum() <= 9 * plain.held_out.wrong[y == 0].sum()
    assert set(np.round(costly.held_out.wrong / weight, 9)) <= {0.0, 1.0, 9.0}


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
    assert best_penalty([valley], penalties) == least
    assert (1.0 in valley.asked) == (least >= 0.1)
    assert best_penalty([Valley(least)], penalties[:1]) == 1.0
