"""Logistic model trees (Landwehr, Hall & Frank 2005)."""

from __future__ import annotations

from typing import Any

from omnitree.estimators import TreeClassifier
from omnitree.learners import Univariate
from omnitree.leaves import LogisticLeaves
from omnitree.pruning import CostComplexity
from omnitree.stopping import Stopping


def lmt(**changes: Any) -> TreeClassifier:
    """Logistic model tree (Landwehr, Hall & Frank 2005)."""
    parts = {
        "learner": Univariate(
            merit="gain_ratio",
            categories="multiway",
            min_branch=2,
            release8=True,
            threshold="value",
        ),
        "stopping": Stopping(min_rows=16),
        "leaves": LogisticLeaves(),
        "pruning": CostComplexity(folds=5),
    }
    return TreeClassifier(**(parts | changes))
