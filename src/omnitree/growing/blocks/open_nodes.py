"""What a block grower keeps of its trees between passes: nodes, tops and subtrees."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

from omnitree.growing.blocks.statistics import KeyRange
from omnitree.growing.blocks.sum_node import Zone
from omnitree.tree.records import NodeRecord
from omnitree.tree.tree import Tree


@dataclass
class Open:
    """A node without a test yet."""

    tree: int
    at: int
    depth: int
    size: float  # rows, about
    path: tuple[int, ...] = ()


@dataclass
class Top:
    """A tree whose small subtrees are grown elsewhere."""

    keys: KeyRange  # of the rows that it sees
    records: list[NodeRecord] = field(default_factory=list)
    subtrees: dict[int, Tree] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Unrefined:
    """A node whose cut is an edge of bins until the next pass."""

    tree: int
    at: int
    feature: int
    zone: Zone
    size: float  # rows of the zone, about


class Growing(NamedTuple):
    """A subtree that a thread grows, or will grow, in memory."""

    top: Top
    node: Open
    tree: Future[Tree | None]
