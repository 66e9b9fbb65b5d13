"""What nodes and rows are answered, against the plain definitions."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive
from tests.tables import random_values
from tests.trees import SCHEMA, random_tree

from omnitree.data.table import Table
from omnitree.tree.answers import decide
from omnitree.tree.splits import SPLITS

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_decide(seed):
    rng = np.random.default_rng(seed)
    shares = rng.integers(0, 4, size=(10, 3)) + 0.0
    costs = rng.integers(1, 5, size=(3, 3)) * (1.0 - np.eye(3))
    for i, line in enumerate(shares):
        assert decide(shares, None)[i] == max(range(3), key=lambda k: (line[k], -k))
        price = [sum(line[t] * costs[t, k] for t in range(3)) for k in range(3)]
        assert decide(shares, costs)[i] == price.index(min(price))


def made(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, tuple(SPLITS))
    value = tree.value.copy()
    value[rng.random(tree.n_nodes) < 0.3] = 0.0
    value[0] = 1.0
    return rng, tree.replace(value=value)


@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_without_rows_answer_as_those_above(seed):
    _, tree = made(seed)
    for node in range(tree.n_nodes):
        at = node
        while tree.value[at].sum() == 0:
            at = tree.parent[at]
        np.testing.assert_array_equal(tree.filled_value[node], tree.value[at])
        share = tree.value[at] / tree.value[at].sum()
        np.testing.assert_allclose(tree.class_shares[node], share)


@pytest.mark.parametrize("seed", SEEDS)
def test_shares_shrunken_towards_the_parent(seed):
    _, tree = made(seed)
    k, m = tree.value.shape[1], 3.0
    shares = [(tree.value[0] + 1 / k) / (tree.value[0].sum() + 1)]
    for node in range(1, tree.n_nodes):
        own, above = tree.value[node], shares[tree.parent[node]]
        shares.append((own + m * above) / (own.sum() + m))
    np.testing.assert_allclose(tree.shrunken_shares(m), shares)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_get_the_mean_of_their_leaves(seed):
    rng, tree = made(seed)
    tree = tree.replace(models=None)
    values = random_values(rng, SCHEMA, 15, 0.3)
    table, per_node = Table(values, SCHEMA), rng.normal(size=(tree.n_nodes, 2))
    answers, plain = tree.predict_value(table, per_node), tree.to_dict()
    y, weight = rng.integers(tree.value.shape[1], size=15), rng.uniform(1, 2, 15)
    counts = np.zeros(tree.value.shape)
    for i, row in enumerate(values):
        shares = naive.leaf_shares(plain, row)
        mean = sum(share * per_node[leaf] for leaf, share in shares.items())
        np.testing.assert_allclose(answers[i], mean)
        for leaf, share in shares.items():
            at = leaf
            while at >= 0:
                counts[at, y[i]] += share * weight[i]
                at = tree.parent[at]
    np.testing.assert_allclose(tree.class_counts(table, y, weight), counts, atol=1e-9)
