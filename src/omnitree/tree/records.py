"""Nodes on their way into a tree, and the checks that let them in.

The grower and `Tree.from_dict` hand over `NodeRecord`s; a tree is packed from them only
after `check_records` found each node reached once from a parent before it, siblings
adjacent, indices within the schema, sizes that fit and all numbers finite. `read_tree`
turns the plain form of a tree (a parsed JSON file, possibly hostile) into such records.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.tree.cases import cases_problem
from omnitree.tree.curves import curves_problem
from omnitree.tree.expression import check_sizes, feature_of
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import (
    KINDS,
    Considered,
    Split,
    all_finite,
    columns_problem,
    fields_from_dict,
    split_from_dict,
    widths_problem,
)

FORMAT = "omnitree-tree"
VERSION = 1
# What `held_out` of a node holds: a share, and the ends of its interval.
RELIABILITY = ("right", "low", "high")
# What turns the sums of a node's model into an answer, by task.
LINK = {"classification": "softmax", "regression": "identity"}
# What the numbers of nodes may be, so that nothing that is made of them overflows; those
# that `fit` lets through are smaller.
LARGEST = {"value": 1e31, "constant": 1e61, "loss": 1e152}
# The same for what tests and models add up, which cells will be multiplied with.
LARGEST_SUM = 1e170
# And for the rest: costs, importances, deviations.
LARGEST_AMOUNT = 1e160


@dataclass
class NodeRecord:
    """A node on its way into a tree."""

    parent: int
    value: Any
    split: Split | None = None
    children: Sequence[int] = ()
    model: LeafModel | None = None  # what the node answers as a leaf
    constant: float | None = (
        None  # of a tree for numbers: what it answers without model
    )
    loss: float | None = (
        None  # of a tree for numbers: of that answer, or of the model's
    )


def check_records(schema: Schema, n_classes: int, nodes: Sequence[NodeRecord]) -> None:
    """Raise ValueError where the nodes do not make a sound tree."""
    _check_structure(nodes)
    _check_values(nodes, n_classes)
    for i, node in enumerate(nodes):
        if not n_classes:
            _check(_is_number(node.constant), f"node {i}: constant must be a number")
            sound = _is_number(node.loss) and node.loss >= 0  # type: ignore[operator]
            _check(sound, f"node {i}: loss must be a number, not negative")
        if node.split is not None:
            _check_split(i, node, schema)
        if node.model is not None and (i == 0 or node.model is not nodes[i - 1].model):
            task = "classification" if n_classes else "regression"
            problem = _model_problem(node.model, schema, n_classes or 1, task)
            _check(problem is None, f"node {i}: model: {problem}")


def check_amounts(nodes: Sequence[NodeRecord]) -> None:
    """Raise ValueError where the numbers of a tree that was read are of no use.

    The root must have rows, and nothing that is made of counts, numbers and weights may
    overflow.
    """
    _check(any(nodes[0].value), "node 0: value must not be 0, the root has rows")
    for i, node in enumerate(nodes):
        for name, amount in (
            ("value", sum(node.value)),
            ("constant", abs(node.constant or 0)),
            ("loss", node.loss or 0),
        ):
            most = LARGEST[name]
            _check(amount <= most, f"node {i}: {name} is more than {most:g}")
        tests = [] if node.split is None else [node.split, *node.split.surrogates]
        rules = [test.rule for test in tests]
        sums = [rule for rule in rules if feature_of(rule) is None]
        known = i > 0 and node.model is nodes[i - 1].model
        models = () if node.model is None or known else node.model.sums
        try:
            for value in (*sums, *models):
                check_sizes(value, LARGEST_SUM)
        except ValueError as error:
            _check(False, f"node {i}: {error}")


def read_tree(data: Any) -> tuple[Schema, tuple[Any, ...], list[NodeRecord]]:
    """Schema, classes (none: for numbers) and nodes of a tree of `Tree.to_dict`."""
    _check(isinstance(data, dict), "a tree must be a JSON object")
    _check(data.get("format") == FORMAT, f"not a tree: 'format' is not {FORMAT!r}")
    version = data.get("version")
    _check(
        version == VERSION,
        f"tree version {version!r} cannot be read; this omnitree reads {VERSION}",
    )
    task = data.get("task")
    _check(isinstance(task, str) and task in LINK, "unknown task of the tree")
    schema = Schema.from_dict(data.get("schema"))
    classes = _read_classes(data) if task == "classification" else ()
    _check(bool(classes) or "classes" not in data, "a tree for numbers has no classes")
    nodes = data.get("nodes")
    _check(isinstance(nodes, list) and len(nodes) > 0, "a tree needs nodes")
    records: list[NodeRecord] = []
    for i, node in enumerate(nodes):
        records.append(_read_node(i, node))
        before = nodes[i - 1] if i else {}
        if (plain := node.get("model")) is not None:
            # Leaves below one test often have the same model: it is read once.
            known = plain == before.get("model")
            records[i].model = records[i - 1].model if known else _read_model(i, plain)
    for i, (record, node) in enumerate(zip(records, nodes, strict=True)):
        here = {"constant", "loss"} & set(node)
        _check(not (here and classes), f"node {i}: constant and loss are for numbers")
        record.constant, record.loss = node.get("constant"), node.get("loss")
    return schema, classes, records


def _read_classes(data: dict[str, Any]) -> tuple[Any, ...]:
    classes: Any = data.get("classes")
    _check(isinstance(classes, list) and len(classes) > 0, "no classes")
    _check(
        all(isinstance(c, str) for c in classes)
        or all(isinstance(c, bool) for c in classes)
        or all(_is_number(c) for c in classes),
        "classes must be all strings, all booleans or all numbers",
    )
    _check(
        all(-(2**63) <= c < 2**63 for c in classes if isinstance(c, int)),
        "classes: a whole number beyond 64 bits",
    )
    _check(len(set(classes)) == len(classes), "classes must be distinct labels")
    return tuple(classes)


def read_extras(data: dict[str, Any], schema: Schema, n_classes: int) -> dict[str, Any]:
    """What a tree may have besides its nodes, by the names of its attributes."""
    return {
        "deviation": _read_deviations(data, schema),
        "ranges": _read_ranges(data, schema),
        "costs": _read_costs(data, n_classes),
        "importance": _read_importance(data, "importance", schema),
        "model_importance": _read_importance(data, "model_importance", schema),
        "shrinkage": _read_shrinkage(data),
        "reliability": _read_reliability(data),
    }


def _read_costs(data: dict[str, Any], n_classes: int) -> list[list[float]] | None:
    """What it costs to say a class (column) for a row of another (line), if given."""
    found = data.get("costs")
    if found is None:
        return None
    _check(
        isinstance(found, list)
        and len(found) == n_classes
        and all(isinstance(line, list) and len(line) == n_classes for line in found)
        and all(_is_small(v) and v >= 0 for line in found for v in line)
        and all(found[k][k] == 0 for k in range(n_classes)),
        "costs: a line a class, a number a class in it, not negative, the own class 0",
    )
    return found


def _read_shrinkage(data: dict[str, Any]) -> float | None:
    """How many rows the shares of a node's parent count for, if the tree says so."""
    found = data.get("shrinkage")
    if found is None:
        return None
    _check(data["task"] == "classification", "shrinkage is for classes")
    _check(_is_number(found) and 1e-9 <= found <= 1e9, "shrinkage: a number above 0")
    return float(found)


def _read_reliability(data: dict[str, Any]) -> list[list[float]] | None:
    """Of each node the share of held-out rows that were right, and its interval."""
    found = [node.get("held_out") for node in data["nodes"]]
    if all(one is None for one in found):
        return None
    _check(data["task"] == "classification", "held_out is for classes")
    out = []
    for i, one in enumerate(found):
        if one is None:
            out.append([math.nan] * len(RELIABILITY))
            continue
        _check(
            isinstance(one, dict)
            and set(one) == set(RELIABILITY)
            and all(_is_number(one[name]) for name in RELIABILITY)
            and 0 <= one["low"] <= one["right"] <= one["high"] <= 1,
            f"node {i}: held_out must be a share with an interval",
        )
        out.append([float(one[name]) for name in RELIABILITY])
    return out


def _read_deviations(data: dict[str, Any], schema: Schema) -> list[float] | None:
    """Deviation of each encoded column, if the tree has them."""
    found = data.get("deviations")
    if found is None:
        return None
    _check(
        isinstance(found, list)
        and len(found) == schema.n_columns
        and all(_is_small(v) and v >= 0 for v in found),
        "deviations: one number a column, not negative",
    )
    return found


def _read_ranges(data: dict[str, Any], schema: Schema) -> list[list[float]] | None:
    """Smallest and largest value of each feature, if the tree has them."""
    found = data.get("ranges")
    if found is None:
        return None

    def is_range(ends: Any) -> bool:
        two = isinstance(ends, list) and len(ends) == 2 and all(map(_is_number, ends))
        return ends is None or (two and ends[0] <= ends[1])

    _check(
        isinstance(found, list)
        and len(found) == schema.n_features
        and all(map(is_range, found)),
        "ranges: null or two numbers, the smaller first, for each feature",
    )
    return [[math.nan, math.nan] if ends is None else ends for ends in found]


def _read_importance(
    data: dict[str, Any], name: str, schema: Schema
) -> tuple[tuple[tuple[int, float], ...], ...] | None:
    """What every node adds to the importance of features, if some node says it."""
    nodes = data["nodes"]
    if not any(name in node for node in nodes):
        return None
    for i, node in enumerate(nodes):
        pairs = node.get(name, [])
        _check(
            isinstance(pairs, list)
            and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
            and all(_is_int(j) and 0 <= j < schema.n_features for j, _ in pairs)
            and all(_is_small(amount) and amount >= 0 for _, amount in pairs),
            f"node {i}: {name} must be pairs of a feature and a number, not negative",
        )
    return tuple(
        tuple((j, float(amount)) for j, amount in node.get(name, ())) for node in nodes
    )


def _check(ok: bool, message: str) -> None:
    if not ok:
        raise ValueError(f"damaged tree: {message}")


def _read_node(i: int, node: Any) -> NodeRecord:
    _check(isinstance(node, dict), f"node {i} is no object")
    _check(node.get("id") == i, f"node {i} has the id {node.get('id')!r}")
    parent = node.get("parent")
    _check(_is_int(parent), f"node {i}: parent")
    value = node.get("value")
    _check(
        isinstance(value, list) and all(_is_number(v) for v in value),
        f"node {i}: value must be a list of numbers",
    )
    if node.get("kind") == "leaf":
        _check("test" not in node and "children" not in node, f"leaf {i} has a test")
        return NodeRecord(parent, value)
    children = node.get("children")
    _check(
        isinstance(children, list) and all(_is_int(c) for c in children),
        f"node {i}: children must be a list of node numbers",
    )
    missing = node.get("missing")
    _check(missing == "divide" or _is_int(missing), f"node {i}: missing")
    _check(_is_number(node.get("merit")), f"node {i}: merit")
    surrogates = node.get("surrogates", [])
    _check(isinstance(surrogates, list), f"node {i}: surrogates")
    free = node.get("parameters", 0)
    _check(_is_int(free) and 0 <= free < 2**31, f"node {i}: parameters")
    split = _read_test(
        i,
        node,
        merit=float(node["merit"]),
        missing=-1 if missing == "divide" else missing,
        surrogates=tuple(_read_test(i, s) for s in surrogates),
        candidates=_read_candidates(i, node.get("candidates", [])),
        free=free,
    )
    return NodeRecord(parent, value, split, children)


def _read_model(i: int, model: Any) -> LeafModel:
    _check(isinstance(model, dict), f"node {i}: model is no object")
    try:
        return fields_from_dict(LeafModel, "a model", model)
    except ValueError as error:
        raise ValueError(f"damaged tree: node {i}: {error}") from None


def _read_test(i: int, holder: Any, **rest: Any) -> Split:
    _check(
        isinstance(holder, dict) and isinstance(holder.get("test"), dict),
        f"node {i}: no test",
    )
    try:
        return split_from_dict(holder.get("kind"), holder["test"], **rest)
    except ValueError as error:
        raise ValueError(f"damaged tree: node {i}: {error}") from None


def _read_candidates(i: int, found: Any) -> tuple[Considered, ...]:
    """The tests that a node's own was chosen from."""
    optional = {"behind", "se"}
    names = {f.name for f in fields(Considered)} - optional
    _check(
        isinstance(found, list)
        and all(isinstance(c, dict) and set(c) - optional == names for c in found),
        f"node {i}: candidates must be a list of objects with {sorted(names)}",
    )
    for c in found:
        _check(
            isinstance(c["learner"], str)
            and c["kind"] in ("none", *KINDS)
            and _is_int(c["parameters"])
            and c["parameters"] >= 0
            and isinstance(c["criterion"], str)
            and (c["score"] is None or _is_number(c["score"]))
            and isinstance(c["chosen"], bool)
            and all(_is_number(c.get(name, 0.0)) for name in optional),
            f"node {i}: a damaged candidate",
        )
    _check(
        not found or sum(c["chosen"] for c in found) == 1,
        f"node {i}: one candidate must be the chosen one",
    )
    return tuple(Considered(**c) for c in found)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_small(value: Any) -> bool:
    return _is_number(value) and abs(value) <= LARGEST_AMOUNT


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


def _check_structure(nodes: Sequence[NodeRecord]) -> None:
    """Each node is reached once, from a parent before it; siblings are adjacent."""
    _check(nodes[0].parent == -1, "the root has a parent")
    reached = 1
    for i, node in enumerate(nodes):
        if node.split is None:
            _check(not node.children, f"leaf {i} has children")
            continue
        children = list(node.children)
        n = node.split.n_children
        _check(
            len(children) == n >= 2, f"node {i}: {n} branches are needed, at least 2"
        )
        _check(
            children == list(range(children[0], children[0] + n)),
            f"node {i}: children must be adjacent",
        )
        _check(
            i < children[0] and children[-1] < len(nodes),
            f"node {i}: a child's number must be above its parent's and below the number "
            "of nodes",
        )
        for child in children:
            _check(nodes[child].parent == i, f"node {child} is not a child of node {i}")
            reached += 1
    _check(reached == len(nodes), "some nodes are not reached from the root")


def _check_values(nodes: Sequence[NodeRecord], n_classes: int) -> None:
    """Counts of all classes in every node, or one weight."""
    what, width = ("one count a class", n_classes) if n_classes else ("one weight", 1)
    for i, node in enumerate(nodes):
        _check(len(node.value) == width, f"node {i}: {what} is needed")
    values = np.array([node.value for node in nodes], dtype=np.float64)
    damaged = np.flatnonzero(~((values >= 0) & np.isfinite(values)).all(axis=1))
    at = damaged[0] if len(damaged) else -1
    _check(at < 0, f"node {at}: value must hold numbers, not negative")


def _check_split(i: int, node: NodeRecord, schema: Schema) -> None:
    """Indices within the schema, sizes that fit, finite numbers."""
    split = node.split
    assert split is not None
    _check(-1 <= split.missing < split.n_children, f"node {i}: missing branch")
    for test in (split, *split.surrogates):
        _, index, weight = test.pack()
        _check(all_finite(weight), f"node {i}: infinite number")
        _check(
            test.n_children == split.n_children, f"node {i}: branches of a surrogate"
        )
        problem = test.problem(schema)
        _check(problem is None, f"node {i}: {problem}")
        _check(
            not index or (min(index) >= -(2**31) and max(index) < 2**31),
            f"node {i}: a number out of range",
        )


def _model_problem(
    model: LeafModel, schema: Schema, n_outputs: int, task: str
) -> str | None:
    """What is wrong with a model of a tree for this task, or None."""
    if model.link != LINK[task]:
        return f"link is {model.link!r}; {task} needs {LINK[task]!r}"
    if problem := columns_problem(model, schema):
        return problem
    if not len(model.bias) == len(model.weights) == n_outputs:
        return f"{n_outputs} sums are needed"
    width = len(model.pairs)
    if problem := widths_problem(model.weights, n_outputs, width):
        return problem
    numbers = (model.fill, model.bias, *model.weights)
    if not all(map(all_finite, numbers)):
        return "infinite number"
    if model.cases or model.precision or model.case_weights:
        if model.curve_columns or model.knots or model.curve_values:
            return "a model has curves or cases, not both"
        return cases_problem(model)
    lines = model.curve_values or ((),) * n_outputs
    return curves_problem(model, lines, n_outputs, schema)
