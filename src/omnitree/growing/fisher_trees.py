"""Whole trees of Fisher's discriminants, grown in one call of compiled code.

`_core/fisher_tree` does for a table without missing values what `Linear` does node by node,
with groups by exchange and cuts for equal variances. Used through the table of
`dispatch.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnitree._core.linear import fisher_tree as kernel
from omnitree.growing.axis_trees import Tick
from omnitree.growing.clock import TimeUp, check_time, until
from omnitree.growing.node import Node
from omnitree.growing.stopping import PASSES
from omnitree.growing.threads import one_thread
from omnitree.tree.leaf_models import ranges, starts
from omnitree.tree.splits import KINDS, LinearSplit
from omnitree.tree.tree import LEAF, Tree, tree_from_nodes


@dataclass(frozen=True)
class FisherSearch:
    """Fisher's direction between two groups of classes, cut for equal variances."""

    merit: int  # code of the merit that compares groups
    # 0: principal components where the scatter is singular, 1: always, 2: never.
    pca: int
    epsilon: float  # share of the variance that components keep


def grow_fisher(search: FisherSearch, node: Node, tick: Tick | None) -> Tree:
    """The whole tree of a training table (all its rows, in order).

    A single leaf if there is no time for the first test, which goes over a table of all rows
    and classes.
    """
    sample, standard = node.sample, node.sample.standardised
    limits = node.rules.limits
    try:
        with until(limits.deadline):
            check_time(n_cells=PASSES * len(node.rows) * node.target.n_classes)
    except TimeUp:
        return tree_from_nodes(
            sample.table.schema, node.target.labels, [node.record(-1)]
        )
    plain = bool((node.weight == 1.0).all())
    with one_thread():
        grown = kernel.grow(
            standard.plain,
            standard.scaling.mean,
            standard.scaling.std,
            sample.table.values,
            *sample.table.schema.linear_columns(),
            node.y,
            None if plain else node.weight,
            node.target.n_classes,
            search.pca,
            search.epsilon,
            search.merit,
            limits.min_rows,
            limits.depth_needed,
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
    n_params = np.diff(packed["index_ptr"]) + 1  # weights and threshold
    free = grown["dimensions"][order] + 1
    free_at = np.zeros(len(inner), dtype=np.int32)
    free_at[inner] = np.where(free < n_params, free, 0)
    alone = packed["weight_ptr"][:-1][np.diff(packed["index_ptr"]) == 1]
    for at in alone:  # threshold, weight and fill
        test = LinearSplit.unpack([0], packed["weight"][at : at + 3].tolist())
        own = test.in_own_unit()
        packed["weight"][at : at + 2] = own.threshold, own.weights[0]
    tree = Tree(
        schema=sample.table.schema,
        classes=node.target.labels,
        kind=np.where(inner, KINDS.index("linear"), LEAF),
        first_child=grown["first_child"],
        n_children=np.where(inner, 2, 0),
        parent=grown["parent"],
        missing=np.zeros(len(inner)),
        merit=grown["merit"],
        value=grown["value"],
        free=free_at if free_at.any() else None,
        test_start=starts(inner.astype(np.int64)),
        test_kind=np.full(len(order), KINDS.index("linear")),
        **packed,
    )
    return tree.collapse(np.zeros(tree.n_nodes, dtype=bool))  # breadth first
