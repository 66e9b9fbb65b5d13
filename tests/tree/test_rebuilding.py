"""Other tests in a tree, and the counts of the rows that a tree learns from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.samples import sample_of
from tests.tables import random_sample, random_weight
from tests.trees import SCHEMA, random_model, random_rows, random_test, random_tree

from omnitree import TreeClassifier, TreeRegressor
from omnitree.data.table import Table
from omnitree.growing.criterion import CRITERIA
from omnitree.growing.missing import MISSING
from omnitree.growing.sample import Sample
from omnitree.growing.target import NumericTarget
from omnitree.tree.rebuilding import branch_rows
from omnitree.tree.routing import LEAF
from omnitree.tree.splits import KINDS, AxisSplit
from omnitree.tree.tree import Tree


def rows_of(rng, n=60, k=3, missing_share=0.3):
    """Rows for the random trees, many with missing values."""
    values = random_rows(rng, n, missing_share=missing_share)
    y = rng.integers(k, size=n).astype(np.int32)
    return sample_of(Table(values, SCHEMA), y, random_weight(rng, n), k)


def naive_counts(tree: Tree, rows: Sample) -> np.ndarray:
    """Class counts by sending one row at a time down every branch it takes."""
    value = np.zeros(tree.value.shape)
    parts = {0: dict(enumerate(rows.weight.tolist()))}
    for node in range(tree.n_nodes):
        here = parts.pop(node, {})
        for row, weight in here.items():
            value[node, rows.y[row]] += weight
        if tree.kind[node] == LEAF:
            continue
        split, first = tree.split(node), int(tree.first_child[node])
        branch = {row: int(split.route(rows.table, np.array([row]))[0]) for row in here}
        known = np.zeros(split.n_children)
        for row, weight in here.items():
            if branch[row] < 0:
                branch[row] = split.missing
            if branch[row] >= 0:
                known[branch[row]] += weight
        if not known.any():
            known += 1
        for row, weight in here.items():
            for b in range(split.n_children):
                share = known[b] / known.sum() if branch[row] < 0 else branch[row] == b
                if share:
                    parts.setdefault(first + b, {})[row] = weight * share
    return value


def assert_counts_add_up(tree: Tree, atol: float = 1e-9) -> None:
    """The branches of every test have the rows of its node between them."""
    for node in np.flatnonzero(tree.kind != LEAF):
        first = tree.first_child[node]
        below = tree.value[first : first + tree.n_children[node]]
        np.testing.assert_allclose(below.sum(axis=0), tree.value[node], atol=atol)


@pytest.mark.parametrize("seed", range(30))
def test_counts_are_those_of_one_row_at_a_time(seed):
    rng = np.random.default_rng(seed)
    rows = rows_of(rng, missing_share=[0.0, 0.3, 0.9][seed % 3])
    tree = random_tree(rng, KINDS[1:]).with_counts(rows)
    np.testing.assert_allclose(tree.value, naive_counts(tree, rows), atol=1e-9)
    assert_counts_add_up(tree)
    # Once the tree has them, other rows are divided in the same proportions.
    again = tree.recount(rows.table, rows.y, rows.weight)
    np.testing.assert_allclose(again.value, tree.value, atol=1e-9)


@pytest.mark.parametrize("missing", list(MISSING))
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_a_tree_for_numbers_learns_them_again(criterion, missing, rng):
    """Weights, constants and losses are those it was grown with."""
    sample = random_sample(rng, n=80, d=3, missing_share=0.2)
    y = np.nan_to_num(sample.values).sum(axis=1) + rng.normal(size=80)
    reg = TreeRegressor(criterion=criterion, missing=missing, max_depth=4)
    tree = reg.fit(sample.frame, y).tree_
    rows = Sample(
        sample.table, NumericTarget(y, CRITERIA[criterion]()), np.ones(len(y))
    )
    again = tree.with_counts(rows)
    for name in ("value", "constant", "loss"):
        expected = getattr(tree, name)
        np.testing.assert_allclose(getattr(again, name), expected, atol=1e-9)
    split = AxisSplit(int(np.flatnonzero(sample.table.schema.n_categories == 0)[0]), 0)
    new = tree.with_splits({0: split}, rows)
    assert new.n_leaves == 2 and new.constant[0] == tree.constant[0]
    assert new.value[1:].sum() == len(y)


@pytest.mark.parametrize("missing", list(MISSING))
@pytest.mark.parametrize("learner", ["univariate", "linear"])
def test_a_tree_keeps_the_counts_it_was_grown_with(learner, missing, rng):
    for categorical in (0.0, 0.5):
        sample = random_sample(
            rng, n=80, d=4, missing_share=0.2, categorical=categorical
        )
        rows = sample_of(sample.table, sample.y, sample.weight)
        clf = TreeClassifier(learner, missing=missing, random_state=0)
        tree = clf.fit(sample.frame, sample.y, sample_weight=sample.weight).tree_
        if missing == "filled" and learner == "linear":
            continue  # fills categories with the commonest one while the tree grows
        scale = rows.weight.sum() / tree.value[0].sum()
        again = tree.with_counts(rows)
        np.testing.assert_allclose(again.value, scale * tree.value, atol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_other_tests_in_some_nodes(seed):
    rng = np.random.default_rng(seed)
    rows = rows_of(rng, missing_share=[0.0, 0.3][seed % 2])
    tree = random_tree(rng, KINDS[1:]).replace(costs=1 - np.eye(3), shrinkage=2.0)
    nodes = rng.choice(tree.n_nodes, min(3, tree.n_nodes), replace=False).tolist()
    kinds = rng.choice(KINDS[1:], len(nodes))
    splits = {
        node: random_test(rng, kind, missing=int(rng.integers(-1, 2)))
        for node, kind in zip(nodes, kinds, strict=True)
    }
    splits[nodes[0]] = None
    model = random_model(rng, 3)
    models = {node: model for node in nodes if rng.random() < 0.5}
    new = tree.with_splits(splits, rows, models)
    assert_counts_add_up(new)
    np.testing.assert_allclose(new.value, naive_counts(new, rows), atol=1e-9)
    assert new.shrinkage == 2.0 and (new.costs == tree.costs).all()
    # Walk both trees: the same above the new tests, leaves below them.
    queue = [(0, 0)]
    for old, at in queue:
        if old in splits:
            split = splits[old]
            if split is None:
                assert new.kind[at] == LEAF
                assert new.model(at) == models.get(old)
                continue
            assert new.split(at) == split
            first = int(new.first_child[at])
            for leaf in range(first, first + split.n_children):
                assert new.kind[leaf] == LEAF
                assert new.model(leaf) == models.get(old)
        elif tree.kind[old] == LEAF:
            assert new.kind[at] == LEAF and new.model(at) is None
        else:
            assert new.split(at) == tree.split(old)
            starts = int(tree.first_child[old]), int(new.first_child[at])
            queue += [
                (starts[0] + b, starts[1] + b) for b in range(tree.n_children[old])
            ]
    Tree.from_dict(new.to_dict())


def test_no_other_test_is_the_same_tree():
    for seed in range(10):
        own = np.random.default_rng(seed)
        rows = rows_of(own)
        tree = random_tree(own, KINDS[1:])
        tree = tree.collapse(np.zeros(tree.n_nodes, bool)).with_counts(rows)
        again = tree.with_splits({}, rows)
        assert again.to_dict() == tree.to_dict()


def test_rows_that_no_branch_knows_are_divided_equally():
    split = replace(random_test(np.random.default_rng(0), "axis"), missing=-1)
    table = Table(np.full((2, SCHEMA.n_features), np.nan), SCHEMA)
    parts, divided = branch_rows(split, table, np.arange(2), np.array([1.0, 3.0]))
    assert divided
    for part in parts:
        np.testing.assert_array_equal(part.at, [0, 1])
        np.testing.assert_array_equal(part.weight, [0.5, 1.5])


@pytest.mark.parametrize("models", [False, True])
def test_an_answer_routes_rows_once(models, monkeypatch):
    rng = np.random.default_rng(7)
    rows = rows_of(rng, missing_share=0.5)
    tree = random_tree(rng, KINDS[1:], models=0.5 * models).with_counts(rows)
    assert (tree.place(rows.table) < 0).any()
    calls = []
    place = Tree.place
    monkeypatch.setattr(Tree, "place", lambda *given: calls.append(1) or place(*given))
    for ask in (
        tree.predict_labels,
        lambda table: tree.predict_value(table, tree.outputs),
        tree.leaf_shares,
        tree.decision_path,
        tree.passing,
        tree.apply,
    ):
        calls.clear()
        ask(rows.table)
        assert len(calls) == 1
