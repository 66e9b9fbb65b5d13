"""Choosing among learners the obvious way: every part fitted by itself, rows in loops."""

from __future__ import annotations

import math

import numpy as np

from omnitree.growing.node import Node


def trial_errors(learner, folds, rng):
    """Error on each test part: fit on the training part, label its branches, count."""
    node = folds.node
    table = node.sample.table
    errors = []
    for tested, own in zip(folds.tested, rng.spawn(len(folds.tested)), strict=True):
        train: dict[int, float] = {}  # row: weight
        test: dict[int, float] = {}
        for row, weight, held in zip(node.rows, node.weight, tested, strict=True):
            (test if held else train)[int(row)] = weight
        rows, weights = np.array(list(train)), np.array(list(train.values()))
        part = Node(node.sample, node.rules, rows, weights)
        y = node.sample.y
        classes = {int(y[row]) for row in train}
        split = learner.fit(part, own) if len(classes) > 1 else None

        def branch(row, split=split):
            if split is None:
                return None
            to = int(split.route(table, np.array([row]))[0])
            to = split.missing if to < 0 else to
            return None if to < 0 else to

        counts: dict = {}
        for row, weight in train.items():
            for key in {branch(row), None}:
                counts.setdefault(key, {}).setdefault(int(y[row]), 0.0)
                counts[key][int(y[row])] += weight
        wrong = 0.0
        for row, weight in test.items():
            here = counts.get(branch(row), counts[None])
            top = max(here.values())
            label = min(k for k, v in here.items() if v == top)
            wrong += weight * (label != y[row])
        errors.append(wrong / max(sum(test.values()), 1e-300))
    return np.array(errors)


def criterion(name, logarithm, branches, d):
    """AIC or BIC of a table of counts, a list of branches."""
    L, N = 0.0, 0.0
    for branch in branches:
        n = sum(branch)
        N += n
        for count in branch:
            if count:
                log = math.log2 if logarithm == "binary" else math.log
                L += count * log(count / n)
    return 2 * (-L + d) if name == "aic" else -L + d / 2 * math.log(max(N, 1))


def prune(tree, cost, order):
    """Nodes to cut: `cost(tree, top, cuts)` of a subtree against that of a leaf there."""
    cuts: set[int] = set()
    for node in reversed(range(tree.n_nodes)):
        if tree.kind[node] == 0:
            continue
        as_leaf = cost(tree, node, {node})
        as_tree = cost(tree, node, cuts if order == "bottom_up" else set())
        if as_leaf <= as_tree + 1e-9:
            cuts.add(node)
    return cuts
