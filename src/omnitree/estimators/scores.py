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
from omnitree.export.model import NodeTest
from omnitree.export.sample import cut_of, scores
from omnitree.tree.tree import LEAF, Tree

Floats = NDArray[np.float64]


def has_scores(tree: Tree) -> bool:
    """Whether rows of one leaf can have different scores, or a machine decides."""
    if tree.models is not None:
        return True
    return tree.kind[0] != LEAF and not NodeTest.of(tree.split(0)).can_fail


def class_scores(tree: Tree, table: Table, proba: Floats, best: NDArray) -> Floats:
    """A score for each class (n, K); of two classes the second's less the first's (n,).

    `proba` is what the estimator says of these rows, `best` the class of each node.
    """
    found = _margins(tree, table, best)
    if found is None:
        found = np.log(np.maximum(proba, np.finfo(float).tiny))
    return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found


def _margins(tree: Tree, table: Table, best: NDArray) -> Floats | None:
    """The functions of the only test by class; None if probabilities say more."""
    n = len(tree.classes)
    if tree.models is not None or tree.kind[0] == LEAF or tree.n_nodes != n + 1:
        return None
    test, answers = NodeTest.of(tree.split(0)), best[1:]
    if test.can_fail or len(set(answers.tolist())) < n:
        return None
    functions = scores(test, tree.schema, table.values)
    if not test.is_machine:
        above = functions - cut_of(test)
        functions = np.hstack([-above, above]) / 2
    by_class = np.empty_like(functions)
    by_class[:, answers] = functions
    return by_class
