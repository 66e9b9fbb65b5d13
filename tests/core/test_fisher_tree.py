"""Whole discriminant trees in compiled code against the same learner node by node."""

import numpy as np
import pytest

from omnitree import TreeClassifier
from omnitree._core.linear import fisher_tree as kernel
from omnitree.data.table import learn_table
from omnitree.learners import Linear
from omnitree.parts.direction import Fisher


class ByNode(Linear):
    """The oracle: `Linear.fit` at every node."""

    def search(self, problem):
        return None


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
    elif kind == "symbols":
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
    trees = [
        TreeClassifier(learner(**parts), **limits).fit(X, y, sample_weight=weight).tree_
        for learner in (Linear, ByNode)
    ]
    return [t.collapse(np.zeros(t.n_nodes, dtype=bool)) for t in trees]


def alike(a, b):
    """Same nodes, counts and tests, up to rounding."""
    return (
        np.array_equal(a.first_child, b.first_child)
        and np.allclose(a.value, b.value)
        and np.array_equal(a.index, b.index)
        and np.allclose(a.merit, b.merit)
        and np.allclose(
            a.weight, b.weight, 1e-6, 1e-7 * np.abs(b.weight).max(initial=0)
        )
    )


@pytest.mark.parametrize("kind", ["plain", "constant", "scales", "symbols"])
def test_as_node_by_node(kind):
    for seed in range(60):
        case = make_case(seed, kind)
        fast, slow = both(*case)
        assert alike(fast, slow), seed


def test_ties_are_seldom_decided_otherwise():
    # Rows on a cut and groupings of the same merit go by the last bit.
    same = [alike(*both(*make_case(seed, "ties"))) for seed in range(100)]
    assert np.mean(same) > 0.9


@pytest.mark.parametrize("kind", ["plain", "ties", "symbols"])
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
        assert alike(*both(X, y, weight, {}, {"max_depth": 6}))


def test_gaps_and_unknown_parts_go_node_by_node():
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
