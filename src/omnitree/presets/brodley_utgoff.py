"""The trees of Brodley & Utgoff (1995)."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.growing.part import one_of
from omnitree.learners import Multivariate, Univariate
from omnitree.pruning import ReducedError
from omnitree.refinement import FeatureElimination

# Quinlan's method, which sections 6.2 and 6.3 name: ties are cut (see `bu95`).
HELD_OUT = ReducedError(share=1 / 3, ties="cut")


def _uni(merit: str, changes: dict[str, Any]) -> TreeClassifier:
    parts = {
        "learner": Univariate(merit=merit, categories="one_rest"),
        "pruning": HELD_OUT,
    }
    return TreeClassifier(**(parts | changes))


def uni_gini(**changes: Any) -> TreeClassifier:
    """Uni-G of Brodley & Utgoff (1995): univariate tests under Gini.

    Node: univariate. Branching: binary; a categorical feature is tested one category
    against the rest, as the paper's propositional encoding gives it. Merit: Gini.
    Threshold: exhaustive. Missing values: the node's mean. Pruning: reduced error, as in
    `bu95`; the paper's own prune set is a quarter of the data against half for growing, so
    a third of the training rows is held out unless a prune set is given to fit.
    """
    return _uni("gini", changes)


def uni_gain_ratio(**changes: Any) -> TreeClassifier:
    """Uni-I of Brodley & Utgoff (1995): univariate tests under the gain ratio.

    As `uni-gini`, with Quinlan's information gain ratio as merit.
    """
    return _uni("gain_ratio", changes)


def bu95(
    coefficients: Any = "rls",
    selection: Any = "hss",
    merit: Any = "gain_ratio",
    univariate: bool = False,
    pruning: Any = "reduced_error",
    many_classes: str = "grouped",
    **changes: Any,
) -> TreeClassifier:
    """Multivariate trees of Brodley & Utgoff (1995).

    Node: linear over selected features; with ``univariate=True`` the best linear test
    competes with all univariate ones ("+ Uni"). Branching: binary for two classes, a branch
    a class for linear machines. Grouping of classes: none in the paper; see below. Merit:
    gain ratio (``merit="gini"`` for its "-G" trees). Direction: ``coefficients`` is "rls",
    "pocket" or "thermal"; the features by ``selection``: "none", "sbe", "sfs", "dsbe" or
    "hss".
    Threshold: learned with the weights. Columns are standardised at each node. Missing
    values: the node's mean. Pruning: reduced error by Quinlan's method, which the paper's
    experiments name: a subtree that errs as often as a leaf is cut. By the general words of
    its section 5 it would stay (``pruning=ReducedError(1 / 3, ties="keep")``), but then
    univariate trees, in which nothing else is open, have twice the published sizes
    (`benchmarks/results/pruning_ties.md`). The paper's own prune set is a quarter of the
    data against half for growing, so a third of the training rows is held out unless a
    prune set is given to fit. ``pruning="multivariate"`` prunes the tests too
    (`FeatureElimination`).

    The defaults are those that the paper's conclusions favour. For data sets of more than
    two classes the paper trains linear machines by "thermal"; ``many_classes="machine"``
    does that, with ``coefficients`` for two classes. The default, ``"grouped"``, answers
    a question that the paper leaves open, how to use RLS and Pocket for more classes: at
    each node the exchange method divides the classes into two groups and the test separates
    these, so that the tree is binary and needs about as many tests as there are classes.
    Where no grouping reached from the two furthest classes divides the rows, as happens
    with dozens of classes, the search starts again from halves. Assumption: a test over
    n columns underfits below 2 (n + 1) distinct rows. Options beyond the paper:
    ``selection="mixed_sbe"``, which it only suggests, ``coefficients="fisher"`` and the
    other coefficient learners, and costs of features.
    """
    one_of("many_classes", many_classes, ("grouped", "machine"))
    machine = "thermal" if many_classes == "machine" else None
    parts: dict[str, Any] = {
        "learner": Multivariate(
            coefficients, selection, merit, univariate, machine=machine
        ),
        "pruning": pruning,
    }
    if isinstance(pruning, str) and pruning in ("reduced_error", "multivariate"):
        parts["pruning"] = HELD_OUT
        if pruning == "multivariate":
            parts["refinement"] = FeatureElimination(
                coefficients=coefficients, machine=machine
            )
    return TreeClassifier(**(parts | changes))
