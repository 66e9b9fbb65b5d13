"""Error-based pruning (C4.5): an upper confidence limit of the training errors."""

from __future__ import annotations

import numpy as np

from omnitree._core.univariate import estimate
from omnitree.growing.missing import Fractional
from omnitree.growing.node import Node, Rules, make_children
from omnitree.growing.sample import Sample
from omnitree.pruning.base import (
    Evidence,
    Pruning,
    bottom_up,
    children,
    plain_errors,
)
from omnitree.tree.tree import LEAF, Tree


class ErrorBased(Pruning):
    """C4.5 release 8's pruning, with subtree raising.

    Where nodes have models, their errors count, and no subtree is raised: it would answer
    for rows that its models never saw.

    Parameters
    ----------
    confidence : float, default=0.25
        C4.5's CF; smaller prunes more.
    raising : bool, default=True
        Whether a node may be replaced by its largest branch.
    """

    def __init__(self, confidence: float = 0.25, raising: bool = True):
        self.confidence = confidence
        self.raising = raising

    @property
    def only_cuts(self) -> bool:
        return not self.raising

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must lie in (0, 1), not {self.confidence}")
        rows = evidence.train
        if tree.models is not None:
            return self._weigh_models(tree, evidence)
        return estimate.prune_error_based(
            tree.routing_arrays,
            rows.table.values,
            rows.y,
            rows.weight,
            len(tree.classes),
            self.confidence,
            self.raising,
        )

    def _weigh_models(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        """Nodes whose models are estimated to err no more often than their subtrees."""
        n, wrong = tree.value.sum(axis=1), plain_errors(tree, evidence.train)
        as_leaf = [
            e + estimate.add_errors(w, e, self.confidence)
            for w, e in zip(n.tolist(), wrong.tolist(), strict=True)
        ]
        errors, cut = np.array(as_leaf), np.zeros(tree.n_nodes, dtype=bool)
        for node in bottom_up(tree):
            below = errors[children(tree, node)].sum()
            cut[node] = as_leaf[node] <= below + 0.1
            errors[node] = as_leaf[node] if cut[node] else below
        return cut

    def prune(self, tree: Tree, evidence: Evidence) -> Tree:
        rows = evidence.train
        pruned = super().prune(tree, evidence)
        # A raised subtree has new rows; count them.
        raised = self.raising and tree.models is None
        return _count(pruned, rows) if raised else pruned


def _count(tree: Tree, rows: Sample) -> Tree:
    """The tree with the counts of `rows`, divided at a gap as these rows themselves are.

    `Tree.recount` divides them as the tree's own counts say, which are those from before
    the raising.
    """
    if not rows.table.has_gaps:
        return tree.recount(rows.table, rows.y, rows.weight)
    waiting = {0: Node.root(rows, Rules(Fractional()))}
    value = np.zeros_like(tree.value)
    for at in range(tree.n_nodes):  # parents come before children
        node = waiting.pop(at)
        value[at] = node.statistics
        if tree.kind[at] != LEAF:
            parts = make_children(node, tree.split(at))
            waiting.update(enumerate(parts, start=int(tree.first_child[at])))
    return tree.replace(value=value)
