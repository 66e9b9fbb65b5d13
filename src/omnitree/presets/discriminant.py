"""Discriminant trees before LDT, as Yildiz & Alpaydin (2005, section 1.2) describe them."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.learners import Adaptive, KWay
from omnitree.parts.direction import Fisher
from omnitree.parts.discriminants import LDA
from omnitree.presets.ldt import post_pruned
from omnitree.pruning import CostComplexity
from omnitree.refinement import UnassignedTies


def friedman(epsilon: float = 0.99, **changes: Any) -> TreeClassifier:
    """Friedman's recursive partitioning (1977), as Yildiz & Alpaydin (2005) describe it.

    Node: univariate or linear; at each node all columns and Fisher's linear combination
    (the adaptive variable) compete. Branching: binary. Grouping of classes: one class
    against the rest, the one separated best. Merit: the Kolmogorov-Smirnov distance.
    Direction: Fisher, through the principal components that explain ``epsilon`` of the
    node's variance where its scatter is singular. Threshold: where the distribution
    functions are furthest apart. Missing values: the node's mean. Pruning: a held-out
    fifth, bottom-up, as Yildiz & Alpaydin prune all their trees.

    Assumptions: one tree chooses among the K one-against-rest problems at every node (the
    1977 paper may grow a tree for each). Transgenerated variables, fixed functions of the
    original ones, are left to the user.
    """
    return post_pruned(Adaptive(direction=Fisher(epsilon=epsilon)), changes)


def fact(
    node: str = "linear", improve: bool = False, epsilon: float = 1.0, **changes: Any
) -> TreeClassifier:
    """FACT (Loh & Vanichsetakul 1988), as Yildiz & Alpaydin (2005) describe it.

    Node: linear, or with ``node="univariate"`` the one column that separates best.
    Branching: K, one for each class present. Grouping of classes: none. Merit: the
    information gain, which chooses the column of a univariate node. Direction and
    threshold: analytic, linear discriminant analysis with a common covariance and the
    node's class shares as priors; a row goes to the branch of least expected risk, which
    with equal costs is that of the most probable class. Directions without variance are
    left out (``epsilon=0.99`` keeps the principal components that explain so much of it
    where the scatter is singular, as Linear Discriminant Trees do). Missing values: the
    node's mean. Tied leaves: the first class, where FACT draws one.

    FACT stops without pruning; ``improve=True, pruning=None`` does so, leaving a node whole
    when its branches make no fewer training errors. The default is what Yildiz & Alpaydin
    do with all their trees: a held-out fifth. Assumptions: unit costs; categories as
    columns instead of FACT's scores; the univariate column is chosen by merit, not by its F
    ratio, and there is no transformation to polar coordinates. Branches that no training
    row takes are dropped.
    """
    learner = KWay(LDA(epsilon=epsilon), node=node, improve=improve)
    return post_pruned(learner, changes)


def cruise(
    node: str = "linear", se: float = 1.0, epsilon: float = 1.0, **changes: Any
) -> TreeClassifier:
    """CRUISE (Kim & Loh 2001), as Yildiz & Alpaydin (2005) describe it.

    As `fact`, with two departures. A split that gives the same class to all its children
    is not useful and the next best is taken: in a univariate node the next column, in a
    linear node the discriminants with equal priors, which give the next best classes their
    share. And a leaf in which several classes tie gets the one that no other leaf has.
    Pruning: CART's cost-complexity by ten-fold cross-validation with the rule of ``se``
    standard errors, then the ties.

    Assumptions: what "next best" means, which the description leaves open; if nothing is
    useful the best split is taken, since nodes below it may be. Ties are broken by adding a
    part in 10^9 to the count of the chosen class, so a saved tree keeps its labels. Not
    taken over from the program: its tests that select variables without bias, Box-Cox
    transformations, and how it treats missing values.
    """
    parts = {
        "learner": KWay(LDA(epsilon=epsilon), node=node, distinct=True),
        "pruning": CostComplexity(folds=10, se=se),
        "refinement": UnassignedTies(),
    }
    return TreeClassifier(**(parts | changes))
