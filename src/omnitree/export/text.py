"""The tree in words, for a terminal. Reads the public dict of `Tree.to_dict`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

SMALL_RULE = (
    8  # terms up to which a machine's branch is shown as a rule of inequalities
)


def describe(tree: dict[str, Any]) -> str:
    """Indented text: one line a branch, with the class and the counts of leaves.

    Parameters
    ----------
    tree : dict
        As `Tree.to_dict` gives it.
    """
    nodes, classes = tree["nodes"], tree["classes"]
    leaves = sum(n["kind"] == "leaf" for n in nodes)
    if nodes[0]["kind"] == "leaf":
        return (
            f"1 leaf, {len(classes)} classes\nalways{_leaf(nodes[0], nodes, classes)}"
        )
    lines = [f"{len(nodes)} nodes, {leaves} leaves, {len(classes)} classes"]
    # A stack of branches to print: (node, indent, text of the test).
    stack = list(reversed(list(_branches(nodes[0], 0, tree))))
    while stack:
        at, depth, test = stack.pop()
        node = nodes[at]
        end = _leaf(node, nodes, classes) if node["kind"] == "leaf" else ""
        lines.append("|   " * depth + test + end)
        if node["kind"] != "leaf":
            stack.extend(reversed(list(_branches(node, depth + 1, tree))))
    return "\n".join(lines)


def _branches(
    node: dict[str, Any], depth: int, tree: dict[str, Any]
) -> Iterator[tuple[int, int, str]]:
    for b, child in enumerate(node["children"]):
        yield child, depth, branch_text(node["kind"], node["test"], b, tree["schema"])


def branch_text(kind: str, test: dict[str, Any], b: int, schema: dict[str, Any]) -> str:
    """Condition of branch `b` of a test, in the user's names."""
    features = schema["features"]
    if kind == "axis":
        feature = features[test["feature"]]
        sign = "<=" if b == test["low"] else ">"
        if feature["kind"] == "ordered":
            symbol = feature["categories"][int(test["threshold"])]
            return f"{feature['name']} {sign} {symbol}"
        return f"{feature['name']} {sign} {test['threshold']:.6g}"
    if kind in ("multiway", "subset"):
        feature = features[test["feature"]]
        symbols = [
            str(c)
            for c, to in zip(feature["categories"], test["branch"], strict=True)
            if to == b
        ]
        if len(symbols) == 1:
            return f"{feature['name']} = {symbols[0]}"
        return f"{feature['name']} in {{{', '.join(symbols)}}}"
    names = [_column_name(c, features) for c in test["columns"]]
    if kind == "linear":
        return f"{_sum(test['weights'], names)} {_side(b)} {test['threshold']:.6g}"
    if kind == "quadratic":
        terms = [
            names[i] if j < 0 else f"{names[i]} {names[j]}" for i, j in test["terms"]
        ]
        return f"{_sum(test['weights'], terms)} {_side(b)} {test['threshold']:.6g}"
    if kind == "machine" and len(names) * (len(test["bias"]) - 1) <= SMALL_RULE:
        # Imported here: few trees need the linear programmes.
        from omnitree.export.machine_rules import machine_rules, rule_text

        return rule_text(machine_rules({"kind": kind, "test": test}, schema)[b])
    if kind == "machine":
        weighted = _sum(test["weights"][b], names)
        return f"g{b} largest, g{b} = {weighted} {test['bias'][b]:+.6g}"
    return f"network({', '.join(names)}) {_side(b)} 0"


def _side(b: int) -> str:
    return "<=" if b == 0 else ">"


def _column_name(column: int, features: list[dict[str, Any]]) -> str:
    """Name of an encoded column: numbers have one, symbols one each (two share one)."""
    at = 0
    for feature in features:
        symbols = feature["categories"] or []
        if feature["kind"] in ("numeric", "ordered"):
            width, labels = 1, [feature["name"]]
        elif len(symbols) == 2:
            width, labels = 1, [f"[{feature['name']} = {symbols[1]}]"]
        else:
            width = len(symbols) if len(symbols) > 2 else 0
            labels = [f"[{feature['name']} = {s}]" for s in symbols]
        if column < at + width:
            return labels[column - at]
        at += width
    raise ValueError(f"no encoded column {column}")


def _sum(weights: list[float], names: list[str]) -> str:
    terms = [
        f"{'-' if w < 0 else '+'} {abs(w):.4g} {n}"
        for w, n in zip(weights, names, strict=True)
    ]
    text = " ".join(terms)
    return text[2:] if text.startswith("+ ") else text


def _leaf(node: dict[str, Any], nodes: list[dict[str, Any]], classes: list[Any]) -> str:
    counts = node["value"]
    while not sum(counts):  # no training row came here: the nearest ancestor decides
        node = nodes[node["parent"]]
        counts = node["value"]
        if sum(counts):
            best = max(range(len(classes)), key=counts.__getitem__)
            return f": {classes[best]} (0)"
    best = max(range(len(classes)), key=counts.__getitem__)
    total = sum(counts)
    wrong = total - counts[best]
    tail = f"/{wrong:.6g}" if wrong > 1e-9 else ""
    return f": {classes[best]} ({total:.6g}{tail})"
