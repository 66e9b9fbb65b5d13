"""Class counts of held-out rows at nodes, without the zeros."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive_subtrees as naive
from tests.tables import random_sample

from omnitree import TreeClassifier
from omnitree.data.table import encode
from omnitree.growing.target import ClassTarget
from omnitree.refinement import sizing
from omnitree.refinement.node_counts import NodeCounts
from omnitree.refinement.sizing import deviances

SHRINKAGES = (0.5, 2.0, 20.0)


@pytest.fixture(params=[2, 3, 12, 40])
def held_out(request, rng):
    """Trees, whose rows missing values may divide, with counts of other rows."""
    out = []
    for missing_share in (0.0, 0.2):
        sample = random_sample(rng, n=160, d=4, missing_share=missing_share)
        y = rng.integers(request.param, size=160)
        clf = TreeClassifier(missing="fractional", pruning=None)
        clf.fit(sample.frame[:100], y[:100], sample_weight=sample.weight[:100])
        tree = clf.tree_
        codes = np.searchsorted(clf.classes_, y[100:]) % len(clf.classes_)
        table = encode(sample.frame[100:], tree.schema)
        counts = tree.class_counts(table, codes, sample.weight[100:])
        out.append((tree, counts))
    out.append((tree.collapse(np.ones(tree.n_nodes, dtype=bool)), counts[:1]))
    return out


def test_log_losses_are_those_of_all_counts(held_out):
    for tree, counts in held_out:
        got = NodeCounts.of(tree, counts).log_losses(SHRINKAGES)
        expected = [naive.log_losses(tree, counts, m) for m in SHRINKAGES]
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_few_classes_have_the_same_sums_to_the_last_bit(held_out):
    """Fewer than eight numbers are added one after another by NumPy, too."""
    for tree, counts in held_out:
        if tree.value.shape[1] < 8:
            got = NodeCounts.of(tree, counts).log_losses(SHRINKAGES)
            shares = [tree.shrunken_shares(m) for m in SHRINKAGES]
            expected = [-(counts * np.log(share)).sum(axis=1) for share in shares]
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("with_costs", [False, True])
def test_losses_of_answers(held_out, rng, with_costs):
    for tree, counts in held_out:
        k = counts.shape[1]
        costs = rng.random((k, k)) * (1 - np.eye(k)) if with_costs else None
        target = ClassTarget(np.zeros(1, dtype=np.int32), np.arange(k), costs)
        expected = target.losses_by(counts, tree.outputs)
        got = NodeCounts.of(tree, counts).losses_by(target, tree.outputs)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_zeros_take_no_room(rng):
    """A row has one class: at most as many entries as nodes on the paths of all rows."""
    X, y = rng.normal(size=(600, 3)), np.arange(600) % 200
    tree = TreeClassifier(pruning=None).fit(X, y).tree_
    counts = tree.class_counts(encode(X[:50], tree.schema), y[:50], np.ones(50))
    found = NodeCounts.of(tree, counts)
    assert len(found.node) <= 50 * (tree.depths.max() + 1) < counts.size / 10


def test_deviances_of_large_counts_are_made_in_parts(rng, monkeypatch):
    counts = rng.integers(0, 3, size=(40, 9)).astype(float)
    whole = deviances(counts)
    monkeypatch.setattr(sizing, "CELLS", 30)
    np.testing.assert_array_equal(deviances(counts), whole)
