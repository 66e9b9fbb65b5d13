"""A picture of the tree in the language of Graphviz (`dot -Tsvg`).

A node with two branches shows the condition of the first, and its edges are labelled yes and
no; with more branches, each edge has its own condition. Of long sums, the largest terms are
shown; scores that several leaves shift stand at the node above them.
"""

from __future__ import annotations

from typing import Any

from omnitree.data.plain import one_line
from omnitree.export.lines import model_lines
from omnitree.export.model import Model
from omnitree.export.probabilities import probability_lines
from omnitree.export.shifted_scores import shared_scores
from omnitree.export.words import (
    MOST_TERMS,
    Sides,
    branch_text,
    counted,
    model_kind,
    rows_text,
    sum_name,
    sums_of,
    weight_text,
)

# Light colours that black text can be read on, dealt to the classes in turn.
COLOURS = ("#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#cab2d6", "#ffff99", "#cccccc")


def to_dot(model: Model) -> str:
    """A digraph."""
    lines = [
        "digraph omnitree {",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname=sans];',
        "  edge [fontname=sans];",
    ]
    options: dict[str, Any] = {
        "deviations": model.tree.get("deviations"),
        "most": MOST_TERMS,
    }
    scores = shared_scores(model.nodes)
    shifted = {leaf: at for at, own in scores.items() for leaf in own.shifts}
    for node, _ in model.walk():
        record, best = model.nodes[node], model.labels[node]
        counts = ", ".join(weight_text(v) for v in record["value"])
        rows = f"{counted(sum(record['value']))} [{counts}]"
        answer = "" if model.numeric else str(model.classes[best])
        if model.numeric:
            rows = rows_text(record)
            answer = f"{model.outputs[node][0]:.6g}"
            if "model" in record:
                answer = model_kind(record["model"])
        if model.is_leaf(node):
            told = model.is_told_above(node)
            sums = [] if told else model_lines(record, model.tree, "")
            if node in shifted:
                at = shifted[node]
                shift = scores[at].shift(node, model.classes)
                sums = [f"scores of node {at} with shift {shift}"]
            label = _text(answer, rows, *sums)
            colour = COLOURS[best % len(COLOURS)]
            lines.append(f'  n{node} [label={label}, fillcolor="{colour}"];')
            continue
        children = model.children(node)
        texts = [
            branch_text(model.tests(node)[0], b, model.tree["schema"], **options)
            for b in range(len(children))
        ]
        title = texts[0]
        if len(children) > 2:
            features = model.features_of(model.tests(node)[0])
            title = ", ".join(model.features[j]["name"] for j in features)
        else:
            texts = ["yes", "no"]
            own = model.shared.get(node)
            if own is not None and model.tests(node)[0].cases is None:
                title = _named_sum(model, node, options)
        words = probability_lines(model, node, "", **options, brief=True)
        if node in scores:
            words += [f"scores of node {node}:"]
            words += model_lines({"model": scores[node].model}, model.tree, "")
        lines.append(f"  n{node} [label={_text(title, rows, *words)}];")
        lines += [
            f"  n{node} -> n{child} [label={_text(text)}];"
            for child, text in zip(children, texts, strict=True)
        ]
    return "\n".join([*lines, "}", ""])


def _named_sum(model: Model, node: int, options: dict[str, Any]) -> str:
    """The condition of the first of two branches, under the name that words below use."""
    test = model.tests(node)[0]
    found = sums_of(test, model.tree["schema"], **options, brief=True)
    assert isinstance(found, Sides)
    condition = found.conditions(sum_name(node))[0]
    return f"{condition}, {sum_name(node)} = {' '.join(found.terms)}"


def _text(*lines: str) -> str:
    """A quoted label of some lines."""
    plain = (one_line(t).replace("\\", "\\\\").replace('"', '\\"') for t in lines)
    return '"' + "\\n".join(plain) + '"'
