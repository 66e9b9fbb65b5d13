"""Linear discriminant trees (Yildiz & Alpaydin 2005) and QUEST as they describe it."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.learners import Analytic, Linear
from omnitree.parts.direction import Fisher
from omnitree.parts.grouping import TwoMeans
from omnitree.parts.threshold import EqualVariance
from omnitree.pruning import ReducedError


def post_pruned(learner: Any, changes: dict[str, Any]) -> TreeClassifier:
    # Ties are cut as by the authors' program, against their words: see `ldt`.
    parts = {"learner": learner, "pruning": ReducedError(share=0.2, ties="cut")}
    return TreeClassifier(**(parts | changes))


def ldt(
    grouping: str = "exchange",
    epsilon: float = 0.99,
    threshold: str = "equal_variance",
    max_features_per_test: int | None = None,
    fallback: bool = False,
    scatter: str = "total",
    **changes: Any,
) -> TreeClassifier:
    """LDT, multivariate (Yildiz & Alpaydin 2005).

    Node: linear. Branching: binary. Grouping of classes: exchange, from the two furthest
    means (``grouping="selection"`` for the paper's other method). Merit: entropy (the
    information gain orders tests alike). Direction: Fisher, through the principal
    components that explain ``epsilon`` of the node's variance where its scatter is
    singular. Threshold: analytic, Bayes' rule for equal variances
    (``threshold="exhaustive"`` tries all). Missing values: the node's mean. Pruning: a
    held-out fifth, from the leaves up, as the paper says (``ReducedError(0.2, "top_down")``
    as the authors' program). A subtree that errs as often as a leaf is cut, as the program
    does: by the paper's words it would stay (``ties="keep"``), but then trees have twice
    the published sizes (`benchmarks/results/pruning_ties.md`).
    ``pruning=None, stopping="pre_pruning"`` for the paper's pre-pruning. Our addition:
    ``max_features_per_test``, tests that can be read.

    Follows the authors' program where the paper is silent: distances between class means
    are those of columns standardised once on the whole training table, and a node whose
    analytic threshold separates nothing stays a leaf (``fallback=True`` tries all cuts
    there). Principal components are those of the node's correlations: each column is in
    units of its deviation at the node, as the paper advises. Differs from both: the
    components are those of the total scatter, not of the scatter within the groups
    (equations 11 to 13), so that one factorisation serves all groupings. Where no component
    is dropped the direction is the same; else it may differ, and ``scatter="within"``
    gives the paper's. The initial grouping is the paper's, not random as the program's.
    """
    learner = Linear(
        grouping,
        Fisher(epsilon=epsilon, scatter=scatter),
        threshold,
        max_features_per_test=max_features_per_test,
        fallback=fallback,
    )
    return post_pruned(learner, changes)


def ldt_u1(
    grouping: str = "exchange", categories: str = "columns", **changes: Any
) -> TreeClassifier:
    """LDTu(1): univariate LDT with equal variances (Yildiz & Alpaydin 2005).

    Node: univariate; one column per category. Branching: binary. Grouping of classes:
    exchange, for each column by itself. Merit: entropy. Threshold: analytic, equal
    variances, and the midpoint of the means where Bayes' cut is not between them (an
    assumption; with it `car` comes out as published, without it 12 points lower). Missing
    values: the node's mean. Pruning: a held-out fifth.

    ``categories="multiway"`` gives a categorical feature a branch for each category, as the
    authors' program does in this tree.
    """
    return post_pruned(
        Analytic(grouping, EqualVariance(between=True), categories=categories), changes
    )


def ldt_u2(
    grouping: str = "exchange", categories: str = "columns", **changes: Any
) -> TreeClassifier:
    """LDTu(2): univariate LDT with two variances (Yildiz & Alpaydin 2005).

    As `ldt-u1`, with the root of equation 16 that lies between the means, else their
    midpoint, as the threshold.
    """
    return post_pruned(
        Analytic(grouping, "unequal_variance", categories=categories), changes
    )


def quest(
    epsilon: float = 0.99, weighted: bool = True, **changes: Any
) -> TreeClassifier:
    """QUEST with linear nodes, as Yildiz & Alpaydin (2005) describe it.

    Node: linear. Branching: binary. Grouping of classes: two-means on the class means.
    Direction: Fisher. Threshold: the root of the quadratic for two variances that lies
    between the means. Missing values: the node's mean. Pruning: a held-out fifth, as the
    paper prunes all its trees. Assumptions: two-means starts from the two furthest means,
    and a class counts by its size in the centre of its cluster (``weighted=False``: all
    classes count alike).
    Not taken over from Loh & Shih's program: its tests for selecting variables and its
    cost-complexity pruning.
    """
    learner = Linear(TwoMeans(weighted), Fisher(epsilon=epsilon), "unequal_variance")
    return post_pruned(learner, changes)


def quest_u(weighted: bool = True, **changes: Any) -> TreeClassifier:
    """QUEST with univariate nodes, as Yildiz & Alpaydin (2005) describe it.

    As `quest`, cutting the feature with the best entropy; the groups are those of two-means
    on the class means of each column.
    """
    return post_pruned(Analytic(TwoMeans(weighted), "unequal_variance"), changes)
