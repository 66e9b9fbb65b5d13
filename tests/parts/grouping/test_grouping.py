"""Groupings of classes: sound groups, and what each method promises."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree.data.table import learn_table
from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.standard_columns import StandardColumns
from omnitree.learners.linear import LinearDiscriminant
from omnitree.parts.direction import Fisher
from omnitree.parts.grouping import (
    GROUPINGS,
    AllGroupings,
    Exchange,
    OneAgainstRest,
    RestartedExchange,
    TwoMeans,
)
from omnitree.parts.grouping.base import OneProblem, halved_starts, nearest_starts
from omnitree.parts.merit import Gain
from omnitree.parts.threshold import EqualVariance


def discriminant(X, y, n_classes=None):
    weight = np.ones(len(y))
    standard = StandardColumns.of(learn_table(X), weight)
    k = n_classes or int(y.max()) + 1
    rows = NodeColumns.of(standard, np.arange(len(y)), y.astype(np.int32), weight, k)
    return LinearDiscriminant(rows, Fisher(), EqualVariance(), Gain())


@pytest.fixture
def blobs(rng):
    y = rng.integers(5, size=200)
    return 2 * rng.normal(size=(5, 3))[y] + rng.normal(size=(200, 3)), y


@pytest.mark.parametrize("name", list(GROUPINGS))
def test_two_nonempty_groups(blobs, name):
    X, y = blobs
    left = GROUPINGS[name]().find(discriminant(X, y))
    assert left.shape == (5,) and 0 < left.sum() < 5


@pytest.mark.parametrize("name", list(GROUPINGS))
def test_absent_classes_and_two_classes(blobs, name):
    X, y = blobs
    here = np.isin(y, [1, 3])
    left = GROUPINGS[name]().find(discriminant(X[here], y[here], n_classes=5))
    assert left[1] != left[3]


def test_exchange_stops_at_a_local_optimum(blobs):
    X, y = blobs
    d = discriminant(X, y)
    left = Exchange().find(d)
    best = d.merits(left[None])[0]
    assert best >= d.merits(nearest_starts(OneProblem(d)))[0]
    for k in range(5):
        moved = left.copy()
        moved[k] ^= True
        if 0 < moved.sum() < 5:
            assert d.merits(moved[None])[0] <= best + 1e-12


def test_exhaustive_is_best_of_all(blobs):
    X, y = blobs
    d = discriminant(X, y)
    best = d.merits(AllGroupings().find(d)[None])[0]
    for code in range(1, 31):
        left = (code >> np.arange(5) & 1).astype(bool)
        assert d.merits(left[None])[0] <= best + 1e-12
    for grouping in (Exchange(), OneAgainstRest(), TwoMeans()):
        assert d.merits(grouping.find(d)[None])[0] <= best + 1e-12


def test_two_means_is_settled(blobs):
    X, y = blobs
    d = discriminant(X, y)
    left = TwoMeans().find(d)
    centres = [
        np.average(d.rows.means[g], axis=0, weights=d.rows.class_weight[g])
        for g in (left, ~left)
    ]
    apart = np.stack([((d.rows.means - c) ** 2).sum(axis=1) for c in centres])
    np.testing.assert_array_equal(apart.argmin(axis=0) == 0, left)


def test_merits_of_groupings_equal_straightforward_fits(blobs):
    """One factorisation serves every grouping: the same as solving for each."""
    X, y = blobs
    d = discriminant(X, y)
    Z = d.rows.columns
    for code in (1, 5, 9, 14):
        left = (code >> np.arange(5) & 1).astype(bool)
        side = left[y]
        a, b = Z[side], Z[~side]
        within = (a - a.mean(0)).T @ (a - a.mean(0)) + (b - b.mean(0)).T @ (
            b - b.mean(0)
        )
        w = np.linalg.solve(within / (len(y) - 2), a.mean(0) - b.mean(0))
        cut = w @ (a.mean(0) + b.mean(0)) / 2 - np.log(len(a) / len(b))
        above = Z @ w > cut
        table = np.array(
            [
                [(~above & (y == k)).sum() for k in range(5)],
                [(above & (y == k)).sum() for k in range(5)],
            ]
        )
        assert d.merits(left[None])[0] == pytest.approx(float(Gain()(table)))


class Balanced:
    """Problems whose tests divide rows only if the groups have nearly the same weight."""

    def __init__(self, rng, k=40):
        self.class_weight = np.ones(k)
        self.means = np.append(rng.normal(size=(k - 1, 3)), [[50.0, 0, 0]], axis=0)[
            None
        ]

    def merits(self, at, left):
        apart = np.abs(left.sum(axis=2) - left.shape[2] / 2)
        return np.where(apart <= 2, 3.0 - apart, -np.inf)

    def exchange(self, left):
        return None


def test_exchange_is_started_again_where_no_move_divides(rng):
    problems = Balanced(rng)
    alone = Exchange().search(problems)
    assert alone.sum() in (1, 39)
    left = RestartedExchange().search(problems)
    assert left.sum() == 20
    place = problems.means[0, :, 0]  # the furthest class is far off on this axis
    assert place[left[0]].max() < place[~left[0]].min() or (
        place[~left[0]].max() < place[left[0]].min()
    )


def test_halves_have_half_the_weight_and_are_never_empty(blobs):
    problems = Balanced(np.random.default_rng(1), k=6)
    problems.class_weight = np.array([0.0, 1, 1, 1, 1, 100])
    left = halved_starts(problems)[0]
    assert (left[1:5].all() and not left[5]) or (left[5] and not left[1:5].any())
    assert not left[0]


def test_two_means_with_and_without_the_sizes_of_classes(rng):
    """Every class is in the cluster with the nearer centre, by either kind of centre."""
    unlike = 0
    for _ in range(30):
        size = np.where(rng.random(12) < 0.3, 60, 2)
        y = np.repeat(np.arange(12), size)
        X = (2 * rng.normal(size=(12, 3)))[y] + rng.normal(size=(len(y), 3))
        d = discriminant(X, y)
        found = [TwoMeans(weighted).find(d) for weighted in (True, False)]
        unlike += (found[0] != found[1]).any()
        for weight, left in zip((size, np.ones(12)), found, strict=True):
            centre = [
                np.average(d.rows.means[side], axis=0, weights=weight[side])
                for side in (left, ~left)
            ]
            apart = [((d.rows.means - c) ** 2).sum(axis=1) for c in centre]
            assert ((apart[0] <= apart[1]) == left).all()
    assert unlike
