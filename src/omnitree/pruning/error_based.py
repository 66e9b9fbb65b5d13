"""Error-based pruning (C4.5): an upper confidence limit of the training errors."""

from __future__ import annotations

import numpy as np

from omnitree._core.univariate import estimate
from omnitree.pruning.base import Evidence, Pruning, bottom_up, children, plain_errors
from omnitree.tree.tree import Tree


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

    confidence: float = 0.25
    raising: bool = True

    @property
    def only_cuts(self) -> bool:
        return not self.raising

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must lie in (0, 1), not {self.confidence}")
        rows = evidence.train
        if tree.models is not None:
            return self._weigh_models(tree, evidence)
        to = estimate.prune_error_based(
            tree.routing_arrays,
            rows.table.values,
            rows.y,
            rows.weight,
            len(tree.classes),
            self.confidence,
            self.raising,
        )
        return to if self.raising else to < 0

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
