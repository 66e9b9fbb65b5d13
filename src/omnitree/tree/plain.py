"""The plain form of a tree: lists, dicts, numbers and strings, ready for JSON.

`docs/tree_format.md` describes it; `records.py` reads it back.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitree.tree.leaf_models import Known
from omnitree.tree.records import FORMAT, RELIABILITY, VERSION
from omnitree.tree.routing import LEAF
from omnitree.tree.splits import KINDS, Considered

if TYPE_CHECKING:
    from omnitree.tree.tree import Tree


def plain_tree(tree: Tree) -> dict[str, Any]:
    """The tree as `Tree.to_dict` gives it."""
    out: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "task": tree.task,
        "schema": tree.schema.to_dict(),
    }
    if tree.constant is None:
        out["classes"] = list(tree.classes)
    if tree.costs is not None:
        out["costs"] = tree.costs.tolist()
    if tree.shrinkage is not None:
        out["shrinkage"] = float(tree.shrinkage)
    known: Known = {}
    out["nodes"] = [_plain_node(tree, i, known) for i in range(tree.n_nodes)]
    if tree.deviation is not None:
        out["deviations"] = tree.deviation.tolist()
    if tree.ranges is not None:
        out["ranges"] = [
            None if np.isnan(ends).any() else ends.tolist() for ends in tree.ranges
        ]
    return out


def _plain_node(tree: Tree, node: int, known: Known) -> dict[str, Any]:
    out: dict[str, Any] = {
        "id": node,
        "parent": int(tree.parent[node]),
        "kind": KINDS[tree.kind[node]],
        "value": tree.value[node].tolist(),
    }
    if tree.constant is not None and tree.loss is not None:
        out["constant"] = float(tree.constant[node])
        out["loss"] = float(tree.loss[node])
    if tree.reliability is not None and not np.isnan(tree.reliability[node, 0]):
        out["held_out"] = dict(
            zip(RELIABILITY, tree.reliability[node].tolist(), strict=True)
        )
    model = tree.model(node, known)
    if model is not None:
        out["model"] = model.to_dict()
    if tree.model_importance is not None and tree.model_importance[node]:
        out["model_importance"] = [list(p) for p in tree.model_importance[node]]
    if tree.kind[node] == LEAF:
        return out
    split = tree.split(node)
    first = int(tree.first_child[node])
    out["children"] = list(range(first, first + split.n_children))
    out["merit"] = split.merit
    out["missing"] = "divide" if split.missing < 0 else split.missing
    out["test"] = split.to_dict()
    if split.free:
        out["parameters"] = split.free
    if split.surrogates:
        out["surrogates"] = [
            {"kind": s.kind, "test": s.to_dict()} for s in split.surrogates
        ]
    if tree.importance is not None and tree.importance[node]:
        out["importance"] = [list(pair) for pair in tree.importance[node]]
    if split.candidates:
        out["candidates"] = [_candidate(c) for c in split.candidates]
    return out


def _candidate(candidate: Considered) -> dict[str, Any]:
    """A candidate in plain types; standard errors only if they were measured."""
    out = asdict(candidate)
    for name in ("behind", "se"):
        if out[name] is None:
            del out[name]
    return out
