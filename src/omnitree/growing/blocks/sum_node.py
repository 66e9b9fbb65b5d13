"""A node as sums over its rows show it, and what a learner finds that grows from sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitree.data.schema import Schema
from omnitree.growing.node import Node, Rules
from omnitree.tree.splits import Split

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
    # Which bins of each numeric feature hold more than one value, as a sample says.
    several: list[NDArray[np.bool_]]
    # (bins, statistics): of each feature; the last bin has the missing values.
    histograms: list[Floats] | None = None
    # Some rows, chosen by their hashes. Their weights add up to the class counts of the
    # node and, where a learner asks for moments, `rows.linear` has those of all rows.
    rows: Node | None = None


@dataclass(frozen=True, eq=False)
class Zone:
    """The bins beside the best edge: the exact cut is sought among their values."""

    # Its values lie above `low`, and not above `high`.
    low: float
    high: float
    share: float  # of the weight of the node
    # The exact cut and its merit, from the values in ascending order, each once, and the
    # statistics of the rows of the zone up to each of them, (values, statistics).
    refine: Callable[[Floats, Floats], tuple[float, float]]


class FoundSplit(NamedTuple):
    """A test found from sums."""

    split: Split
    shares: tuple[float, ...]  # of the branches
    zone: Zone | None = None  # where a cut at an edge of bins may be refined
