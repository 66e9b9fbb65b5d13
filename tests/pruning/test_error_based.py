"""Error-based pruning against a recursive version of C4.5's."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive
from tests.tables import random_sample

from omnitree import TreeClassifier, presets
from omnitree._core.univariate.estimate import add_errors
from omnitree.pruning import ErrorBased


def fit(sample, preset="c4.5", **changes):
    clf = presets.make(preset, **changes)
    return clf.fit(sample.frame, sample.y, sample_weight=sample.weight)


@pytest.mark.parametrize("cf", [0.001, 0.05, 0.1, 0.25, 0.4, 0.7, 0.99])
def test_add_errors(cf, rng):
    for _ in range(200):
        n = float(rng.choice([rng.integers(1, 200), rng.random() * 20]))
        e = min(float(rng.choice([0, 1, rng.random(), rng.random() * n])), n)
        assert add_errors(n, e, cf) == pytest.approx(
            naive.add_errors(n, e, cf), abs=1e-9
        )
    assert add_errors(0, 0, cf) == 0


@pytest.mark.parametrize("raising", [True, False])
@pytest.mark.parametrize("missing", ["fractional", "mean", "surrogate"])
@pytest.mark.parametrize("preset", ["c4.5", "id3"])
def test_equals_naive(preset, missing, raising, rng):
    raised = 0
    for _ in range(40):
        sample = random_sample(
            rng,
            n=int(rng.integers(10, 60)),
            d=4,
            missing_share=rng.choice([0.0, 0.1, 0.3]),
        )
        cf = float(rng.choice([0.05, 0.25, 0.5, 0.9]))
        whole = fit(sample, preset, pruning=None, missing=missing).tree_.to_dict()
        pruned = fit(
            sample, preset, pruning=ErrorBased(cf, raising=raising), missing=missing
        )
        expected = naive.prune_error_based(
            whole, sample.values, sample.y, sample.weight, cf, raising
        )
        nodes = pruned.tree_.collapse(np.zeros(pruned.tree_.n_nodes, bool)).to_dict()
        naive.assert_same_nodes(nodes["nodes"], expected)
        without = naive.prune_error_based(
            whole, sample.values, sample.y, sample.weight, cf, False
        )
        raised += len(without) != len(expected)
    if raising and (preset, missing) == ("id3", "fractional"):
        assert raised  # or the test would say nothing about raising


def test_counts_after_raising_add_up(rng):
    for _ in range(20):
        sample = random_sample(rng, n=60, d=4, missing_share=0.2)
        tree = fit(sample, "id3", pruning=ErrorBased(0.5), missing="fractional").tree_
        inner = tree.kind != 0
        sums = np.zeros_like(tree.value)
        np.add.at(sums, tree.parent[1:], tree.value[1:])
        np.testing.assert_allclose(sums[inner], tree.value[inner])
        np.testing.assert_allclose(
            tree.value[0], np.bincount(sample.y, weights=sample.weight)
        )


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, float("nan")])
def test_confidence_is_a_probability(confidence):
    with pytest.raises(ValueError, match="confidence must lie in"):
        TreeClassifier(pruning=ErrorBased(confidence)).fit([[1], [2]], [0, 1])


def test_smaller_confidence_prunes_more(rng):
    sample = random_sample(rng, n=150, d=5, k=3)
    leaves = [
        fit(sample, pruning=ErrorBased(cf)).tree_.n_leaves
        for cf in (0.01, 0.1, 0.5, 0.9)
    ]
    assert leaves == sorted(leaves)
    assert leaves[0] < leaves[-1]
