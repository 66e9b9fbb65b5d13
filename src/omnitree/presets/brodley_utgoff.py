"""The univariate trees of Brodley & Utgoff (1995)."""

from __future__ import annotations

from typing import Any

from omnitree.estimators import TreeClassifier
from omnitree.learners import Univariate
from omnitree.pruning import ReducedError


def _uni(merit: str, changes: dict[str, Any]) -> TreeClassifier:
    parts = {
        "learner": Univariate(merit=merit, categories="one_rest"),
        "pruning": ReducedError(share=1 / 3),
    }
    return TreeClassifier(**(parts | changes))


def uni_gini(**changes: Any) -> TreeClassifier:
    """Uni-G of Brodley & Utgoff (1995): univariate tests under Gini.

    Node: univariate. Branching: binary; a symbolic feature is tested one symbol against
    the rest, as the paper's propositional encoding gives it. Merit: Gini. Threshold:
    exhaustive. Gaps: the node's mean. Pruning: reduced error; the paper's own prune set is
    a quarter of the data against half for growing, so a third of the training rows is held
    out unless a prune set is given to fit.
    """
    return _uni("gini", changes)


def uni_gain_ratio(**changes: Any) -> TreeClassifier:
    """Uni-I of Brodley & Utgoff (1995): univariate tests under the gain ratio.

    As `uni-gini`, with Quinlan's information gain ratio as merit.
    """
    return _uni("gain_ratio", changes)
