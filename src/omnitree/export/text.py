"""The tree in words, for a terminal. Reads the public dict of `Tree.to_dict`.

Tests on one feature and short sums are written in the lines of their branches. A longer sum
gets a name first (the sums of a machine get those of its classes), to which the branches
refer; its numbers are measured from their means. Where the tree records why a node has its
kind of test, a line says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omnitree.data.plain import one_line
from omnitree.export.candidates import candidate_text
from omnitree.export.lines import (
    MODEL_TERMS,
    WIDTH,
    broken,
    case_note,
    category_note,
    lines_below,
    model_lines,
    named,
    pieces,
)
from omnitree.export.model import Model, branch_names
from omnitree.export.numbers import number
from omnitree.export.probabilities import probability_lines, probability_notes
from omnitree.export.shifted_scores import shared_scores
from omnitree.export.words import (
    MOST_TERMS,
    Sides,
    branch_text,
    counted,
    largest,
    model_kind,
    rows_text,
    sum_name,
    sums_of,
    weight_text,
)
from omnitree.tree.splits import SPLITS

# A sum up to this length is repeated in both branches, if their lines have room.
SHORT_SUM = 60
# Lists of categories are cut off here.
LONGEST_LIST = 120
INDENT = "|   "
# Standard errors below which a lead is called close where the tree does not say.
CLOSE = 1.0
# Levels that are indented; below them a line begins with its level.
DEEPEST = 30


def describe(
    tree: dict[str, Any],
    standardised: bool = False,
    shares: bool = False,
    full: bool = False,
    outputs: Sequence[Sequence[float]] | None = None,
    loss: str = "",
) -> str:
    """Indented text: a line for each branch, with the answer and the rows of leaves.

    Options are as for the estimators' `describe`; `standardised` needs `deviations` in the
    tree. `outputs` are what the nodes answer, by default from their counts; `loss` says
    what the loss of a tree for numbers is.
    """
    writer = TextWriter(Model(tree, outputs), standardised, shares, full, loss)
    # A stack of lines, and of nodes whose lines are still to write.
    stack: list[Any] = list(reversed(writer.title()))
    lines = []
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            lines.append(one_line(item))
        else:
            stack.extend(reversed(writer.below(*item)))
    return "\n".join(lines)


class TextWriter:
    def __init__(self, model: Model, standardised, shares, full, loss):
        self.model, self.tree, self.nodes = model, model.tree, model.nodes
        self.classes, self.labels = model.classes, model.labels
        self.shares, self.loss = shares, loss
        self.scores = shared_scores(self.nodes)
        self.shifted = {leaf: s for s in self.scores.values() for leaf in s.shifts}
        rich = any(not self.model.tests(i)[0].can_fail for i in self.model.inner)
        deviations = self.tree.get("deviations")
        if standardised and rich and not deviations:
            raise ValueError(
                "this tree has no deviations of its columns: fit it with this omnitree"
            )
        self.scale = deviations if standardised else None
        self.terms = None if full else MODEL_TERMS
        self.options = {
            "deviations": deviations,
            "standardised": standardised,
            "most": None if full else MOST_TERMS,
            "ranges": self.tree.get("ranges"),
        }

    def title(self) -> list[Any]:
        """The first lines, and the root."""
        leaves = sum(n["kind"] == "leaf" for n in self.nodes)
        what = f"{len(self.classes)} classes" if self.classes else "a number"
        size = f"{len(self.nodes)} nodes, {leaves} leaves"
        lines = [f"{size if len(self.nodes) > 1 else '1 leaf'}, {what}"]
        if self.loss:
            lines.append(f"loss: {self.loss} of the training rows")
        if self.scale:
            lines.append("z(x): x in units of its standard deviation")
        lines += [*category_note(self.model), *case_note(self.model)]
        lines += probability_notes(self.model)
        if len(self.nodes) == 1:
            return [*lines, *self._branch("always", 0, 0)]
        return [*lines, (0, 0)]

    def below(self, at: int, level: int) -> list[Any]:
        """A decision node: what its test computes, why, its branches and their nodes."""
        node, pad = self.nodes[at], _pad(level)
        before, conditions = self._conditions(node, level)
        lines: list[Any] = []
        if at in self.scores:
            lines.append(pad + self.scores[at].title())
            record = {"model": self.scores[at].model}
            inside = pad + "  "
            lines += model_lines(record, self.tree, inside, self.scale, self.terms)
        lines += before
        lines += probability_lines(self.model, at, pad, self.terms, **self.options)
        lines += _why(node, pad)
        for child, condition in zip(node["children"], conditions, strict=True):
            lines += self._branch(condition, child, level)
        return lines

    def _branch(self, condition: str, child: int, level: int) -> list[Any]:
        node, pad = self.nodes[child], _pad(level)
        if node["kind"] != "leaf":
            return [pad + condition, (child, level + 1)]
        line = f"{pad}{condition}: {self._leaf(child)}{reliability_text(node)}"
        if child in self.shifted or self.model.is_told_above(child):
            return [line]
        inside = _pad(level + 1)
        return [line, *model_lines(node, self.tree, inside, self.scale, self.terms)]

    def _conditions(
        self, node: dict[str, Any], level: int
    ) -> tuple[list[str], list[str]]:
        """Lines that name sums, and the condition of each branch."""
        pad = _pad(level)
        test, schema = self.model.tests(node["id"])[0], self.tree["schema"]
        branches = range(len(node["children"]))
        if test.can_fail:
            longest = None if self.terms is None else LONGEST_LIST
            return [], [branch_text(test, b, schema, longest=longest) for b in branches]
        found = sums_of(test, schema, **self.options)
        if isinstance(found, Sides):
            plain = sums_of(test, schema, **self.options | {"most": None})
            assert isinstance(plain, Sides)
            inside = plain.conditions()
            short = len(" ".join(plain.terms)) <= SHORT_SUM and "knots" not in test.data
            named_below = self.model.shared.get(node["id"]) is not None
            if short and not named_below and self._fit(inside, node["children"], level):
                return [], inside
            name = sum_name(node["id"])
            lines = broken(f"{name} = ", found.terms, pad)
            return lines, found.conditions(name)
        names = branch_names([self.labels[c] for c in node["children"]], self.classes)
        lines = [pad + self._machine(node), *named(names, found.terms, pad + "  ")]
        lines += lines_below(found.below, pad + "  ")
        return lines, [largest(b, names) for b in branches]

    def _machine(self, node: dict[str, Any]) -> str:
        """What a machine does with its scores."""
        below = node["children"]
        answers = {self.labels[c] for c in below} if self.classes else set()
        decides = len(answers) == len(below) and all(
            self.nodes[c]["kind"] == "leaf" and "model" not in self.nodes[c]
            for c in below
        )
        decides |= self.model.shared.get(node["id"]) is not None
        what = "predict the class" if decides else "follow the branch"
        title = SPLITS[node["kind"]].title or node["kind"]
        return f"{title}: {what} with the largest score"

    def _fit(self, conditions: list[str], children: list[int], level: int) -> bool:
        """Whether the lines of branches are short enough."""
        pairs = zip(conditions, children, strict=True)
        first = [self._branch(condition, child, level)[0] for condition, child in pairs]
        return max(map(len, first)) <= WIDTH

    def _leaf(self, at: int) -> str:
        """The answer of a leaf, and its training rows."""
        node = self.nodes[at]
        total = sum(node["value"])
        if at in self.shifted:
            return self.shifted[at].leaf(at, self.classes, total)
        model, told_above = "", self.model.is_told_above(at)
        if "model" in node and not told_above:
            model = f"by its {model_kind(node['model'])} model"
        node = self.model.spoken_for[at]
        if not self.classes:
            own, mean = self.nodes[at], number(node["constant"], 6)
            return f"{model or 'mean ' * told_above + mean} ({rows_text(own)})"
        if model:
            return f"{model}, the largest score decides ({counted(total)})"
        counts, answer = node["value"], self.classes[self.labels[at]]
        if told_above and self.model.shared[self.model.above(at)] is None:
            answer = f"mostly {answer}"
        if self.shares:
            pairs = zip(self.classes, counts, strict=True)
            parts = [f"{c} {v / sum(counts):.1%}" for c, v in pairs if v]
            return f"{answer} ({counted(total)}: {', '.join(parts)})"
        wrong = total - counts[self.labels[at]] if total else 0.0
        tail = f", {weight_text(wrong)} wrong" if wrong > 1e-6 else ""
        return f"{answer} ({counted(total)}{tail})"


def _pad(level: int) -> str:
    """What a line of some level begins with."""
    return INDENT * min(level, DEEPEST) + f"[{level}] " * (level > DEEPEST)


def reliability_text(node: dict[str, Any]) -> str:
    """How often held-out rows of a leaf were right, with the interval; empty if unknown.

    Examples
    --------
    >>> reliability_text({"held_out": {"right": 0.72, "low": 0.64, "high": 0.79}})
    '; held out: 72 % right (64 to 79)'
    """
    found = node.get("held_out")
    if found is None:
        return ""
    right, low, high = (100 * found[name] for name in ("right", "low", "high"))
    return f"; held out: {right:.0f} % right ({low:.0f} to {high:.0f})"


def _why(node: dict[str, Any], pad: str) -> list[str]:
    """Why the test is of its kind: what was thought of it, then of the others."""
    found = [c for c in node.get("candidates", []) if c["score"] is not None]
    chosen = [c for c in found if c["chosen"]]
    if len(found) < 2 or not chosen:
        return []
    (own,) = chosen
    se = own.get("se", CLOSE)
    is_share = own["criterion"] == "error"

    def score(candidate: dict[str, Any]) -> str:
        value = candidate["score"]
        return f"{100 * value:.1f} %" if is_share else number(value)

    def told(others: list[dict[str, Any]]) -> list[str]:
        parts = []
        for other in others:
            less = ""
            if other["score"] < own["score"]:
                clear = not is_share and other.get("behind", 0.0) <= -se
                less = f" but {'more errors or little saved' if clear else 'no clear gain'}"
            parts.append(f"{_candidate(other)} {score(other)}{less},")
        return parts

    # The same test with all of its terms is no other choice.
    twin = own["learner"].removeprefix("sparse ")
    others = [c for c in found if not c["chosen"]]
    near = [c for c in others if c["learner"] != twin and abs(c.get("behind", se)) < se]
    parts = told([c for c in others if c not in near])
    if near:
        apart = "a standard error" if se == 1 else f"{se:g} standard errors"
        begin = f"a close choice, within {apart}:"
        parts = [
            *(f"{p[:-1]};" if p is parts[-1] else p for p in parts),
            begin,
            *told(near),
        ]
    parts[0] = f"({parts[0]}"
    parts[-1] = f"{parts[-1][:-1]})"
    name = "held-out error" if is_share else own["criterion"] or "score"
    article = "an" if name[0] in "AEIOaeio" else "a"
    head = f"{_candidate(own)}: chosen for {article} {name} of {score(own)}"
    return broken("", pieces([head, *parts], pad, 4), pad, 4)


def _candidate(candidate: dict[str, Any]) -> str:
    """What a candidate is called."""
    return candidate_text(candidate["learner"], candidate["kind"])
