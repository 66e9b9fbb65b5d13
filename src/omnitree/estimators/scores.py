"""Scores of classes: what `decision_function` gives.

Where the leaves answer by models, and in general, the score of a class is the logarithm of
its probability, and of two classes the difference, the log-odds. Where one test on several
features is the whole tree and its leaves answer shares, probabilities would have as few
values as there are leaves: the functions of the test rank rows better, so the score is
theirs, the margin. Used by the classifiers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omnitree.data.table import Table
from omnitree.export.model import MACHINES, UNIVARIATE
from omnitree.export.sample import cut_of, project, term_values
from omnitree.tree.tree import LEAF, Tree

Floats = NDArray[np.float64]


def has_scores(tree: Tree) -> bool:
    """Whether rows of one leaf can have different scores, or a machine decides."""
    if tree.models is not None:
        return True
    return tree.kind[0] != LEAF and tree.split(0).kind not in UNIVARIATE


def class_scores(tree: Tree, table: Table, proba: Floats, best: NDArray) -> Floats:
    """A score for each class (n, K); of two classes the second's less the first's (n,).

    Parameters
    ----------
    tree : Tree
    table : Table
    proba : float array (n, K)
        What the estimator says of these rows.
    best : int array
        The class that each node answers.
    """
    scores = _margins(tree, table, best)
    if scores is None:
        scores = np.log(np.maximum(proba, np.finfo(float).tiny))
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _margins(tree: Tree, table: Table, best: NDArray) -> Floats | None:
    """The functions of the only test by class; None if probabilities say more."""
    n = len(tree.classes)
    if tree.models is not None or tree.kind[0] == LEAF or tree.n_nodes != n + 1:
        return None
    node = tree.to_dict()["nodes"][0]
    answers = best[node["children"]]
    if node["kind"] in UNIVARIATE or len(set(answers.tolist())) < n:
        return None
    test = node["test"]
    if node["kind"] in MACHINES:
        x = term_values(test, tree.schema, table.values)
        functions = x @ np.transpose(test["weights"]) + np.asarray(test["bias"])
    else:
        above = project(node, tree.schema, table.values) - cut_of(node)
        functions = np.stack([-above, above], axis=1) / 2
    scores = np.empty_like(functions)
    scores[:, answers] = functions
    return scores
