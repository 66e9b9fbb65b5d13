"""Sums as people read them: a category counts 1 or 0, a number is measured from its mean.

Trees code a category +1 in its own column and -1 in the others. `plain_test` writes the
same sum for indicators that are 1 or 0, which changes weights and constants but no value.
Where not all terms of a sum are shown, `centre_of` says from where its features are
measured, so that the terms that are left out are 0 for an average row and the constant is
its value. Used by `words.py`, `lines.py`, rules and explanations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from omnitree.export.encoded import encoded_columns
from omnitree.tree.shared_models import terms_of

# The constant among the terms of a sum.
CONSTANT = (-1, -1)


def plain_test(test: dict[str, Any], features: list[dict[str, Any]]) -> dict[str, Any]:
    """The same test (or model of a leaf) with indicators 1 or 0 instead of +1 or -1.

    Examples
    --------
    >>> features = [{"name": "old", "kind": "boolean", "categories": [False, True]}]
    >>> test = {"columns": [0], "weights": [0.5], "fill": [0.2], "threshold": 0.25}
    >>> plain = plain_test(test, features)
    >>> plain["weights"], plain["threshold"], plain["fill"]
    ([1.0], 0.75, [0.6])
    """
    every = encoded_columns(features)
    indicator = [every[c].category >= 0 for c in test["columns"]]
    if not any(indicator):
        return test

    def factor(at: int) -> list[tuple[float, int]]:
        """A column as a sum of weight * indicator (-1: of weight alone)."""
        return [(2.0, at), (-1.0, -1)] if indicator[at] else [(1.0, at)]

    parts: list[list[tuple[float, tuple[int, int]]]] = []  # of each term
    for a, b in terms_of(test):
        seconds = factor(b) if b >= 0 else [(1.0, -1)]
        parts.append(
            [(u * v, (max(i, j), min(i, j))) for u, i in factor(a) for v, j in seconds]
        )
    # Those that were there keep their places, what products leave behind comes after.
    own = [(max(a, b), min(a, b)) for a, b in terms_of(test)]
    terms = dict.fromkeys([*own, *(t for part in parts for _, t in part)])
    terms.pop(CONSTANT, None)

    def rewritten(weights: Sequence[float]) -> tuple[list[float], float]:
        total = dict.fromkeys([CONSTANT, *terms], 0.0)
        for weight, part in zip(weights, parts, strict=True):
            for times, term in part:
                total[term] += weight * times
        constant = total.pop(CONSTANT)
        return list(total.values()), constant

    fill = [
        (f + 1) / 2 if yes else f
        for f, yes in zip(test["fill"], indicator, strict=True)
    ]
    out = test | {"fill": fill}
    if "cases" in test:
        out |= _plain_cases(test, indicator)
    if "terms" in test:
        out["terms"] = [list(term) for term in terms]
    if "bias" in test:
        rows = [rewritten(weights) for weights in test["weights"]]
        out["weights"] = [weights for weights, _ in rows]
        pairs = zip(test["bias"], rows, strict=True)
        out["bias"] = [bias + constant for bias, (_, constant) in pairs]
    else:
        out["weights"], constant = rewritten(test["weights"])
        out["threshold"] = test["threshold"] - constant
    return out


def _plain_cases(test: dict[str, Any], indicator: Sequence[bool]) -> dict[str, Any]:
    """Cases and precision for indicators, which are half as far apart."""
    pairs = zip(test["precision"], indicator, strict=True)
    return {
        "precision": [4 * own if yes else own for own, yes in pairs],
        "cases": [
            [(v + 1) / 2 if yes else v for v, yes in zip(case, indicator, strict=True)]
            for case in test["cases"]
        ],
    }


def spreads(
    test: dict[str, Any],
    features: list[dict[str, Any]],
    deviations: Sequence[float] | None,
) -> list[float]:
    """Standard deviation of each column of a plain test; 1 where the tree has none."""
    if not deviations:
        return [1.0] * len(test["columns"])
    every = encoded_columns(features)
    return [
        deviations[c] / (2 if every[c].category >= 0 else 1) for c in test["columns"]
    ]


def centre_of(mean: float, spread: float | None) -> float:
    """A mean in as many digits as its spread justifies; 0 if it is that near to 0.

    What rounding takes off the mean goes to the constant of the sum.

    >>> centre_of(38.2456, 12.0), centre_of(0.51234, 0.02), centre_of(0.02, 1.0)
    (38.0, 0.512, 0.0)
    """
    if not spread:
        return float(f"{mean:.3g}")
    if abs(mean) < 0.1 * spread:
        return 0.0
    return round(mean, 1 - math.floor(math.log10(spread))) + 0.0
