"""One rule per leaf, in words: conditions, class, support and confidence.

Conditions on the same feature are merged. Rules are grouped by class, those with most
support first; rules for a number are sorted by it. Every row is covered exactly once,
except for rows that a missing value divides. Where there are many tests on several features
above a leaf, its rule refers to conditions that are listed once, by node; so do rules whose
leaves shift the scores of one model.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from omnitree.data.plain import one_line
from omnitree.export.lines import case_note, category_note, model_lines, sum_lines
from omnitree.export.model import Model
from omnitree.export.probabilities import probability_lines, probability_notes
from omnitree.export.region import (
    is_told_by_sums,
    named_paths,
    path_text,
    region_text,
    regions,
)
from omnitree.export.shifted_scores import shared_scores
from omnitree.export.words import weight_text


@dataclass(frozen=True)
class Rule:
    """What holds in a leaf.

    Where it has a model, `label` is the most frequent class or the mean there. Where the
    answer is a number, `confidence` is the mean loss.
    """

    leaf: int  # its number in the tree
    conditions: list[str]  # all must hold; none for a tree without tests
    label: Any
    support: float  # weight of the training rows there
    confidence: float  # part of them that has the class


def rules(model: Model) -> list[Rule]:
    """Rules of all leaves, class by class and the best supported first."""
    found = []
    for leaf, region in regions(model):
        node, counts, best = model.nodes[leaf], model.counts[leaf], model.labels[leaf]
        support = sum(node["value"])
        if model.numeric:
            order = label = model.outputs[leaf][0]
            confidence = node["loss"] / support if support else 0.0
        else:
            order, label = best, model.classes[best]
            confidence = counts[best] / sum(counts)
        conditions = region_text(model, region)
        rule = Rule(leaf, conditions, label, support, confidence)
        found.append(((order, -support, leaf), rule))
    return [rule for _, rule in sorted(found, key=itemgetter(0))]


def to_rules(model: Model) -> str:
    """Rules as text."""
    total = sum(model.nodes[0]["value"])
    found = rules(model)
    lines = [
        f"{len(found)} rule{'s' * (len(found) > 1)} from {weight_text(total)} training rows"
    ]
    lines += [*category_note(model), *case_note(model)]
    if any(len(model.tests(i)) > 1 for i in model.inner):
        lines.append("Where a tested value is missing, surrogate tests decide.")
    if model.dividing:
        lines.append("Where a tested value is missing, several rules hold in part.")
    lines += probability_notes(model)
    for node in model.inner:
        own = model.shared.get(node)
        if own is not None or is_told_by_sums(model, model.tests(node)[0]):
            lines += ["", f"Sums of node {node}:"]
            lines += sum_lines(model, node, "  ")
        elif node in model.shared:
            lines += ["", f"Rows of node {node}:"]
        lines += probability_lines(model, node, "  ")
    scores = shared_scores(model.nodes)
    shifted = {leaf: at for at, own in scores.items() for leaf in own.shifts}
    for at, own_scores in scores.items():
        lines += ["", f"Scores of node {at}, shifted by the rules of its leaves:"]
        lines += model_lines({"model": own_scores.model}, model.tree, "  ")
    for path in named_paths(model):
        lines += ["", f"Conditions of node {path.node} on several features:"]
        lines += [f"  {text}" for text in path_text(model, path)]
    for rule in found:
        conditions = rule.conditions or ["always"]
        lines.append("")
        lines += [f"{'AND' if i else 'IF'} {text}" for i, text in enumerate(conditions)]
        told_above, above = model.is_told_above(rule.leaf), model.above(rule.leaf)
        told = told_above or rule.leaf in shifted
        leaf = {} if told else model.nodes[rule.leaf]
        sums = model_lines(leaf, model.tree, "  ")
        part = rule.support / total if total else 0.0
        support = f"support {weight_text(rule.support)} = {part:.1%}"
        if model.numeric:
            answer = "the sum" if sums else f"{rule.label:.6g}"
            if told_above:
                answer = f"the sum of node {above}"
            lines += [f"THEN {answer}  ({support}, loss {rule.confidence:.4g})", *sums]
            continue
        if rule.leaf in shifted:
            at = shifted[rule.leaf]
            shift = scores[at].shift(rule.leaf, model.classes)
            largest = f"the class with the largest score of node {at}"
            lines.append(f"THEN {largest} and shift {shift}  ({support})")
            continue
        if sums:
            lines += [f"THEN the class with the largest score  ({support})", *sums]
            continue
        mostly = "mostly " if told_above and model.shared[above] is None else ""
        lines.append(
            f"THEN {mostly}{rule.label}  ({support}, confidence {rule.confidence:.1%})"
        )
    return "\n".join(map(one_line, lines)) + "\n"
