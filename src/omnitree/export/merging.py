"""Merges leaves that share a model, for formats that run.

Where all leaves below a test share a model, it does not matter which of them a row reaches:
the test is left out, and the model is written once. The answers are the same to the last
bit. A test that divides rows stays, because the parts of an answer need not add up to it
exactly.
"""

from __future__ import annotations

from typing import Any

from omnitree.export.model import Model


def merged(model: Model) -> Model:
    """A tree that answers the same, without tests whose leaves share a model."""
    cut = set(model.shared) - model.dividing
    if not cut:
        return model
    gone = {child for node in cut for child in model.children(node)}
    kept = [i for i in range(len(model.nodes)) if i not in gone]
    place = {old: new for new, old in enumerate(kept)}
    nodes: list[dict[str, Any]] = []
    for old in kept:
        node = model.nodes[old] | {"id": place[old]}
        if old:
            node["parent"] = place[node["parent"]]
        if old in cut:
            below = model.nodes[model.children(old)[0]]
            about = ("id", "parent", "value", "constant", "loss")
            node = {name: node[name] for name in about if name in node}
            node |= {"kind": "leaf", "model": below["model"]}
        elif "children" in node:
            node["children"] = [place[child] for child in node["children"]]
        nodes.append(node)
    outputs = [model.outputs[old] for old in kept]
    return Model(model.tree | {"nodes": nodes}, outputs)
