"""Machines as rules (Utgoff & Brodley 1991, section 4).

A row takes branch i of a machine if g_i > g_j for all other branches j (>= for later ones,
because the first of equal discriminants wins). Terms that g_i and g_j have in common cancel.
An inequality that the others imply is dropped; a small linear programme decides which are.
In it, categories are columns between -1 and 1 of which at most one is 1, while numbers and
the products of quadratic machines are unbounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree.export.encoded import EncodedColumn, encoded_columns
from omnitree.export.model import NodeTest
from omnitree.export.plain import plain_test
from omnitree.export.programme import solved
from omnitree.export.words import column_name, comparison, sum_terms, term_names
from omnitree.tree.shared_models import terms_of

NUMBER = EncodedColumn(-1, -1)


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
    if "bias" not in test or "knots" in test:
        raise ValueError(
            f"a test of kind {machine.kind!r} is no machine of weighted sums"
        )
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
            terms = tuple((difference[used] / unit).tolist())
            threshold = float((starts[other] - starts[i]) / unit)
            own = tuple(names[c] for c in used)
            rule.append(Inequality(own, terms, other < i, threshold))
        rules.append(rule)
    return rules


def _needed(left, right, bounds, extra, extra_right) -> list[int]:
    """Which of the inequalities left @ x >= right the others do not imply."""
    # One scale for all numbers: the programme is then sound whatever the units.
    free = [low is None for low, _ in bounds]
    scale = np.where(free, np.abs(left).max(axis=0), 1.0)
    scale[scale == 0] = 1.0
    left, extra = left / scale, extra / scale
    kept = list(range(len(left)))
    for at in range(len(left)):
        rest = [k for k in kept if k != at]
        unit = np.abs(left[at]).max() or 1.0
        found = solved(
            left[at] / unit,
            np.vstack([-left[rest], extra]),
            np.concatenate([-right[rest], extra_right]),
            bounds,
        )
        least = right[at] / unit
        if found is not None and found.fun >= least - 1e-9 * max(1.0, abs(least)):
            kept = rest
    return kept


def _categories(columns: list[int | None], schema: dict[str, Any]):
    """Bounds of the columns, and rows extra @ x <= extra_right for categories of a feature.

    None stands for a product of columns.
    """
    every = encoded_columns(schema["features"])
    used = [NUMBER if c is None else every[c] for c in columns]
    of_feature = np.array([-1 if c.category < 0 else c.feature for c in used])
    bounds = [(None, None) if f < 0 else (-1.0, 1.0) for f in of_feature]
    known = [f for f in np.unique(of_feature) if f >= 0]
    extra = np.array([of_feature == f for f in known], dtype=float)
    extra = extra.reshape(len(known), len(columns))
    return bounds, extra, 2.0 - extra.sum(axis=1)  # one may be 1, the others are -1
