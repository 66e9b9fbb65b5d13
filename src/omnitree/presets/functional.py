"""Logistic model trees (Landwehr, Hall & Frank 2005) and functional trees (Gama 2004)."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.growing.part import unknown
from omnitree.growing.stopping import Stopping
from omnitree.learners import Functional, Univariate
from omnitree.parts.leaves import LogisticLeaves
from omnitree.pruning import CostComplexity, FunctionalPruning

WHERE = ["both", "inner", "leaves"]


def _univariate(min_branch: float) -> Univariate:
    return Univariate(
        merit="gain_ratio",
        categories="multiway",
        min_branch=min_branch,
        release8=True,
        threshold="value",
    )


def lmt(steps: int | None = None, **changes: Any) -> TreeClassifier:
    """Logistic model tree (Landwehr, Hall & Frank 2005).

    Node: univariate, and a logistic model in every leaf. Branching: two for numbers, one
    per category for categories. Grouping of classes: none. Merit: gain ratio among the
    features of at least average gain, as in C4.5; a node needs more than 15 rows to be
    split. Direction: none in tests; models by LogitBoost with a regression on one column a
    class and step, responses within +-3. A node goes on with the model of its parent; one
    with fewer than 5 rows keeps it. The number of steps is that with fewest errors in a
    5-fold cross-validation at the root, 200 at most, and the same everywhere (``steps``
    fixes it). Threshold: exhaustive, as in `c4.5`. Missing values: filled with the mean or
    most frequent category of the training set before growing, and so in models. Pruning:
    cost-complexity with 5 folds, zero standard errors, by the errors of the models;
    siblings that keep their parent's model count as one leaf.

    Assumptions, where it differs from the authors' program (Weka's LMT): folds are drawn
    otherwise; a node without any step, its own or inherited, answers with its class shares,
    where the program makes all classes equally likely; a class that no column explains at a
    node gets its mean response, where the program stops; below a node whose model makes no
    error no models are fitted, since pruning would cut there anyway; a category
    that did not occur in training is missing, where the program knows all categories of the
    data file.
    """
    parts = {
        "learner": _univariate(2),
        "stopping": Stopping(min_rows=16),
        "missing": "filled",
        "leaves": LogisticLeaves(steps=steps),
        "pruning": CostComplexity(folds=5),
    }
    return TreeClassifier(**(parts | changes))


def ft(where: str = "both", steps: int = 15, **changes: Any) -> TreeClassifier:
    """Functional tree (Gama 2004).

    Node: univariate over original features and those that the node's logistic model makes,
    so univariate or linear. Branching: two for numbers, one per category for categories.
    Grouping of classes: none; every class has its sum. Merit: gain ratio as in C4.5, with
    15 rows or more in a branch and more than 15 in a node. Direction: LogitBoost as in
    `lmt`, ``steps`` at every node, going on from the parent's model. Threshold: exhaustive.
    Missing values: as in `lmt`. Pruning: bottom-up, the best of subtree, model and majority
    class by C4.5's error estimate with CF 0.1. ``where="inner"`` has models in tests only,
    ``where="leaves"`` in leaves only.

    Assumptions: a feature made by a model is the sum of a class; in Weka's FT it is the
    class's probability, which for two classes orders the rows alike. Cuts lie midway
    between values. Leaves that were never split have no model, as in Weka's FT.
    """
    if where not in WHERE:
        raise ValueError(unknown("where", where, WHERE))
    inner = Functional(steps=steps, min_branch=15)
    parts = {
        "learner": _univariate(15) if where == "leaves" else inner,
        "stopping": Stopping(min_rows=16),
        "missing": "filled",
        "leaves": "majority" if where == "inner" else LogisticLeaves(steps=steps),
        "pruning": FunctionalPruning(),
    }
    return TreeClassifier(**(parts | changes))
