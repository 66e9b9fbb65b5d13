"""The pure trees of the omnivariate paper (Yildiz & Alpaydin, model selection)."""

from __future__ import annotations

from typing import Any

from omnitree.direction import Fisher
from omnitree.estimators import TreeClassifier
from omnitree.learners import Analytic, Linear
from omnitree.presets.ldt import post_pruned


def uni(**changes: Any) -> TreeClassifier:
    """UNI: univariate nodes only (Yildiz & Alpaydin 2007, omnivariate trees).

    Node: univariate; symbols as one column each. Branching: binary. Grouping of classes:
    exchange, for each column by itself. Merit: entropy. Threshold: analytic, the root of
    the quadratic for two variances that lies between the means, else their midpoint. Gaps:
    the node's mean. Pruning: a held-out fifth. The same composition as `ldt-u2`.
    """
    return post_pruned(Analytic("exchange", "unequal_variance"), changes)


def lin(epsilon: float = 0.99, **changes: Any) -> TreeClassifier:
    """LIN: linear nodes only (Yildiz & Alpaydin 2007, omnivariate trees).

    As `ldt`, but the principal components that explain ``epsilon`` of the node's variance
    are taken at every node, not only where its scatter is singular.
    """
    return post_pruned(Linear("exchange", Fisher("always", epsilon)), changes)


def qua(epsilon: float = 0.99, **changes: Any) -> TreeClassifier:
    """QUA: quadratic nodes only (Yildiz & Alpaydin 2007, omnivariate trees).

    As `lin`, with the squares and products of all columns beside the columns. Left out are
    products that are linear in the columns already: those of two symbols of one feature.
    """
    learner = Linear("exchange", Fisher("always", epsilon), expansion="quadratic")
    return post_pruned(learner, changes)
