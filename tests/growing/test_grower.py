"""The loop that grows trees: its order, its limits, rows divided or filled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.cases import node_of
from tests.naive import assert_same_nodes
from tests.naive_subtrees import children
from tests.tables import random_sample

from omnitree.growing.grower import beyond_best_leaves, grow, grow_by_node
from omnitree.growing.learner import SplitLearner
from omnitree.growing.missing import MISSING
from omnitree.growing.stopping import Limits
from omnitree.learners import OC1, Linear, Univariate
from omnitree.tree.splits import AxisSplit
from omnitree.tree.tree import LEAF

LEARNERS = {
    "univariate": Univariate(),
    "random": Univariate(choice="random"),
    "linear": Linear(),
    "oc1": OC1(restarts=2, jumps=1),
}


def random_root(seed, missing="mean", **limits):
    rng = np.random.default_rng(seed)
    root = node_of(random_sample(rng, n=40, missing_share=0.15))
    return ruled(root, missing=MISSING.resolve(missing), limits=Limits(**limits))


def ruled(root, **changes):
    """The root of the same rows under other rules."""
    return replace(root, rules=replace(root.rules, **changes))


def by_node(root, learner):
    return grow_by_node(root, learner, lambda _: False)


def nodes_of(tree):
    """Nodes breadth first, whatever order they were grown in."""
    return tree.collapse(np.zeros(tree.n_nodes, dtype=bool)).to_dict()["nodes"]


def naive_best_leaves(tree, max_leaves):
    """Nodes that are split if the most promising leaf is always split next."""
    leaves, inner = [0], set()
    while True:
        open_ = [node for node in leaves if tree.kind[node] != LEAF]
        if not open_:
            return inner
        promise = {node: tree.merit[node] * tree.value[node].sum() for node in open_}
        best = min(open_, key=lambda node: (-promise[node], node))
        if len(leaves) + tree.n_children[best] - 1 > max_leaves:
            return inner
        inner.add(best)
        leaves = [node for node in leaves if node != best] + list(children(tree, best))


@pytest.mark.parametrize("missing", list(MISSING))
@pytest.mark.parametrize("seed", range(5))
def test_best_leaves_one_by_one(seed, missing):
    tree = grow(random_root(seed, missing), Univariate(categories="multiway"))
    for max_leaves in range(1, tree.n_leaves + 2):
        cut = beyond_best_leaves(tree, max_leaves)
        inner = np.flatnonzero(~cut)
        assert set(inner.tolist()) == naive_best_leaves(tree, max_leaves)
        assert tree.collapse(cut).n_leaves <= max_leaves


@pytest.mark.parametrize("missing", ["mean", "fractional", "surrogate"])
@pytest.mark.parametrize("name", list(LEARNERS))
def test_best_first_growth_is_a_cut_of_the_whole_tree(name, missing):
    for seed in range(4):
        root, learner = random_root(seed, missing), LEARNERS[name]
        whole = by_node(root, learner)
        for max_leaves in (1, 2, 4, 7):
            limited = ruled(root, limits=Limits(max_leaves=max_leaves))
            first = by_node(limited, learner)
            best = whole.collapse(beyond_best_leaves(whole, max_leaves))
            assert_same_nodes(nodes_of(first), nodes_of(best))


@pytest.mark.parametrize("name", list(LEARNERS))
def test_the_order_of_growth_does_not_matter(name):
    for seed in range(4):
        root, learner = random_root(seed, "fractional"), LEARNERS[name]
        in_order = by_node(root, learner)
        best_first = by_node(ruled(root, limits=Limits(max_leaves=1000)), learner)
        assert in_order.n_leaves > 2
        assert nodes_of(best_first) == nodes_of(in_order)


def test_the_seed_matters():
    root, learner = random_root(0), LEARNERS["random"]
    trees = [nodes_of(by_node(ruled(root, seed=s), learner)) for s in (1, 1, 2)]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


@pytest.mark.parametrize("missing", list(MISSING))
@pytest.mark.parametrize("name", list(LEARNERS))
def test_children_have_the_rows_of_their_parent(name, missing):
    for seed in range(3):
        root = random_root(seed, missing)
        tree = grow(root, LEARNERS[name])
        np.testing.assert_allclose(tree.value[0], root.statistics)
        for node in np.flatnonzero(tree.kind != LEAF).tolist():
            below = tree.value[list(children(tree, node))]
            np.testing.assert_allclose(below.sum(axis=0), tree.value[node], atol=1e-9)
            assert (below.sum(axis=1) > 0).sum() >= 2


@pytest.mark.parametrize("seed", range(4))
def test_depth_is_a_cut_of_the_whole_tree(seed):
    root = random_root(seed, "fractional")
    whole = grow(root, Univariate())
    depth = np.zeros(whole.n_nodes, dtype=int)
    for node in range(1, whole.n_nodes):
        depth[node] = depth[whole.parent[node]] + 1
    for limit in range(4):
        tree = grow(ruled(root, limits=Limits(max_depth=limit)), Univariate())
        assert_same_nodes(nodes_of(tree), nodes_of(whole.collapse(depth >= limit)))


@pytest.mark.parametrize("seed", range(4))
def test_small_nodes_stay_leaves(seed):
    tree = grow(random_root(seed, min_rows=15.0), Univariate())
    inner = tree.kind != LEAF
    assert (tree.value[inner].sum(axis=1) >= 15 - 1e-9).all()
    for leaf in np.flatnonzero(~inner):
        pure = (tree.value[leaf] > 0).sum() <= 1
        small = tree.value[leaf].sum() < 15
        assert pure or small or same_rows(tree, leaf, seed)


def same_rows(tree, leaf, seed):
    """Whether the rows of a leaf are all alike."""
    root = random_root(seed)
    values = root.sample.table.values[tree.apply(root.sample.table) == leaf]
    return len({tuple(map(str, row)) for row in values}) <= 1


@pytest.mark.parametrize("learner", [Univariate(), Linear()])
def test_no_time_is_no_test(learner):
    root = random_root(1, deadline=0.0)
    assert grow_by_node(root, learner, lambda _: True).n_nodes == 1
    assert grow(root, Linear(fallback=True)).n_nodes == 1


class Fixed(SplitLearner):
    """Always the same cut."""

    def __init__(self, threshold=0.0):
        self.threshold = threshold

    def fit(self, node, rng):
        return AxisSplit(0, self.threshold, merit=1.0)


def test_a_cut_beyond_all_rows_is_no_test():
    rng = np.random.default_rng(0)
    root = node_of(random_sample(rng, n=30, d=1, k=2, categorical=0.0))
    values = root.sample.table.values[:, 0]
    middle = float(np.median(values))
    # Asked again in its children, the same cut parts nothing.
    assert by_node(root, Fixed(middle)).n_nodes == 3
    assert by_node(root, Fixed(values.max() + 1)).n_nodes == 1
    assert by_node(root, Fixed(values.min() - 1)).n_nodes == 1


def test_infinite_numbers_are_no_test():
    root = node_of(random_sample(np.random.default_rng(0), n=30, categorical=0.0))
    assert by_node(root, Fixed(np.inf)).n_nodes == 1
    assert by_node(root, Fixed(np.nan)).n_nodes == 1


def test_generators_for_those_who_draw():
    """Deterministic learners get none; another `fit` may draw again."""
    given = []

    class Noted(Linear):
        def fit(self, node, rng):
            given.append(rng)
            return super().fit(node, rng)

    class Deterministic(Noted):
        draws = False

    assert not Linear.draws and Noted.draws
    for learner in (Noted(), Deterministic()):
        by_node(random_root(0), learner)
    drawing = [rng for rng in given if rng is not None]
    assert 2 * len(drawing) == len(given) > 2
    assert len({rng.integers(2**62) for rng in drawing}) == len(drawing)
