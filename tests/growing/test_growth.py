"""Growth: class priors change tests and no counts; what leaves choose is chosen once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.samples import sample_of

from omnitree.growing.growth import Growth
from omnitree.growing.missing import Mean
from omnitree.growing.node import Rules
from omnitree.learners import Univariate
from omnitree.parts.leaves import LogisticLeaves, Majority


def some_rows(rng, n=120, **more):
    X = rng.normal(size=(n, 3))
    return sample_of(X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0.8).astype(int), **more)


def growth(leaves=None, **more):
    return Growth(Univariate(), Rules(Mean(), leaves=leaves or Majority()), **more)


def test_priors_are_weights_while_tests_are_found(rng):
    sample, priors = some_rows(rng), np.array([1.0, 5.0])
    tree = growth(priors=priors).grow(sample)
    weight = priors[sample.y]
    scale = len(weight) / weight.sum()
    same = growth().grow(replace(sample, weight=weight * scale))
    assert [tree.split(i) for i in np.flatnonzero(tree.kind)] == [
        same.split(i) for i in np.flatnonzero(same.kind)
    ]
    np.testing.assert_array_equal(tree.value[0], np.bincount(sample.y))
    np.testing.assert_allclose(tree.value * priors * scale, same.value)


def test_costs_come_from_the_target(rng):
    costs = np.array([[0.0, 1.0], [4.0, 0.0]])
    tree = growth().grow(some_rows(rng, costs=costs))
    np.testing.assert_array_equal(tree.costs, costs)
    assert growth().grow(some_rows(rng)).costs is None


def test_leaves_are_settled_once_for_all_trees(rng):
    sample = some_rows(rng)
    plain = growth(LogisticLeaves(folds=3, max_steps=20))
    settled = plain.settled(sample)
    assert plain.rules.leaves.steps is None
    assert settled.rules.leaves.steps is not None
    assert settled.settled(sample.take(np.arange(60))) == settled
    assert settled.grow(sample).models is not None
