"""Machines as rules (Utgoff & Brodley 1991, section 4).

A row takes branch i of a machine if g_i > g_j for all other branches j (>= for later ones:
of equal discriminants the first wins). Terms that g_i and g_j have in common cancel, and an
inequality goes if the others imply it, which a small linear programme finds out: categories
count as columns within -1 and 1 of which at most one is 1, numbers as unbounded, and so
do the products of quadratic machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from omnitree.export.model import NodeTest
from omnitree.export.plain import plain_test
from omnitree.export.words import column_name, comparison, sum_terms, term_names
from omnitree.tree.shared_models import terms_of


@dataclass(frozen=True)
class Inequality:
    """A weighted sum of named columns above a threshold."""

    names: tuple[str, ...]
    weights: tuple[float, ...]
    strict: bool
    threshold: float

    def __str__(self) -> str:
        terms = sum_terms(self.weights, self.names)
        return comparison(terms, ">" if self.strict else ">=", self.threshold)


def machine_rules(machine: NodeTest, schema: dict[str, Any]) -> list[list[Inequality]]:
    """For every branch of a machine the inequalities that lead there, none to spare.

    Parameters
    ----------
    machine : NodeTest
        The branch with the largest of its sums wins.
    schema : dict
        ``Tree.to_dict()["schema"]``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import presets
    >>> from omnitree.export.model import Model
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = presets.make("lmdt", random_state=0).fit(X, y)
    >>> tree = clf.tree_.to_dict()
    >>> len(machine_rules(Model(tree).tests(0)[0], tree["schema"]))
    3
    """
    test, features = machine.data, schema["features"]
    if "bias" not in test:
        raise ValueError(f"a test of kind {machine.kind!r} is no machine of sums")
    weights, bias = np.array(test["weights"]), np.array(test["bias"])
    alone = [test["columns"][a] if b < 0 else None for a, b in terms_of(test)]
    bounds, extra, extra_right = _categories(alone, schema)
    plain = plain_test(test, features)
    names = term_names(plain, [column_name(c, features) for c in plain["columns"]])
    shown, starts = np.array(plain["weights"]), np.array(plain["bias"])
    rules = []
    for i in range(len(bias)):
        others = [j for j in range(len(bias)) if j != i]
        left, right = weights[i] - weights[others], bias[others] - bias[i]
        kept = _needed(left, right, bounds, extra, extra_right)
        rule = []
        for other in (others[at] for at in kept):
            difference = shown[i] - shown[other]
            used = np.flatnonzero(difference)
            # A single column is written in its own unit.
            unit = abs(difference[used[0]]) if len(used) == 1 else 1.0
            rule.append(
                Inequality(
                    tuple(names[c] for c in used),
                    tuple((difference[used] / unit).tolist()),
                    other < i,
                    float((starts[other] - starts[i]) / unit),
                )
            )
        rules.append(rule)
    return rules


def _needed(left, right, bounds, extra, extra_right) -> list[int]:
    """Which of the inequalities left @ x >= right the others do not imply."""
    # One scale for every column: the programme is then sound whatever the units.
    scale = np.abs(left).max(axis=0)
    scale[scale == 0] = 1.0
    left = left / scale
    extra = extra / scale
    bounds = [
        (None if low is None else low * s, None if high is None else high * s)
        for (low, high), s in zip(bounds, scale, strict=True)
    ]
    kept = list(range(len(left)))
    for at in range(len(left)):
        rest = [k for k in kept if k != at]
        found = linprog(
            left[at],
            A_ub=np.vstack([-left[rest], extra]),
            b_ub=np.concatenate([-right[rest], extra_right]),
            bounds=bounds,
        )
        tolerance = 1e-9 * max(1.0, abs(right[at]))
        if found.status == 0 and found.fun >= right[at] - tolerance:
            kept = rest
    return kept


def _categories(columns: list[int | None], schema: dict[str, Any]):
    """Bounds of the columns, and rows extra @ x <= extra_right for categories of a feature.

    None stands for a product of columns.
    """
    every = [
        f
        for f, feature in enumerate(schema["features"])
        for _ in range(_width(feature))
    ]
    of_feature = [-1 if c is None else every[c] for c in columns]
    categorical = [
        f >= 0 and schema["features"][f]["kind"] in ("categorical", "boolean")
        for f in of_feature
    ]
    bounds = [(-1.0, 1.0) if s else (None, None) for s in categorical]
    extra, right = [], []
    for f in sorted({f for f, s in zip(of_feature, categorical, strict=True) if s}):
        here = np.array([float(g == f) for g in of_feature])
        extra.append(here)
        right.append(2.0 - here.sum())  # at most one of them is 1, the others are -1
    return bounds, np.array(extra).reshape(len(extra), len(columns)), np.array(right)


def _width(feature: dict[str, Any]) -> int:
    """Number of encoded columns of a feature."""
    if feature["kind"] in ("numeric", "ordered"):
        return 1
    categories = len(feature["categories"] or [])
    return {0: 0, 1: 0, 2: 1}.get(categories, categories)
