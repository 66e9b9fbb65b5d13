"""How often a tree is right in each of its nodes, judged by held-out rows, with intervals.

Every training row was answered by trees and tests that did not see it. Of the rows that
come to a node of the final tree, the share whose held-out answer was right says how far the
node can be trusted; it has Wilson's 95 % interval, for as many rows as weights and groups
are worth (Kish). In k-fold cross-validation fits share training rows, so rows count for less
(Nadeau & Bengio 2003), as in the lab's estimates. Used by the refinement `contest`.
"""

from __future__ import annotations

import numpy as np

from omnitree.growing.sample import Sample
from omnitree.resampling.held_out import (
    HeldOut,
    by_group,
    effective_rows,
    share_interval,
)
from omnitree.tree.tree import Tree


def with_reliability(
    tree: Tree, tested: Sample, losses: HeldOut, n_folds: int | None
) -> Tree:
    """The tree with what held-out rows say of its nodes.

    `losses` are those of the rows `tested`; `n_folds` is None if one fit answered all.
    """
    start, row, part = tree.passing(tested.table)
    inflation = 1.0 if n_folds is None else 1 + n_folds / (n_folds - 1)
    found = np.full((tree.n_nodes, 3), np.nan)
    for node in range(tree.n_nodes):
        here = slice(start[node], start[node + 1])
        rows, weight = row[here], losses.weight[row[here]] * part[here]
        if not weight.sum() > 0:
            continue
        right = 1 - float(np.average(losses.errors[rows], weights=weight))
        right = min(max(right, 0.0), 1.0)
        groups = None
        if losses.groups is not None:
            groups = np.unique(losses.groups[rows], return_inverse=True)[1]
        units = by_group(weight, groups)
        ends = share_interval(right, effective_rows(units) / inflation)
        found[node] = right, *ends
    return tree.replace(reliability=found)
