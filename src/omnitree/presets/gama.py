"""Ltree, Qtree and Lgtree (Gama & Brazdil 1999; Gama 1999): discriminants as features."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.growing.stopping import Stopping
from omnitree.learners import Constructive
from omnitree.parts.discriminants import LDA, QDA, LogisticDiscriminants
from omnitree.pruning import ErrorBased


def _constructive(discriminants: Any, changes: dict[str, Any]) -> TreeClassifier:
    parts = {
        "learner": Constructive(discriminants),
        "stopping": Stopping(min_rows=4),
        "missing": "fractional",
        "pruning": ErrorBased(),
    }
    return TreeClassifier(**(parts | changes))


def ltree(epsilon: float = 1.0, **changes: Any) -> TreeClassifier:
    """Ltree (Gama & Brazdil 1999).

    Node: univariate over original and constructed features, so univariate or linear.
    Branching: two for numbers, one per category for categories. Grouping of classes: none;
    every class gives a discriminant. Merit: gain ratio among the features of at least
    average gain. Direction: analytic, linear discriminant analysis. Threshold: exhaustive,
    with C4.5's rules. Features constructed at a node serve all nodes below it. Missing
    values: fractional instances in original features, the mean of the constructing node in
    constructed ones. Pruning: error-based as in C4.5.

    Assumptions: only classes with more rows than columns that vary construct at a node; a
    class's feature is its discriminant less the average of all, which for two classes is
    the one hyperplane between them; directions without variance are left out
    (``epsilon=0.99`` keeps the principal components that explain so much of it where the
    scatter is singular); categories take part as columns. Not taken over: smoothing class
    probabilities along the path.
    """
    return _constructive(LDA(epsilon=epsilon), changes)


def qtree(epsilon: float = 1.0, **changes: Any) -> TreeClassifier:
    """Qtree (Gama 1999): Ltree with quadratic discriminants.

    As `ltree`, constructing by quadratic discriminant analysis, a covariance for each
    class; a test on such a feature is a quadratic one. Assumption beyond those of `ltree`:
    variances inside a class are kept above 1e-8 of the node's.
    """
    return _constructive(QDA(epsilon=epsilon), changes)


def lgtree(C: float = 1.0, **changes: Any) -> TreeClassifier:
    """Lgtree (Gama 1999): Ltree with logistic discriminants.

    As `ltree`, constructing by logistic regression. Assumptions beyond those of `ltree`:
    one class against the rest, and a penalty on the squared weights (``C`` is its inverse
    strength), without which separable rows have no solution.
    """
    return _constructive(LogisticDiscriminants(C=C), changes)
