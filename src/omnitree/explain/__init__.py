"""Why a row gets its answer: its path, what each feature adds, and what would change it.

`path` follows a row through the public dict of a tree and takes every test apart;
`counterfactual` looks for the smallest change of a few features that changes the answer.
`shapley` divides an answer among the features by their Shapley values. Used by the
estimators' `explain` and `shapley_values`.
"""

from omnitree.explain.counterfactual import Change, Counterfactual
from omnitree.explain.path import Contribution, Explanation, Step, explain
from omnitree.explain.shapley import ShapleyValues, shapley_values

__all__ = [
    "Change",
    "Contribution",
    "Counterfactual",
    "Explanation",
    "ShapleyValues",
    "Step",
    "explain",
    "shapley_values",
]
