"""The trees of Liu & White (1994)."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.learners import Univariate
from omnitree.pruning import Significance


def random_attribute(choice: str = "random", **changes: Any) -> TreeClassifier:
    """Random attribute selection (Liu & White 1994).

    Node: univariate. Branching: binary. Merit: transmitted information H_T, which is the
    information gain; it places the cut, while the attribute is drawn at random
    (``choice="best"`` chooses it by H_T too, the paper's other condition). Threshold:
    exhaustive, midpoints. Pruning: from the bottom up until a split whose chi-square
    probability is below 0.1. Assumption: the draw is uniform over the attributes that can
    still be cut.
    """
    parts = {
        "learner": Univariate(merit="gain", categories="subset", choice=choice),
        "pruning": Significance(level=0.1),
    }
    return TreeClassifier(**(parts | changes))
