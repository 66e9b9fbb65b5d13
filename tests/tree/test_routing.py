"""Where rows go in a tree, row by row, against walking down by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive
from tests.tables import random_values
from tests.trees import SCHEMA, random_tree

from omnitree.data.table import Table
from omnitree.tree import routing
from omnitree.tree.splits import SPLITS

SEEDS = range(12)


def made(seed, missing_share=0.3):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, tuple(SPLITS))
    values = random_values(rng, SCHEMA, 20, missing_share)
    by_hand = np.zeros((20, tree.n_nodes))
    plain = tree.to_dict()
    for i, row in enumerate(values):
        for leaf, share in naive.leaf_shares(plain, row).items():
            by_hand[i, leaf] += share
    return tree, Table(values, SCHEMA), by_hand


@pytest.mark.parametrize("seed", SEEDS)
def test_leaves_and_paths(seed):
    tree, table, by_hand = made(seed)
    np.testing.assert_allclose(tree.leaf_shares(table).toarray(), by_hand, atol=1e-12)
    leaf = tree.place(table)
    # A row that is divided may still end in one leaf, where all other branches are empty.
    assert (leaf[(by_hand > 0).sum(axis=1) > 1] == -1).all()
    placed = np.flatnonzero(leaf >= 0)
    np.testing.assert_array_equal(by_hand[placed, leaf[placed]], 1.0)
    best = by_hand.round(12).argmax(axis=1)  # the first of equals
    np.testing.assert_array_equal(tree.apply(table), best)
    path = by_hand.copy()
    for node in range(tree.n_nodes - 1, 0, -1):
        path[:, tree.parent[node]] += path[:, node]
    np.testing.assert_allclose(tree.decision_path(table).toarray(), path, atol=1e-12)
    start, row, part = tree.passing(table)
    for node in range(tree.n_nodes):
        here = slice(start[node], start[node + 1])
        np.testing.assert_array_equal(row[here], np.flatnonzero(path[:, node]))
        np.testing.assert_allclose(part[here], path[row[here], node])


@pytest.mark.parametrize("seed", SEEDS)
def test_shares_of_siblings_add_up(seed):
    tree, _, _ = made(seed)
    assert tree.shares[0] == 1
    for node in np.flatnonzero(tree.kind):
        first = tree.first_child[node]
        assert tree.shares[
            first : first + tree.n_children[node]
        ].sum() == pytest.approx(1)
        assert tree.depths[first] == tree.depths[node] + 1


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(routing, "ROWS_PER_THREAD", 3)
    for seed in SEEDS:
        for missing_share in (0.0, 0.3):
            tree, table, _ = made(seed, missing_share)
            np.testing.assert_array_equal(tree.place(table, 3), tree.place(table, 1))
