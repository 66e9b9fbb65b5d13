"""Fisher's tests of all parts of a choice at once against `Linear.fit` part by part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.growing.test_node_folds import node_of
from tests.samples import root_of
from tests.tables import random_sample

from omnitree.growing.node_folds import NodeFolds
from omnitree.learners import Linear
from omnitree.learners.fisher_trial import NARROW, train_parts
from omnitree.parts.direction import Fisher
from omnitree.parts.merit import MERITS


def make_node(seed, kind):
    """Few rows or many, weights, classes with a row or two, constant columns."""
    rng = np.random.default_rng([seed, len(kind)])
    n, p, k = rng.integers(6, 200), rng.integers(1, 9), rng.integers(2, 7)
    if kind == "wide":
        n, p = rng.integers(6, 60), rng.integers(20, 40)
    y = rng.integers(k, size=n).astype(np.int32)
    if kind == "rare":
        y = np.minimum(y, 2)
        y[rng.choice(n, size=2, replace=False)] = 3
    X = rng.normal(size=(k + 4, p))[y] * rng.choice([0, 0.5, 2]) + rng.normal(
        size=(n, p)
    )
    weight = np.ones(n)
    if kind == "constant":
        X[:, rng.integers(p)] = 3.0
    elif kind == "whole":
        weight = rng.integers(1, 4, size=n).astype(float)
    elif kind == "fractions":
        weight = rng.random(n) + 0.01
    # Only some of the rows of the table, so that a row's place and its line differ.
    rows = np.sort(rng.choice(n, size=rng.integers(5, n + 1), replace=False))
    return replace(root_of(X, y, weight, k + 4), rows=rows, weight=weight[rows]), rng


def folds_of(node, rng):
    return (
        NodeFolds.five_by_two(node, rng),
        NodeFolds.k_fold(node, int(rng.integers(2, 20)), rng),
    )


def assert_like_fits(node, folds, learner, expansion):
    """Every row is on the side where the fit of the part alone sends it."""
    merit = MERITS.resolve(learner.merit)
    weights, cuts = train_parts(folds, expansion, learner._fisher_search())
    columns = node.view(expansion).columns
    for d in range(len(folds)):
        part, at = folds.part(d), folds.training(d)
        split = None
        if np.count_nonzero(part.statistics) > 1:
            split = learner.fit(part, np.random.default_rng(0))
        above = columns @ weights[d] > cuts[d]
        table = np.zeros((2, node.target.n_classes))
        np.add.at(table, (above[at].astype(int), node.y[at]), part.weight)
        if split is None:
            assert not table.any(axis=1).all()
        elif (split.route(node.sample.table, node.rows) != above).any():
            # Only where another grouping is worth the same, or a row lies on the cut.
            value = merit(table) if table.any(axis=1).all() else 0.0
            assert value == pytest.approx(split.merit, abs=1e-9)
            return False
    return True


KINDS = ["plain", "wide", "rare", "constant", "whole", "fractions"]


@pytest.mark.parametrize("kind", KINDS)
def test_as_fits_of_the_parts(kind):
    same = []
    for seed in range(60):
        node, rng = make_node(seed, kind)
        learner = Linear(
            direction=Fisher(
                ["singular", "always", "never"][rng.integers(3)],
                rng.choice([0.9, 0.99, 1.0]),
            ),
            merit=["gain", "gini", "twoing"][rng.integers(3)],
        )
        for folds in folds_of(node, rng):
            same.append(assert_like_fits(node, folds, learner, "linear"))
    assert np.mean(same) > 0.98


@pytest.mark.parametrize("threshold", [0, NARROW])
def test_moments_of_cells_or_blas(threshold, monkeypatch):
    monkeypatch.setattr("omnitree.learners.fisher_trial.NARROW", threshold)
    for seed in range(30):
        node, rng = make_node(seed, "plain")
        folds = NodeFolds.five_by_two(node, rng)
        if threshold == 0 and folds.moments("linear") is None:
            found = train_parts(folds, "linear", Linear()._fisher_search())
            assert found is None  # the parts sum their own
        else:
            assert_like_fits(node, folds, Linear(direction=Fisher()), "linear")


def test_products_of_columns():
    for seed in range(30):
        node, rng = make_node(seed, "plain")
        learner = Linear(direction=Fisher(), expansion="quadratic")
        folds = NodeFolds.five_by_two(node, rng)
        assert train_parts(folds, "quadratic", learner._fisher_search()) is None
        node.view("quadratic").remember()
        assert_like_fits(node, folds, learner, "quadratic")


def test_ties_and_categories(rng):
    """Many rows lie on cuts: the errors that are counted differ seldom, and little."""
    apart = []
    for _ in range(40):
        found = random_sample(rng, n=120, d=4, missing_share=0.0, k=3)
        folds = NodeFolds.five_by_two(node_of(found), rng)
        ours = Linear().trial_losses(folds, np.random.default_rng(1))
        each = super(Linear, Linear()).trial_losses(folds, np.random.default_rng(1))
        apart.append(np.abs(ours - each).max())
    assert np.mean(np.array(apart) < 1e-9) > 0.9
