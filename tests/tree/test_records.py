"""Nodes on their way into a tree: what is let in, and what is refused."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from tests.trees import SCHEMA, random_tree

from omnitree.tree.records import NodeRecord, check_records, read_tree
from omnitree.tree.splits import SPLITS, AxisSplit
from omnitree.tree.tree import tree_from_nodes

LEAVES = [NodeRecord(0, [2.0, 0.0]), NodeRecord(0, [1.0, 3.0])]
ROOT = NodeRecord(-1, [3.0, 3.0], AxisSplit(0, 1.5), [1, 2])


@pytest.mark.parametrize("seed", range(10))
def test_read_as_written(seed):
    tree = random_tree(np.random.default_rng(seed), tuple(SPLITS))
    schema, classes, records = read_tree(tree.to_dict())
    assert (schema, classes) == (tree.schema, tree.classes)
    for i, record in enumerate(records):
        assert record.parent == tree.parent[i]
        assert record.model == tree.model(i)
        assert record.split == (tree.split(i) if tree.kind[i] else None)
    assert tree_from_nodes(schema, classes, records).to_dict()["nodes"] == [
        {k: v for k, v in node.items() if "importance" not in k}
        for node in tree.to_dict()["nodes"]
    ]


@pytest.mark.parametrize(
    ("where", "field", "value", "word"),
    [
        (0, "parent", 2, "root has a parent"),
        (0, "children", [1], "2 branches"),
        (0, "children", [2, 1], "adjacent"),
        (0, "children", [2, 3], "below the number"),
        (1, "parent", 1, "not a child"),
        (1, "children", [2], "has children"),
        (1, "value", [1.0], "one count a class"),
        (1, "value", [-1.0, 0.0], "not negative"),
        (1, "value", [np.inf, 0.0], "not negative"),
        (0, "split", AxisSplit(99, 1.5), "not in the schema"),
        (0, "split", AxisSplit(1, 1.5), "categorical"),
        (0, "split", AxisSplit(0, np.nan), "infinite"),
        (0, "split", AxisSplit(0, 1.5, missing=2), "missing branch"),
    ],
)
def test_damage_is_refused(where, field, value, word):
    nodes = deepcopy([ROOT, *LEAVES])
    check_records(SCHEMA, 2, nodes)
    setattr(nodes[where], field, value)
    with pytest.raises(ValueError, match=word):
        check_records(SCHEMA, 2, nodes)


def test_numbers_need_an_answer_and_its_loss():
    leaf = NodeRecord(-1, [2.0], constant=1.0, loss=0.5)
    check_records(SCHEMA, 0, [leaf])
    for change in ({"constant": None}, {"loss": -1.0}, {"loss": None}):
        with pytest.raises(ValueError, match="must be a number"):
            check_records(SCHEMA, 0, [NodeRecord(**(vars(leaf) | change))])
