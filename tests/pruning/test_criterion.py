"""Pruning by AIC and BIC against sums over subtrees made anew for every node."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.naive_choice import criterion, prune
from tests.trees import random_tree

from omnitree.parts.choice import AIC, BIC
from omnitree.pruning import CriterionPruning
from omnitree.tree.splits import Considered


def leaves_below(tree, top, cuts):
    found, inner, stack = [], [], [top]
    while stack:
        node = stack.pop()
        if tree.kind[node] == 0 or node in cuts:
            found.append(node)
            continue
        inner.append(node)
        first = tree.first_child[node]
        stack += range(first, first + tree.n_children[node])
    return found, inner


def cost_of(name, logarithm, rows, leaf):
    def cost(tree, top, cuts):
        leaves, inner = leaves_below(tree, top, cuts)
        branches = [tree.value[node].tolist() for node in leaves]
        d = {node: tree.complexity(node) for node in inner}
        if name == "aic" or rows == "subtree":
            total = [tree.value[top].tolist()]
            # The likelihood of all leaves, and one N for everything.
            parameters = sum(d.values()) + leaf * len(leaves)
            return criterion(name, logarithm, branches, 0) + (
                criterion(name, logarithm, total, parameters)
                - criterion(name, logarithm, total, 0)
            )
        price = 0.0
        for node, own in [*d.items(), *((node, leaf) for node in leaves)]:
            n = tree.value[node].sum()
            price += own / 2 * np.log(max(n, 1))
        return criterion(name, logarithm, branches, 0) + price

    return cost


KINDS = ("axis", "subset", "linear", "quadratic", "machine")
OPTIONS = list(
    itertools.product(
        ["aic", "bic"],
        ["natural", "binary"],
        ["bottom_up", "top_down"],
        ["node", "subtree"],
        [0.0, 1.0],
    )
)


@pytest.mark.parametrize(("name", "log", "order", "rows", "leaf"), OPTIONS)
def test_against_naive(name, log, order, rows, leaf, rng):
    choice = {"aic": AIC, "bic": BIC}[name](log)
    cut_somewhere = kept_somewhere = False
    for _ in range(15):
        tree = random_tree(rng, KINDS)
        value = np.zeros((tree.n_nodes, len(tree.classes)))
        for node in reversed(range(tree.n_nodes)):  # counts that add up
            if tree.kind[node] == 0:
                sharp = rng.integers(0, 30) * (rng.random(len(tree.classes)) < 0.3)
                value[node] = rng.integers(0, 3, size=len(tree.classes)) + sharp
            if node:
                value[tree.parent[node]] += value[node]
        tree = tree.replace(value=value)
        cut = CriterionPruning(choice, order, rows, leaf).cut(tree, None)
        expected = prune(tree, cost_of(name, log, rows, leaf), order)
        # What lies below a cut does not matter.
        want = np.isin(np.arange(tree.n_nodes), list(expected))
        ours, theirs = tree.collapse(cut), tree.collapse(want)
        assert ours.to_dict() == theirs.to_dict()
        inner = tree.kind != 0
        cut_somewhere |= bool(cut[inner].any())
        kept_somewhere |= bool((~cut[inner]).any())
    assert cut_somewhere and kept_somewhere


def test_parameters_are_those_of_the_choice(rng):
    tree = random_tree(rng, KINDS)
    while tree.kind[0] == 0:
        tree = random_tree(rng, KINDS)
    one = Considered("fisher", "linear", 77, "AIC", 1.0, True)
    other = replace(one, parameters=5, chosen=False)
    found = tuple((other, one) if k else () for k in tree.kind)
    assert tree.replace(candidates=found).complexity(0) == 77
    assert tree.complexity(0) == tree.split(0).n_params


def test_bad_options(rng):
    tree = random_tree(rng, KINDS)
    with pytest.raises(ValueError, match="needs AIC or BIC"):
        CriterionPruning("one_se").cut(tree, None)
    with pytest.raises(ValueError, match="top_down"):
        CriterionPruning(order="down").cut(tree, None)
    with pytest.raises(ValueError, match="subtree"):
        CriterionPruning(rows="tree").cut(tree, None)
    with pytest.raises(ValueError, match="leaf"):
        CriterionPruning(leaf=-1).cut(tree, None)
    with pytest.raises(ValueError, match="natural"):
        CriterionPruning(AIC("nat")).cut(tree, None)
