"""ID3 (Quinlan 1986)."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.learners import Univariate


def id3(**changes: Any) -> TreeClassifier:
    """ID3 (Quinlan 1986).

    Node: univariate. Branching: one per category. Grouping of classes: none. Merit:
    information gain. Direction: none. Threshold: exhaustive. Grown to pure nodes, not
    pruned. Assumptions: numbers are cut in two, which ID3 left to the user, and missing
    values are filled with the node's mean or most frequent category.
    """
    parts = {"learner": Univariate(merit="gain", categories="multiway")}
    return TreeClassifier(**(parts | changes))
