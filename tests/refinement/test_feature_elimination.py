"""Fewer features in fitted tests, where held-out rows are served no worse."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tables import random_sample

from omnitree import presets
from omnitree.pruning import ReducedError
from omnitree.refinement import FeatureElimination


def noisy(rng, n):
    """Two columns matter, eight are noise, a tenth of the labels is wrong."""
    X = rng.normal(size=(n, 10))
    y = (X[:, 0] + X[:, 1] > 0) ^ (rng.random(n) < 0.1)
    return X, y.astype(int)


def widths(tree):
    return [len(tree.split(n).columns) for n in np.flatnonzero(tree.kind)]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("coefficients", ["rls", "thermal"])
def test_noise_is_dropped(coefficients, ties, rng):
    fewer = 0
    for seed in range(5):
        train, held_out = noisy(rng, 60), noisy(rng, 400)
        trees = {}
        more = FeatureElimination(coefficients=coefficients, ties=ties)
        for name, refinement in (("plain", None), ("more", more)):
            clf = presets.make(
                "bu95",
                coefficients=coefficients,
                selection="none",
                pruning=ReducedError(),
                refinement=refinement,
                random_state=seed,
            )
            trees[name] = clf.fit(*train, prune_set=held_out)
        plain, pruned = trees["plain"], trees["more"]
        assert pruned.tree_.n_nodes == plain.tree_.n_nodes
        assert pruned.score(*held_out) >= plain.score(*held_out)
        assert sum(widths(pruned.tree_)) <= sum(widths(plain.tree_))
        fewer += sum(widths(pruned.tree_)) < sum(widths(plain.tree_))
        np.testing.assert_allclose(pruned.tree_.value[0], plain.tree_.value[0])
    assert fewer >= 4


def test_only_tests_above_leaves_change(rng):
    sample = random_sample(
        rng, n=300, d=6, k=3, categorical=0.3, missing_share=0.1, weight="one"
    )
    X, y = sample.frame, sample.y
    rows = np.arange(300)
    half, other = rows[::2], rows[1::2]
    fitted = {}
    for name, refinement in (
        ("plain", None),
        ("more", FeatureElimination(ties=True)),
    ):
        clf = presets.make("bu95", selection="none", random_state=0)
        clf.set_params(refinement=refinement)
        fitted[name] = clf.fit(
            X.iloc[half], y[half], prune_set=(X.iloc[other], y[other])
        )
    plain, more = fitted["plain"].tree_, fitted["more"].tree_
    assert plain.n_nodes == more.n_nodes > 3
    changed = 0
    for node in np.flatnonzero(plain.kind):
        below = range(plain.first_child[node], plain.first_child[node] + 2)
        if plain.kind[list(below)].any():
            assert more.split(node) == plain.split(node)
        changed += more.split(node) != plain.split(node)
        assert len(more.split(node).columns) <= len(plain.split(node).columns)
        # Counts are those of the training rows under the test that is there now.
        part = slice(below.start, below.stop)
        np.testing.assert_allclose(more.value[part].sum(axis=0), more.value[node])
    assert changed
    again = more.recount(
        fitted["more"]._encode(X.iloc[half]), y[half], np.ones(len(half))
    )
    np.testing.assert_allclose(again.value, more.value)


def test_needs_held_out_rows():
    clf = presets.make("bu95", pruning=None, refinement=FeatureElimination(share=0.0))
    with pytest.raises(ValueError, match="needs rows that the tree was not grown on"):
        clf.fit([[1.0], [2.0], [3.0], [4.0]] * 5, [0, 0, 1, 1] * 5)


def test_judged_by_training_rows_only_one_candidate_is_tried(rng):
    """The feature that goes is the one training rows miss least, whatever others do."""
    changed = {"held_out": 0, "training": 0}
    for seed in range(8):
        train, held_out = noisy(rng, 60), noisy(rng, 60)
        plain = presets.make(
            "bu95", selection="none", pruning=ReducedError(), random_state=seed
        ).fit(*train, prune_set=held_out)
        for judge in changed:
            more = FeatureElimination(judge=judge)
            clf = presets.make(
                "bu95",
                selection="none",
                pruning=ReducedError(),
                refinement=more,
                random_state=seed,
            ).fit(*train, prune_set=held_out)
            changed[judge] += sum(widths(plain.tree_)) - sum(widths(clf.tree_))
            assert clf.score(*held_out) >= plain.score(*held_out)
    assert changed["held_out"] > changed["training"] > 0
    with pytest.raises(ValueError, match="judge"):
        clf.set_params(refinement=FeatureElimination(judge="both")).fit(
            *train, prune_set=held_out
        )


def test_tests_that_held_out_rows_do_not_need_stay_as_they_are(rng):
    X, y = noisy(rng, 80)
    other = rng.normal(size=(40, 10)), np.full(40, y.mean() > 0.5).astype(int)
    trees = [
        presets.make(
            "bu95",
            selection="none",
            pruning=None,
            refinement=FeatureElimination(needed=needed, ties=True),
            random_state=0,
        )
        .fit(X, y, prune_set=other)
        .tree_
        for needed in (False, True)
    ]
    assert sum(widths(trees[0])) < sum(widths(trees[1]))
