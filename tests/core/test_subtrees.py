"""Compiled loops over nodes against plain Python, on grown trees of all shapes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests import naive_subtrees as naive
from tests.tables import random_sample

from omnitree import TreeClassifier
from omnitree._core.predict import subtrees
from omnitree.data.table import encode
from omnitree.learners import Univariate


@pytest.fixture(params=["subset", "multiway"])
def trees(request, rng):
    """Trees of random samples, with the table each was grown on; the last is a leaf."""
    learner = Univariate(categories=request.param)
    out = []
    for missing_share in (0.0, 0.0, 0.2, 0.2):
        sample = random_sample(rng, n=60, d=4, missing_share=missing_share)
        clf = TreeClassifier(learner=learner, missing="surrogate")
        clf.fit(sample.frame, sample.y, sample_weight=sample.weight)
        out.append((clf.tree_, encode(sample.frame, clf.tree_.schema)))
    out.append((clf.tree_.collapse(np.ones(clf.tree_.n_nodes, dtype=bool)), out[-1][1]))
    return out


def test_sums_and_depths(trees, rng):
    for tree, _ in trees:
        value = rng.random(tree.n_nodes)
        expected = naive.subtree_sums(tree, value)
        got = subtrees.subtree_sums(tree.shape, value)
        np.testing.assert_allclose(got, expected, rtol=1e-14)
        depth = [0] * tree.n_nodes
        for node in range(1, tree.n_nodes):
            depth[node] = depth[tree.parent[node]] + 1
        assert subtrees.depths(tree.shape).tolist() == depth


@pytest.mark.parametrize("whole", [True, False])
def test_weakest_links(trees, rng, whole):
    """With ties (errors that are counts) and without; with sizes of models."""
    for tree, _ in trees:
        cost = tree.value.sum(axis=1) - tree.value.max(axis=1)
        cost = np.rint(cost) if whole else cost + rng.random(tree.n_nodes)
        size = rng.integers(4, size=tree.n_nodes) / 2 + 0.5
        size = np.ones(tree.n_nodes) if whole else size
        expected = naive.weakest_links(tree, cost, size)
        assert subtrees.weakest_links(tree.shape, cost, size).tolist() == (
            expected.tolist()
        )


def test_sums_at(trees, rng):
    for tree, _ in trees:
        cost = tree.value.sum(axis=1) - tree.value.max(axis=1)
        links = subtrees.weakest_links(tree.shape, cost, np.ones(tree.n_nodes))
        errors = rng.random(tree.n_nodes)
        alphas = np.unique(np.concatenate([[0.0], links]))  # the last is infinite
        got = subtrees.sums_at(tree.shape, links, errors, alphas)
        expected = naive.sums_at(tree, links, errors, alphas)
        np.testing.assert_allclose(got, expected, atol=1e-12)


def test_kept(trees, rng):
    """Cuts, and descendants that take a node's place, anywhere."""
    for tree, _ in trees:
        to = np.arange(tree.n_nodes)
        for node in range(tree.n_nodes):
            what = rng.integers(4)
            if what == 0:
                to[node] = -1
            elif what == 1 and tree.n_children[node]:
                to[node] = rng.choice(list(naive.children(tree, node)))
        got = [array.tolist() for array in subtrees.kept(tree.shape, to)]
        assert got == list(naive.kept(tree, to))


def test_stops(trees, rng):
    """Rows stop where a tree that is cut there has its leaf."""
    for tree, table in trees:
        is_leaf = rng.random(tree.n_nodes) < 0.3
        got = subtrees.stops(tree.shape, is_leaf.view(np.uint8))
        for node in range(tree.n_nodes):
            way = [node]
            while tree.parent[way[-1]] >= 0:
                way.append(int(tree.parent[way[-1]]))
            above = [at for at in way[::-1] if is_leaf[at]]
            assert got[node] == (above[0] if above else node)
        leaf = tree.place(table)
        cut = tree.collapse(is_leaf)
        np.testing.assert_array_equal(
            tree.value[got[leaf]], cut.value[cut.place(table)]
        )


def test_passing_and_counts(trees, rng):
    for tree, table in trees:
        leaf = tree.apply(table)
        start, row = subtrees.passing(tree.shape, leaf)
        expected = naive.passing(tree, leaf)
        assert [row[a:b].tolist() for a, b in pairwise(start)] == expected
        y = rng.integers(len(tree.classes), size=table.n_rows)
        weight = rng.random(table.n_rows)
        counts = tree.recount(table, y, weight).value
        for node, rows in enumerate(expected):
            here = np.bincount(y[rows], weight[rows], len(tree.classes))
            np.testing.assert_allclose(counts[node], here, atol=1e-12)


@pytest.mark.parametrize("m", [0.5, 20.0])
def test_shrunken_shares(trees, m):
    for tree, _ in trees:
        expected = naive.shrunken_shares(tree, m)
        np.testing.assert_allclose(tree.shrunken_shares(m), expected, rtol=1e-14)
