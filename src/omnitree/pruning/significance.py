"""Pruning by significance (Liu & White 1994): undo splits that chance could have made."""

from __future__ import annotations

import numpy as np
from scipy import special

from omnitree.parts.merit import ChiSquare
from omnitree.pruning.base import Evidence, Pruning, bottom_up, children
from omnitree.tree.tree import LEAF, Tree


class Significance(Pruning):
    """Undo splits from the bottom up until one is significant by a chi-square test.

    Parameters
    ----------
    level : float, default=0.1
        A split whose chi-square probability is below this is kept, and all above it.
    """

    level: float = 0.1

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        cut = np.zeros(tree.n_nodes, dtype=bool)
        for node in bottom_up(tree):
            part = children(tree, node)
            if ((tree.kind[part] == LEAF) | cut[part]).all():
                cut[node] = chi_square_probability(tree.value[part]) >= self.level
        return cut


def chi_square_probability(counts: np.ndarray) -> float:
    """Chance of a chi-square at least that of `counts` if branch and class had no relation.

    Examples
    --------
    >>> round(chi_square_probability(np.array([[8, 2], [3, 7]])), 4)
    0.0246
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    free = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    if free == 0:
        return 1.0
    return float(special.chdtrc(free, float(ChiSquare()(counts))))
