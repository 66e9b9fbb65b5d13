"""One rule a leaf, in words: conditions, class, support and confidence.

Conditions on one feature are merged. Rules of one class stand together, the best supported
first; rules for a number ascend. They cover every row once, but for rows that a missing
value divides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnitree.export.lines import category_note, model_lines, sum_lines
from omnitree.export.model import Model, one_line
from omnitree.export.probabilities import probability_lines, probability_notes
from omnitree.export.region import is_told_by_sums, region_of, region_text
from omnitree.export.words import weight_text


@dataclass(frozen=True)
class Rule:
    """What holds in a leaf.

    Attributes
    ----------
    leaf : int
        The leaf's number in the tree.
    conditions : list of str
        All must hold; none for a tree without tests.
    label
        The class, or the number; where the leaf has a model, the most frequent class or
        the mean there.
    support : float
        Weight of the training rows there.
    confidence : float
        Part of them that has the class; their mean loss, where the answer is a number.
    """

    leaf: int
    conditions: list[str]
    label: Any
    support: float
    confidence: float


def rules(model: Model) -> list[Rule]:
    """Rules of all leaves, class by class and the best supported first."""
    found = []
    for leaf in model.leaves if model.numeric else ():
        support = sum(model.nodes[leaf]["value"])
        loss = model.nodes[leaf]["loss"] / support if support else 0.0
        conditions = region_text(model, region_of(model, leaf))
        found.append(Rule(leaf, conditions, model.outputs[leaf][0], support, loss))
    if model.numeric:
        return sorted(found, key=lambda r: (r.label, -r.support, r.leaf))
    for leaf in model.leaves:
        counts, best = model.counts[leaf], model.labels[leaf]
        found.append(
            Rule(
                leaf,
                region_text(model, region_of(model, leaf)),
                model.classes[best],
                sum(model.nodes[leaf]["value"]),
                counts[best] / sum(counts),
            )
        )
    order = {label: k for k, label in enumerate(model.classes)}
    return sorted(found, key=lambda r: (order[r.label], -r.support, r.leaf))


def to_rules(model: Model) -> str:
    """Rules as text."""
    total = sum(model.nodes[0]["value"])
    found = rules(model)
    lines = [
        f"{len(found)} rule{'s' * (len(found) > 1)} from {weight_text(total)} training rows"
    ]
    lines += category_note(model.tree)
    if any(len(model.tests(i)) > 1 for i in _inner(model)):
        lines.append("Where a tested value is missing, surrogate tests decide.")
    if model.dividing:
        lines.append("Where a tested value is missing, several rules hold in part.")
    lines += probability_notes(model)
    for node in _inner(model):
        own = model.shared.get(node)
        if own is not None or is_told_by_sums(model, model.tests(node)[0]):
            lines += ["", f"Sums of node {node}:"]
            lines += map(one_line, sum_lines(model, node, "  "))
        elif node in model.shared:
            lines += ["", f"Rows of node {node}:"]
        lines += map(one_line, probability_lines(model, node, "  "))
    for rule in found:
        conditions = [one_line(c) for c in rule.conditions] or ["always"]
        lines.append("")
        lines += [
            f"{word} {text}"
            for word, text in zip(
                ["IF", *["AND"] * len(conditions)], conditions, strict=False
            )
        ]
        told_above, above = model.is_told_above(rule.leaf), model.above(rule.leaf)
        sums = []
        if not told_above:
            sums = model_lines(model.nodes[rule.leaf], model.tree, "  ")
        part = rule.support / total if total else 0.0
        support = f"support {weight_text(rule.support)} = {part:.1%}"
        if model.numeric:
            answer = "the sum" if sums else f"{rule.label:.6g}"
            if told_above:
                answer = f"the sum of node {above}"
            lines += [f"THEN {answer}  ({support}, loss {rule.confidence:.4g})", *sums]
            continue
        if sums:
            lines += [f"THEN the class with the largest score  ({support})", *sums]
            continue
        mostly = "mostly " if told_above and model.shared[above] is None else ""
        lines.append(
            f"THEN {mostly}{one_line(rule.label)}  "
            f"({support}, confidence {rule.confidence:.1%})"
        )
    return "\n".join(lines) + "\n"


def _inner(model: Model) -> list[int]:
    return [i for i in range(len(model.nodes)) if not model.is_leaf(i)]
