"""Every grower that can serve a task grows the same tree, on hundreds of small tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.cases import node_of
from tests.naive import assert_same_nodes
from tests.tables import random_sample

from omnitree.growing.criterion import SquaredError
from omnitree.growing.dispatch import GROWERS, growers_for
from omnitree.growing.grower import grow_by_node, grow_whole
from omnitree.growing.missing import MISSING
from omnitree.growing.stopping import Limits
from omnitree.growing.target import NumericTarget
from omnitree.learners import Linear, Univariate
from omnitree.parts.leaves import ConstantLeaves
from omnitree.parts.merit import MERITS

# Filling comes before the search, which then sees no missing value.
POLICIES = [name for name, policy in MISSING.items() if not policy.fills]


def with_rules(node, **changes):
    """The root of the same rows under other rules."""
    return replace(node, rules=replace(node.rules, **changes))


def with_numbers(node, y):
    """The root of the same rows with a numeric target, and constants in the leaves."""
    sample = replace(node.sample, target=NumericTarget(y, SquaredError()))
    return with_rules(replace(node, sample=sample), leaves=ConstantLeaves())


def random_limits(rng):
    return Limits(
        min_rows=float(rng.choice([2, 2, 5])),
        max_depth=int(rng.choice([-1, -1, 2])),
        max_leaves=[None, None, 4][rng.integers(3)],
    )


def all_trees(learner, root, by_node=True):
    """Name of each grower that can serve, and its nodes, breadth first."""
    search = learner.search(root)
    trees = {
        grower.name: grow_whole(grower, search, root)
        for grower in growers_for(search, root)
    }
    if by_node:
        trees["node by node"] = grow_by_node(root, learner, lambda _: False)
    return {
        name: tree.collapse(np.zeros(tree.n_nodes, dtype=bool)).to_dict()["nodes"]
        for name, tree in trees.items()
    }


def assert_all_alike(trees):
    first, *others = trees.values()
    for nodes in others:
        assert_same_nodes(nodes, first)
        for a, b in zip(nodes, first, strict=True):
            for key in {"constant", "loss"} & a.keys():
                assert a[key] == pytest.approx(b[key], rel=1e-9, abs=1e-9)


# -- classes -------------------------------------------------------------------------


@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("merit", [n for n in MERITS if n != "variance"])
def test_univariate(merit, missing, rng):
    """Numbers and categories; the presorted grower takes part where there are only numbers.

    A node by itself cannot know that the table has missing values elsewhere, for which
    surrogates are kept, nor (for C4.5's average gain) that a feature has very many
    categories for the table's size.
    """
    served = set()
    for _ in range(20):
        missing_share, categorical = rng.choice([0.0, 0.2]), rng.choice([0.0, 0.5])
        sample = random_sample(
            rng,
            n=int(rng.integers(6, 60)),
            missing_share=missing_share,
            categorical=categorical,
        )
        policy = MISSING[missing]()
        root = with_rules(node_of(sample), missing=policy, limits=random_limits(rng))
        beyond_node = (missing_share and missing == "surrogate") or (
            categorical and merit == "gain_ratio"
        )
        learner = Univariate(
            merit,
            str(rng.choice(["subset", "multiway", "one_rest", "groups"])),
            min_branch=float(rng.choice([1, 1, 2, 3.5])),
        )
        trees = all_trees(learner, root, by_node=not beyond_node)
        served |= set(trees)
        assert_all_alike(trees)
    fast = (
        {"presorted classes"}
        if merit in ("gini", "gain", "gain_ratio", "entropy")
        else set()
    )
    assert served == {"general", "node by node"} | fast


@pytest.mark.parametrize("merit", ["gain", "gain_ratio"])
def test_rules_of_c45(merit, rng):
    """Thresholds among the values of the whole table, so no tree is grown node by node."""
    learner = Univariate(
        merit,
        min_branch=2,
        release8=True,
        threshold="value",
        collapse=True,
    )
    for _ in range(60):
        sample = random_sample(rng, n=int(rng.integers(4, 100)), categorical=0.0)
        root = with_rules(node_of(sample), limits=random_limits(rng))
        trees = all_trees(learner, root, by_node=False)
        assert set(trees) == {"presorted classes", "general"}
        assert_all_alike(trees)


# -- numbers -------------------------------------------------------------------------


@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("target", ["fine", "few", "far"])
def test_numeric_target(target, missing, rng):
    """Targets without ties, with many, and far from 0; cells with ties throughout."""
    for _ in range(60):
        n = int(rng.integers(3, 80))
        sample = random_sample(
            rng, n=max(n, 6), d=int(rng.integers(1, 6)), categorical=0.0
        )
        y = sample.values.sum(axis=1) + rng.normal(size=len(sample.y))
        if target == "few":
            y = np.round(y / 4)
        elif target == "far":
            y = np.round(y, 2) + 1e6
        root = with_rules(
            with_numbers(node_of(sample), y),
            missing=MISSING[missing](),
            limits=random_limits(rng),
        )
        learner = Univariate(min_branch=float(rng.choice([1, 1, 2, 3.5])))
        trees = all_trees(learner, root)
        assert set(trees) == {"presorted numbers", "node by node"}
        assert_all_alike(trees)


# -- the table -----------------------------------------------------------------------


def test_every_grower_serves_somewhere(rng):
    """No row of the table is hidden by those above it."""
    plain = node_of(random_sample(rng, n=30, d=3, categorical=0.0))
    mixed = node_of(random_sample(rng, n=30, d=3, categorical=1.0, missing_share=0.2))
    numbers = with_numbers(plain, rng.normal(size=30))
    first = [
        next(growers_for(learner.search(root), root))
        for learner, root in (
            (Univariate(), plain),
            (Univariate(), numbers),
            (Univariate(), mixed),
            (Linear(), plain),
        )
    ]
    assert first == list(GROWERS)


def test_another_fit_is_never_replaced(rng):
    class Careful(Univariate):
        def fit(self, node, rng):
            return None

    class SameFit(Univariate):
        pass

    root = node_of(random_sample(rng))
    assert Careful().search(root) is None
    assert SameFit().search(root) == Univariate().search(root)
