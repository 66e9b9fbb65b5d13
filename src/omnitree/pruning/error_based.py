"""Error-based pruning (C4.5): an upper confidence limit of the training errors."""

from __future__ import annotations

import numpy as np

from omnitree._core import estimate
from omnitree.pruning.base import Evidence, Pruning
from omnitree.tree import Tree


class ErrorBased(Pruning):
    """C4.5 release 8's pruning, with subtree raising.

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

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must lie in (0, 1), not {self.confidence}")
        rows = evidence.train
        return estimate.prune_error_based(
            tree.routing_arrays,
            rows.table.values,
            rows.y,
            rows.weight,
            len(tree.classes),
            self.confidence,
            self.raising,
        )

    def prune(self, tree: Tree, evidence: Evidence) -> Tree:
        rows = evidence.train
        pruned = super().prune(tree, evidence)
        # A raised subtree has new rows; count them.
        return pruned.recount(rows.table, rows.y, rows.weight) if self.raising else pruned
