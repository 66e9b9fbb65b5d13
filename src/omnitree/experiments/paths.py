"""Leave-one-out by dynamic path generation (White 1987; Liu & White 1994, 2.4).

To classify a row by a tree of all other rows, only the path that the row takes is needed.
It is grown node by node with the learner of any estimator, then pruned from the bottom
until a split is significant (pruning "significance", at its level), or not at all. Unlike
the pruning of a whole tree, what happens beside the path does not matter, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from omnitree.estimators import TreeClassifier
from omnitree.grow import make_children
from omnitree.learners.base import SplitLearner
from omnitree.node import Node, Problem
from omnitree.pruning import PRUNINGS, Significance
from omnitree.pruning.significance import chi_square_probability
from omnitree.splits import AxisSplit
from omnitree.stopping import Limits
from omnitree.table import Table, learn_table


@dataclass(frozen=True)
class Path:
    """The way of one row through a tree that it was not part of.

    Attributes
    ----------
    label : int
        Code of the class where the path ends.
    features : tuple of int
        Feature tested at each step, from the root; -1 for tests of several features.
    """

    label: int
    features: tuple[int, ...]


def leave_one_out(
    estimator: TreeClassifier, X: pd.DataFrame, y: np.ndarray, seed: int
) -> list[Path]:
    """The path of every row through the tree of all others, pruned."""
    learner, stopping, pruning, policy = estimator._resolved_parts()
    if not (pruning is None or isinstance(pruning, Significance)):
        name = next(n for n, part in PRUNINGS.items() if type(pruning) is part)
        raise ValueError(
            f"a path cannot be pruned by {name!r}, which needs the whole tree: the "
            "protocol loo-path takes presets with the pruning 'significance' or none"
        )
    if getattr(learner, "collapse", False):
        raise ValueError(
            "a path cannot be collapsed as C4.5 does, which needs the whole tree: the "
            "protocol loo-path takes learners with collapse=False"
        )
    level = None if pruning is None else pruning.level
    table = learn_table(X)
    _, codes = np.unique(y, return_inverse=True)
    n = len(y)
    limits = Limits.of(
        stopping,
        float(n - 1),
        estimator.max_depth,
        estimator.max_leaves,
        estimator.max_seconds,
    )
    problem = Problem(
        table, codes.astype(np.int32), np.ones(n), codes.max() + 1, policy, limits, seed
    )
    rows, weight = np.arange(n), np.ones(n - 1)
    return [
        prune(*grow(Node(problem, np.delete(rows, i), weight), learner, i), level)
        for i in range(n)
    ]


def grow(
    root: Node, learner: SplitLearner, row: int
) -> tuple[list[Any], list[np.ndarray], np.ndarray]:
    """Tests on the row's path, class counts of the branches of each, and at its end."""
    problem = root.problem
    one = Table(problem.table.values[[row]], problem.table.schema)
    node, splits, counts = root, [], []
    while not node.stays_leaf():
        # The depth is in the key because NumPy takes [5, 3] and [5, 3, 0] as one seed.
        rng = np.random.default_rng([problem.seed, row, node.depth, *node.path])
        split = learner.fit(node, rng)
        if split is None:
            break
        children = make_children(node, split)
        if sum(child.total > 0 for child in children) < 2:
            break
        branch = int(split.route(one, np.array([0]))[0])
        if (
            branch < 0
        ):  # a gap: the branch of gaps, or with divided rows the largest one
            largest = int(np.argmax([child.total for child in children]))
            branch = split.missing if split.missing >= 0 else largest
        if children[branch].total == 0:
            break
        splits.append(split)
        counts.append(np.stack([child.counts for child in children]))
        node = children[branch]
    return splits, counts, node.counts


def prune(
    splits: list[Any], counts: list[np.ndarray], end: np.ndarray, level: float | None
) -> Path:
    """The path up to and with its last significant test."""
    length = len(splits)
    if level is not None:
        while length and chi_square_probability(counts[length - 1]) >= level:
            length -= 1
    here = end if length == len(splits) else counts[length].sum(axis=0)
    features = [s.feature if isinstance(s, AxisSplit) else -1 for s in splits[:length]]
    return Path(int(here.argmax()), tuple(features))
