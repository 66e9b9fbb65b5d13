"""The tree in words, for a terminal. Reads the public dict of `Tree.to_dict`.

A test on one feature, and a short sum, stands in the line of its branch. A longer sum is
given a name first, the sums of a machine the names of its classes, and the branches refer
to it. Where the tree remembers why a node has its kind of test, a line says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omnitree.export.model import (
    UNIVARIATE,
    Model,
    branch_names,
    one_line,
)
from omnitree.export.words import (
    MOST_TERMS,
    Sides,
    branch_text,
    column_name,
    counted,
    largest,
    number,
    rows_text,
    sum_name,
    sum_terms,
    sums_of,
)

# Lines are broken between terms; where a name is long, or a tree deep, they are longer.
WIDTH = 88
NARROWEST = 48
# A sum that ends before this column is repeated in both branches.
SHORT_SUM = 56
# Terms of a leaf's model that are shown, the largest ones.
MODEL_TERMS = 5
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
        self.tree, self.nodes = tree, tree["nodes"]
        self.classes = tree.get("classes", [])
        self.shares, self.labels, self.loss = shares, labels, loss
        rich = [n for n in self.nodes if n["kind"] not in ("leaf", *UNIVARIATE)]
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
        lines += symbol_note(self.tree)
        if len(self.nodes) == 1:
            return [*lines, *self._branch("always", 0, "")]
        return [*lines, (0, "")]

    def below(self, at: int, pad: str) -> list[Any]:
        """A decision node: what its test computes, why, its branches and their nodes."""
        node = self.nodes[at]
        before, conditions = self._conditions(node, pad)
        lines: list[Any] = [*before, *_why(node, pad)]
        for child, condition in zip(node["children"], conditions, strict=True):
            lines += self._branch(condition, child, pad)
        return lines

    def _branch(self, condition: str, child: int, pad: str) -> list[Any]:
        node = self.nodes[child]
        if node["kind"] != "leaf":
            return [pad + condition, (child, pad + INDENT)]
        models = model_lines(node, self.tree, pad + INDENT, self.scale, self.terms)
        return [f"{pad}{condition}: {self._leaf(child)}", *models]

    def _conditions(
        self, node: dict[str, Any], pad: str
    ) -> tuple[list[str], list[str]]:
        """Lines that name sums, and the condition of each branch."""
        kind, test, schema = node["kind"], node["test"], self.tree["schema"]
        branches = range(len(node["children"]))
        if kind in UNIVARIATE:
            return [], [branch_text(kind, test, b, schema) for b in branches]
        found = sums_of(kind, test, schema, **self.options)
        if isinstance(found, Sides):
            text = " ".join(found.terms)
            if len(pad) + len(text) <= SHORT_SUM:
                return [], [f"{text} {side}" for side in found.sides]
            name = sum_name(node["id"])
            lines = _broken(f"{name} = ", found.terms, pad)
            return lines, [f"{name} {side}" for side in found.sides]
        names = branch_names([self.labels[c] for c in node["children"]], self.classes)
        return (
            [
                f"{pad}the largest of {len(names)} sums decides "
                f"({'linear' if kind == 'machine' else 'quadratic'} machine):",
                *_named(names, found.terms, pad + "  "),
            ],
            [largest(b, names) for b in branches],
        )

    def _leaf(self, at: int) -> str:
        """The answer of a leaf, and its training rows."""
        node = self.nodes[at]
        total = sum(node["value"])
        model = "by its linear model" if "model" in node else ""
        while not sum(node["value"]):  # no training row came: an ancestor decides
            node = self.nodes[node["parent"]]
        if not self.classes:
            own = self.nodes[at]
            return f"{model or number(node['constant'], 6)} ({rows_text(own)})"
        if model:
            return f"{model}, the largest sum decides ({counted(total)})"
        counts, answer = node["value"], self.classes[self.labels[at]]
        if self.shares:
            parts = [
                f"{c} {v / sum(counts):.1%}"
                for c, v in zip(self.classes, counts, strict=True)
                if v
            ]
            return f"{answer} ({counted(total)}: {', '.join(parts)})"
        wrong = total - counts[self.labels[at]] if total else 0.0
        tail = f", {number(wrong, 6)} wrong" if wrong > 1e-9 else ""
        return f"{answer} ({counted(total)}{tail})"


def symbol_note(tree: dict[str, Any]) -> list[str]:
    """What symbols count in sums, if some sum has any."""
    columns = Model(tree).columns
    tests = [n.get("test", n.get("model", {})) for n in tree["nodes"]]
    used = {c for test in tests for c in test.get("columns", ())}
    if not any(columns[c].symbol >= 0 for c in used):
        return []
    return ["[x = y]: 1 where x is y, -1 elsewhere"]


def model_lines(
    node: dict[str, Any],
    tree: dict[str, Any],
    pad: str,
    scale: Any = None,
    most: int | None = MODEL_TERMS,
) -> list[str]:
    """The sums of a leaf's model, one a class, with their largest terms.

    The largest are those by weight times the column's deviation, where the tree has these.
    With `scale`, weights are those of z(column).
    """
    model, deviations = node.get("model"), tree.get("deviations")
    if model is None:
        return []
    features = tree["schema"]["features"]
    names = [column_name(c, features) for c in model["columns"]]
    size = [deviations[c] if deviations else 1.0 for c in model["columns"]]
    if scale:
        names = [f"z({name})" for name in names]
    terms = []
    for bias, weights in zip(model["bias"], model["weights"], strict=True):
        sizes = [w * s for w, s in zip(weights, size, strict=True)]
        shown = sizes if scale else weights
        terms.append(sum_terms(shown, names, sizes, most, bias))
    labels = [str(c) for c in tree.get("classes", [])]
    return _named(labels, terms, pad) if labels else _broken("", terms[0], pad, 2)


def sum_lines(model: Model, node: int, pad: str) -> list[str]:
    """The sums of a node, whole, under their names."""
    test = model.tests(node)[0]
    found = sums_of(test.kind, test.data, model.tree["schema"])
    if isinstance(found, Sides):
        return _broken(f"{sum_name(node)} = ", found.terms, pad)
    return _named(test.names, found.terms, pad)


def _named(names: Sequence[str], terms: Sequence[list[str]], pad: str) -> list[str]:
    """Sums with their names, the signs of equality one below the other."""
    width = max(map(len, names))
    if width > 24:
        width = 0
    lines = []
    for name, parts in zip(names, terms, strict=True):
        lines += _broken(f"{name:<{width}} = ", parts, pad)
    return lines


def _broken(
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
                f"{_candidate(other)} {score(other)}{' (no clear gain)' * less},"
            )
    parts[-1] = parts[-1][:-1]
    name = "error on held-out rows" if is_share else own["criterion"]
    head = f"why {_candidate(own)}: {name} {score(own)}; "
    return _broken(head, parts, pad, 4)


def _candidate(candidate: dict[str, Any]) -> str:
    """A learner by its name, with the kind of its test if the name does not say it."""
    kind, learner = candidate["kind"], candidate["learner"]
    word = "univariate" if kind in UNIVARIATE else kind.removesuffix("_machine")
    word = "linear" if word == "machine" else word
    return learner if word in learner else f"{word} ({learner})"
