"""Folds of a node's rows, and learners tried on them, against the obvious way."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive_choice import trial_errors
from tests.samples import root_of
from tests.tables import random_sample

from omnitree.growing.node_folds import NodeFolds, sample
from omnitree.learners import Analytic, Grouped, KWay, Linear, Univariate
from omnitree.parts.direction import Fisher


def node_of(found, seed=3):
    return root_of(found.table, found.y, found.weight, found.n_classes, seed=seed)


LEARNERS = [
    Univariate(merit="gain"),
    Analytic(),
    Linear(),
    Linear(direction=Fisher("always")),
    Linear(threshold="exhaustive", expansion="quadratic"),
    Linear(max_features_per_test=2),
    Linear("selection"),
    Grouped("rls"),
    Grouped("rls", "selection"),
    KWay(),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda p: repr(p)[:40])
@pytest.mark.parametrize("missing_share", [0.0, 0.1])
def test_trials_are_those_of_each_part(learner, missing_share, rng):
    """Whether moments come from cells or each part is fitted by itself."""
    for _ in range(12):
        n = int(rng.integers(40, 260))
        found = random_sample(
            rng, n=n, d=4, missing_share=missing_share, k=int(rng.integers(2, 5))
        )
        node = node_of(found)
        for folds in (
            NodeFolds.five_by_two(node, rng),
            NodeFolds.k_fold(node, 4, rng),
        ):
            ours = learner.trial_losses(folds, np.random.default_rng(1))
            naive = trial_errors(learner, folds, np.random.default_rng(1))
            np.testing.assert_allclose(ours, naive, atol=1e-9)


@pytest.mark.parametrize("weight", ["one", "whole"])
def test_errors_of_all_parts(weight, rng):
    """Also where a side has no training rows: it has the class of all of them."""
    for _ in range(60):
        found = random_sample(rng, n=40, d=2, missing_share=0.0, k=3, weight=weight)
        folds = NodeFolds.five_by_two(node_of(found), rng)
        above = rng.random((10, 40)) < rng.choice([0.02, 0.5, 0.98])
        counted = folds.errors(above)
        for d, side in enumerate(above):
            trained, tested = (side[at].astype(int) for at in folds.parts[d])
            # A branch without training rows is as one that goes nowhere.
            tested[~np.isin(tested, trained)] = -1
            assert counted[d] == pytest.approx(folds.loss(d, trained, tested))


@pytest.mark.parametrize("expansion", ["linear", "quadratic"])
def test_moments_of_cells(expansion, rng):
    met = 0
    for _ in range(30):
        found = random_sample(rng, n=200, d=3, missing_share=0.0, k=3)
        node = node_of(found)
        folds = NodeFolds.five_by_two(node, rng)
        parts = folds.moments(expansion)
        if parts is None:
            continue
        met += 1
        for d, part in enumerate(parts):
            at = folds.training(d)
            columns = node.view(expansion).columns[at]
            weight = node.weight[at]
            second = columns.T @ (columns * weight[:, None])
            np.testing.assert_allclose(part.second, second, atol=1e-8)
            sums = np.zeros_like(part.sums)
            np.add.at(sums, node.y[at], columns * weight[:, None])
            np.testing.assert_allclose(part.sums, sums, atol=1e-8)
    assert met > 10


def test_missing_and_few_rows_have_no_cells(rng):
    found = random_sample(rng, n=200, d=3, categorical=0.0, missing_share=0.2)
    node = node_of(found)
    assert NodeFolds.five_by_two(node, rng).moments("linear") is None
    few = node_of(random_sample(rng, n=12, d=3, missing_share=0.0))
    assert NodeFolds.five_by_two(few, rng).moments("linear") is None


def test_halves(rng):
    found = random_sample(rng, n=301, d=4, missing_share=0.1, k=3, weight="one")
    node = node_of(found)
    folds = NodeFolds.five_by_two(node, rng)
    assert len(folds) == 10
    for a, b in zip(range(0, 10, 2), range(1, 10, 2), strict=True):
        np.testing.assert_array_equal(folds.tested[a], ~folds.tested[b])
        for k in range(3):  # stratified
            parts = folds.tested[[a, b]][:, found.y == k].sum(axis=1)
            assert abs(parts[0] - parts[1]) <= 2
    assert len({tuple(line) for line in folds.tested}) == 10


@pytest.mark.parametrize("grouped", [False, True])
def test_order_of_rows_and_weights(grouped, rng):
    """A row is in the half it is in, wherever it stands and whatever it weighs."""
    found = random_sample(rng, n=120, d=4, fine=1.0, categorical=0.0, k=3)
    groups = np.arange(120) // 4 if grouped else None

    def of(rows, weight):
        table = type(found.table)(found.table.values[rows], found.table.schema)
        own = None if groups is None else groups[rows]
        node = root_of(
            table, found.y[rows], weight, found.n_classes, seed=3, groups=own
        )
        return NodeFolds.five_by_two(node, np.random.default_rng(5)).tested

    tested, order = of(np.arange(120), np.ones(120)), rng.permutation(120)
    np.testing.assert_array_equal(of(order, np.ones(120)), tested[:, order])
    np.testing.assert_array_equal(of(order, 7 * found.weight), tested[:, order])
    together = (tested.reshape(10, 30, 4) == tested[:, ::4, None]).all()
    assert together == grouped


def test_sample(rng):
    found = random_sample(rng, n=900, d=4, missing_share=0.1, k=3, weight="one")
    node = node_of(found)
    assert sample(node, 900, rng) is node
    part = sample(node, 200, rng)
    assert abs(part.total - 200) < 5
    np.testing.assert_allclose(
        part.statistics / part.total, node.statistics / 900, atol=0.02
    )
    assert np.isin(part.rows, node.rows).all()
