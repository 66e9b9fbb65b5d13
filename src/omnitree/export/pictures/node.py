"""What a node's test sees: a histogram by class with the cut, or bars a symbol.

Of a tree that answers a number: the target over what the test sees.
"""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.export.model import MACHINES, Model
from omnitree.export.pictures.canvas import axes, colours, legend, plain, shortened
from omnitree.export.sample import Sample, bins_at_cut, cut_of, in_bins, project
from omnitree.export.words import MOST_TERMS, subject_text


def plot_node(tree: dict[str, Any], at: int, sample: Sample, *, ax: Any = None) -> Any:
    """Draw the rows at a decision node as its test sees them; see `Showing.plot_node`.

    Of a machine, the discriminant of its largest branch is set against the best
    of the others.
    """
    if not 0 <= at < len(tree["nodes"]):
        raise ValueError(f"node must be 0 to {len(tree['nodes']) - 1}, not {at!r}")
    node = tree["nodes"][at]
    if node["kind"] == "leaf":
        raise ValueError(f"node {at} is a leaf and has no test")
    if sample.labels is None and sample.target is None:
        raise ValueError("plot_node needs y, the classes of the rows")
    rows, weight = sample.at(at)
    if not len(rows):
        raise ValueError(f"none of the rows comes to node {at}")
    if sample.target is not None:
        return _draw_target(tree, node, sample.values[rows], sample.target[rows], ax)
    assert sample.labels is not None
    labels, values = sample.labels[rows], sample.values[rows]
    ax = axes(ax, (6.4, 3.6))
    shades = colours(len(tree["classes"]))
    if _has_symbols(tree, node):
        _draw_symbols(ax, tree, node, values, labels, weight, shades)
    else:
        _draw_histogram(ax, tree, node, values, labels, weight, shades)
    ax.set_ylabel("rows")
    ax.set_title(f"Node {at}", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, [str(c) for c in tree["classes"]], shades)
    return ax


def _draw_target(tree, node, values, target, ax) -> Any:
    """The target over what the test sees, with the cut and the means of the branches."""
    ax = axes(ax, (6.4, 3.6))
    symbols = _has_symbols(tree, node)
    if symbols:
        feature = tree["schema"]["features"][node["test"]["feature"]]
        z = values[:, node["test"]["feature"]]
        at = np.arange(len(feature["categories"]))
        ax.set_xticks(at, [_tick(node, feature, s) for s in at.tolist()])
        ax.set_xlabel(plain(feature["name"]))
    else:
        z = project(node, Schema.from_dict(tree["schema"]), values, 0)
        ax.axvline(cut_of(node), color="black", ls="--", lw=1.2)
        ax.set_xlabel(plain(_axis_name(tree, node, 0)))
    shades = colours(len(node["children"]))
    for child, shade in zip(node["children"], shades, strict=True):
        mean = tree["nodes"][child]["constant"]
        ax.axhline(mean, color=shade, lw=1.5, label=f"node {child}: {mean:.4g}")
    ax.scatter(z, target, s=14, c="#333333", edgecolors="white", linewidths=0.4)
    ax.set_ylabel("target")
    ax.set_title(f"Node {node['id']}", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8)
    return ax


def _has_symbols(tree: dict[str, Any], node: dict[str, Any]) -> bool:
    test = node["test"]
    return "feature" in test and bool(
        tree["schema"]["features"][test["feature"]]["categories"]
    )


def _draw_histogram(ax, tree, node, values, labels, weight, shades) -> None:
    schema = Schema.from_dict(tree["schema"])
    branch = 0
    if node["kind"] in MACHINES:
        size = [sum(tree["nodes"][c]["value"]) for c in node["children"]]
        branch = int(np.argmax(size))
    z = project(node, schema, values, branch)
    known = np.isfinite(z)
    if not known.any():
        raise ValueError(f"the rows at node {node['id']} lack the tested feature")
    cut = cut_of(node)
    edges = bins_at_cut(z[known], cut)
    counts = in_bins(z[known], edges, labels[known], weight[known], len(shades))
    base = np.zeros(counts.shape[1])
    for shade, row in zip(shades, counts, strict=True):
        ax.bar(edges[:-1], row, np.diff(edges), base, align="edge", color=shade)
        base += row
    ax.axvline(cut, color="black", ls="--", lw=1.2)
    name = fill(_axis_name(tree, node, branch), 70, max_lines=3, placeholder=" …")
    ax.set_xlabel(plain(name))


def _axis_name(tree: dict[str, Any], node: dict[str, Any], branch: int) -> str:
    if node["kind"] in MACHINES:
        name = Model(tree).tests(node["id"])[0].names[branch]
        return f"score of {name} minus the largest of the others"
    return subject_text(node, tree, MOST_TERMS, whole=True)


def _draw_symbols(ax, tree, node, values, labels, weight, shades) -> None:
    feature = tree["schema"]["features"][node["test"]["feature"]]
    codes = values[:, node["test"]["feature"]]
    known = ~np.isnan(codes)
    counts = np.zeros((len(shades), len(feature["categories"])))
    np.add.at(counts, (labels[known], codes[known].astype(int)), weight[known])
    base = np.zeros(counts.shape[1])
    at = np.arange(counts.shape[1])
    for shade, row in zip(shades, counts, strict=True):
        ax.bar(at, row, 0.8, base, color=shade)
        base += row
    ax.set_xticks(at, [_tick(node, feature, s) for s in at.tolist()])
    if node["kind"] == "axis":
        ax.axvline(np.floor(cut_of(node)) + 0.5, color="black", ls="--", lw=1.2)
    ax.set_xlabel(plain(feature["name"]))


def _tick(node: dict[str, Any], feature: dict[str, Any], symbol: int) -> str:
    """A symbol and, under it, the node it leads to."""
    name = plain(shortened(str(feature["categories"][symbol]), 18))
    if node["kind"] == "axis":
        return name
    branch = node["test"]["branch"][symbol]
    return f"{name}\n→ {node['children'][branch]}" if branch >= 0 else name
