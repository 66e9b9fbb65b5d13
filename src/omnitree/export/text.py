"""The tree in words, for a terminal. Reads the public dict of `Tree.to_dict`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from omnitree.export.model import MACHINES, UNIVARIATE, Model, one_line, terms_of

# Terms up to which a machine's branch is shown as a rule of inequalities.
SMALL_RULE = 8
# Terms of a sum that a short description shows.
MOST_TERMS = 8
# Terms of a leaf's model that are shown, the largest ones.
MODEL_TERMS = 5


def describe(
    tree: dict[str, Any],
    standardised: bool = False,
    shares: bool = False,
    full: bool = False,
    labels: Sequence[int] | None = None,
) -> str:
    """Indented text: one line a branch, with the class and the counts of leaves.

    Parameters
    ----------
    tree : dict
        As `Tree.to_dict` gives it.
    standardised : bool
        Show the weights of linear tests times the deviations of their columns, so that
        they can be compared; needs `deviations` in the tree.
    shares : bool
        Show the share of every class in a leaf, not only the wrong rows.
    full : bool
        Show long sums whole. Else only their largest terms are shown, each measured by
        its weight times the deviations of its columns where the tree knows them.
    labels : sequence of int, optional
        Index of the class that each node answers; from its counts if not given.
    """
    nodes, classes = tree["nodes"], tree.get("classes", [])
    if labels is None and classes:
        labels = Model(tree).labels
    answers = [classes[k] for k in labels] if labels is not None and classes else None
    leaves = sum(n["kind"] == "leaf" for n in nodes)
    terms = None if full else MODEL_TERMS
    what = f"{len(classes)} classes" if classes else "a number"
    scale = tree.get("deviations") if standardised else None
    units = ["z(x): x in units of its standard deviation"] if scale else []
    if nodes[0]["kind"] == "leaf":
        leaf = _leaf(nodes[0], nodes, answers and answers[0], classes, shares)
        lines = [f"1 leaf, {what}", *units, f"always{one_line(leaf)}"]
        return "\n".join(lines + model_lines(nodes[0], tree, "|   ", scale, terms))
    lines = [f"{len(nodes)} nodes, {leaves} leaves, {what}", *units]
    rich = any(n["kind"] not in ("leaf", *UNIVARIATE) for n in nodes)
    if standardised and rich and not scale:
        raise ValueError(
            "this tree has no deviations of its columns: fit it with this omnitree"
        )
    # A stack of branches to print: (node, indent, text of the test).
    options = {
        "deviations": tree.get("deviations"),
        "standardised": standardised,
        "most": None if full else MOST_TERMS,
    }
    stack = list(reversed(list(_branches(nodes[0], 0, tree, options))))
    while stack:
        at, depth, test = stack.pop()
        node = nodes[at]
        is_leaf = node["kind"] == "leaf"
        end = ""
        if is_leaf:
            end = _leaf(node, nodes, answers and answers[at], classes, shares)
        lines.append("|   " * depth + one_line(test + end))
        if is_leaf:
            lines += model_lines(node, tree, "|   " * (depth + 1), scale, terms)
        if not is_leaf:
            stack.extend(reversed(list(_branches(node, depth + 1, tree, options))))
    return "\n".join(lines)


def _branches(
    node: dict[str, Any], depth: int, tree: dict[str, Any], options: dict[str, Any]
) -> Iterator[tuple[int, int, str]]:
    why = _why(node)
    for b, child in enumerate(node["children"]):
        text = branch_text(node["kind"], node["test"], b, tree["schema"], **options)
        yield child, depth, text if b else text + why


def _why(node: dict[str, Any]) -> str:
    """Why the test is of its kind: the scores of all candidates, the chosen one's first."""
    found = sorted(node.get("candidates", []), key=lambda c: not c["chosen"])
    scored = [c for c in found if c["score"] is not None]
    if len(scored) < 2:
        return ""
    scores = ", ".join(f"{c['learner']} {c['score']:.4g}" for c in scored)
    return f"  [{scored[0]['criterion']}: {scores}]"


def model_lines(
    node: dict[str, Any],
    tree: dict[str, Any],
    pad: str,
    scale: Any = None,
    most: int | None = MODEL_TERMS,
) -> list[str]:
    """The sums of a leaf's model, one line a class, with their largest terms.

    The largest are those by weight times the column's deviation, where the tree has these.
    With `scale`, weights are those of z(column), as in `branch_text`.
    """
    model, deviations = node.get("model"), tree.get("deviations")
    if model is None:
        return []
    features = tree["schema"]["features"]
    names = [column_name(c, features) for c in model["columns"]]
    size = [deviations[c] if deviations else 1.0 for c in model["columns"]]
    rows = model["weights"]
    if scale:
        names = [f"z({name})" for name in names]
        rows = [[w * s for w, s in zip(row, size, strict=True)] for row in rows]
        size = [1.0] * len(size)
    lines = []
    labels = tree.get("classes", [""])
    for label, bias, weights in zip(labels, model["bias"], rows, strict=True):
        by_size = sorted(
            (j for j, w in enumerate(weights) if w),
            key=lambda j: -abs(weights[j] * size[j]),
        )
        shown = sorted(by_size[:most])
        sum_ = _sum([weights[j] for j in shown], [names[j] for j in shown])
        rest = len(by_size) - len(shown)
        more = f" + {rest} more" if rest else ""
        text = f"{label}: " if label != "" else ""
        text += f"{bias:.4g} {sum_ and '+ ' * (sum_[0] != '-') + sum_}{more}"
        lines.append(pad + one_line(text.rstrip()))
    return lines


def branch_text(
    kind: str,
    test: dict[str, Any],
    b: int,
    schema: dict[str, Any],
    deviations: Sequence[float] | None = None,
    standardised: bool = False,
    most: int | None = None,
) -> str:
    """Condition of branch `b` of a test, in the user's names.

    `deviations` are those of the encoded columns. If `standardised`, weights are those of
    z(column), the column in units of its deviation. A sum of more than `most` terms
    shows the largest of them.
    """
    features = schema["features"]
    if kind == "axis":
        feature = features[test["feature"]]
        sign = "<=" if b == test["low"] else ">"
        if feature["kind"] == "ordered":
            symbols = feature["categories"]
            cut = min(max(int(test["threshold"]), 0), len(symbols) - 1)
            return f"{feature['name']} {sign} {symbols[cut]}"
        return f"{feature['name']} {sign} {test['threshold']:.6g}"
    if kind in ("multiway", "subset"):
        feature = features[test["feature"]]
        pairs = zip(feature["categories"], test["branch"], strict=True)
        return set_text(feature["name"], [c for c, to in pairs if to == b])
    columns = [column_name(c, features) for c in test["columns"]]
    if standardised:
        columns = [f"z({name})" for name in columns]
    if kind == "network":
        rest = 0 if most is None else max(len(columns) - most, 0)
        tail = [f"... {rest} more"] if rest else []
        return f"network({', '.join(columns[:most] + tail)}) {_side(b)} 0"
    names = term_names(test, columns)
    if (
        kind in MACHINES
        and not standardised
        and len(names) * (len(test["bias"]) - 1) <= SMALL_RULE
    ):
        # Imported here: few trees need the linear programmes.
        from omnitree.export.machine_rules import machine_rules, rule_text

        return rule_text(machine_rules({"kind": kind, "test": test}, schema)[b])
    weights = test["weights"][b] if kind in MACHINES else test["weights"]
    spread = [deviations[c] if deviations else 1.0 for c in test["columns"]]
    sizes = [
        w * spread[i] * (spread[j] if j >= 0 else 1.0)
        for w, (i, j) in zip(weights, terms_of(test), strict=True)
    ]
    total = _sum(sizes if standardised else weights, names, sizes, most) or "0"
    if kind in MACHINES:
        return f"g{b} largest, g{b} = {total} {test['bias'][b]:+.6g}"
    return f"{total} {_side(b)} {test['threshold']:.6g}"


def term_names(test: dict[str, Any], columns: Sequence[str]) -> list[str]:
    """Names of the terms of a test on several features, from those of its columns."""
    names = []
    for i, j in terms_of(test):
        square = f"{columns[i]}^2" if i == j else f"{columns[i]} {columns[j]}"
        names.append(columns[i] if j < 0 else square)
    return names


def set_text(name: str, symbols: list[Any]) -> str:
    """The condition that a feature is one of some symbols."""
    if len(symbols) == 1:
        return f"{name} = {symbols[0]}"
    return f"{name} in {{{', '.join(map(str, symbols))}}}"


def _side(b: int) -> str:
    return "<=" if b == 0 else ">"


def column_name(column: int, features: list[dict[str, Any]]) -> str:
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


def _sum(
    weights: Sequence[float],
    names: Sequence[str],
    sizes: Sequence[float] = (),
    most: int | None = None,
) -> str:
    shown = list(range(len(names)))
    if most is not None and len(names) > most:
        shown = sorted(shown, key=lambda i: -abs(sizes[i]))[:most]
    terms = [
        f"{'-' if weights[i] < 0 else '+'} {abs(weights[i]):.4g} {names[i]}"
        for i in shown
    ]
    if rest := len(names) - len(shown):
        terms.append(f"+ ... ({rest} smaller term{'s' if rest > 1 else ''})")
    text = " ".join(terms)
    return text[2:] if text.startswith("+ ") else text


def rows_text(node: dict[str, Any]) -> str:
    """How many training rows a node for numbers has, and their mean loss."""
    total = sum(node["value"])
    loss = node["loss"] / total if total else 0.0
    return f"{total:.6g} row{'s' * (total != 1)}, loss {loss:.4g}"


def _number(node: dict[str, Any], nodes: list[dict[str, Any]]) -> str:
    if "model" in node:
        return "linear"
    while not sum(node["value"]):  # no training row came: the nearest ancestor decides
        node = nodes[node["parent"]]
    return f"{node['constant']:.6g}"


def _leaf(
    node: dict[str, Any],
    nodes: list[dict[str, Any]],
    answer: Any,
    classes: list[Any],
    shares: bool,
) -> str:
    total = sum(node["value"])
    if not classes:
        return f": {_number(node, nodes)} ({rows_text(node)})"
    if "model" in node:
        return f": by its model ({total:.6g})"
    while not sum(node["value"]):  # no training row came: the nearest ancestor decides
        node = nodes[node["parent"]]
    counts = node["value"]
    if shares:
        parts = [
            f"{c} {v / sum(counts):.1%}"
            for c, v in zip(classes, counts, strict=True)
            if v
        ]
        return f": {answer} ({total:.6g}: {', '.join(parts)})"
    wrong = total - counts[classes.index(answer)] if total else 0.0
    tail = f"/{wrong:.6g}" if wrong > 1e-9 else ""
    return f": {answer} ({total:.6g}{tail})"
