"""Cost-complexity pruning: optimal at every price of a leaf; how the price is chosen."""

from __future__ import annotations

import weakref
from itertools import pairwise

import numpy as np
import pytest
from tests import naive
from tests.pruning.test_reduced_error import Held, held_out_errors
from tests.samples import sample_of
from tests.tables import random_sample

from omnitree import OmniTreeRegressor, TreeClassifier
from omnitree.growing.clock import by_clock
from omnitree.growing.growth import Growth
from omnitree.growing.missing import MISSING
from omnitree.growing.node import Rules
from omnitree.learners import Univariate
from omnitree.parts.leaves import ConstantLeaves
from omnitree.pruning import CostComplexity, cost_complexity
from omnitree.pruning.base import Evidence


def fit(sample, pruning, **changes):
    clf = TreeClassifier(pruning=pruning, **({"missing": "surrogate"} | changes))
    return clf.fit(sample.frame, sample.y, sample_weight=sample.weight)


def training_errors(tree):
    return tree.value.sum(axis=1) - tree.value.max(axis=1)


def small(rng, **kinds):
    """A sample whose tree can be pruned in all ways."""
    while True:
        sample = random_sample(rng, n=int(rng.integers(8, 24)), **kinds)
        whole = fit(sample, None).tree_
        if 3 <= whole.n_leaves <= 10:
            return sample, whole


@pytest.mark.parametrize("missing_share", [0.0, 0.2])
def test_optimal_for_every_price(missing_share, rng):
    """At a price no pruned subtree is cheaper, and of the cheapest it is the smallest."""
    for _ in range(15):
        sample, whole = small(rng, missing_share=missing_share)
        total = whole.value[0].sum()
        every = naive.pruned_subtrees(whole.to_dict()["nodes"], training_errors(whole))
        # Prices where the best subtree changes, and prices between them.
        steps = {
            (r - q) / (m - n)
            for _, r, n in every
            for _, q, m in every
            if m > n and r > q
        }
        steps = sorted({0.0} | {round(s, 9) for s in steps})
        middles = [(a + b) / 2 for a, b in pairwise(steps)] + [steps[-1] * 2 + 1]
        for price in [*middles[:: max(1, len(middles) // 8)], middles[-1]]:
            pruned = fit(sample, CostComplexity(alpha=price / total)).tree_
            cost = training_errors(pruned)[pruned.kind == 0].sum()
            best = min(r + price * n for _, r, n in every)
            assert cost + price * pruned.n_leaves == pytest.approx(best, abs=1e-7)
            fewest = min(n for _, r, n in every if r + price * n <= best + 1e-9)
            assert pruned.n_leaves == fewest


def test_price_zero_cuts_what_tells_nothing(rng):
    """alpha = 0: the smallest subtree with the training errors of the whole."""
    for _ in range(15):
        sample, whole = small(rng)
        every = naive.pruned_subtrees(whole.to_dict()["nodes"], training_errors(whole))
        least = min(r for _, r, _ in every)
        pruned = fit(sample, CostComplexity(alpha=0.0)).tree_
        assert training_errors(pruned)[pruned.kind == 0].sum() == pytest.approx(least)
        assert pruned.n_leaves == min(n for _, r, n in every if r <= least + 1e-9)


def test_subtrees_are_nested(rng):
    sample = random_sample(rng, n=80, d=4, missing_share=0.1)
    before = None
    for alpha in (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0):
        nodes = paths(fit(sample, CostComplexity(alpha=alpha)).tree_)
        assert before is None or nodes <= before
        before = nodes
    assert len(before) == 1


def paths(tree):
    """Nodes as tuples of branches from the root."""
    out = {0: ()}
    for node in range(1, tree.n_nodes):
        above = int(tree.parent[node])
        out[node] = (*out[above], node - int(tree.first_child[above]))
    return set(out.values())


def test_held_out_rows_choose_the_price(rng):
    """folds=0: of the weakest-link sequence the tree with fewest held-out errors."""
    for _ in range(15):
        sample = random_sample(rng, n=120, d=3, k=3, categorical=0.0, weight="one")
        X, y = sample.values[:60], sample.y[:60]
        y[:3] = [0, 1, 2]
        held = Held(sample.values[60:], sample.y[60:])
        clf = TreeClassifier(pruning=CostComplexity(folds=0))
        clf.fit(X, y, prune_set=(held.values, held.y))
        ours = held_out_errors(clf.tree_, held)[clf.tree_.kind == 0].sum()
        whole = TreeClassifier().fit(X, y).tree_
        nodes, cost = whole.to_dict()["nodes"], held_out_errors(whole, held)
        errors = {}
        for _, cut in naive.weakest_links(nodes, training_errors(whole)):
            leaves = [
                n for n in naive.cut_nodes(nodes, cut, True) if n["kind"] == "leaf"
            ]
            errors[len(leaves)] = sum(cost[n["was"]] for n in leaves)
        assert ours == pytest.approx(min(errors.values()))
        assert clf.tree_.n_leaves == min(n for n, e in errors.items() if e == ours)


def test_sequence_of_weakest_links(rng):
    """Between two prices of CART's sequence the tree is the sequence's."""
    for _ in range(10):
        sample = random_sample(rng, n=40, d=4, missing_share=0.1)
        whole = fit(sample, None).tree_
        nodes, total = whole.to_dict()["nodes"], whole.value[0].sum()
        steps = naive.weakest_links(nodes, training_errors(whole))
        ends = [price for price, _ in steps[1:]] + [2 * steps[-1][0] + 1]
        for (price, cut), end in zip(steps, ends, strict=True):
            alpha = (price + end) / 2 / total
            tree = fit(sample, CostComplexity(alpha=alpha)).tree_
            ours = tree.collapse(np.zeros(tree.n_nodes, bool)).to_dict()["nodes"]
            naive.assert_same_nodes(ours, naive.cut_nodes(nodes, cut))


def test_standard_errors_make_trees_smaller(rng):
    sample = random_sample(rng, n=200, d=5, k=3, weight="one")
    leaves = [
        fit(sample, CostComplexity(se=se), random_state=0).tree_.n_leaves
        for se in (0, 1, 4)
    ]
    assert leaves == sorted(leaves, reverse=True)


def test_cross_validation_is_reproducible(rng):
    sample = random_sample(rng, n=120, d=4, missing_share=0.1)
    trees = [
        fit(sample, CostComplexity(), random_state=5, n_jobs=n).tree_.to_dict()
        for n in (None, 1, 2)
    ]
    assert trees[0] == trees[1] == trees[2]


def test_noise_is_pruned_to_a_leaf():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), rng.integers(0, 2, size=400)
    clf = TreeClassifier(pruning=CostComplexity(se=1), random_state=0).fit(X, y)
    assert clf.tree_.n_leaves <= 3


def test_step_is_kept():
    X = np.arange(200.0)[:, None]
    y = (X[:, 0] > 99.5).astype(int)
    y[::23] = 1 - y[::23]
    clf = TreeClassifier(pruning="cost_complexity", random_state=0).fit(X, y)
    assert clf.tree_.n_leaves == 2
    assert clf.tree_.split(0).threshold == pytest.approx(99.5, abs=3)


def flat(n=400):
    """Classes that overlap widely: many sizes of a tree err alike."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6))
    y = rng.random(n) < 1 / (1 + np.exp(-0.6 * X[:, :4].sum(axis=1)))
    return X, y.astype(int)


def test_repeats_make_the_size_depend_less_on_the_seed():
    X, y = flat()

    def sizes(repeats):
        pruning = CostComplexity(repeats=repeats)
        clf = [TreeClassifier(pruning=pruning, random_state=s) for s in range(12)]
        return np.log([c.fit(X, y).tree_.n_leaves for c in clf])

    assert sizes(10).std() < 0.5 * sizes(1).std()


def test_of_trees_that_repeats_cannot_tell_apart_the_smallest():
    rule = CostComplexity(repeats=10)
    weight = np.ones(100)
    near = [np.array([[20.0, 21.0, 25.0]]), np.array([[20.0, 19.0, 25.0]])] * 2
    assert rule.choose(near, weight, True) == 1
    apart = [np.array([[20.0, 21.0, 25.0]])] * 4  # always by one error
    assert rule.choose(apart, weight, True) == 0
    assert rule.choose(apart[0], weight, True) == 0  # one cross-validation
    # The rule of one standard error holds for the mean of the repeats.
    assert CostComplexity(se=1.0, repeats=10).choose(apart, weight, True) == 1


def test_repeats_end_when_the_choice_stays(monkeypatch):
    """Five choices alike are enough; tables of many rows get one cross-validation."""
    from omnitree.pruning import cost_complexity

    calls = []
    grow = cost_complexity.each_fold

    def counting(evidence, folds, ask, **options):
        calls.append(evidence.seed)
        return grow(evidence, folds, ask, **options)

    monkeypatch.setattr(cost_complexity, "each_fold", counting)

    def fit_counted(X, y, repeats):
        calls.clear()
        clf = TreeClassifier(pruning=CostComplexity(repeats=repeats), random_state=0)
        clf.fit(X, y)
        assert len(set(calls)) == len(calls)  # other folds each time
        return len(calls)

    X = np.arange(80.0)[:, None]
    assert fit_counted(X, (X[:, 0] > 30).astype(int), 10) == 5
    assert fit_counted(X, (X[:, 0] > 30).astype(int), 2) == 2
    assert 5 <= fit_counted(*flat(), 10) <= 10
    monkeypatch.setattr(cost_complexity, "REPEATED_ROWS", 1000)
    assert fit_counted(*flat(), 10) == 2
    assert fit_counted(*flat(600), 10) == 1


def test_bad_repeats():
    X, y = flat(40)
    with pytest.raises(ValueError, match="repeats"):
        TreeClassifier(pruning=CostComplexity(repeats=0)).fit(X, y)


def test_repeats_with_different_numbers_of_folds():
    """Of nine rows in ten folds, chance leaves some folds empty."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 2)), np.arange(9) % 3
    for seed in range(5):
        pruning = CostComplexity(folds=10, repeats=5)
        clf = TreeClassifier(pruning=pruning, random_state=seed).fit(X, y)
        assert clf.tree_.value[0].sum() == 9


def test_of_one_leaf_the_folds_are_leaves(rng, monkeypatch):
    """They lose what the roots of whole trees would."""
    X = rng.normal(size=(120, 3))
    y = rng.normal(size=120)
    sizes, losses = [], []
    whole = cost_complexity.each_fold

    def watched(evidence, folds, ask, *options, **named):
        def noting(fold):
            sizes.append(fold.tree.n_nodes)
            return ask(fold)

        return whole(evidence, folds, noting, *options, **named)

    monkeypatch.setattr(cost_complexity, "each_fold", watched)
    reg = OmniTreeRegressor(random_state=0).fit(X, y)
    assert reg.tree_.n_leaves == 1
    assert sizes[:5] == [1] * 5
    losses.append(reg.losses_)
    monkeypatch.setattr(Evidence, "limited", lambda self, **limits: self)
    sizes.clear()
    losses.append(OmniTreeRegressor(random_state=0).fit(X, y).losses_)
    assert losses[0] == losses[1]


def test_trees_of_folds_are_not_kept(rng, monkeypatch):
    """Of thousands of classes, ten trees would need ten times the memory of one."""
    alive, most = weakref.WeakSet(), []
    grow = Growth.grow

    def growing(self, sample, verbose=0):
        tree = grow(self, sample, verbose)
        alive.add(tree)
        most.append(len(alive))
        return tree

    monkeypatch.setattr(Growth, "grow", growing)
    X = rng.normal(size=(200, 3))
    clf = TreeClassifier(pruning=CostComplexity(repeats=3), random_state=0)
    clf.fit(X, (X[:, 0] + rng.normal(size=200) > 0).astype(int))
    assert len(most) > 20
    assert max(most) <= 2  # the tree to be pruned, and that of a fold


def test_large_trees_of_folds_keep_no_shares(rng, monkeypatch):
    """They answer as others do, but hold nothing that is as large as their counts."""
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 5, 200)
    tree = TreeClassifier(pruning=None).fit(X, y).tree_
    assert cost_complexity.LargeTree.of(tree) is tree
    monkeypatch.setattr("omnitree.pruning.cost_complexity.LARGE", 0)
    large = cost_complexity.LargeTree.of(tree)
    assert isinstance(large, cost_complexity.LargeTree)
    for one in (large, large.replace(shrinkage=3.0)):
        usual = tree.replace(shrinkage=one.shrinkage)
        np.testing.assert_array_equal(one.outputs, usual.outputs)
        np.testing.assert_array_equal(one.class_shares, usual.class_shares)
    assert not {"outputs", "class_shares"} & set(vars(large))


def test_no_fold_is_begun_when_the_time_is_up(rng, monkeypatch):
    grown = []
    grow = Growth.grow

    def growing(self, sample, verbose=0):
        grown.append(len(sample))
        clock.at += 1.0
        return grow(self, sample, verbose)

    class Clock:
        at = 0.0

        def __call__(self):
            return self.at

    clock = Clock()
    monkeypatch.setattr(Growth, "grow", growing)
    X = rng.normal(size=(200, 3))
    clf = TreeClassifier(pruning="cost_complexity", random_state=0, max_seconds=2.5)
    with by_clock(clock):
        clf.fit(X, (X[:, 0] + rng.normal(size=200) > 0).astype(int))
    assert (
        len(grown) == 3
    )  # the tree, the last fold in time, and the one that ends late


def test_first_errors_of_small_trees(rng):
    """Of fewer leaves, the best tree of the first fold has no less error."""
    X = rng.uniform(size=(200, 2))
    sample = sample_of(X, np.floor(4 * X[:, 0]) + 0.1 * rng.normal(size=200))
    rules = Rules(MISSING.resolve("mean"), leaves=ConstantLeaves())
    evidence = Evidence(sample, None, Growth(Univariate(min_branch=5), rules))
    part = CostComplexity(folds=5)
    found = [part.first_errors(evidence, most) for most in (1, 2, 4, None)]
    errors, rises = zip(*found, strict=True)
    assert rises[:2] == (True, True)
    assert list(errors) == sorted(errors, reverse=True)
    assert errors[2] < 0.2 * errors[0]
    depth = evidence.limited(max_depth=3).limited(max_depth=1, max_leaves=7)
    assert depth.growth.rules.limits.max_depth == 1
    assert depth.limited(max_leaves=9).growth.rules.limits.max_leaves == 7
