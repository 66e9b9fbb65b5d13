"""Losses of held-out rows, against loops over the rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from omnitree.growing.target import ClassTarget
from omnitree.resampling.held_out import LEAST, HeldOut, by_group, effective_rows

SEEDS = range(20)


def random_held_out(rng, n=12, groups=False):
    """Losses of rows, some of which were never held out."""
    weight = rng.integers(0, 4, size=n) / 2
    weight[0] = 1.0
    groups = rng.integers(0, 4, size=n) if groups else None
    return HeldOut(weight, rng.integers(0, 3, size=n) / 2, rng.random(n), groups)


def naive_gain(ours, against, loss):
    """The saved loss of each unit of evidence, by its root of the sum of squares."""
    saved = {}
    for i, weight in enumerate(ours.weight):
        if against.weight[i] == 0:
            continue
        unit = i if ours.groups is None else int(ours.groups[i])
        less = getattr(against, loss)[i] - getattr(ours, loss)[i]
        saved[unit] = saved.get(unit, 0.0) + weight * less
    spread = math.sqrt(sum(s * s for s in saved.values()))
    return sum(saved.values()) / spread if spread else 0.0


@pytest.mark.parametrize("with_costs", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_of_probabilities(seed, with_costs):
    rng = np.random.default_rng(seed)
    n, k = 15, 3
    # Halves and zeros: ties between classes, and classes thought impossible.
    proba = rng.choice([0.0, 1.0, 2.0], size=(n, k)) + 1e-300
    proba /= proba.sum(axis=1, keepdims=True)
    y = rng.integers(0, k, size=n).astype(np.int32)
    costs = rng.integers(1, 5, size=(k, k)) * (1.0 - np.eye(k)) if with_costs else None
    found = HeldOut.of(np.ones(n), proba, ClassTarget(y, np.arange(k), costs))
    for i in range(n):
        if costs is None:
            answer = max(range(k), key=lambda c: proba[i, c])  # the first of equals
            assert found.errors[i] == float(answer != y[i])
        else:
            price = [sum(proba[i, t] * costs[t, c] for t in range(k)) for c in range(k)]
            # Of answers that cost the same but for rounding, any will do.
            cheap = [c for c in range(k) if price[c] <= min(price) + 1e-12]
            assert found.errors[i] in [costs[y[i], c] for c in cheap]
        sure = max(proba[i, y[i]], LEAST)
        assert found.log_loss[i] == pytest.approx(-math.log(sure))
    assert found.log_loss.max() <= -math.log(LEAST)


@pytest.mark.parametrize("loss", ["errors", "log_loss"])
@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_gain(seed, groups, loss):
    rng = np.random.default_rng(seed)
    ours, other = random_held_out(rng, groups=groups), random_held_out(rng)
    assert ours.gain(other, loss) == pytest.approx(naive_gain(ours, other, loss))
    mean = sum(ours.weight * getattr(ours, loss)) / sum(ours.weight)
    assert ours.mean(loss) == pytest.approx(mean)
    assert ours.gain(ours, loss) == 0.0
    # Weights are no evidence of their own: only their proportions matter.
    scaled = HeldOut(ours.weight * 8, ours.errors, ours.log_loss, ours.groups)
    assert scaled.gain(other, loss) == pytest.approx(ours.gain(other, loss))
    # What was never held out has no say.
    never = ours.weight == 0
    wild = HeldOut(
        ours.weight, ours.errors + 100 * never, ours.log_loss + 100 * never, ours.groups
    )
    assert wild.gain(other, loss) == ours.gain(other, loss)
    assert wild.mean(loss) == ours.mean(loss)


@pytest.mark.parametrize("loss", ["errors", "log_loss"])
@pytest.mark.parametrize("seed", SEEDS)
def test_completed(seed, loss):
    rng = np.random.default_rng(seed)
    ours, other = random_held_out(rng), random_held_out(rng)
    every = HeldOut(np.ones(12), other.errors, other.log_loss)
    found = ours.completed(every)
    assert found.complete
    for i, weight in enumerate(ours.weight):
        own = ours if weight > 0 else every
        assert found.weight[i] == own.weight[i]
        assert getattr(found, loss)[i] == getattr(own, loss)[i]
    # What is the same for both adds nothing to the difference.
    assert found.gain(every, loss) == pytest.approx(ours.gain(every, loss))


def test_gain_has_a_sign():
    weight, low, high = np.ones(4), np.zeros(4), np.ones(4)
    good, bad = HeldOut(weight, low, low), HeldOut(weight, high, high)
    assert good.gain(bad, "errors") == 2.0
    assert bad.gain(good, "errors") == -2.0


def test_copies_in_groups_are_no_evidence():
    rng = np.random.default_rng(0)
    ours, other = (HeldOut(np.ones(6), rng.random(6), rng.random(6)) for _ in range(2))
    copies = np.repeat(np.arange(6), 5)
    many, against = ours.take(copies), other.take(copies)
    assert abs(many.gain(against, "errors")) > abs(ours.gain(other, "errors"))
    grouped = HeldOut(many.weight, many.errors, many.log_loss, copies)
    assert grouped.gain(against, "errors") == pytest.approx(ours.gain(other, "errors"))


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_take_and_put(seed, groups):
    rng = np.random.default_rng(seed)
    ours = random_held_out(rng, groups=groups)
    rows = np.sort(rng.choice(12, size=7, replace=False))
    part = rng.choice([0.25, 0.5, 1.0], size=7)
    taken = ours.take(rows, part)
    other = random_held_out(rng, n=7)
    changed = ours.put(rows, other, part)
    for i in range(12):
        if i not in rows:
            assert changed.errors[i] == ours.errors[i]
            assert changed.log_loss[i] == ours.log_loss[i]
            continue
        at = rows.tolist().index(i)
        assert taken.weight[at] == ours.weight[i] * part[at]
        assert ours.take(rows).weight[at] == ours.weight[i]
        assert taken.errors[at] == ours.errors[i]
        assert taken.log_loss[at] == ours.log_loss[i]
        share = part[at] if other.weight[at] > 0 else 0.0
        for loss in ("errors", "log_loss"):
            old, new = getattr(ours, loss)[i], getattr(other, loss)[at]
            expected = (1 - share) * old + share * new
            assert getattr(changed, loss)[i] == pytest.approx(expected)
    assert (taken.groups is not None) == groups
    if groups:
        assert taken.groups.tolist() == ours.groups[rows].tolist()
        assert changed.groups is ours.groups
    np.testing.assert_array_equal(changed.weight, ours.weight)


def test_putting_rows_back_changes_nothing():
    ours = HeldOut(np.ones(5), np.arange(5.0), np.arange(5.0) / 4)
    rows = np.array([1, 3])
    same = ours.put(rows, ours.take(rows), np.array([0.5, 1.0]))
    assert same.errors.tolist() == ours.errors.tolist()
    # The old losses stay as they were.
    nothing = HeldOut(np.ones(2), np.zeros(2), np.zeros(2))
    assert ours.put(rows, nothing, np.ones(2)).errors.tolist() == [0, 0, 2, 0, 4]
    assert ours.errors.tolist() == [0, 1, 2, 3, 4]


def test_complete():
    assert HeldOut(np.ones(2), np.zeros(2), np.zeros(2)).complete
    assert not HeldOut(np.array([1.0, 0.0]), np.zeros(2), np.zeros(2)).complete


def test_sums_by_group_and_effective_rows():
    values = np.array([1.0, 2.0, 4.0])
    assert by_group(values, None) is values
    assert by_group(values, np.array([1, 0, 1])).tolist() == [2.0, 5.0]
    assert effective_rows(np.full(7, 3.0)) == pytest.approx(7)
    assert effective_rows(np.array([1.0, 1e-9])) == pytest.approx(1)
