"""C4.5 (Quinlan 1993), release 8, and its variants."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.growing.part import unknown
from omnitree.growing.stopping import Stopping
from omnitree.learners import Univariate
from omnitree.pruning import ErrorBased, ReducedError

VARIANTS = ["release8", "ldt05"]


def _release8(merit: str, subsets: bool) -> dict[str, Any]:
    return {
        "learner": Univariate(
            merit=merit,
            categories="groups" if subsets else "multiway",
            min_branch=2,
            release8=True,
            threshold="value",
            collapse=True,
        ),
        "stopping": Stopping(min_rows=4),
        "missing": "fractional",
    }


def c45(
    merit: str = "gain_ratio",
    subsets: bool = False,
    variant: str = "release8",
    **changes: Any,
) -> TreeClassifier:
    """C4.5, release 8 (Quinlan 1993, 1996).

    Node: univariate. Branching: two for numbers, one per category for categories. Grouping
    of classes: none. Merit: gain ratio among the features of at least average gain.
    Direction: none. Threshold: exhaustive, stored as the largest training value below the
    midpoint. Missing values: fractional instances in growing, pruning and prediction.
    Pruning: error-based, CF 0.25, with subtree raising.

    Options: ``subsets=True`` is the program's -s, ``merit="gain"`` its -g.
    ``variant="ldt05"`` is what Yildiz & Alpaydin (2005) call C4.5: information gain,
    multiway tests on categories, missing values filled with the node's mean, grown to pure
    nodes and pruned top-down on a held-out fifth. Differs from the program: float64 instead
    of float32, and values closer than 1e-5 are not taken as equal.
    """
    if variant not in VARIANTS:
        raise ValueError(unknown("variant", variant, VARIANTS))
    if variant == "ldt05":
        parts: dict[str, Any] = {
            "learner": Univariate(merit="gain", categories="multiway"),
            "pruning": ReducedError(share=0.2, order="top_down"),
        }
    else:
        parts = _release8(merit, subsets) | {"pruning": ErrorBased()}
    return TreeClassifier(**(parts | changes))


def rp_c45(merit: str = "gain_ratio", subsets: bool = False, **changes: Any):
    """C4.5 with reduced-error pruning (Weka's J48 -R).

    Grown as `c4.5` on two thirds of the rows and pruned bottom-up on the other third,
    stratified. Differs from Weka: the third is drawn otherwise.
    """
    parts = _release8(merit, subsets) | {"pruning": ReducedError(share=1 / 3)}
    return TreeClassifier(**(parts | changes))
