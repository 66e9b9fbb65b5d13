"""Pruning by AIC or BIC along the sequence of weakest links.

Weakest links, as in cost-complexity pruning, give a sequence of ever smaller trees; of these
the one with the least criterion is taken. The likelihood is that of the whole tree's loss,
with one scale for all leaves, or of the classes in its leaves; parameters are those of all
tests and leaves. A tree with more than one parameter for two rows fits anything and is not
considered. No rows are held out.
"""

from __future__ import annotations

import numpy as np

from omnitree.parts.choice import CHOICES, InformationCriterion
from omnitree.parts.choice.base import log_likelihood
from omnitree.pruning.base import Evidence, Pruning, children, subtree_sums
from omnitree.pruning.cost_complexity import leaf_sizes, weakest_links
from omnitree.tree.tree import LEAF, Tree


class InformationPruning(Pruning):
    """The tree of the weakest-link sequence with the lowest AIC or BIC.

    Parameters
    ----------
    choice : {"aic", "bic"} or InformationCriterion, default="bic"
    """

    choice: str = "bic"

    tasks = ("classification", "regression")

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        choice = CHOICES.resolve(self.choice)
        if not isinstance(choice, InformationCriterion):
            raise ValueError(f"information pruning needs AIC or BIC, not {choice!r}")
        cost, target = tree.loss, evidence.train.target
        if cost is None:
            if tree.models is not None:
                raise ValueError(
                    "information pruning reads the classes of leaves, not their models: "
                    "choose another pruning, or leaves='majority'"
                )
            cost = -log_likelihood(tree.value[:, None])
        total = float(tree.value[0].sum())
        links, size = weakest_links(tree, cost), leaf_sizes(tree)
        inner = np.flatnonzero(tree.kind != LEAF)
        own = np.zeros(tree.n_nodes)
        own[inner] = [tree.split(int(node)).complexity for node in inner]
        loss, parameters = subtree_sums(tree, cost), _with_tests(tree, size, own)
        # Parents after their children among equal links, which they then override.
        order = inner[np.lexsort((-inner, links[inner]))]
        best, chosen = np.inf, 0.0
        at = 0
        for alpha in np.unique(np.concatenate([[0.0], links[inner]])):
            while at < len(order) and links[order[at]] <= alpha * (1 + 1e-12):
                node = int(order[at])
                fewer, more = (parameters[node] - size[node], cost[node] - loss[node])
                while node >= 0:
                    parameters[node] -= fewer
                    loss[node] += more
                    node = int(tree.parent[node])
                at += 1
            likelihood = target.log_likelihood(float(loss[0]), total)
            value = float(
                choice.value(
                    np.asarray(likelihood),
                    np.asarray(parameters[0] + 1),
                    np.asarray(total),
                )
            )
            few = parameters[0] + 1 <= total / 2 or at == len(order)
            if few and value <= best:
                best, chosen = value, alpha
        return links <= chosen * (1 + 1e-12)


def _with_tests(tree: Tree, size: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Parameters of the subtree of every node: its leaves and its tests."""
    total = np.where(tree.kind == LEAF, size, own)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.kind[node] != LEAF:
            total[node] += total[children(tree, node)].sum()
    return total
