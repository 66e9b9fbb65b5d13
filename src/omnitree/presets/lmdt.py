"""LMDT, linear machine decision trees (Utgoff & Brodley 1991)."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.learners import Multivariate
from omnitree.parts.coefficients import LMDTThermal
from omnitree.parts.feature_selection import LMDTElimination
from omnitree.pruning import Pessimistic


def lmdt(
    a: float = 0.995,
    b: float = 0.0005,
    delta: float = 0.1,
    alpha: float = 0.01,
    tries: int = 5,
    against: str = "saved",
    selection: str = "lmdt",
    **changes: Any,
) -> TreeClassifier:
    """LMDT (Utgoff & Brodley 1991).

    Node: linear machine over the variables that are left after elimination. Branching: a
    branch per class at the node; for two classes, binary. Grouping of classes: none.
    Merit: accuracy. Direction: thermal training on rows drawn at random, cooled by
    ``a`` and ``b``; elimination of the variable with the least dispersed weights,
    within ``delta`` of the best accuracy, the smallest machine that a t-test at
    ``alpha`` does not call worse than the one saved before it (``against="best"``: than
    the best one, with twice the variables; ``selection="none"`` eliminates nothing).
    Threshold: learned with the weights.
    Columns are standardised at each node. Missing values: the node's mean. Pruning:
    pessimistic, on the training rows.

    Assumptions: how the probability that a machine is right on all rows is estimated
    (`LMDTThermal`), and the form of the t-test (`LMDTElimination`). Pessimistic pruning
    (Quinlan 1987) is read as its correction of half an error per leaf alone: with the
    standard error besides (``pruning="pessimistic"``) trees have fewer machines than
    the paper's and more error, on its tasks and on others. Ours: a machine that is not
    right on all rows is trained up to five times (``tries``) and the best one kept,
    which the paper does not say: with one training its DNF task fails for some seeds.
    As in the paper, a node whose machine sends all rows one way is a leaf. Differs: two
    classes are separated by one threshold unit, the same test with half the weights,
    and ties go to the first class.
    """
    learner = Multivariate(
        LMDTThermal(a=a, b=b, tries=tries),
        LMDTElimination(delta, alpha, against) if selection == "lmdt" else selection,
        "misclassification",
    )
    return TreeClassifier(
        **({"learner": learner, "pruning": Pessimistic(se=0)} | changes)
    )
