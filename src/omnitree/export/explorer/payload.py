"""What the explorer's page knows: one JSON object.

| field | value |
|---|---|
| `title`, `made_by` | text of the header and the footer |
| `tree` | the public tree, `Tree.to_dict`, with tests as `plain_rule` gives them |
| `kinds` | what each kind of test is called: its family, and in a few words |
| `labels` | the classes as text; one empty text where the tree answers a number |
| `categories` | of each feature the categories as text, or null |
| `share` | each node's part of its parent's weight, for rows that a missing value divides |
| `answer` | of each leaf the class probabilities, smoothing included; null beside a model |
| `shared` | by node whose leaves all have one model: null, or as `OwnFunctions` has it |
| `ranges` | of each feature that is a number its least and greatest value, or null |
| `sample` | null, or `n_rows`, `index`, `values`, `labels`, `target`, by node `views` |

A view of a node (`views[id]`) has `charts`: histograms of what the test looks at, by class,
and for a test on several features `spread`, the standard deviation of each column there.
A chart has `counts` (a list a class), and either `low`, `width` and `cut` (bins of a
number) or nothing else (one count a category; `cut` where the categories have an order).
`branch` is the branch of a linear machine that the chart sets against the others.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.schema import Schema
from omnitree.export.model import Model, NodeTest
from omnitree.export.sample import (
    Sample,
    bins_at_cut,
    cut_of,
    in_bins,
    project,
    term_values,
)
from omnitree.tree.splits import SPLITS

# Of a machine, at most so many branches get a chart of their own.
MACHINE_CHARTS = 4


def payload(
    tree: dict[str, Any],
    share: NDArray[np.float64],
    answer: NDArray[np.float64],
    sample: Sample | None,
    *,
    title: str,
    made_by: str,
    max_rows: int,
) -> dict[str, Any]:
    """Everything the page shows, in plain types; fields as the module says."""
    features = tree["schema"]["features"]
    model = Model(tree)
    leaves = [n["kind"] == "leaf" for n in tree["nodes"]]
    return {
        "title": title,
        "made_by": made_by,
        "tree": tree | {"nodes": [_with_rules(model, n) for n in tree["nodes"]]},
        "kinds": {
            kind: [cls.family or kind, cls.title or kind]
            for kind, cls in SPLITS.items()
        },
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
        "sample": None if sample is None else _sample(model, sample, max_rows),
    }


def _with_rules(model: Model, node: dict[str, Any]) -> dict[str, Any]:
    """A node whose tests are rules in plain types."""
    if node["kind"] == "leaf":
        return node
    main, *others = model.tests(node["id"])
    out = node | {"test": main.data}
    if "surrogates" in node:
        out["surrogates"] = [{"kind": t.kind, "test": t.data} for t in others]
    return out


def _ranges(model: Model, sample: Sample | None) -> list[list[float] | None]:
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
            margin = (high - low) / 2 or abs(low) / 2 or 1.0
            low, high = low - margin, high + margin
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
            if model.columns[column].category < 0:
                yield model.columns[column].feature, fill


def _sample(model: Model, sample: Sample, max_rows: int) -> dict[str, Any]:
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
            str(node): _view(model.tests(node)[0], schema, sample, model)
            for node in range(len(model.nodes))
            if not model.is_leaf(node)
        },
    }


def _view(
    test: NodeTest, schema: Schema, sample: Sample, model: Model
) -> dict[str, Any]:
    rows, weight = sample.at(test.node)
    values = sample.values[rows]
    if sample.labels is None:
        labels, n_labels = np.zeros(len(rows), dtype=np.intp), 1
    else:
        labels, n_labels = sample.labels[rows], model.n_outputs
    view: dict[str, Any] = {"charts": []}
    if not len(rows):
        return view
    if "columns" in test.data:
        spread = term_values(test.data, schema, values).std(axis=0)
        view["spread"] = _short(spread)
    feature = schema.features[test.feature] if test.can_fail else None
    if feature is not None and feature.categories:
        codes = values[:, test.feature]
        chart = _by_category(codes, labels, weight, n_labels, feature)
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


def _charted_branches(test: NodeTest, below: list[int], sample: Sample) -> list[int]:
    """Branches that get a chart: one, but of a machine the largest few."""
    if not test.is_machine:
        return [0]
    size = [-sample.at(child)[1].sum() for child in below]
    return np.argsort(size, kind="stable")[:MACHINE_CHARTS].tolist()


def _by_category(codes, labels, weight, n_labels: int, feature) -> dict[str, Any]:
    known = ~np.isnan(codes)
    counts = np.zeros((n_labels, len(feature.categories)))
    np.add.at(counts, (labels[known], codes[known].astype(np.intp)), weight[known])
    return {"counts": [_short(c) for c in counts]}


def _by_bin(z, cut: float, labels, weight, n_labels: int) -> dict[str, Any]:
    edges = bins_at_cut(z, cut)
    counts = in_bins(z, edges, labels, weight, n_labels)
    return {
        "low": float(edges[0]),
        "width": float(edges[1] - edges[0]),
        "cut": cut,
        "counts": [_short(c) for c in counts],
    }


def _short(values: NDArray[np.float64]) -> list[float]:
    """Numbers for a picture: six digits, whole ones without a point."""
    short = [float(f"{v:.6g}") for v in values.tolist()]
    return [int(v) if v.is_integer() else v for v in short]
