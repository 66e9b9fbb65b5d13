"""Whole univariate trees, grown in one call of compiled code.

`_core/presort` sorts complete numeric columns once and is O(d n) a level; `_core/general`
takes any table of classes, and any merit. Both break ties alike: the lowest feature index,
then the lowest cut. Used through the table of `dispatch.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree._core.univariate import general, presort
from omnitree.growing.missing import Fractional, Surrogate
from omnitree.growing.node import Node
from omnitree.tree.splits import KINDS
from omnitree.tree.tree import LEAF, Tree

Tick = Callable[[float], bool]  # told the fraction done; true ends the growth

CATEGORIES = ("multiway", "subset", "one_rest", "groups")  # as in general_types.hpp
GAIN_RATIO = 2  # the code of this merit in _core/common/merit.hpp
# Codes of the merits that presort.hpp knows (Gini, gain, gain ratio, entropy): its own
# code, and the factor from its scale to the merit's.
PRESORTED = {0: (0, 1.0), 1: (1, 1.0), GAIN_RATIO: (1, 1.0), 3: (1, float(np.log(2)))}


@dataclass(frozen=True)
class AxisSearch:
    """All tests on one feature, tried at every node."""

    merit: Any = None  # of class counts; None for a numeric target
    categories: str = "subset"  # one of CATEGORIES
    # Whether the feature is drawn and only its cut is searched.
    random_feature: bool = False
    min_branch: float = 1.0
    # C4.5's rules; see `omnitree.learners.Univariate`.
    release8: bool = False
    value_thresholds: bool = False
    collapse: bool = False

    def max_depth(self, node: Node) -> int:
        """How deep to grow; whether a subtree is useless shows only when it is whole."""
        limits = node.rules.limits
        return limits.max_depth if self.collapse else limits.depth_needed

    def finished(self, tree: Tree) -> Tree:
        """A grown tree, collapsed where that is asked for."""
        return tree.collapse(useless(tree)) if self.collapse else tree


def grow_presorted_classes(search: AxisSearch, node: Node, tick: Tick | None) -> Tree:
    """The tree of a table of complete numbers (all its rows, in order)."""
    code, factor = PRESORTED[search.merit.code]
    table = node.sample.table
    grown = presort.grow_numeric(
        table.values,
        node.y,
        _weight(node),
        node.target.n_classes,
        code,
        node.rules.limits.min_rows,
        search.min_branch,
        search.max_depth(node),
        tick,
        by_ratio=search.merit.code == GAIN_RATIO,
        release8=search.release8,
        value_thresholds=search.value_thresholds,
        sorted_as=table.sorted_as,
    )
    return search.finished(_axis_tree(node, grown, factor))


def grow_presorted_numbers(search: AxisSearch, node: Node, tick: Tick | None) -> Tree:
    """The same for a numeric target under the squared error."""
    mean = node.answer
    grown = presort.grow_targets(
        node.sample.table.values,
        node.y - mean,
        _weight(node),
        node.rules.limits.min_rows,
        search.min_branch,
        search.max_depth(node),
        tick,
    )
    stats = grown["value"]
    weight, sums, squares = stats[:, 0], stats[:, 1], stats[:, 2]
    grown["value"] = weight[:, None]
    tree = _axis_tree(node, grown, 1.0)
    loss = np.maximum(squares - sums**2 / weight, 0.0)
    loss[stats[:, 3] == stats[:, 4]] = 0.0
    return tree.replace(constant=sums / weight + mean, loss=loss)


def grow_general(search: AxisSearch, node: Node, tick: Tick | None) -> Tree:
    """The tree of any table with classes (all its rows, in order)."""
    rules, table, merit = node.rules, node.sample.table, search.merit
    arrays = general.grow_general(
        table.values,
        node.y,
        node.weight,
        table.schema.n_categories,
        node.target.n_classes,
        {
            "merit": merit.code,
            "missing": rules.missing.code,
            "categories": CATEGORIES.index(search.categories),
            "random_attribute": search.random_feature,
            "release8": search.release8,
            "threshold_is_value": search.value_thresholds,
            "min_rows": rules.limits.min_rows,
            "min_branch": search.min_branch,
            "max_depth": search.max_depth(node),
            "max_surrogates": rules.missing.max_surrogates if table.has_missing else 0,
            "seed": rules.seed,
        },
        merit.score,
        tick,
    )
    return search.finished(
        Tree(schema=table.schema, classes=node.target.labels, **arrays)
    )


def _weight(node: Node) -> np.ndarray | None:
    """Weights of the rows; None where all count one."""
    return None if (node.weight == 1.0).all() else node.weight


def _axis_tree(node: Node, grown: dict, factor: float) -> Tree:
    """A tree from the plain arrays of `_core/presort`."""
    feature = grown["feature"]
    inner = feature >= 0
    n = int(inner.sum())
    index = np.zeros(2 * n, dtype=np.int32)
    index[::2] = feature[inner]
    tree = Tree(
        schema=node.sample.table.schema,
        classes=node.target.labels,
        kind=np.where(inner, KINDS.index("axis"), LEAF),
        first_child=grown["first_child"],
        n_children=np.where(inner, 2, 0),
        parent=grown["parent"],
        missing=np.where(inner, -1, 0),
        merit=grown["merit"] * factor,
        value=grown["value"],
        test_start=np.concatenate([[0], np.cumsum(inner)]),
        test_kind=np.full(n, KINDS.index("axis")),
        index_ptr=2 * np.arange(n + 1),
        weight_ptr=np.arange(n + 1),
        index=index,
        weight=grown["threshold"][inner],
    )
    policy = node.rules.missing
    if isinstance(policy, Fractional) or not n:
        return tree
    branch = np.zeros(tree.n_nodes, dtype=np.int32)
    # Without missing values there are no surrogates: the larger branch.
    if isinstance(policy, Surrogate):
        weight = tree.value.sum(axis=1)
        left = tree.first_child[inner]
        branch[inner] = weight[left + 1] > weight[left]
    else:
        mean = tree.axis_means(node.sample.table, node.weight)
        branch[inner] = mean[inner] > grown["threshold"][inner]
    return tree.replace(missing=branch)


def useless(tree: Tree) -> np.ndarray:
    """Nodes whose subtree makes no fewer training errors than a leaf, as C4.5 has it."""
    as_leaf = tree.value.sum(axis=1) - tree.value.max(axis=1)
    errors = as_leaf.copy()
    below = np.zeros(tree.n_nodes)
    cut = np.zeros(tree.n_nodes, dtype=bool)
    for node in range(tree.n_nodes - 1, -1, -1):  # children before parents
        if tree.kind[node] != LEAF:
            errors[node] = below[node]
            if below[node] >= as_leaf[node] - 1e-3:
                cut[node] = True
                errors[node] = as_leaf[node]
        if node:
            below[tree.parent[node]] += errors[node]
    return cut
