"""Oblique trees by search: CART with linear combinations, and OC1."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.growing.stopping import Stopping
from omnitree.learners import OC1, CartLC
from omnitree.pruning import CostComplexity


def cart_lc(
    merit: str = "gini", beta: float = 0.1, se: float = 0.0, **changes: Any
) -> TreeClassifier:
    """CART with linear combinations (Breiman et al. 1984; Brodley & Utgoff 1995).

    Node: linear over numeric features, or univariate if no combination is better.
    Branching: binary. Grouping of classes: none. Merit: Gini. Direction: one coefficient
    after the other, with gamma -0.25, 0 and 0.25; features are given up by the discard
    parameter ``beta`` (0, 0.1 and 0.2 in the paper). Threshold: exhaustive. Missing values:
    only complete rows find a combination; it fills missing values with the medians,
    univariate tests have surrogates. Pruning: cost-complexity, size chosen by ten-fold
    cross-validation with the rule of ``se`` standard errors; the paper's prune set is a
    ``prune_set`` given to fit.

    From the paper: all but what follows. Assumptions: the search starts from the best cut
    of a numeric feature and takes features in the order of their best cuts; it ends when a
    cycle gains less than 1e-4; the standard deviation takes the place of an interquartile
    range of 0.
    """
    parts = {
        "learner": CartLC(merit=merit, beta=beta),
        "pruning": CostComplexity(folds=10, se=se),
        "missing": "surrogate",
    }
    return TreeClassifier(**(parts | changes))


def oc1(
    merit: str = "twoing", restarts: int = 20, jumps: int = 5, **changes: Any
) -> TreeClassifier:
    """OC1 (Murthy, Kasif & Salzberg 1994).

    Node: linear, or one column if no plane is better or the node has no more rows than
    twice its columns. Branching: binary. Grouping of classes: none (twoing groups them
    inside the merit). Merit: twoing. Direction: hill climbing over the coefficients from
    the best axis-parallel test and from ``restarts`` - 1 random ones, with ``jumps`` random
    jumps. Threshold: exhaustive, one of the coefficients. Missing values: the node's mean.
    Pruning: cost-complexity on a tenth of the rows, held out by class. Nodes of three rows
    are leaves.

    From the authors' program: defaults, limits, and that ten steps in a row may gain
    nothing. Differs from it: each step is exact whatever the signs in a column (the program
    shifts columns to be positive), numbers are standardised at the node, of equal steps the
    one in the widest interval is taken instead of a random one, the threshold is climbed
    too, columns are taken in the order of their best cuts, and the root may be pruned.
    """
    parts = {
        "learner": OC1(merit=merit, restarts=restarts, jumps=jumps),
        "pruning": CostComplexity(folds=0, share=0.1),
        "stopping": Stopping(min_rows=4),
    }
    return TreeClassifier(**(parts | changes))
