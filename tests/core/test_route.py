"""The compiled routing rule against the naive one, for every kind of test."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive
from tests.trees import SCHEMA, random_rows, random_test, random_tree

from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.tree.splits import (
    KINDS,
    SPLITS,
    AxisSplit,
    LinearSplit,
    QuadraticSplit,
)
from omnitree.tree.tree import NodeRecord, tree_from_nodes

NUMBERS = Schema(tuple(Feature(f"x{j}", "numeric") for j in range(3)), named=False)


@pytest.mark.parametrize("kind", list(SPLITS))
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_test_equals_naive(kind, order, rng):
    schema = SCHEMA.to_dict()
    for _ in range(150):
        test = random_test(rng, kind)
        values = np.asarray(random_rows(rng, 12), order=order)
        if kind in ("multiway", "subset"):  # codes that the tree never saw
            values[0, test.feature] = 17
            values[1, test.feature] = -1
        rows = rng.permutation(12)[:9]
        ours = test.route(Table(values, SCHEMA), rows)
        expected = [
            naive.branch_of(kind, test.to_dict(), values[i], schema) for i in rows
        ]
        assert ours.tolist() == expected


@pytest.mark.parametrize("kind", list(SPLITS))
def test_pack_and_unpack(kind, rng):
    for _ in range(50):
        test = random_test(rng, kind)
        code, index, weight = test.pack()
        assert KINDS[code] == kind
        assert SPLITS[kind].unpack(index, weight) == test


def test_registry_has_every_kind():
    assert set(SPLITS) == set(KINDS) - {"leaf"}


@pytest.mark.parametrize("n_columns", [3, 256, 257])
def test_quadratic_rows_alone_in_groups_and_by_hand(n_columns, rng):
    """All three loops add up the same terms in the same order, to the last bit."""
    features = tuple(Feature(f"x{j}", "numeric") for j in range(n_columns))
    schema, n = Schema(features, named=False), 21
    values = rng.normal(size=(n, n_columns))
    values[rng.random(values.shape) < 0.1] = np.nan
    fill = rng.normal(size=n_columns)
    a = np.r_[np.arange(n_columns), rng.integers(0, n_columns, 400)]
    b = np.where(rng.random(len(a)) < 0.3, -1, rng.integers(0, n_columns, len(a)))
    weights = rng.normal(size=len(a))
    filled = np.where(np.isnan(values), fill, values)
    sums = np.zeros(n)
    for w, i, j in zip(weights, a, b, strict=True):
        term = filled[:, i] if j < 0 else filled[:, i] * filled[:, j]
        sums += w * term
    columns, pairs = tuple(range(n_columns)), tuple(map(tuple, np.c_[a, b].tolist()))
    numbers = tuple(fill.tolist()), pairs, tuple(weights.tolist())
    table, rows = Table(values, schema), np.arange(n)
    # A threshold that is the sum of a row itself: one bit more or less is seen.
    for at in range(n):
        test = QuadraticSplit(columns, *numbers, float(sums[at]))
        expected = (sums > sums[at]).tolist()
        assert test.route(table, rows).tolist() == expected
        assert [int(test.route(table, rows[[i]])[0]) for i in rows] == expected
        assert test.features(schema) == set(range(n_columns))


def test_no_rows():
    test = AxisSplit(0, 0.5)
    assert test.route(
        Table(random_rows(np.random.default_rng(0), 3), SCHEMA), []
    ).shape == (0,)


def shares_of(tree, values):
    """Naive leaf shares as a matrix."""
    data = tree.to_dict()
    out = np.zeros((len(values), tree.n_nodes))
    for i, row in enumerate(values):
        for leaf, share in naive.leaf_shares(data, row).items():
            out[i, leaf] = share
    return out


@pytest.mark.parametrize(
    "kinds", [*[(k,) for k in SPLITS], tuple(SPLITS)], ids="+".join
)
def test_tree_equals_naive(kinds, rng):
    for _ in range(25):
        tree = random_tree(rng, kinds)
        values = random_rows(rng, 15, missing_share=rng.choice([0.0, 0.3]))
        table = Table(values, SCHEMA)
        expected = shares_of(tree, values)
        shares = tree.leaf_shares(table).toarray()
        np.testing.assert_allclose(shares, expected, atol=1e-12)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        # The leaf with most of the row, the first of several.
        assert tree.apply(table).tolist() == shares.argmax(axis=1).tolist()
        path = tree.decision_path(table).toarray()
        leaf = tree.kind == 0
        np.testing.assert_allclose(path[:, leaf], shares[:, leaf])
        np.testing.assert_allclose(path[:, 0], 1)
        for node in np.flatnonzero(~leaf):
            first = tree.first_child[node]
            below = path[:, first : first + tree.n_children[node]].sum(axis=1)
            np.testing.assert_allclose(path[:, node], below)
        values_at = rng.random((tree.n_nodes, 2))
        np.testing.assert_allclose(
            tree.predict_value(table, values_at), expected @ values_at
        )


def test_axis_fast_path_equals_general_path(rng):
    """Plain cuts are walked by another loop; surrogates and `low` may not break it."""
    for _ in range(60):
        tree = random_tree(
            rng, ("axis",), n_inner=int(rng.integers(1, 15)), schema=NUMBERS
        )
        values = random_rows(rng, int(rng.integers(1, 40)), NUMBERS, missing_share=0.0)
        fast = tree.apply(Table(values, NUMBERS))
        with_missing = np.vstack(
            [values, [[np.nan] * 3]]
        )  # one missing value: the general loop
        general = tree.apply(Table(with_missing, NUMBERS))[:-1]
        assert fast.tolist() == general.tolist()
        assert fast.tolist() == shares_of(tree, values).argmax(axis=1).tolist()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("missing_share", [0.0, 0.2])
def test_threads_do_not_change_the_answer(missing_share, order):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, ("axis",), n_inner=20, schema=NUMBERS)
    values = np.asarray(random_rows(rng, 50_000, NUMBERS, missing_share), order=order)
    table = Table(values, NUMBERS)
    one, two = tree.apply(table, n_jobs=1), tree.apply(table, n_jobs=2)
    np.testing.assert_array_equal(one, two)
    shares = tree.leaf_shares(table, 1) - tree.leaf_shares(table, 2)
    assert abs(shares).max() == 0
    paths = tree.decision_path(table, 1) - tree.decision_path(table, 2)
    assert abs(paths).max() == 0


def test_deep_tree_is_no_recursion():
    """A path of 5,000 nodes."""
    n = 5_000
    records = []
    for i in range(n):
        split = AxisSplit(0, float(i), missing=-1)
        records.append(NodeRecord(2 * i - 2 if i else -1, [1.0, 1.0], split))
        records[-1].children = range(2 * i + 1, 2 * i + 3)
        if i == 0:
            records.append(NodeRecord(0, [0.0, 1.0]))
        else:
            records.insert(2 * i, records.pop())
            records.append(NodeRecord(2 * i, [0.0, 1.0]))
    # nodes: 0 root, 1 leaf, 2 inner, 3 leaf, 4 inner, ...
    records.append(NodeRecord(2 * n - 2, [1.0, 0.0]))
    tree = tree_from_nodes(NUMBERS, (0, 1), records)
    assert tree.depth == n
    values = np.array([[0.5, 0, 0], [n - 1.5, 0, 0], [1e9, 0, 0], [np.nan, 0, 0]])
    table = Table(values, NUMBERS)
    assert tree.apply(table).tolist() == [3, 2 * n - 1, 2 * n, 1]
    cut = np.zeros(tree.n_nodes, dtype=bool)
    cut[2 * 10] = True
    assert tree.collapse(cut).depth == 10


@pytest.mark.parametrize("kind", list(SPLITS))
def test_recount_adds_up(kind, rng):
    tree = random_tree(rng, (kind,))
    values = random_rows(rng, 40)
    y, weight = rng.integers(0, 3, size=40).astype(np.int32), rng.random(40)
    value = tree.recount(Table(values, SCHEMA), y, weight).value
    np.testing.assert_allclose(value[0], np.bincount(y, weights=weight, minlength=3))
    labels = np.eye(3)[y] * weight[:, None]
    leaf = tree.kind == 0
    np.testing.assert_allclose(value[leaf], (shares_of(tree, values).T @ labels)[leaf])


@pytest.mark.parametrize("with_missing", [False, True])
def test_rows_on_a_threshold_go_as_if_alone(with_missing):
    """Sums that differ from the threshold by rounding only, in batches and one by one."""
    rng = np.random.default_rng(0)
    for d in (3, 8, 13, 50):
        X = rng.integers(-3, 4, size=(300, d)) / 10
        X[:5] *= 1e300
        if with_missing:
            X[rng.random(X.shape) < 0.02] = np.nan
        features = tuple(Feature(f"x{j}", "numeric") for j in range(d))
        schema = Schema(features, named=False)
        weights = rng.integers(-3, 4, size=(3, d)) / 10
        on = 10  # rows of which some are on the threshold
        thresholds = [float(np.nansum(w * X[on + i])) for i, w in enumerate(weights)]
        tests = [
            LinearSplit(tuple(range(d)), tuple(w), (0.1,) * d, t)
            for w, t in zip(weights.tolist(), thresholds, strict=True)
        ]
        records = [
            NodeRecord(-1, [2.0, 2.0], tests[0], range(1, 3)),
            NodeRecord(0, [1.0, 1.0], tests[1], range(3, 5)),
            NodeRecord(0, [1.0, 1.0], tests[2], range(5, 7)),
            *(NodeRecord(1 + i // 2, [1.0, 0.0]) for i in range(4)),
        ]
        tree = tree_from_nodes(schema, (0, 1), records)
        together = tree.apply(Table(X, schema))
        alone = [tree.apply(Table(X[[i]], schema))[0] for i in range(len(X))]
        np.testing.assert_array_equal(together, alone)
