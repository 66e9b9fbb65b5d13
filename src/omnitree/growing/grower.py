"""The grower: one loop for all learners, with a queue instead of recursion.

Take a node, ask the learner, route the rows, append the children. Rows that neither test
nor surrogates can place go to the test's `missing` branch or, divided, to all branches
with a part of their weight (fractional instances: they live here and in the router, see
`missing.py`). With `max_leaves` the queue is a heap and the node whose test promises most
is split first. Where compiled code can grow the same tree whole (`dispatch.py` says where),
it does, no deeper than such a tree can be; best-first growth is then a choice among the
splits already found, with the same result, since a node's test does not depend on the order
of growth.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import Any

import numpy as np

from omnitree.data.switches import disabled
from omnitree.data.table import Table
from omnitree.growing.axis_trees import Tick
from omnitree.growing.clock import TimeUp, cells_of_test, until
from omnitree.growing.dispatch import Grower, Search, growers_for
from omnitree.growing.learner import SplitLearner
from omnitree.growing.missing import Mean, fill_values
from omnitree.growing.node import Node, make_children
from omnitree.growing.progress import progress
from omnitree.tree.splits import Split
from omnitree.tree.tree import LEAF, Tree, tree_from_nodes


def grow(root: Node, learner: SplitLearner, verbose: int = 0) -> Tree:
    """Grow a tree below `root`, by its rules."""
    if root.rules.missing.fills:
        return _grow_filled(root, learner, verbose)
    limits = root.rules.limits
    n_columns = root.sample.table.values.shape[1]
    if limits.is_late(len(root.rows) * n_columns):
        return grow_by_node(root, learner, lambda fraction: True)
    with progress("growing", verbose) as show:

        def tick(fraction: float) -> bool:
            show(fraction)
            return limits.expired()

        search = learner.search(root)
        grower = next(growers_for(search, root), None)
        if search is None or grower is None or disabled("whole_trees"):
            return grow_by_node(root, learner, tick)
        watched = verbose or limits.deadline is not None
        return grow_whole(grower, search, root, tick if watched else None)


def grow_whole(
    grower: Grower, search: Search, root: Node, tick: Tick | None = None
) -> Tree:
    """Grow a tree in one call of compiled code."""
    tree = grower.grow(search, root, tick)
    max_leaves = root.rules.limits.max_leaves
    if max_leaves is None:
        return tree
    return tree.collapse(beyond_best_leaves(tree, max_leaves))


def _grow_filled(root: Node, learner: SplitLearner, verbose: int) -> Tree:
    """Grow on filled rows; missing values then count as what fills them in every test."""
    sample = root.sample
    fill = fill_values(sample.table, sample.weight)
    values, schema = sample.table.values, sample.table.schema
    filled = Table(np.where(np.isnan(values), fill, values), schema)
    sample, rules = replace(sample, table=filled), replace(root.rules, missing=Mean())
    tree = grow(replace(root, sample=sample, rules=rules), learner, verbose)
    row = Table(fill[None], schema)
    branch, numbers, own = tree.missing.copy(), tree.weight.copy(), row.encoded.cells[0]
    for node in np.flatnonzero(tree.kind != LEAF).tolist():
        split: Any = tree.split(node)
        (to,) = split.route(row, np.zeros(1, dtype=np.int64))
        branch[node] = to if to >= 0 else branch[node]
        if hasattr(split, "fill"):  # of a feature without any value, its own
            pairs = zip(own[list(split.columns)].tolist(), split.fill, strict=True)
            split = replace(
                split, fill=tuple(f if np.isnan(c) else c for c, f in pairs)
            )
            start, end = tree.weight_ptr[tree.test_start[node] :][:2]
            numbers[start:end] = split.pack()[2]
    return tree.replace(missing=branch, weight=numbers)


def grow_by_node(root: Node, learner: SplitLearner, tick: Tick) -> Tree:
    """Grow a tree with the tests that `learner.fit` finds, node by node."""
    limits, n_columns = root.rules.limits, root.sample.table.values.shape[1]
    records = [root.record(-1)]
    queue: list[tuple[float, int, Node, Split]] = []
    finished = later = 0.0

    def consider(node: Node, at: int) -> None:
        """Queue a node with its test, or leave it a leaf."""
        nonlocal finished, later
        split = None
        if not (
            node.stays_leaf()
            or tick(finished / root.total)
            or limits.is_late(len(node.rows) * n_columns + later)
        ):
            rng: Any = None
            if learner.draws:
                # One stream a node, so that the order of growth does not matter. The depth
                # is in the key since a seed does not change by a 0 at its end.
                rng = np.random.default_rng([root.rules.seed, node.depth, *node.path])
            try:
                with until(limits.deadline):
                    split = learner.fit(node, rng)
                if split is not None and limits.deadline is not None:
                    counts = split.n_children * len(node.statistics)
                    own = cells_of_test(len(node.rows), split.n_params) + counts
                    limits.check_time_after(later + own)
                    later += own
            except TimeUp:
                split = None
            node.forget()
        # Numbers near the largest that there are can overflow in a weight or a cut.
        if split is None or not split.is_finite:
            finished += node.total
            return
        best_first = limits.max_leaves is not None
        priority = -split.merit * node.total if best_first else at
        heapq.heappush(queue, (priority, at, node, split))

    consider(root, 0)
    n_leaves = 1
    while queue:
        _, at, node, split = heapq.heappop(queue)
        children = make_children(node, split)
        if sum(child.total > 0 for child in children) < 2:
            # Rounding can put a learner's cut beyond the last row: no test after all.
            finished += node.total
            continue
        n_leaves += split.n_children - 1
        if limits.max_leaves is not None and n_leaves > limits.max_leaves:
            break
        first = len(records)
        if split.constructed or split.direction:  # which only growing needs
            split = replace(split, constructed=(), direction=0)
        records[at].split = split
        records[at].children = range(first, first + split.n_children)
        records.extend(child.record(at) for child in children)
        for b, child in enumerate(children):
            consider(child, first + b)
    return tree_from_nodes(root.sample.table.schema, root.target.labels, records)


def beyond_best_leaves(tree: Tree, max_leaves: int) -> np.ndarray:
    """Nodes to cut so that the best-first tree with `max_leaves` leaves is left."""
    cut = np.ones(tree.n_nodes, dtype=bool)
    promise = -tree.merit * tree.value.sum(axis=1)
    queue = [(promise[0], 0)]
    n_leaves = 1
    while queue:
        _, node = heapq.heappop(queue)
        if tree.kind[node] == LEAF:
            continue
        n_leaves += int(tree.n_children[node]) - 1
        if n_leaves > max_leaves:
            break
        cut[node] = False
        first = tree.first_child[node]
        for child in range(first, first + tree.n_children[node]):
            heapq.heappush(queue, (promise[child], child))
    return cut
