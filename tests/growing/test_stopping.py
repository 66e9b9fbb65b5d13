"""Limits against the rules and options that they are made of."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.samples import root_of

from omnitree import TreeClassifier
from omnitree.growing.stopping import Limits, PrePruning, Stopping


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_the_larger_of_both_rules_holds(share):
    limits = Limits.of(Stopping(min_rows=8, min_share=share), 50.0, None, None, None)
    assert limits.min_rows == max(8, share * 50)
    assert (limits.max_depth, limits.max_leaves, limits.deadline) == (-1, None, None)
    assert not limits.expired()


def test_a_best_first_tree_is_no_deeper_than_its_leaves_allow():
    for depth, leaves, needed in (
        (None, None, -1),
        (3, None, 3),
        (None, 6, 5),
        (3, 6, 3),
    ):
        assert Limits.of(Stopping(), 9.0, depth, leaves, None).depth_needed == needed


def test_time_runs_out():
    assert Limits.of(Stopping(), 9.0, None, None, 0.0).expired()
    later = Limits.of(Stopping(), 9.0, None, None, 60.0)
    assert not later.expired()
    assert 50 < later.deadline - time.monotonic() <= 60


def test_bad_numbers():
    for rule in (Stopping(min_rows=-1), Stopping(min_share=2), Stopping(min_share="a")):
        with pytest.raises(ValueError, match="min_"):
            Limits.of(rule, 9.0, None, None, None)


@pytest.mark.parametrize("stopping", [Stopping(12), PrePruning(min_share=0.2)])
def test_no_smaller_node_is_split(stopping, rng):
    X, y = rng.normal(size=(80, 2)), rng.integers(2, size=80)
    tree = TreeClassifier(stopping=stopping).fit(X, y).tree_
    least = Limits.of(stopping, 80.0, None, None, None).min_rows
    assert tree.value[tree.kind != 0].sum(axis=1).min() >= least
    node = root_of(X[:5], np.zeros(5, dtype=int), n_classes=2)
    assert node.stays_leaf()  # pure
