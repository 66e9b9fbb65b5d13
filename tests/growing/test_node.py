"""What a node says of its rows, and offers to learners of tests over many columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.cases import node_of
from tests.samples import root_of
from tests.tables import random_sample

from omnitree import TreeClassifier, TreeRegressor
from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import make_children
from omnitree.growing.stopping import Limits
from omnitree.parts.merit import MERITS
from omnitree.parts.threshold import best_cut
from omnitree.tree.splits import AxisSplit


class RandomOblique(SplitLearner):
    """The best of some random directions over few columns."""

    random = True
    tasks = ("classification", "regression")

    def __init__(self, n_directions=20, n_columns=2, merit="gain"):
        self.n_directions = n_directions
        self.n_columns = n_columns
        self.merit = merit

    def fit(self, node, rng):
        merit, best = MERITS.resolve(self.merit, node.target.task), None
        for _ in range(self.n_directions):
            w = np.zeros(node.columns.shape[1])
            some = rng.choice(len(w), min(self.n_columns, len(w)), replace=False)
            w[some] = rng.normal(size=len(some))
            cut = best_cut(node, node.project(w), merit)
            if cut is not None and (best is None or cut[1] > best.merit):
                best = node.split_at(w, *cut)
        return best


def test_a_test_at_a_threshold_divides_the_projection(rng):
    """Rows, also incomplete ones, take the branch that their projection says."""
    for _ in range(100):
        node = node_of(random_sample(rng, missing_share=rng.choice([0.0, 0.2])))
        p = node.columns.shape[1]
        w = rng.normal(size=p) * (rng.random(p) < 0.6)
        z = node.project(w)
        np.testing.assert_allclose(z, node.columns @ w, atol=1e-12)
        cut = best_cut(node, z, MERITS.resolve("gain"))
        if cut is None:
            continue
        split = node.split_at(w, *cut)
        branch = split.route(node.sample.table, node.rows)
        far = np.abs(z - cut[0]) > 1e-9
        np.testing.assert_array_equal(branch[far], (z > cut[0])[far])
        if far.all():
            counts = np.zeros((2, node.target.n_classes))
            np.add.at(counts, (branch, node.y), node.weight)
            assert split.merit == float(MERITS.resolve("gain")(counts))


def test_the_best_cut_is_the_best_of_all(rng):
    merit = MERITS.resolve("gini")
    for _ in range(50):
        node = node_of(random_sample(rng))
        z = rng.integers(0, 5, len(node.rows)).astype(float)
        values = np.unique(z)
        merits = []
        for low in values[:-1]:
            counts = np.zeros((2, node.target.n_classes))
            np.add.at(counts, ((z > low).astype(int), node.y), node.weight)
            merits.append(float(merit(counts)))
        cut = best_cut(node, z, merit)
        if not merits:
            assert cut is None
        else:
            at = int(np.searchsorted(values, cut[0])) - 1
            np.testing.assert_allclose([cut[1], merits[at]], max(merits), atol=1e-12)


def test_columns_without_weight_make_no_test(rng):
    node = node_of(random_sample(rng))
    assert node.split_at(np.zeros(node.columns.shape[1]), 0.0, 1.0) is None


def test_the_same_learner_serves_a_numeric_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, 5.0, -5.0)
    learner = RandomOblique(merit="variance")
    reg = TreeRegressor(learner, random_state=0, max_depth=6).fit(X, y)
    assert reg.score(X, y) > 0.97
    assert reg.tree_.node_kinds()["linear"] > 0


def test_a_learner_of_random_directions_grows_a_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + X[:, 1] > 0
    clf = TreeClassifier(RandomOblique(), random_state=0).fit(X, y)
    assert clf.score(X, y) == 1.0
    assert clf.tree_.node_kinds()["linear"] > 0
    assert clf.tree_.n_leaves < TreeClassifier().fit(X, y).tree_.n_leaves


def test_children_divide_the_statistics(rng):
    """Rows and parts of rows: what two branches get is what the node has."""
    for numbers in (False, True):
        for missing in (0, -1):
            sample = random_sample(rng, n=50, d=3, categorical=0.0, missing_share=0.2)
            y = rng.normal(size=50) if numbers else sample.y
            root = root_of(sample.table, y, sample.weight)
            split = AxisSplit(0, float(np.nanmedian(sample.values[:, 0])))
            children = make_children(root, replace(split, missing=missing))
            total = sum(child.statistics for child in children)
            np.testing.assert_allclose(total, root.statistics, rtol=1e-9)
            assert [child.path for child in children] == [(0,), (1,)]
            for child in children:
                np.testing.assert_array_equal(child.y, y[child.rows])
                assert child.total == pytest.approx(child.weight.sum())


def test_when_a_node_stays_a_leaf(rng):
    X, one = rng.normal(size=(6, 2)), np.zeros(6, dtype=int)
    two = np.array([0, 1, 0, 1, 0, 1])
    for pure, mixed in ((one, two), (one + 0.5, two + 0.5)):
        assert root_of(X, pure, n_classes=2).stays_leaf()
        root = root_of(X, mixed)
        assert not root.stays_leaf()
        for limits in (Limits(min_rows=7), Limits(max_depth=0)):
            rules = replace(root.rules, limits=limits)
            assert replace(root, rules=rules).stays_leaf()


def test_a_numeric_target_has_no_classes(rng):
    """Its rows are one group for tests over many columns, until a learner groups them."""
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    root = root_of(X, y)
    assert root.linear.n_classes == 1
    above = (y > np.median(y)).astype(np.int32)
    groups = root.linear.grouped(above, 2)
    for k in range(2):
        own = groups.columns[above == k].mean(axis=0)
        np.testing.assert_allclose(groups.means[k], own, atol=1e-12)
    np.testing.assert_allclose(groups.mean, root.linear.mean, atol=1e-12)
