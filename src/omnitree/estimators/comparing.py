"""Two fitted trees side by side: figures of each, and where their answers agree.

`Showing.to_html` gives these to the explorer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted


def other_tree(estimator: Any, given: Any) -> tuple[str, Any]:
    """Name and estimator of `compare=`, checked against the tree it stands beside."""
    name = "Other tree"
    if isinstance(given, dict):
        if len(given) != 1:
            raise ValueError(f"compare takes one tree, not {len(given)}")
        [(name, given)] = given.items()
    if not hasattr(given, "_page"):
        raise TypeError(
            f"compare takes a fitted estimator of omnitree, not {type(given).__name__}"
        )
    check_is_fitted(given, "tree_")
    ours, theirs = estimator.tree_, given.tree_
    if ours.task != theirs.task or ours.classes != theirs.classes:
        raise ValueError("compare needs a tree that answers the same classes")
    kinds = [
        {f.name: f.kind == "numeric" for f in tree.schema.features}
        for tree in (ours, theirs)
    ]
    differ = [n for n in kinds[0] | kinds[1] if kinds[0].get(n) != kinds[1].get(n)]
    if differ:
        raise ValueError(
            f"compare needs a tree with the same features; {differ[0]!r} is not the "
            "same in both"
        )
    return str(name), given


def figures(estimator: Any, X: Any, y: ArrayLike | None) -> dict[str, float | None]:
    """Parameters, and over the rows the share of wrong answers or the error of numbers."""
    found: dict[str, float | None] = {
        "parameters": estimator.tree_.n_parameters,
        "wrong": None,
        "loss": None,
    }
    if X is None or y is None:
        return found
    target = column_or_1d(y)
    answer = estimator.predict(X)
    if estimator.tree_.task == "classification":
        found["wrong"] = float(np.mean(answer != target))
    else:
        found["loss"] = float(np.sqrt(np.mean((answer - target) ** 2)))
    return found


def agreement(
    estimator: Any, other: Any, X: Any, y: ArrayLike | None
) -> dict[str, Any]:
    """For how many rows both answer the same, and for how many only one is right."""
    ours, theirs = estimator.predict(X), other.predict(X)
    found: dict[str, Any] = {
        "rows": len(ours),
        "same": int(np.sum(ours == theirs)),
        "only": None,
    }
    if y is not None and estimator.tree_.task == "classification":
        right = ours == column_or_1d(y), theirs == column_or_1d(y)
        found["only"] = [
            int(np.sum(right[0] & ~right[1])),
            int(np.sum(right[1] & ~right[0])),
        ]
    return found
