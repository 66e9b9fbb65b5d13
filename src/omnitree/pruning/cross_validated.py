"""Pruning by the 5x2cv test that grew the tree: a subtree has to beat a leaf.

Yildiz & Alpaydin (ECML 2005, section 5) use one criterion "in both growing the tree and
pruning it". For AIC and BIC that is `CriterionPruning`; here it is cross-validation. From
the root down, the rows of a node are halved five times, a subtree is grown on each half
as the whole tree was, and tested on the other half beside the majority class. Where the
test does not call the subtrees better, the node becomes a leaf. No rows are held out for
good, but every node that is looked at costs ten times what lies below it. Used by the
preset omni-cv.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from omnitree.growing.growth import Growth
from omnitree.growing.node import Node
from omnitree.growing.node_folds import NodeFolds, sample
from omnitree.growing.part import number
from omnitree.growing.sample import Sample
from omnitree.parts.choice import CHOICES
from omnitree.parts.choice.crossvalidation import FiveByTwo
from omnitree.pruning.base import (
    Evidence,
    Pruning,
    children,
    errors_as_leaves,
    subtree_sums,
)
from omnitree.tree.tree import LEAF, Tree


class CrossValidatedPruning(Pruning):
    """Cut a subtree unless a 5x2cv test finds it more accurate than a leaf.

    Parameters
    ----------
    choice : {"combined_5x2t", "5x2t", "5x2f"} or Choice, default="combined_5x2t"
        The test, with its level; nodes with fewer rows than its `min_rows` become leaves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = TreeClassifier(pruning="cross_validated", random_state=0).fit(X, y)
    >>> clf.tree_.n_leaves
    3
    """

    choice: str = "combined_5x2t"

    @property
    def resamples(self) -> bool:
        return True

    def cut(self, tree: Tree, evidence: Evidence) -> np.ndarray:
        choice = CHOICES.resolve(self.choice)
        if not isinstance(choice, FiveByTwo):
            raise ValueError(
                f"cross-validated pruning needs a 5x2cv test, not {choice!r}"
            )
        if evidence.growth is None:
            raise ValueError(
                "cross-validated pruning grows trees of its own, so it only works "
                "inside fit"
            )
        least = number("min_rows", choice.min_rows)
        start, row, share = tree.passing(evidence.train.table)
        cut, waiting = np.zeros(tree.n_nodes, dtype=bool), [0]
        # Without time left, what was not looked at stays.
        while waiting and not evidence.expired:
            node = waiting.pop()
            if tree.kind[node] == LEAF:
                continue
            here = slice(start[node], start[node + 1])
            rows = evidence.train.take(row[here])
            rows = replace(rows, weight=rows.weight * share[here])
            rng = np.random.default_rng([evidence.seed, node])
            cut[node] = rows.weight.sum() < least - 1e-9 or not _subtree_wins(
                evidence.growth, rows, choice, rng
            )
            if not cut[node]:
                part = children(tree, node)
                waiting += range(part.start, part.stop)
        return cut


def _subtree_wins(
    growth: Growth, rows: Sample, choice: FiveByTwo, rng: np.random.Generator
) -> bool:
    """Whether trees grown on halves of some rows beat the majority class on the others."""
    most = int(number("max_rows", choice.max_rows, least=10))
    folds = NodeFolds.five_by_two(sample(Node.root(rows, growth.rules), most, rng), rng)
    if folds.tested.all(axis=1).any():  # all rows are of one group
        return False
    errors = np.zeros((2, len(folds)))
    for d, (trained, tested) in enumerate(folds.parts):
        train, test = (rows.take(folds.node.rows[at]) for at in (trained, tested))
        grown = growth.grow(train)
        as_leaf = errors_as_leaves(grown, test)
        both = np.array([as_leaf[0], subtree_sums(grown, as_leaf)[0]])
        errors[:, d] = both / test.weight.sum()
    difference = np.reshape(errors[0] - errors[1], (5, 2))
    return bool(choice.p_value(difference) < number("level", choice.level, most=1))
