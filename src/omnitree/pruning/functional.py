"""Pruning of functional trees: a subtree, a model or a plain leaf, whichever errs least."""

from __future__ import annotations

import numpy as np

from omnitree._core.univariate import estimate
from omnitree.pruning.base import (
    Evidence,
    Pruning,
    bottom_up,
    children,
    errors_as_leaves,
)
from omnitree.tree.tree import LEAF, Tree


class FunctionalPruning(Pruning):
    """Keep the subtree, the node's model or its majority class, by C4.5's error estimate.

    From the bottom up, with the training errors of each; equal estimates prefer the
    majority class to the model and both to the subtree. Models stay only in leaves that
    were chosen so; nodes that never were split answer with their class shares.

    Parameters
    ----------
    confidence : float, default=0.1
        C4.5's CF; smaller prunes more.
    """

    confidence: float = 0.1

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must lie in (0, 1), not {self.confidence}")
        n = tree.value.sum(axis=1)
        plain = self._estimates(n, n - tree.value.max(axis=1))
        model = np.full(tree.n_nodes, np.inf)
        if tree.models is not None:
            wrong = errors_as_leaves(tree, evidence.train)
            model = np.where(tree.models.there, self._estimates(n, wrong), np.inf)
        errors = np.where(tree.kind == LEAF, plain, 0.0)
        # As `Tree.collapse` reads it: -1 answers by its model, -2 by its class shares.
        cut = np.where(tree.kind == LEAF, -2, np.arange(tree.n_nodes))
        for node in bottom_up(tree):
            below = errors[children(tree, node)].sum()
            errors[node] = min(plain[node], model[node], below)
            if min(plain[node], model[node]) <= below + 1e-9:
                cut[node] = -1 if model[node] < plain[node] - 1e-9 else -2
        return cut

    def _estimates(self, n: np.ndarray, wrong: np.ndarray) -> np.ndarray:
        pairs = zip(n.tolist(), wrong.tolist(), strict=True)
        return np.array(
            [
                e + estimate.add_errors(w, e, self.confidence) if w else 0
                for w, e in pairs
            ]
        )
