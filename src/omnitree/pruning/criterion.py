"""Pruning by an information criterion: the one that grew the tree also cuts it.

The criterion of a subtree, likelihood of its leaves against the parameters of its tests,
is compared with that of a leaf in its place (Yildiz & Alpaydin, ECML 2005, section 4.1). No
rows are held out. Used by the presets omni-aic and omni-bic.
"""

from __future__ import annotations

import numpy as np

from omnitree.growing.part import number, one_of
from omnitree.parts.choice import CHOICES, InformationCriterion
from omnitree.parts.choice.base import log_likelihood
from omnitree.pruning.base import Evidence, Pruning, bottom_up, children
from omnitree.tree.tree import LEAF, Tree


class CriterionPruning(Pruning):
    """Cut a subtree if an information criterion is no worse for a leaf.

    Parameters
    ----------
    choice : {"aic", "bic"} or InformationCriterion, default="aic"
    order : {"bottom_up", "top_down"}, default="bottom_up"
        "bottom_up" compares with the subtree as pruned so far, "top_down" (the authors'
        program) with the whole subtree.
    rows : {"node", "subtree"}, default="node"
        What N is in BIC's price of a test's parameters: the rows of its own node, as when
        the test was chosen, or those of the subtree's root.
    leaf : float, default=0
        Parameters that a leaf counts as.
    """

    choice: str = "aic"
    order: str = "bottom_up"
    rows: str = "node"
    leaf: float = 0.0

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        criterion = CHOICES.resolve(self.choice)
        if not isinstance(criterion, InformationCriterion):
            raise ValueError(
                f"pruning by a criterion needs AIC or BIC, not {criterion!r}"
            )
        one_of("order", self.order, ("bottom_up", "top_down"))
        one_of("rows", self.rows, ("node", "subtree"))
        n = tree.value.sum(axis=1)
        likelihood = log_likelihood(tree.value[:, None])
        leaf = np.asarray(number("leaf", self.leaf))
        parameters = np.full(tree.n_nodes, leaf)
        as_leaf = criterion.value(likelihood, parameters, n)
        inner = np.flatnonzero(tree.kind != LEAF)
        parameters[inner] = [tree.complexity(int(node)) for node in inner]
        price = criterion.value(np.zeros_like(n), parameters, n)
        cut = np.zeros(tree.n_nodes, dtype=bool)
        # From the leaves up, the arrays come to hold the sums over subtrees.
        for node in bottom_up(tree):
            part = children(tree, node)
            sums = likelihood[part].sum(), parameters[part].sum(), price[part].sum()
            below, free, paid = sums + np.array([0.0, parameters[node], price[node]])
            as_tree = criterion.value(below, free, n[node])
            if self.rows == "node":
                as_tree += paid - criterion.value(np.zeros(()), free, n[node])
            cut[node] = as_leaf[node] <= as_tree + 1e-9
            if not cut[node] or self.order == "top_down":
                likelihood[node], parameters[node], price[node] = below, free, paid
            else:
                parameters[node] = leaf
                price[node] = criterion.value(np.zeros(()), leaf, n[node])
        return cut
