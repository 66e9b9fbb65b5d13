"""Whole discriminant trees in compiled code against the same learner node by node."""

from dataclasses import replace

import numpy as np
import pytest
from tests.samples import sample_of

from omnitree import TreeClassifier
from omnitree._core.linear import fisher_tree as kernel
from omnitree.data.table import learn_table
from omnitree.growing.dispatch import growers_for
from omnitree.growing.grower import grow_by_node, grow_whole
from omnitree.growing.missing import Mean
from omnitree.growing.node import Node, Rules
from omnitree.growing.stopping import Limits
from omnitree.learners import Linear
from omnitree.parts.direction import Fisher
from omnitree.tree.tree import LEAF


def make_case(seed, kind):
    """A table, classes, weights, and options of the learner and of the tree."""
    rng = np.random.default_rng(seed)
    n, p, k = rng.integers(4, 150), rng.integers(1, 12), rng.integers(2, 7)
    y = rng.integers(k, size=n)
    y[:2] = 0, 1
    means = rng.normal(size=(k, p)) * rng.choice([0, 0.5, 2])
    X = rng.normal(size=(n, p)) + means[y]
    if kind == "ties":
        X = np.round(X)
    elif kind == "constant":
        X[:, rng.integers(p)] = 3.0
    elif kind == "scales":
        X = X * 10.0 ** rng.integers(-8, 8, size=p) + 1e3
    elif kind == "categorical":
        X = X.astype(object)
        X[:, 0] = rng.choice(list("abc"), size=n)
    weight = [None, rng.integers(1, 4, size=n), rng.random(n) + 0.01][seed % 3]
    parts = {
        "direction": Fisher(
            ["singular", "always", "never"][rng.integers(3)],
            rng.choice([0.9, 0.99, 1.0]),
        ),
        "merit": ["gain", "gini", "twoing"][rng.integers(3)],
    }
    limits = {
        "max_depth": [None, 3][rng.integers(2)],
        "max_leaves": [None, 4][seed % 2],
    }
    return X, y, weight, parts, limits


def both(X, y, weight, parts, limits):
    """The tree as grown in one call, and node by node, with nodes in the same order."""
    learner = Linear(**parts)
    root = root_of(X, y, weight, limits)
    search = learner.search(root)
    (grower,) = growers_for(search, root)
    fast = grow_whole(grower, search, root)
    slow = grow_by_node(root, learner, lambda _: False)
    return [t.collapse(np.zeros(t.n_nodes, dtype=bool)) for t in (fast, slow)]


def root_of(X, y, weight, limits):
    depth = limits.get("max_depth")
    most = Limits(
        max_depth=-1 if depth is None else depth, max_leaves=limits.get("max_leaves")
    )
    return Node.root(sample_of(X, y, weight), Rules(Mean(), most))


def first_difference(a, b):
    """The first node whose test or children differ by more than rounding; or None."""
    for node in range(a.n_nodes):
        if not same_node(a, b, node):
            return node
    assert a.n_nodes == b.n_nodes
    return None


def same_node(a, b, node):
    """Whether a node has the same test and children; those before it are the same."""
    if a.first_child[node] != b.first_child[node]:
        return False
    if a.kind[node] == LEAF:
        return True
    first = a.first_child[node]
    if not np.allclose(a.value[first : first + 2], b.value[first : first + 2]):
        return False
    p = a.schema.linear_columns()[0].size
    dense = np.zeros((2, p))  # a weight may be 0 in one and of the size of rounding
    for weights, split in zip(dense, (a.split(node), b.split(node)), strict=True):
        weights[list(split.columns)] = split.weights
    tests = [[split.merit, split.threshold] for split in (a.split(node), b.split(node))]
    largest = 1e-7 * max(np.abs(dense[1]).max(), abs(tests[1][1]))
    return np.allclose(*dense, 1e-6, largest) and np.allclose(*tests, 1e-6, largest)


def is_tie(tree, node, X, y, weight, parts):
    """Whether the last bit decides the test of a node; sums in another order have others.

    It does where a row lies on the cut of a grouping, or where changes of the size of
    rounding change the groups, which happens if starts of their search are equally good.
    """
    learner = Linear(**parts)
    table = learn_table(X)
    rows = np.flatnonzero(tree.decision_path(table)[:, [node]].toarray().ravel())

    def at_node(X):
        root = root_of(X, y, weight, {})
        return replace(root, rows=rows, weight=root.weight[rows])

    exact = at_node(X)
    asked, present = learner._discriminant(exact.linear), exact.linear.present
    codes = np.arange(1, 2 ** (len(present) - 1))
    left = np.zeros((len(codes), y.max() + 1), dtype=bool)
    left[:, present] = codes[:, None] >> np.arange(len(present)) & 1
    projected = asked.projections.project(left)
    distance = projected.scores - asked.threshold.find(projected, asked.merit)
    if np.abs(distance).min() <= 1e-12 * np.abs(projected.scores).max():
        return True

    rng = np.random.default_rng(0)
    varies = X.min(axis=0) < X.max(axis=0)
    found = set()
    for _ in range(60):
        noise = 1e-13 * rng.normal(size=X.shape) * varies
        split = learner.fit(at_node(X + noise), np.random.default_rng(0))
        found.add(None if split is None else tuple(np.round(split.weights, 6)))
    return len(found) > 1


@pytest.mark.parametrize("kind", ["plain", "constant", "scales", "categorical"])
def test_as_node_by_node(kind):
    for seed in range(60):
        assert first_difference(*both(*make_case(seed, kind))) is None, seed


def test_only_ties_are_decided_otherwise():
    """On tables of small whole numbers rows often lie on a cut."""
    for seed in range(200):
        X, y, weight, parts, limits = make_case(seed, "ties")
        fast, slow = both(X, y, weight, parts, limits | {"max_leaves": None})
        node = first_difference(fast, slow)
        assert node is None or is_tie(fast, node, X, y, weight, parts), seed


@pytest.mark.parametrize("kind", ["plain", "ties", "categorical"])
def test_rows_are_where_the_tests_send_them(kind):
    for seed in range(40):
        X, y, weight, parts, limits = make_case(seed, kind)
        tree = TreeClassifier(Linear(**parts), **limits).fit(X, y, weight).tree_
        own = np.ones(len(y)) if weight is None else weight / min(1, weight.mean())
        again = tree.recount(learn_table(X), y.astype(np.int32), own)
        assert np.allclose(again.value, tree.value), seed


def test_many_rows():
    """Blocks, differences of moments, and runs of rows without holes."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(4, size=6000))
    X = rng.normal(size=(6000, 30)) + 0.7 * rng.normal(size=(4, 30))[y]
    for weight in (None, rng.random(6000) + 0.5):
        assert first_difference(*both(X, y, weight, {}, {"max_depth": 6})) is None


def test_missing_and_unknown_parts_go_node_by_node():
    X = np.arange(20.0).reshape(10, 2)
    y = np.repeat([0, 1], 5)
    X[3, 0] = np.nan
    assert TreeClassifier(Linear()).fit(X, y).score(X, y) == 1
    options = (
        {"threshold": "exhaustive"},
        {"grouping": "selection"},
        {"fallback": True},
    )
    for other in options:
        assert TreeClassifier(Linear(**other)).fit(X, y).score(X, y) == 1


def test_time_limit():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100_000, 40))
    y = (X[:, 0] * X[:, 1] > 0.1 * X[:, 2]).astype(int) + 2 * (X[:, 3] > 1)
    stopped = TreeClassifier(Linear(), max_seconds=1e-9).fit(X, y).tree_
    assert stopped.n_leaves < TreeClassifier(Linear()).fit(X, y).tree_.n_leaves
    assert stopped.value[0].sum() == 100_000


def test_bad_arguments():
    with pytest.raises(ValueError, match="pca"):
        TreeClassifier(Linear(direction=Fisher(pca="some"))).fit([[1], [2]], [0, 1])
    empty = np.empty((0, 1))
    ints = np.zeros(1, dtype=np.int32)
    with pytest.raises(ValueError, match="rows and columns"):
        kernel.grow(
            empty,
            ints / 1,
            ints / 1,
            empty,
            ints,
            ints,
            ints,
            None,
            2,
            0,
            0.9,
            1,
            2,
            -1,
            None,
        )


def test_the_steps_before_the_exchange_look_at_the_clock(rng):
    """Of 2,000 classes they take much longer than the 10 ms between two looks."""
    y = np.arange(4000) // 2
    X = np.column_stack([y + rng.normal(size=4000), rng.normal(size=4000)])
    root = root_of(X, y, None, {"max_depth": 1})
    search = Linear().search(root)
    (grower,) = growers_for(search, root)
    looks = []

    def late(fraction):
        looks.append(fraction)
        return True

    assert grow_whole(grower, search, root, late).n_nodes == 1
    assert len(looks) == 1
    assert grow_whole(grower, search, root).n_nodes == 3
