"""Why a row gets its answer: its path, what each feature adds, and what would change it.

`path` follows a row through the public dict of a tree and takes every test apart;
`counterfactual` looks for the smallest change of a few features that changes the answer.
Used by the estimators' `explain`.
"""

from omnitree.explain.counterfactual import Change, Counterfactual
from omnitree.explain.path import Contribution, Explanation, Step, explain

__all__ = [
    "Change",
    "Contribution",
    "Counterfactual",
    "Explanation",
    "Step",
    "explain",
]
