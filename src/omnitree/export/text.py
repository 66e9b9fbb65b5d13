"""The tree in words, for a terminal. Reads the public dict of `Tree.to_dict`.

A test on one feature, and a short sum, stands in the line of its branch. A longer sum is
given a name first, the sums of a machine the names of its classes, and the branches refer
to it. Where the tree remembers why a node has its kind of test, a line says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omnitree.export.lines import (
    MODEL_TERMS,
    WIDTH,
    broken,
    category_note,
    model_lines,
    named,
)
from omnitree.export.model import Model, branch_names, one_line
from omnitree.export.probabilities import probability_lines, probability_notes
from omnitree.export.words import (
    MOST_TERMS,
    Sides,
    branch_text,
    counted,
    largest,
    model_kind,
    number,
    rows_text,
    sum_name,
    sums_of,
    weight_text,
)
from omnitree.tree.splits import SPLITS

# A sum up to this length is repeated in both branches, if their lines have room.
SHORT_SUM = 60
INDENT = "|   "


def describe(
    tree: dict[str, Any],
    standardised: bool = False,
    shares: bool = False,
    full: bool = False,
    labels: Sequence[int] | None = None,
    loss: str = "",
) -> str:
    """Indented text: a line for each branch, with the answer and the rows of leaves.

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
    loss : str
        What the loss of a tree for numbers is.
    """
    if labels is None:
        labels = Model(tree).labels
    writer = _Writer(tree, standardised, shares, full, labels, loss)
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


class _Writer:
    def __init__(self, tree, standardised, shares, full, labels, loss):
        self.tree, self.nodes, self.model = tree, tree["nodes"], Model(tree)
        self.classes = tree.get("classes", [])
        self.shares, self.labels, self.loss = shares, labels, loss
        inner = [n["id"] for n in self.nodes if n["kind"] != "leaf"]
        rich = any(not self.model.tests(i)[0].can_fail for i in inner)
        deviations = tree.get("deviations")
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
        lines += [*category_note(self.tree), *probability_notes(self.model)]
        if len(self.nodes) == 1:
            return [*lines, *self._branch("always", 0, "")]
        return [*lines, (0, "")]

    def below(self, at: int, pad: str) -> list[Any]:
        """A decision node: what its test computes, why, its branches and their nodes."""
        node = self.nodes[at]
        before, conditions = self._conditions(node, pad)
        lines: list[Any] = list(before)
        lines += probability_lines(self.model, at, pad, self.terms, **self.options)
        lines += _why(node, pad)
        for child, condition in zip(node["children"], conditions, strict=True):
            lines += self._branch(condition, child, pad)
        return lines

    def _branch(self, condition: str, child: int, pad: str) -> list[Any]:
        node = self.nodes[child]
        if node["kind"] != "leaf":
            return [pad + condition, (child, pad + INDENT)]
        line = f"{pad}{condition}: {self._leaf(child)}"
        if self.model.is_told_above(child):
            return [line]
        inside = pad + INDENT
        return [line, *model_lines(node, self.tree, inside, self.scale, self.terms)]

    def _conditions(
        self, node: dict[str, Any], pad: str
    ) -> tuple[list[str], list[str]]:
        """Lines that name sums, and the condition of each branch."""
        test, schema = self.model.tests(node["id"])[0], self.tree["schema"]
        branches = range(len(node["children"]))
        if test.can_fail:
            return [], [branch_text(test, b, schema) for b in branches]
        found = sums_of(test, schema, **self.options)
        if isinstance(found, Sides):
            inside = found.conditions()
            short = len(" ".join(found.terms)) <= SHORT_SUM
            named_below = self.model.shared.get(node["id"]) is not None
            if short and not named_below and self._fit(inside, node["children"], pad):
                return [], inside
            name = sum_name(node["id"])
            lines = broken(f"{name} = ", found.terms, pad)
            return lines, found.conditions(name)
        names = branch_names([self.labels[c] for c in node["children"]], self.classes)
        rule = self._machine(node)
        return (
            [pad + rule, *named(names, found.terms, pad + "  ")],
            [largest(b, names) for b in branches],
        )

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

    def _fit(self, conditions: list[str], children: list[int], pad: str) -> bool:
        """Whether the lines of branches are short enough."""
        pairs = zip(conditions, children, strict=True)
        first = [self._branch(condition, child, pad)[0] for condition, child in pairs]
        return max(map(len, first)) <= WIDTH

    def _leaf(self, at: int) -> str:
        """The answer of a leaf, and its training rows."""
        node = self.nodes[at]
        total = sum(node["value"])
        model, told_above = "", self.model.is_told_above(at)
        if "model" in node and not told_above:
            model = f"by its {model_kind(node['model'])} model"
        while not sum(node["value"]):  # no training row came: an ancestor decides
            node = self.nodes[node["parent"]]
        if not self.classes:
            own, mean = self.nodes[at], number(node["constant"], 6)
            return f"{model or 'mean ' * told_above + mean} ({rows_text(own)})"
        if model:
            return f"{model}, the largest score decides ({counted(total)})"
        counts, answer = node["value"], self.classes[self.labels[at]]
        if told_above and self.model.shared[self.model.above(at)] is None:
            answer = f"mostly {answer}"
        if self.shares:
            parts = [
                f"{c} {v / sum(counts):.1%}"
                for c, v in zip(self.classes, counts, strict=True)
                if v
            ]
            return f"{answer} ({counted(total)}: {', '.join(parts)})"
        wrong = total - counts[self.labels[at]] if total else 0.0
        tail = f", {weight_text(wrong)} wrong" if wrong > 1e-6 else ""
        return f"{answer} ({counted(total)}{tail})"


def _why(node: dict[str, Any], pad: str) -> list[str]:
    """Why the test is of its kind: what was thought of it, then of the others."""
    found = [c for c in node.get("candidates", []) if c["score"] is not None]
    chosen = [c for c in found if c["chosen"]]
    if len(found) < 2 or not chosen:
        return []
    (own,) = chosen
    is_share = own["criterion"] == "error"

    def score(candidate: dict[str, Any]) -> str:
        value = candidate["score"]
        return f"{100 * value:.1f} %" if is_share else number(value)

    parts = []
    for other in found:
        if not other["chosen"]:
            less = other["score"] < own["score"]
            parts.append(
                f"{_candidate(other)} {score(other)}{' but no clear gain' * less},"
            )
    parts[0] = f"({parts[0]}"
    parts[-1] = f"{parts[-1][:-1]})"
    name = "held-out error" if is_share else own["criterion"]
    head = f"{_candidate(own)}: chosen because its {name} is {score(own)}"
    return broken("", [head, *parts], pad, 4)


def _candidate(candidate: dict[str, Any]) -> str:
    """A learner by its name, with the kind of its test if the name does not say it."""
    kind, learner = candidate["kind"], candidate["learner"]
    word = (SPLITS[kind].family if kind in SPLITS else "") or kind
    return learner if word in learner else f"{word} ({learner})"
