"""Samples and nodes for tests, made of plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnitree.data.table import Table, learn_table
from omnitree.growing.criterion import SquaredError
from omnitree.growing.missing import MISSING
from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget, NumericTarget, Target


def sample_of(
    X: Any,
    y: Any,
    weight: Any = None,
    n_classes: int | None = None,
    costs: Any = None,
    groups: Any = None,
) -> Sample:
    """Rows with codes of classes or, as floats, with numbers."""
    table = X if isinstance(X, Table) else learn_table(X)
    y = np.asarray(y)
    target: Target
    if y.dtype.kind == "f":
        target = NumericTarget(y, SquaredError())
    else:
        k = int(y.max()) + 1 if n_classes is None else n_classes
        target = ClassTarget(y.astype(np.int32), np.arange(k), costs)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    return Sample(table, target, weight, groups)


def root_of(
    X: Any,
    y: Any,
    weight: Any = None,
    n_classes: int | None = None,
    missing: str = "mean",
    seed: int = 0,
    **more: Any,
) -> Node:
    """All rows as the root of a tree."""
    sample = sample_of(X, y, weight, n_classes, **more)
    return Node.root(sample, Rules(MISSING.resolve(missing), seed=seed))
