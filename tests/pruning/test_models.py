"""Prunings ask for the errors of models, where nodes have them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.samples import sample_of
from tests.trees import SCHEMA, random_rows, random_tree

from omnitree._core.univariate.estimate import add_errors
from omnitree.data.table import Table
from omnitree.growing.sample import Sample
from omnitree.pruning import (
    CostComplexity,
    ErrorBased,
    Evidence,
    Pessimistic,
    ReducedError,
)
from omnitree.pruning.base import errors_as_leaves
from omnitree.tree.tree import LEAF


def case(seed: int, models: float = 1.0):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, ("axis", "multiway", "linear"), 6, models=models)
    values = random_rows(rng, 60, missing_share=0.1 if seed % 2 else 0.0)
    y, weight = rng.integers(0, 3, 60).astype(np.int32), rng.integers(1, 3, 60) * 1.0
    rows = sample_of(Table(values, SCHEMA), y, weight, 3)
    tree = tree.recount(rows.table, y, weight)
    return tree, rows, Evidence(rows, rows)


def naive_errors(tree, rows: Sample) -> np.ndarray:
    """Errors of each node were it cut to a leaf, by predicting with that tree."""
    path = tree.decision_path(rows.table).toarray()
    errors = np.zeros(tree.n_nodes)
    for node in range(tree.n_nodes):
        kept = np.array([node])
        alone = tree._take(kept, np.array([True]), [-1], [-1])
        alone = alone.replace(value=tree.filled_value[kept])
        wrong = alone.predict_labels(rows.table) != rows.y
        errors[node] = (path[:, node] * rows.weight * wrong).sum()
    return errors


def below(tree, node, leaf_value) -> float:
    """Sum over the leaves under a node."""
    if tree.kind[node] == LEAF:
        return leaf_value[node]
    first = tree.first_child[node]
    children = range(first, first + tree.n_children[node])
    return sum(below(tree, child, leaf_value) for child in children)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("models", [0.0, 0.5, 1.0])
def test_errors_are_those_of_the_cut_tree(seed, models):
    tree, rows, _ = case(seed, models)
    got, want = errors_as_leaves(tree, rows), naive_errors(tree, rows)
    np.testing.assert_allclose(got, want, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_methods_weigh_these_errors(seed):
    tree, rows, evidence = case(seed)
    errors, inner = naive_errors(tree, rows), tree.kind != LEAF
    n = tree.value.sum(axis=1)

    half = errors + 0.5
    under = np.array([below(tree, i, half) for i in range(tree.n_nodes)])
    room = np.sqrt(np.maximum(under * (n - under), 0) / np.maximum(n, 1e-300))
    want = inner & (half <= under + np.where(n > 0, room, 0) + 1e-9)
    np.testing.assert_array_equal(Pessimistic().cut(tree, evidence), want)

    top_down = ReducedError(order="top_down").cut(tree, evidence)
    under = np.array([below(tree, i, errors) for i in range(tree.n_nodes)])
    np.testing.assert_array_equal(top_down, inner & (errors <= under + 1e-9))

    def limit(node: int) -> float:
        return errors[node] + add_errors(n[node], errors[node], 0.25)

    def best(node: int) -> float:
        if tree.kind[node] == LEAF:
            return limit(node)
        first = tree.first_child[node]
        parts = sum(best(c) for c in range(first, first + tree.n_children[node]))
        wanted[node] = limit(node) <= parts + 0.1
        return limit(node) if wanted[node] else parts

    wanted = np.zeros(tree.n_nodes, dtype=bool)
    best(0)
    np.testing.assert_array_equal(ErrorBased().cut(tree, evidence), wanted)


@pytest.mark.parametrize("seed", range(20))
def test_the_price_of_leaves(seed):
    """At each price no other pruning of the tree costs less."""
    tree, rows, evidence = case(seed)
    errors, total = naive_errors(tree, rows), rows.weight.sum()

    def least(node: int, price: float) -> float:
        here = errors[node] + price
        if tree.kind[node] == LEAF:
            return here
        first = tree.first_child[node]
        parts = range(first, first + tree.n_children[node])
        return min(here, sum(least(child, price) for child in parts))

    for alpha in (0.0, 0.01, 0.03, 0.1, 0.5):
        pruned = CostComplexity(alpha=alpha).prune(tree, evidence)
        price = alpha * total
        shares = pruned.leaf_shares(rows.table)
        answer = pruned.predict_value(rows.table, pruned.class_shares)
        if shares.data.min() == 1:  # the errors of a divided row do not add up
            wrong = (rows.weight * (answer.argmax(axis=1) != rows.y)).sum()
            cost = wrong + price * pruned.n_leaves
            assert cost == pytest.approx(least(0, price))
