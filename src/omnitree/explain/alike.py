"""The cases that a row is most like, of a test or a model that compares it with some."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from omnitree.explain.contributions import columns_of
from omnitree.export.model import Model, NodeTest

# Cases that are named, and the likeness below which none is.
MOST, LEAST = 3, 5e-3


def most_alike(
    model: Model, test: NodeTest, row: Sequence[float], names: Sequence[Any]
) -> str:
    """A line on the cases most like a row, by their numbers in `describe(full=True)`.

    `names` are those of the sums. Empty of a test or a model without cases.
    """
    table = test.cases
    if table is None:
        return ""
    # In the order of the table, which the test's own columns need not have.
    cell = dict(zip(test.columns, columns_of(model, test, row), strict=True))
    own = [cell[c] for c in table["columns"]]
    alike = [_likeness(table["precision"], case, own) for case in table["cases"]]
    order = sorted(range(len(alike)), key=lambda i: -alike[i])[:MOST]
    told = [
        f"case {i + 1}{_owner(table, i, names)} ({alike[i]:.2f})"
        for i in order
        if alike[i] >= LEAST
    ]
    return f"most like {', '.join(told)}" if told else "like none of the cases"


def _likeness(
    precision: Sequence[float], case: Sequence[float], own: Sequence[float]
) -> float:
    parts = zip(precision, case, own, strict=True)
    return math.exp(-sum(p * (v - at) ** 2 for p, at, v in parts))


def _owner(table: dict[str, Any], i: int, names: Sequence[Any]) -> str:
    """The sum that a case adds to, if it is one."""
    sums = [k for k, weights in enumerate(table["case_weights"]) if weights[i]]
    return f" of {names[sums[0]]}" if len(sums) == 1 and names else ""
