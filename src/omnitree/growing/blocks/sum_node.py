"""A node as sums over its rows show it: what a learner sees that grows from sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree.data.schema import Schema
from omnitree.growing.node import Node, Rules

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SumNode:
    """Statistics of all rows of a node, and some of its rows."""

    schema: Schema
    rules: Rules
    n_classes: int  # 0 where numbers are predicted
    # Class counts; of numbers weight and sum, in steps from the centre of their range.
    statistics: Floats
    loss: float  # of numbers, their squared error in such steps
    # Where numeric features are cut: bin b has the values up to edge b.
    edges: list[Floats]
    # (bins, statistics): of each feature; the last bin has the missing values.
    histograms: list[Floats] | None = None
    # Some rows, chosen by their hashes. Their weights add up to the class counts of the
    # node and, where a learner asks for moments, `rows.linear` has those of all rows.
    rows: Node | None = None
