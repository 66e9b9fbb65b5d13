"""Pruning by chi-square, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests import naive
from tests.tables import random_sample

from omnitree import TreeClassifier
from omnitree.learners import Univariate
from omnitree.pruning import Significance
from omnitree.pruning.significance import chi_square_probability


def theirs(table):
    table = np.asarray(table, dtype=float)
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    return (
        stats.chi2_contingency(table, correction=False)[1]
        if min(table.shape) > 1
        else 1.0
    )


def test_probability_equals_scipy(rng):
    for _ in range(200):
        table = rng.integers(0, 12, size=rng.integers(2, 5, size=2)).astype(float)
        table[0, 0] += 1
        assert chi_square_probability(table) == pytest.approx(theirs(table), abs=1e-10)


@pytest.mark.parametrize("level", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("missing", ["mean", "fractional"])
def test_from_the_bottom_up(missing, level, rng):
    """A split goes if all below it went and chance could have made it."""
    for _ in range(15):
        sample = random_sample(rng, n=50, d=4, missing_share=0.15)
        learner = Univariate("gain", "multiway")
        clf = TreeClassifier(learner, missing=missing)
        clf.fit(sample.frame, sample.y, sample_weight=sample.weight)
        nodes = clf.tree_.to_dict()["nodes"]
        cut = set()
        for node in reversed(nodes):
            if node["kind"] == "leaf":
                continue
            below = [nodes[c] for c in node["children"]]
            if all(b["kind"] == "leaf" or b["id"] in cut for b in below) and (
                theirs([b["value"] for b in below]) >= level
            ):
                cut.add(node["id"])
        clf.set_params(pruning=Significance(level))
        clf.fit(sample.frame, sample.y, sample_weight=sample.weight)
        tree = clf.tree_
        ours = tree.collapse(np.zeros(tree.n_nodes, bool)).to_dict()["nodes"]
        naive.assert_same_nodes(ours, naive.cut_nodes(nodes, frozenset(cut)))
