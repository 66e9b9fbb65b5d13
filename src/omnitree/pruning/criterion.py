"""Pruning by an information criterion: the one that grew the tree also cuts it.

The criterion of a subtree, likelihood of its leaves against the parameters of its tests,
is compared with that of a leaf in its place (Yildiz & Alpaydin 2007, section 4.1). No rows
are held out. Used by the presets omni-aic and omni-bic.
"""

from __future__ import annotations

import numpy as np

from omnitree.choice import CHOICES, InformationCriterion
from omnitree.choice.base import log_likelihood
from omnitree.parts import number, unknown
from omnitree.pruning.base import Evidence, Pruning, bottom_up, children
from omnitree.tree import LEAF, Tree

ORDERS = ["bottom_up", "top_down"]
ROWS = ["node", "subtree"]


class Criterion(Pruning):
    """Cut a subtree if the criterion is no worse for a leaf.

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

    def __init__(self, choice="aic", order="bottom_up", rows="node", leaf=0.0):
        self.choice = choice
        self.order = order
        self.rows = rows
        self.leaf = leaf

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        criterion = CHOICES.resolve(self.choice)
        if not isinstance(criterion, InformationCriterion):
            raise ValueError(
                f"pruning by a criterion needs AIC or BIC, not {criterion!r}"
            )
        if self.order not in ORDERS:
            raise ValueError(unknown("order", self.order, ORDERS))
        if self.rows not in ROWS:
            raise ValueError(unknown("rows", self.rows, ROWS))
        n = tree.value.sum(axis=1)
        likelihood = log_likelihood(tree.value[:, None])
        parameters = np.full(tree.n_nodes, number("leaf", self.leaf))
        as_leaf = criterion.value(likelihood, parameters, n)
        inner = np.flatnonzero(tree.kind != LEAF)
        parameters[inner] = [complexity(tree, node) for node in inner]
        # What lies below a node counts together with the node's own test.
        price = criterion.value(np.zeros_like(n), parameters, n)
        cut = np.zeros(tree.n_nodes, dtype=bool)
        for node in bottom_up(tree):
            part = children(tree, node)
            kept = [*range(part.start, part.stop)]
            likelihood_below = likelihood[kept].sum()
            parameters[node] += parameters[kept].sum()
            price[node] += price[kept].sum()
            below = criterion.value(likelihood_below, parameters[node], n[node])
            if self.rows == "node":
                below = criterion.value(likelihood_below, 0.0, n[node]) + price[node]
            cut[node] = as_leaf[node] <= below + 1e-9
            if cut[node] and self.order == "bottom_up":
                parameters[node] = self.leaf
                price[node] = criterion.value(0.0, float(self.leaf), n[node])
            else:
                likelihood[node] = likelihood_below
        return cut


def complexity(tree: Tree, node: int) -> int:
    """Free parameters of a test, as its choice counted them if there was one."""
    split = tree.split(node)
    chosen = [c.parameters for c in split.candidates if c.chosen]
    return chosen[0] if chosen else split.n_params
