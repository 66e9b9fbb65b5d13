"""The nodes of a tree that rivals challenge, one by one. Used by `contest`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from omnitree.growing.node import Node, Rules
from omnitree.refinement.base import NodeRows
from omnitree.refinement.challenge import Challenge
from omnitree.refinement.sizing import Grown
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.tree import LEAF, Tree


class Arena:
    """The nodes of a tree that was cut back, with the rows that rivals learn from there."""

    def __init__(self, tree: Tree, grown: Grown, rules: Rules):
        self.tree, self.rules = tree, rules
        self.learning = NodeRows(tree, grown.train)
        self.judging = self.learning
        if grown.has_prune_set:
            self.judging = NodeRows(tree, grown.tested)

    def challenge(
        self, at: int, losses: HeldOut, loss: str, min_rows: int, max_rows: int
    ) -> Challenge | None:
        """The challenge at a node; None where there are few rows or nothing to win."""
        tree, limits = self.tree, self.rules.limits
        rows, part = self.judging.at(at)
        is_tested = losses.weight[rows] > 0
        rows, part = rows[is_tested], part[is_tested]
        if len(rows) < min_rows or not getattr(losses, loss)[rows].any():
            return None
        if tree.depths[at] == limits.max_depth or limits.expired():
            return None
        train, prune_set = self.learning.sample, None
        own_rows, own_part = rows, part
        if self.judging is not self.learning:
            prune_set = self.judging.sample
            own_rows, own_part = self.learning.at(at)
        if len(own_rows) < min_rows:
            return None
        if len(own_rows) > max_rows:
            # Rows are sampled one by one: of a large group some are enough.
            alone = replace(train, groups=None).take(own_rows)
            some = alone.folds(len(own_rows) / max_rows, self.rules.seed) == 0
            own_rows, own_part = own_rows[some], own_part[some]
            if prune_set is None:
                rows, part = own_rows, own_part
        return Challenge(
            Node(train, self.rules, own_rows, train.weight[own_rows] * own_part),
            prune_set,
            rows,
            part,
            losses.take(rows, part),
            subtree(tree, at).n_parameters,
            "leaf" if tree.kind[at] == LEAF else tree.split(at).kind,
            int(tree.depths[at]),
        )


def subtree(tree: Tree, at: int) -> Tree:
    """The part of a tree below a node."""
    if at == 0:
        return tree
    raised = np.arange(tree.n_nodes)
    raised[0] = at
    return tree.collapse(raised)
