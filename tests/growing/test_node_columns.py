"""Class statistics of a node's columns against plain sums, whatever way they are got."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.samples import sample_of
from tests.tables import random_weight

from omnitree.growing import node_columns
from omnitree.growing.missing import Mean
from omnitree.growing.node import Node, Rules, make_children
from omnitree.growing.node_columns import Moments, rest_of
from omnitree.tree.splits import AxisSplit

SEEDS = range(8)


def made(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + rng.choice([0.0, 50.0])
    X[:, 1] = np.round(X[:, 1])
    y = rng.integers(0, 3, size=n) * rng.integers(0, 2)  # one class, or three
    sample = sample_of(X, y, random_weight(rng, n), n_classes=4)
    return Node.root(sample, Rules(Mean()))


@pytest.mark.parametrize("expansion", ["linear", "quadratic"])
@pytest.mark.parametrize("block", [7, 2048])
@pytest.mark.parametrize("seed", SEEDS)
def test_statistics_are_those_of_the_rows(seed, block, expansion, monkeypatch):
    monkeypatch.setattr(node_columns, "BLOCK", block)
    node = made(seed)
    view = node.view(expansion)
    x, w = view.columns, node.weight
    mean = np.average(x, axis=0, weights=w)
    np.testing.assert_allclose(view.mean, mean, atol=1e-9)
    scatter = ((x - mean) * w[:, None]).T @ (x - mean)
    np.testing.assert_allclose(view.scatter, scatter, atol=1e-7 * w.sum())
    for k in range(4):
        here = node.y == k
        assert view.class_weight[k] == pytest.approx(w[here].sum())
        assert (k in view.present) == here.any()
        np.testing.assert_allclose(view.sums[k], w[here] @ x[here], atol=1e-9)
    basis = np.random.default_rng(seed).normal(size=(x.shape[1], 2))
    np.testing.assert_allclose(view.project(basis), (x - mean) @ basis, atol=1e-8)
    some = np.array([5, 2, 40])
    lines = view.lines(basis, np.zeros(x.shape[1]), some)
    np.testing.assert_allclose(lines, (x[some] @ basis).T, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_moments_of_the_largest_child_by_subtraction(seed):
    node = made(seed)
    node.linear.moments  # noqa: B018 - children take theirs from these
    children = make_children(node, AxisSplit(0, float(np.median(node.columns[:, 0]))))
    cut = node.sample.table.values[:, 0]
    children = make_children(node, AxisSplit(0, float(np.quantile(cut, 0.3))))
    large = max(children, key=lambda c: len(c.rows))
    anew = replace(large, remainder=({}, ()))
    for name in ("sums", "second"):
        got, want = (getattr(n.linear.moments, name) for n in (large, anew))
        np.testing.assert_allclose(got, want, atol=1e-9 * (1 + np.abs(want).max()))


def test_a_difference_without_digits_is_not_taken():
    whole = Moments(np.ones((2, 1)), np.array([[1.0]]))
    part = Moments(np.ones((2, 1)), np.array([[1.0 - 1e-9]]))
    assert rest_of(whole, [part]) is None
    assert rest_of(whole, [Moments(np.zeros((2, 1)), np.array([[0.5]]))]) is not None


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_a_view(seed):
    node = made(seed)
    view = node.linear
    some = view.of_classes(view.present[:1])
    np.testing.assert_array_equal(some.y, node.y[node.y == view.present[0]])
    two = view.grouped((node.y > 0).astype(np.int32), 2)
    np.testing.assert_allclose(two.class_weight.sum(), node.weight.sum())
    one = view.of_column(1)
    np.testing.assert_array_equal(one.columns[:, 0], view.columns[:, 1])
