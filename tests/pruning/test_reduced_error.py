"""Reduced-error pruning: the subtree with fewest held-out errors, the smallest of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive
from tests.tables import random_sample

from omnitree import TreeClassifier
from omnitree.learners import Univariate
from omnitree.pruning import ReducedError


def held_out_errors(tree, sample):
    """Errors on a sample of every node as a leaf, with divided rows."""
    data = tree.to_dict()
    nodes = data["nodes"]
    there = np.zeros((len(nodes), len(data["classes"])))
    for row, label in zip(sample.values, sample.y, strict=True):
        for leaf, share in naive.leaf_shares(data, row).items():
            at = leaf
            while at >= 0:
                there[at, label] += share
                at = nodes[at]["parent"]
    label = []
    for node in nodes:
        while not sum(node["value"]):
            node = nodes[node["parent"]]
        label.append(int(np.argmax(node["value"])))
    return there.sum(axis=1) - there[np.arange(len(nodes)), label]


def pair(rng, missing_share):
    """Training rows and held-out rows of one kind."""
    sample = random_sample(rng, n=60, d=3, k=3, missing_share=missing_share)
    cut = 25
    train, test = np.arange(cut), np.arange(cut, 60)
    return sample, train, test


@pytest.mark.parametrize("missing_share", [0.0, 0.2])
@pytest.mark.parametrize("missing", ["mean", "fractional", "surrogate"])
def test_bottom_up_is_optimal(missing, missing_share, rng):
    done = 0
    while done < 25:
        sample, train, test = pair(rng, missing_share)
        frame = sample.frame
        clf = TreeClassifier(
            Univariate(categories="multiway"), missing=missing, max_depth=3
        )
        X, y = frame.iloc[train], sample.y[train]
        whole = clf.fit(X, y, sample_weight=sample.weight[train]).tree_
        if len(set(y)) < 3 or whole.n_leaves > 14:
            continue
        done += 1
        clf.set_params(pruning=ReducedError())
        clf.fit(
            X,
            y,
            sample_weight=sample.weight[train],
            prune_set=(frame.iloc[test], sample.y[test]),
        )
        held = sample_of(clf, frame.iloc[test], sample.y[test])
        cost = held_out_errors(whole, held)
        every = naive.pruned_subtrees(whole.to_dict()["nodes"], cost)
        best = min(r for _, r, _ in every)
        smallest = min(n for _, r, n in every if r <= best + 1e-9)
        ours = clf.tree_
        left = held_out_errors(ours, held)[ours.kind == 0].sum()
        assert left == pytest.approx(best, abs=1e-7)
        assert ours.n_leaves == smallest


class Held:
    def __init__(self, values, y):
        self.values, self.y = values, y


def sample_of(clf, frame, y):
    """Rows encoded by the fitted schema: unseen categories are missing."""
    values = np.full(frame.shape, np.nan)
    for j, feature in enumerate(clf.tree_.schema.features):
        column = frame[feature.name]
        if feature.is_categorical:
            code = {s: c for c, s in enumerate(feature.categories)}
            values[:, j] = [code.get(s, np.nan) for s in column]
        elif column.dtype != "category":
            values[:, j] = column
    return Held(values, y)


def test_top_down_compares_with_the_whole_subtree(rng):
    for _ in range(20):
        sample, train, test = pair(rng, 0.1)
        X, y = sample.values[train], sample.y[train]
        y[:3] = [0, 1, 2]
        held = Held(sample.values[test], sample.y[test])
        clf = TreeClassifier().fit(X, y)
        whole = clf.tree_
        clf.set_params(pruning=ReducedError(order="top_down"))
        clf.fit(X, y, prune_set=(held.values, held.y))
        cost = held_out_errors(whole, held)
        nodes = whole.to_dict()["nodes"]

        def below(at, nodes=nodes, cost=cost):
            children = nodes[at].get("children")
            return sum(map(below, children)) if children else cost[at]

        cut = {
            n["id"]
            for n in nodes
            if "children" in n and cost[n["id"]] <= below(n["id"]) + 1e-9
        }
        expected = naive.cut_nodes(nodes, frozenset(cut))
        ours = clf.tree_
        assert (
            ours.collapse(np.zeros(ours.n_nodes, bool)).to_dict()["nodes"] == expected
        )


def test_holds_out_the_share(rng):
    """Without a prune set a share of each class is kept apart."""
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 3
    clf = TreeClassifier(pruning=ReducedError(share=0.25), random_state=0).fit(X, y)
    np.testing.assert_allclose(clf.tree_.value[0], [75, 75, 75], atol=1)


def test_unknown_order():
    with pytest.raises(
        ValueError, match="unknown order 'botom_up', did you mean 'bottom_up'"
    ):
        TreeClassifier(pruning=ReducedError(order="botom_up")).fit(
            [[1], [2]] * 5, [0, 1] * 5
        )


@pytest.mark.parametrize("share", [1, 1.5, -0.1])
def test_share_is_a_share(share):
    with pytest.raises(ValueError, match=r"share must lie in \(0, 1\)"):
        TreeClassifier(pruning=ReducedError(share)).fit([[1], [2]] * 5, [0, 1] * 5)


def test_no_rows_to_prune_on():
    with pytest.raises(ValueError, match="needs rows that the tree was not grown on"):
        TreeClassifier(pruning=ReducedError(share=0)).fit([[1], [2]] * 5, [0, 1] * 5)


@pytest.mark.parametrize("order", ["bottom_up", "top_down"])
def test_ties_are_cut_or_kept(order):
    """A node that no held-out row reaches ties: cut by Quinlan, kept by the papers."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 1, 1, 0])
    held_out = (
        np.array([[1.0], [2.0]]),
        np.array([1, 1]),
    )  # right as a leaf and as a tree
    leaves = {}
    for ties in ("cut", "keep"):
        pruning = ReducedError(order=order, ties=ties)
        clf = TreeClassifier(Univariate(), pruning=pruning).fit(
            X, y, prune_set=held_out
        )
        leaves[ties] = clf.tree_.n_leaves
    assert leaves["cut"] < leaves["keep"] == 3
    worse = np.array([[0.0], [0.0], [3.0]]), np.array([1, 1, 1])
    clf = TreeClassifier(pruning=ReducedError(order=order, ties="keep"))
    assert clf.fit(X, [0, 1, 1, 1], prune_set=worse).tree_.n_leaves == 1
    with pytest.raises(ValueError, match="ties"):
        clf.set_params(pruning=ReducedError(ties="never")).fit(X, y, prune_set=worse)
