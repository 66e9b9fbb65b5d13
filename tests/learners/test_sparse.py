"""Tests with few weights, and quadratic tests."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from omnitree import presets
from omnitree.parts.direction.sparse import best_columns


def test_elimination_equals_refits(rng):
    for _ in range(30):
        p = rng.integers(2, 7)
        A = rng.normal(size=(3 * p, p))
        scatter = A.T @ A
        scale = 1 / np.sqrt(np.diag(scatter))
        C, d = scatter * np.outer(scale, scale), rng.normal(size=p)
        for most in range(1, p):
            left = list(range(p))
            while len(left) > most:  # drop the column whose loss is least, from scratch
                worth = []
                for j in left:
                    s = [i for i in left if i != j]
                    inside = C[np.ix_(s, s)] + 1e-6 * np.eye(len(s))
                    worth.append(d[s] @ np.linalg.solve(inside, d[s]))
                left.pop(int(np.argmax(worth)))
            assert best_columns(C, d, most).tolist() == left


def test_copies_and_constant_columns_go_first(rng):
    x = rng.normal(size=(50, 2))
    X = np.column_stack([x, x[:, 0], np.zeros(50)])
    X -= X.mean(axis=0)
    scale = np.sqrt((X**2).sum(axis=0))
    C = (X / np.where(scale > 0, scale, 1)).T @ (X / np.where(scale > 0, scale, 1))
    kept = best_columns(C, np.array([1.0, 1.0, 1.0, 0.0]), 2).tolist()
    assert kept in ([0, 1], [1, 2])


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_test_has_more_weights(rng, most):
    y = rng.integers(3, size=300)
    X = rng.normal(size=(3, 8))[y] + rng.normal(size=(300, 8))
    clf = presets.make("ldt", max_features_per_test=most, random_state=0).fit(X, y)
    for node in clf.tree_.to_dict()["nodes"]:
        if node["kind"] != "leaf":
            assert 1 <= len(node["test"]["columns"]) <= most
    assert clf.tree_.n_leaves > 1


def test_two_informative_columns_are_found(rng):
    y = rng.integers(2, size=400)
    X = rng.normal(size=(400, 10))
    X[:, 3] += 2 * y
    X[:, 7] -= 2 * y
    clf = presets.make("ldt", max_features_per_test=2, pruning=None, max_depth=1)
    assert set(clf.fit(X, y).tree_.split(0).columns) == {3, 7}


def test_wrong_number_of_features():
    clf = presets.make("ldt", max_features_per_test=0)
    with pytest.raises(ValueError, match="max_features_per_test"):
        clf.fit(np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1])


def test_a_circle_needs_one_quadratic_test(rng):
    X = rng.normal(size=(600, 2)) + 5
    y = ((X - 5) ** 2).sum(axis=1) < 1.2
    qua = presets.make("qua", random_state=0).fit(X, y)
    assert qua.tree_.node_kinds()["quadratic"] >= 1
    assert qua.score(X, y) > 0.95
    grid = np.array(list(itertools.product(np.linspace(3, 7, 21), repeat=2)))
    inside = ((grid - 5) ** 2).sum(axis=1)
    clear = (inside < 0.8) | (inside > 1.8)
    assert (qua.predict(grid)[clear] == (inside < 1.2)[clear]).mean() > 0.97
