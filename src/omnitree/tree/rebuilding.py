"""Other tests in a fitted tree: new nodes, and every row counted again.

`records_with` lays out the nodes of a tree in which tests or subtrees are exchanged.
`learned` sends the rows that a tree learns from down its branches. `branch_rows` is
the rule by which rows with missing values are divided while a tree learns: in proportion to
the weight of the rows that the test can place. The grower uses it too, so a tree that was
changed has the counts that growing it would have given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitree.data.table import Table
from omnitree.tree.leaf_models import Known, LeafModel
from omnitree.tree.records import NodeRecord
from omnitree.tree.routing import LEAF
from omnitree.tree.splits import Split

if TYPE_CHECKING:
    from omnitree.tree.tree import Tree


# Of the arrays that a tree is made of.
DTYPES = {
    name: dtype
    for dtype, names in {
        np.uint8: "kind test_kind",
        np.int32: "first_child n_children parent missing index free",
        np.int64: "test_start index_ptr weight_ptr",
        np.float64: "merit value weight deviation ranges constant loss costs reliability",
    }.items()
    for name in names.split()
}


class SampleLike(Protocol):
    """Rows with a target and weights (`omnitree.growing.sample`)."""

    @property
    def table(self) -> Table: ...
    @property
    def target(self) -> Any: ...
    @property
    def weight(self) -> NDArray[np.float64]: ...


class BranchRows(NamedTuple):
    """Rows of a node that take one branch: their positions there, and their weights."""

    at: NDArray[np.intp]
    weight: NDArray[np.float64]


def branch_rows(
    split: Split, table: Table, rows: NDArray[np.int64], weight: NDArray[np.float64]
) -> tuple[list[BranchRows], bool]:
    """The rows of each branch of a test, and whether some of them were divided."""
    branch = split.route(table, rows)
    if split.missing >= 0:
        branch[branch < 0] = split.missing
    known = branch >= 0
    if known.all():
        at = [(branch == b).nonzero()[0] for b in range(split.n_children)]
        return [BranchRows(here, weight[here]) for here in at], False
    size = np.zeros(split.n_children)
    np.add.at(size, branch[known], weight[known])
    if not size.any():
        size += 1.0  # nothing known: equal parts, as in `predict`
    parts = []
    for b in range(split.n_children):
        here, own = branch == b, weight
        if size[b] > 0:
            here |= ~known
            own = np.where(known, weight, weight * (size[b] / size.sum()))
        parts.append(BranchRows(np.flatnonzero(here), own[here]))
    return parts, True


def learned(tree: Tree, sample: SampleLike) -> dict[str, Any]:
    """What every node keeps of the rows that the tree learns from, by array of the tree.

    Class counts; where numbers are predicted the weight, the constant and its loss.
    """
    table, target = sample.table, sample.target
    leaf = tree.place(table)
    if tree.classes and leaf.min() >= 0:
        return {"value": tree.counts_in(leaf, target.y, sample.weight)}
    records: list[NodeRecord] = []
    waiting = {0: (np.arange(len(leaf)), sample.weight)}
    for node in range(tree.n_nodes):  # parents come before children
        rows, weight = waiting.pop(node)
        own = target.take(rows)
        records.append(own.record(-1, weight, own.statistics(weight)))
        if tree.kind[node] != LEAF:
            parts, _ = branch_rows(tree.split(node), table, rows, weight)
            first = int(tree.first_child[node])
            for child, part in enumerate(parts, start=first):
                waiting[child] = rows[part.at], part.weight
    names = ("value",) if tree.classes else ("value", "constant", "loss")
    return {name: np.array([getattr(r, name) for r in records]) for name in names}


def records_with(
    tree: Tree,
    splits: Mapping[int, Split | None],
    models: Mapping[int, LeafModel | None],
    subtrees: Mapping[int, Tree],
) -> list[NodeRecord]:
    """Nodes of the tree with other tests or subtrees, breadth first, without counts."""
    nothing = np.zeros(tree.value.shape[1])
    number = None if tree.classes else 0.0
    records: list[NodeRecord] = []
    known: Known = {}
    # A node is one of this tree or of a subtree, or a new leaf with the model of the old
    # node above it.
    queue: list[tuple[Tree, int, int, bool]] = [(tree, 0, -1, False)]
    for source, old, parent, is_new in queue:  # grows while it is read
        record = NodeRecord(parent, nothing, constant=number, loss=number)
        records.append(record)
        if is_new:
            record.model = models.get(old)
            continue
        if source is tree and old in subtrees:
            source, old = subtrees[old], 0
        record.model = source.model(old, known)
        own, first_child = len(records) - 1, len(queue)
        if source is tree and old in splits:
            record.split = splits[old]
            if record.split is None:
                record.model = models.get(old)
                continue
            queue += [(tree, old, own, True)] * record.split.n_children
        elif source.kind[old] != LEAF:
            record.split = source.split(old)
            start = int(source.first_child[old])
            below = range(start, start + int(source.n_children[old]))
            queue += [(source, child, own, False) for child in below]
        record.children = range(first_child, len(queue))
    return records


def free_of(free: np.ndarray | None, kept: np.ndarray, leaf: np.ndarray) -> Any:
    """Free parameters of the tests that stay; None where weights count in all of them."""
    if free is None:
        return None
    found = np.where(leaf, 0, free[kept])
    return found if found.any() else None


def of_tests(by_node: Any, kept: np.ndarray, leaf: np.ndarray) -> Any:
    """What belongs to the tests of nodes, for those that stay; nothing in a leaf."""
    return by_node and tuple(
        () if is_leaf else by_node[old] for old, is_leaf in zip(kept, leaf, strict=True)
    )
