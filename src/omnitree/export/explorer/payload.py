"""What the explorer's page knows: one JSON object.

| field | value |
|---|---|
| `title`, `made_by` | text of the header and the footer |
| `tree` | the public tree, `Tree.to_dict`, tests as `NodeTest.table`, candidates in words |
| `kinds` | what each kind of test is called: its family, and in a few words |
| `palette` | of each class a colour; of a tree for numbers, of many branches |
| `labels` | the classes as text; one empty text where the tree answers a number |
| `categories` | of each feature the categories as text, or null |
| `share` | each node's part of its parent's weight, for rows that a missing value divides |
| `answer` | of each leaf the class probabilities, smoothing included; null beside a model |
| `shared` | by node whose leaves all have one model: null, or as `OwnFunctions` has it |
| `ranges` | of each feature that is a number its least and greatest value, or null |
| `hints` | of each node a line of words |
| `figures` | `parameters`; over all rows, share `wrong` and root mean squared `loss` |
| `compare` | only beside another tree: this object for the other one |
| `agreement` | only then: of how many `rows` the answers are the `same`, and so on |
| `sample` | null, or `n_rows`, `index`, `values`, `labels`, `target`, by node `views` |

Only leaves have a `model` here; one that an earlier leaf has too is that leaf's number.

A view of a node (`views[id]`) has `charts`: histograms of what the test looks at, by class,
and for a test of weighted sums `spread`, the standard deviation of each term there. Of
a test, or a leaf's model, with curves it has `curves`: of each the rows as a chart without a
cut, and the weight of rows whose cell is `missing`.
A chart has `counts` (a list per class), and either `low`, `width` and `cut` (bins of a
number) or nothing else (one count per category; `cut` where the categories have an order).
`branch` is the branch of a linear machine that the chart sets against the others.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.plain import one_line
from omnitree.data.schema import Schema
from omnitree.export.candidates import candidate_text
from omnitree.export.model import Model, NodeTest
from omnitree.export.palette import class_colours
from omnitree.export.sample import (
    ShownRows,
    bins_at_cut,
    cut_of,
    in_bins,
    in_categories,
    project,
    term_values,
)
from omnitree.export.words import counted, subject_text
from omnitree.tree.splits import SPLITS

# Of a machine, at most so many branches get a chart of their own.
MACHINE_CHARTS = 4
# Terms of a sum that a line of words has.
HINT_TERMS = 3
LARGEST = sys.float_info.max


def payload(
    tree: dict[str, Any],
    share: NDArray[np.float64],
    answer: NDArray[np.float64],
    sample: ShownRows | None,
    *,
    figures: dict[str, float | None],
    title: str,
    made_by: str,
    max_rows: int,
) -> dict[str, Any]:
    """Everything the page shows, in plain types; fields as the module says."""
    features = tree["schema"]["features"]
    model = Model(tree)
    leaves = [n["kind"] == "leaf" for n in tree["nodes"]]
    shown: dict[str, int] = {}  # the first leaf of each model
    return {
        "title": title,
        "made_by": made_by,
        "tree": tree | {"nodes": [_with_rules(model, n, shown) for n in tree["nodes"]]},
        "kinds": {
            kind: [cls.family or kind, cls.title or kind]
            for kind, cls in SPLITS.items()
        },
        "palette": class_colours(max(len(model.classes), 20)),
        "labels": [str(c) for c in tree.get("classes", [""])],
        "categories": [
            [str(c) for c in f["categories"]] if f["categories"] else None
            for f in features
        ],
        "share": share.tolist(),
        "answer": [
            a if leaf and "model" not in node else None
            for a, leaf, node in zip(
                answer.tolist(), leaves, tree["nodes"], strict=True
            )
        ],
        "shared": {
            str(node): None if own is None else asdict(own)
            for node, own in model.shared.items()
        },
        "ranges": _ranges(model, sample),
        "hints": [_hint(model, node) for node in range(len(model.nodes))],
        "figures": figures,
        "sample": None if sample is None else _sample(model, sample, max_rows),
    }


def _with_rules(
    model: Model, node: dict[str, Any], shown: dict[str, int]
) -> dict[str, Any]:
    """A node whose tests are rules in plain types, and with what the page asks for."""
    left_out = {"importance", "model_importance"}
    if node["kind"] != "leaf":
        left_out.add("model")  # what it would answer if it were pruned
    out = {key: value for key, value in node.items() if key not in left_out}
    if "candidates" in node:
        out["candidates"] = [
            c | {"learner": candidate_text(c["learner"], c["kind"])}
            for c in node["candidates"]
        ]
    if node["kind"] == "leaf":
        if "model" in node:
            first = shown.setdefault(json.dumps(node["model"]), node["id"])
            if first != node["id"]:
                out["model"] = first
        return out
    main, *others = model.tests(node["id"])
    out["test"] = main.table
    if "surrogates" in node:
        out["surrogates"] = [{"kind": t.kind, "test": t.table} for t in others]
    return out


def _hint(model: Model, node: int) -> str:
    """What a node does, in a line."""
    rows = counted(sum(model.nodes[node]["value"]))
    if not model.is_leaf(node):
        words = subject_text(model.tests(node)[0], model.tree, HINT_TERMS)
    elif model.numeric:
        words = f"{model.outputs[node][0]:.6g}"
    else:
        words = str(model.classes[model.labels[node]])
    return one_line(f"{words} · {rows}")


def _ranges(model: Model, sample: ShownRows | None) -> list[list[float] | None]:
    """How far each number goes: in the rows, else around what the tests mention."""
    features = model.features
    known: list[list[float]] = [[] for _ in features]
    if sample is None:
        for feature, value in _mentioned(model):
            known[feature].append(value)
    else:
        for j, column in enumerate(sample.values.T):
            column = column[~np.isnan(column)]
            known[j] = [float(column.min()), float(column.max())] if len(column) else []
    out: list[list[float] | None] = []
    for feature, values in zip(features, known, strict=True):
        if feature["kind"] != "numeric":
            out.append(None)
            continue
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        if sample is None or low == high:
            margin = (high / 2 - low / 2) or abs(low) / 2 or 1.0
            low, high = max(low - margin, -LARGEST), min(high + margin, LARGEST)
        out.append([low, high])
    return out


def _mentioned(model: Model):
    """Pairs (feature, value) that tests and models name: thresholds and fills."""
    for test in model.all_tests:
        if test.can_fail:
            if "threshold" in test.data:
                yield test.feature, test.data["threshold"]
            continue
        for column, fill in zip(test.columns, test.fill, strict=True):
            if model.columns[column].category < 0 and fill is not None:
                yield model.columns[column].feature, fill
        bends = (test.data.get(name, ()) for name in ("curve_columns", "knots"))
        for column, knots in zip(*bends, strict=True):
            yield model.columns[column].feature, knots[0]
            yield model.columns[column].feature, knots[-1]


def _sample(model: Model, sample: ShownRows, max_rows: int) -> dict[str, Any]:
    schema = Schema.from_dict(model.tree["schema"])
    # Evenly spread, so that files sorted by class show all classes.
    n = min(sample.n_rows, max_rows)
    index = (np.arange(n) * sample.n_rows) // max(n, 1)
    rows = [[None if v != v else v for v in r] for r in sample.values[index].tolist()]
    return {
        "n_rows": sample.n_rows,
        "index": index.tolist(),
        "values": rows,
        "labels": None if sample.labels is None else sample.labels[index].tolist(),
        "target": None if sample.target is None else sample.target[index].tolist(),
        "views": {
            str(node): view
            for node in range(len(model.nodes))
            if (view := _view(node, schema, sample, model)) is not None
        },
    }


def _view(
    node: int, schema: Schema, sample: ShownRows, model: Model
) -> dict[str, Any] | None:
    """What the page knows of the rows at a node; None of a leaf without curves."""
    test = model.model(node) if model.is_leaf(node) else model.tests(node)[0]
    if test is None or (model.is_leaf(node) and "knots" not in test.data):
        return None
    rows, weight = sample.at(node)
    values = sample.values[rows]
    if sample.labels is None:
        labels, n_labels = np.zeros(len(rows), dtype=np.intp), 1
    else:
        labels, n_labels = sample.labels[rows], model.n_outputs
    view: dict[str, Any] = {"charts": []}
    if not len(rows):
        return view
    if "knots" in test.data:
        features = schema.linear_columns()[0][test.data["curve_columns"]]
        view["curves"] = [
            _under_curve(values[:, j], labels, weight, n_labels) for j in features
        ]
    if model.is_leaf(node):
        return view
    if "weights" in test.data:
        view["spread"] = _short(_spread(term_values(test.data, schema, values)))
    feature = schema.features[test.feature] if test.can_fail else None
    if feature is not None and feature.categories:
        codes, shape = values[:, test.feature], (n_labels, len(feature.categories))
        counts = in_categories(codes, labels, weight, shape)
        chart: dict[str, Any] = {"counts": [_short(c) for c in counts]}
        if "threshold" in test.data:
            chart["cut"] = cut_of(test)
        view["charts"].append(chart)
        return view
    below = model.children(test.node)
    for branch in _charted_branches(test, below, sample):
        z = project(test, schema, values, branch)
        known = np.isfinite(z)
        if not known.any():
            continue
        chart = _by_bin(z[known], cut_of(test), labels[known], weight[known], n_labels)
        if test.is_machine:
            chart["branch"] = branch
        view["charts"].append(chart)
    return view


def _spread(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard deviation of each column, however large its numbers are."""
    x = np.clip(x, -LARGEST, LARGEST)
    unit = np.abs(x).max(axis=0)
    unit[unit == 0] = 1.0
    return unit * (x / unit).std(axis=0)  # squares of the numbers might be infinite


def _charted_branches(test: NodeTest, below: list[int], sample: ShownRows) -> list[int]:
    """Branches that get a chart: one, but of a machine the largest few."""
    if not test.is_machine:
        return [0]
    size = [-sample.at(child)[1].sum() for child in below]
    return np.argsort(size, kind="stable")[:MACHINE_CHARTS].tolist()


def _by_bin(z, cut: float, labels, weight, n_labels: int) -> dict[str, Any]:
    edges = bins_at_cut(z, cut)
    counts = in_bins(z, edges, labels, weight, n_labels)
    return {
        "low": float(edges[0]),
        "width": float(np.diff(edges).max()),
        "cut": cut,
        "counts": [_short(c) for c in counts],
    }


def _under_curve(x, labels, weight, n_labels: int) -> dict[str, Any]:
    known = np.isfinite(x)
    missing = {"missing": _short(weight[~known].sum(keepdims=True))[0]}
    if not known.any():
        return missing
    middle = float(np.median(x[known]))
    chart = _by_bin(x[known], middle, labels[known], weight[known], n_labels)
    del chart["cut"]
    return chart | missing


def _short(values: NDArray[np.float64]) -> list[float]:
    """Numbers for a picture: six digits, whole ones without a point."""
    short = [float(f"{v:.6g}") for v in values.tolist()]
    return [int(v) if v.is_integer() else v for v in short]
