"""Whole trees of Fisher's discriminants, grown in one call of compiled code.

`_core/fisher_tree` does for a table without gaps what `Linear` does node by node, with
groups by exchange and cuts for equal variances; here are the terms, and the tree made of its
arrays. Used by `Linear.grow`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from omnitree._core.linear import fisher_tree as kernel
from omnitree.growing.learner import Tick
from omnitree.growing.node import Node
from omnitree.parts.coefficients.threads import one_thread
from omnitree.parts.direction import Fisher
from omnitree.parts.direction.fisher import PCA
from omnitree.parts.grouping import Exchange, Grouping
from omnitree.parts.merit import Merit
from omnitree.parts.merit.base import CUSTOM
from omnitree.parts.threshold import EqualVariance, Threshold
from omnitree.tree.leaf_models import ranges, starts
from omnitree.tree.splits import KINDS
from omnitree.tree.tree import LEAF, Tree


def is_known(
    grouping: Grouping, direction: Any, threshold: Threshold, merit: Merit
) -> bool:
    """Whether compiled code knows these parts."""
    return (
        type(grouping) is Exchange
        and type(direction) is Fisher
        and direction.shrinkage is None
        and type(threshold) is EqualVariance
        and not threshold.between
        and merit.code != CUSTOM
    )


def can_grow(
    node: Node, grouping: Grouping, direction: Any, threshold: Threshold, merit: Merit
) -> bool:
    """Whether compiled code knows these parts, and the table suits it."""
    problem = node.problem
    return (
        is_known(grouping, direction, threshold, merit)
        and problem.criterion is None
        and problem.standardised.n_columns > 0
        and not problem.standardised.has_gaps
    )


def grow_fisher(
    node: Node, classes: tuple, direction: Fisher, merit: Merit, tick: Tick | None
) -> Tree:
    """The whole tree of a training table (all its rows, in order)."""
    problem, source = node.problem, node.problem.standardised
    plain = bool((node.weight == 1.0).all())
    with one_thread():
        grown = kernel.grow(
            source.columns,
            source.mean,
            source.std,
            problem.table.values,
            *problem.table.schema.linear_columns(),
            node.y,
            None if plain else node.weight,
            problem.n_classes,
            PCA.index(direction.pca),
            direction.epsilon,
            merit.code,
            problem.limits.min_rows,
            problem.limits.depth_needed,
            tick,
        )
    inner = grown["first_child"] >= 0
    # Tests come in the order of growth, and go into that of the nodes.
    order = np.argsort(grown["tested"])
    packed = {}
    for name in ("index", "weight"):
        pointer = grown[f"{name}_ptr"]
        sizes = np.diff(pointer)[order]
        packed[name] = grown[name][ranges(pointer[:-1][order], sizes)]
        packed[f"{name}_ptr"] = starts(sizes)
    tree = Tree(
        schema=problem.table.schema,
        classes=classes,
        kind=np.where(inner, KINDS.index("linear"), LEAF),
        first_child=grown["first_child"],
        n_children=np.where(inner, 2, 0),
        parent=grown["parent"],
        missing=np.zeros(len(inner)),
        merit=grown["merit"],
        value=grown["value"],
        test_start=starts(inner.astype(np.int64)),
        test_kind=np.full(len(order), KINDS.index("linear")),
        **packed,
    )
    return tree.collapse(np.zeros(tree.n_nodes, dtype=bool))  # breadth first
