"""Sums over several lines, under their names: those of tests, machines and models.

Used where a tree is written for people: `describe` and rules, and for models in dot.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from omnitree.export.case_words import NOTE, Line
from omnitree.export.model import Model
from omnitree.export.plain import plain_test
from omnitree.export.words import MOST_TERMS, Sides, SumWriter, sum_name, sums_of
from omnitree.tree.shared_models import flat_weights

# Lines are broken between terms; where a name is long, or a tree deep, they are longer.
WIDTH = 88
NARROWEST = 48
# Terms of a leaf's model that are shown, the largest ones.
MODEL_TERMS = 5


def category_note(model: Model) -> list[str]:
    """What categories count in sums, if some sum has any."""
    if not any(column.category >= 0 for column in model.columns):
        return []
    tests = [model.tests(i)[0].data for i in model.inner if not _is_alone(model, i)]
    tests += [node["model"] for node in model.nodes if "model" in node]
    used = {c for test in tests for c in test.get("columns", ())}
    if not any(model.columns[c].category >= 0 for c in used):
        return []
    return ["[x = y]: 1 if x is y, else 0"]


def case_note(model: Model) -> list[str]:
    """What likeness is, if some test or model has cases."""
    return [NOTE] if any(test.cases is not None for test in model.all_tests) else []


def _is_alone(model: Model, node: int) -> bool:
    """Whether the test of a node is told as one of a feature, not as a sum."""
    test = model.tests(node)[0]
    if len(test.data.get("columns", ())) != 1 or model.shared.get(node) is not None:
        return False
    found = sums_of(test, model.tree["schema"])
    return isinstance(found, Sides) and found.alone is not None


def model_lines(
    node: dict[str, Any],
    tree: dict[str, Any],
    pad: str,
    scale: Any = None,
    most: int | None = MODEL_TERMS,
    names: Sequence[str] | None = None,
) -> list[str]:
    """The sums of a leaf's model, one per class, with their largest terms.

    The largest are those by weight times the column's deviation, where the tree has these.
    With `scale`, weights are those of z(column). `names` are those of the sums, by default
    of all classes.
    """
    model, deviations = node.get("model"), tree.get("deviations")
    if model is None:
        return []
    features = tree["schema"]["features"]
    plain = plain_test(model, features)
    ranges = tree.get("ranges")
    writer = SumWriter(plain, features, deviations, bool(scale), most, ranges=ranges)
    lines = plain.get("curve_values", ())
    terms = [text for _, text in writer.write(plain["weights"], plain["bias"], lines)]
    labels = [str(c) for c in tree.get("classes", [])] if names is None else names
    if len(labels) == 2 and _are_opposite(plain):
        terms[1] = ["the same with opposite signs"]
    if not labels:
        return broken("", terms[0], pad, 2) + lines_below(writer.below(), pad)
    # Sums of some classes stand below those of the test, which tells the rest.
    below = lines_below(writer.below(), pad) if names is None else []
    return named(labels, terms, pad) + below


def _are_opposite(model: dict[str, Any]) -> bool:
    """Whether one of two sums is the other with all signs turned."""
    first, second = zip(model["bias"], flat_weights(model), strict=True)
    pairs = zip((first[0], *first[1]), (second[0], *second[1]), strict=True)
    return all(a == -b for a, b in pairs)


def sum_lines(model: Model, node: int, pad: str) -> list[str]:
    """The sums of a node, whole but for cases, under their names."""
    test = model.tests(node)[0]
    found = sums_of(test, model.tree["schema"], most=MOST_TERMS if test.cases else None)
    if isinstance(found, Sides):
        return broken(f"{sum_name(node)} = ", found.terms, pad)
    return named(test.names, found.terms, pad) + lines_below(found.below, pad)


def lines_below(lines: Sequence[Line], pad: str) -> list[str]:
    """What stands below sums of cases: widths, and the cases if they are told."""
    return [text for head, words in lines for text in broken(head, words, pad, 4)]


def named(names: Sequence[str], terms: Sequence[list[str]], pad: str) -> list[str]:
    """Sums with their names, the signs of equality one below the other."""
    width = max(map(len, names))
    if width > 24:
        width = 0
    lines = []
    for name, parts in zip(names, terms, strict=True):
        lines += broken(f"{name:<{width}} = ", parts, pad)
    return lines


def broken(
    head: str, terms: Sequence[str], pad: str, indent: int | None = None
) -> list[str]:
    """A sum on lines of bearable length, continued below its first term."""
    room = max(WIDTH - len(pad), NARROWEST)
    space = " " * (min(len(head), 30) if indent is None else indent)
    lines, line = [], head + terms[0]
    for term in terms[1:]:
        if len(line) + 1 + len(term) > room:
            lines.append(pad + line)
            line = space + term
        else:
            line += f" {term}"
    return [*lines, pad + line]


def pieces(texts: Sequence[str], pad: str, indent: int) -> list[str]:
    """Texts that are broken only if one alone is too long for a line: then its words.

    A number and its percent sign stay together.

    Examples
    --------
    >>> pieces(["a line 9.0 %,", "the sum of " + "this, " * 15 + "that 9.0 %"], "", 4)[-3:]
    ['this,', 'that', '9.0 %']
    """
    room = max(WIDTH - len(pad), NARROWEST) - indent
    return [
        piece
        for text in texts
        for piece in ([text] if len(text) <= room else re.split(r" (?!%)", text))
    ]
