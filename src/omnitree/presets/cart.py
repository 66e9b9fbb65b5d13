"""CART (Breiman, Friedman, Olshen & Stone 1984), univariate."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.learners import Univariate
from omnitree.pruning import CostComplexity


def cart(
    merit: str = "gini", se: float = 0.0, repeats: int = 10, **changes: Any
) -> TreeClassifier:
    """CART without linear combinations (Breiman et al. 1984).

    Node: univariate. Branching: binary, categories in two sets. Grouping of classes: none
    (``merit="twoing"`` groups them inside the merit). Merit: Gini. Direction: none.
    Threshold: exhaustive. Missing values: surrogate splits. Pruning: cost-complexity, size
    chosen by ten-fold cross-validation with the rule of ``se`` standard errors (0 or 1).

    The cross-validation is repeated with other folds until the choice stays, at most
    ``repeats`` times, and of sizes that the repeats cannot tell apart the smallest is taken
    (`CostComplexity`). The book has one cross-validation, ``repeats=1``, where the folds
    alone often double the size of a tree (benchmarks/results/seeds.md): the rule
    is the book's, the evidence for it more precise. Tables of more than 25,000 rows are
    cross-validated once.

    Assumptions: sets of categories are exact for two classes or up to ten categories at a
    node, else the best cut along their first principal component.
    """
    parts = {
        "learner": Univariate(merit=merit, categories="subset"),
        "pruning": CostComplexity(folds=10, se=se, repeats=repeats),
        "missing": "surrogate",
    }
    return TreeClassifier(**(parts | changes))
