"""The public tree as exporters need it: columns, tests as rules, shares, outputs.

Everything comes from the dict of `Tree.to_dict`. What a row gets at a leaf (`outputs`) is
the one thing that may come from outside, because smoothing is the estimator's. All
exporters walk the nodes of this class and translate the rules of their tests
(`omnitree.tree.expression`); none of them knows a kind of test.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from omnitree.data.date_part import DatePart
from omnitree.data.plain import one_line
from omnitree.data.schema import Schema
from omnitree.export.encoded import EncodedColumn, encoded_columns
from omnitree.tree.expression import (
    Call,
    Column,
    Cut,
    Largest,
    Lookup,
    Rule,
    Value,
    columns_in,
    feature_of,
    parts,
    plain_rule,
    simplified,
    walk,
)
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.programs import route
from omnitree.tree.shared_models import OwnFunctions, case_table, shared_models
from omnitree.tree.splits import Split, fields_from_dict, split_from_dict


def total_of(values: Sequence[float]) -> float:
    """The sum to the last bit as trees have it: Python's is more exact from 3.12 on."""
    return float(np.sum(values))


@dataclass(frozen=True)
class NodeTest:
    """A test of a node, its main one or a surrogate, or the sums of a leaf's model."""

    kind: str
    whole: Rule  # with terms of weight 0, which words and tables have too
    n_branches: int
    names: tuple[str, ...] = ()  # of a machine's branches
    node: int = -1  # that has it as its main test
    cases: dict[str, Any] | None = field(default=None, compare=False)  # `case_table`

    @classmethod
    def of(cls, split: Split, names: tuple[str, ...] = (), node: int = -1) -> NodeTest:
        """A test as a tree holds it."""
        cases = case_table(split)
        return cls(split.kind, split.rule, split.n_children, names, node, cases)

    @cached_property
    def rule(self) -> Rule:
        """What the test does, without terms that add nothing."""
        return simplified(self.whole)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The rule in plain types, see `plain_rule`."""
        return plain_rule(self.whole)

    @property
    def table(self) -> dict[str, Any]:
        """The rule in plain types; of cases what is kept of them, not the formula."""
        return self.cases or self.data

    @cached_property
    def used(self) -> list[int]:
        """Encoded columns that terms with a weight, or curves, look at."""
        return columns_in(self.rule)

    @property
    def feature(self) -> int:
        """The feature of a test on one cell."""
        feature = feature_of(self.whole)
        assert feature is not None
        return feature

    @property
    def can_fail(self) -> bool:
        """Whether there are rows that this test cannot place: it looks at one cell."""
        return feature_of(self.whole) is not None

    @property
    def is_machine(self) -> bool:
        """Whether the branch with the largest value wins."""
        return isinstance(self.whole, Largest)

    @property
    def cut(self) -> Cut:
        """The rule of a test that cuts one value."""
        assert isinstance(self.rule, Cut)
        return self.rule

    @property
    def values(self) -> tuple[Value, ...]:
        """What a test on several features compares: one value, or one per branch."""
        return parts(self.rule)

    @property
    def columns(self) -> list[int]:
        """Encoded columns of a test on several features."""
        return self.data["columns"]

    @property
    def fill(self) -> list[float]:
        """What each of these columns is where its cell is missing."""
        return self.data["fill"]


class Model:
    """A tree of the public format (`Tree.to_dict`), read for exporting.

    `outputs` are class probabilities of each node, or its one number: by default the
    shares of its counts, or its constant.
    """

    def __init__(
        self, tree: dict[str, Any], outputs: Sequence[Sequence[float]] | None = None
    ):
        self.tree = tree
        self.numeric = tree["task"] == "regression"
        self.nodes: list[dict[str, Any]] = tree["nodes"]
        self.features: list[dict[str, Any]] = tree["schema"]["features"]
        self.classes: list[Any] = tree.get("classes", [])
        self.n_outputs = len(self.classes) or 1
        self._outputs = outputs
        self._main: dict[int, NodeTest] = {}
        self._tests: dict[int, list[NodeTest]] = {}
        # What tests on several features ask for, by node and branch (`region.py`).
        self.conditions: dict[int, list[list[str]]] = {}

    @cached_property
    def outputs(self) -> list[list[float]]:
        """Class probabilities of each node, or its one number."""
        if self._outputs is not None:
            return [[float(v) for v in row] for row in self._outputs]
        if self.numeric:
            return [[node["constant"]] for node in self.spoken_for]
        if "shrinkage" in self.tree:
            return self._shrunken(self.tree["shrinkage"])
        return [[v / total_of(row) for v in row] for row in self.counts]

    def _shrunken(self, m: float) -> list[list[float]]:
        """Class shares of each node; those of its parent count as `m` rows."""
        k = len(self.classes)
        shares: list[list[float]] = []
        for node in self.nodes:  # parents come first
            if node["parent"] < 0:
                prior, n = [1 / k] * k, 1.0
            else:
                prior, n = [p * m for p in shares[node["parent"]]], m
            size = total_of(node["value"]) + n
            counts = zip(node["value"], prior, strict=True)
            shares.append([(v + p) / size for v, p in counts])
        return shares

    @cached_property
    def counts(self) -> list[list[float]]:
        """Class counts of each node; of its nearest ancestor with rows if it has none."""
        return [node["value"] for node in self.spoken_for]

    @cached_property
    def spoken_for(self) -> list[dict[str, Any]]:
        """Each node, or its nearest ancestor with rows if it has none."""
        found: list[dict[str, Any]] = []
        for node in self.nodes:  # parents come first
            empty = not sum(node["value"]) and node["parent"] >= 0
            found.append(found[node["parent"]] if empty else node)
        return found

    @cached_property
    def labels(self) -> list[int]:
        """Index of the class that each node answers.

        Of a leaf with a model, the most frequent one; where the model is the functions
        of the test above, the class of the function that is largest there.
        """
        labels = [decide(p, self.costs) for p in self.outputs]
        for node, own in self.shared.items():
            if own is not None and self.costs is None:
                for leaf, k in zip(self.children(node), own.classes, strict=True):
                    labels[leaf] = k
        return labels

    @cached_property
    def shared(self) -> dict[int, OwnFunctions | None]:
        """Nodes whose children are all leaves with one and the same model.

        With each of them the scale, if that model is the functions of the node's test.
        """
        return shared_models(self.nodes, lambda node: self._unnamed(node).table)

    def is_told_above(self, leaf: int) -> bool:
        """Whether a leaf has a model that it shares with all its siblings."""
        return self.above(leaf) in self.shared

    @property
    def costs(self) -> list[list[float]] | None:
        """What wrong answers cost, a line for each true class; None: all alike."""
        return self.tree.get("costs")

    @cached_property
    def shares(self) -> list[float]:
        """Each node's part of a row that is divided at its parent; 1 at the root."""
        share = [1.0] * len(self.nodes)
        for node in self.nodes:
            children = node.get("children", ())
            weight = [total_of(self.nodes[c]["value"]) for c in children]
            total = reduce(add, weight, 0.0)
            for c, w in zip(children, weight, strict=True):
                share[c] = w / total if total > 0 else 1 / len(children)
        return share

    # -- nodes ----------------------------------------------------------------------

    def is_leaf(self, node: int) -> bool:
        """Whether the node has no test."""
        return self.nodes[node]["kind"] == "leaf"

    @cached_property
    def inner(self) -> list[int]:
        """Nodes with a test, in order."""
        return [i for i in range(len(self.nodes)) if not self.is_leaf(i)]

    def children(self, node: int) -> list[int]:
        """Children of a node, one per branch; none of a leaf."""
        return self.nodes[node].get("children", [])

    def above(self, node: int) -> int:
        """The parent of a node; -1 of the root."""
        return self.nodes[node]["parent"]

    def tests(self, node: int) -> list[NodeTest]:
        """The main test of a node and its surrogates, as far as they are ever asked."""
        if node not in self._tests:
            self._tests[node] = self._read_tests(node)
        return self._tests[node]

    def _read_tests(self, node: int) -> list[NodeTest]:
        record = self.nodes[node]
        main = self._unnamed(node)
        if main.is_machine:
            labels = [self.labels[c] for c in record["children"]]
            named = replace(main, names=branch_names(labels, self.classes))
            vars(named).update(data=main.data)
            main = named
        tests = [main]
        for other in record.get("surrogates", ()):
            if not tests[-1].can_fail:
                break
            tests.append(NodeTest.of(split_from_dict(other["kind"], other["test"])))
        return tests

    def _unnamed(self, node: int) -> NodeTest:
        """The main test of a node, before its branches have names."""
        if node not in self._main:
            record = self.nodes[node]
            split = split_from_dict(record["kind"], record["test"])
            self._main[node] = NodeTest.of(split, node=node)
        return self._main[node]

    def model(self, leaf: int) -> NodeTest | None:
        """The model of a leaf, read like a machine; None if it has none.

        Its sums, one per class, go through softmax; of a number there is one, the answer.
        """
        return self._models.get(leaf)

    @cached_property
    def _models(self) -> dict[int, NodeTest]:
        found: dict[int, NodeTest] = {}
        last: tuple[Any, Any] = (None, None)
        for i, node in enumerate(self.nodes):
            if self.is_leaf(i) and "model" in node:
                # Leaves below one test often have the same model: it is read once.
                if node["model"] != last[0]:
                    model = fields_from_dict(LeafModel, "a model", node["model"])
                    test = NodeTest("model", Largest(model.sums), 0)
                    last = node["model"], replace(test, cases=case_table(model))
                found[i] = last[1]
        return found

    @cached_property
    def modelled(self) -> list[int]:
        """Leaves that answer by a model."""
        return sorted(self._models)

    @cached_property
    def speakers(self) -> dict[int, int]:
        """Of each leaf with a model the first one whose model has the same functions.

        Models whose sums differ by their biases alone, or not at all, are written once.
        """
        found: dict[str, int] = {}
        out = {}
        for leaf in self.modelled:
            model = self.nodes[leaf]["model"]
            functions = repr({name: v for name, v in model.items() if name != "bias"})
            out[leaf] = found.setdefault(functions, leaf)
        return out

    @cached_property
    def shared_by(self) -> dict[int, list[int]]:
        """Leaves that answer by the functions of a first one, where there are several."""
        groups: dict[int, list[int]] = {}
        for leaf, first in self.speakers.items():
            groups.setdefault(first, []).append(leaf)
        return {first: leaves for first, leaves in groups.items() if len(leaves) > 1}

    def biases(self, leaf: int) -> list[float]:
        """What the sums of a leaf's model begin with."""
        return [float(b) for b in self.nodes[leaf]["model"]["bias"]]

    def missing(self, node: int) -> int | None:
        """Branch of rows that no test places; -1 divides them, None: there are none."""
        if not self.tests(node)[-1].can_fail:
            return None
        branch = self.nodes[node]["missing"]
        return -1 if branch == "divide" else branch

    @cached_property
    def dividing(self) -> set[int]:
        """Nodes that may divide a row."""
        return {i for i in self.inner if self.missing(i) == -1}

    def walk(self) -> Iterator[tuple[int, int]]:
        """Nodes and their depths, parents first and branches in order."""
        stack = [(0, 0)]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            stack.extend((c, depth + 1) for c in reversed(self.children(node)))

    @cached_property
    def leaves(self) -> list[int]:
        """Leaves in the order in which a divided row reaches them."""
        return [node for node, _ in self.walk() if self.is_leaf(node)]

    def path(self, node: int) -> list[tuple[int, int]]:
        """Decision nodes above a node, from the root, with the branch taken."""
        steps = []
        while (above := self.above(node)) >= 0:
            steps.append((above, node - self.children(above)[0]))
            node = above
        return steps[::-1]

    # -- features -------------------------------------------------------------------

    @cached_property
    def columns(self) -> tuple[EncodedColumn, ...]:
        """Encoded columns, in order."""
        return encoded_columns(self.features)

    def is_categorical(self, feature: int) -> bool:
        """Whether a feature is tested as categories, without an order."""
        return self.features[feature]["kind"] in ("categorical", "boolean")

    def has_codes(self, feature: int) -> bool:
        """Whether cells of a feature are categories, with or without an order."""
        return self.features[feature]["kind"] != "numeric"

    def has_text(self, feature: int) -> bool:
        """Whether the categories of a feature are text, or partly so."""
        categories = self.features[feature]["categories"] or ()
        return any(isinstance(s, str) for s in categories)

    def categories(self, feature: int) -> list[Any]:
        """Categories of a feature in the order of their codes; all text if some are."""
        categories = self.features[feature]["categories"]
        if self.has_text(feature):
            return [category_text(s) for s in categories]
        return list(categories)

    def features_of(self, test: NodeTest) -> list[int]:
        """Features that a test looks at."""
        if test.can_fail:
            return [test.feature]
        return sorted({self.columns[c].feature for c in test.used})

    @cached_property
    def used(self) -> list[int]:
        """Features that some test of the tree, or a leaf's model, looks at."""
        return sorted({j for test in self.all_tests for j in self.features_of(test)})

    def meaning(self, feature: int) -> str | None:
        """How a feature is computed from a date, in words; None for a column as it is."""
        part = self.features[feature].get("part")
        return None if part is None else DatePart.from_dict(part).meaning

    @cached_property
    def meanings(self) -> list[str]:
        """A line for each feature in use that is computed from a date."""
        return [
            one_line(f"'{self.features[j]['name']}' is the {meaning}")
            for j in self.used
            if (meaning := self.meaning(j)) is not None
        ]

    @cached_property
    def all_tests(self) -> list[NodeTest]:
        """Tests of all nodes, surrogates included, and the models of leaves."""
        tests = [test for i in self.inner for test in self.tests(i)]
        return tests + [self._models[leaf] for leaf in self.modelled]

    @cached_property
    def functions(self) -> set[str]:
        """Functions that some test, or the model of a leaf, needs."""
        found = {
            v.function
            for test in self.all_tests
            for v in walk(test.rule)
            if isinstance(v, Call)
        }
        return found | ({"exp"} if self.modelled and not self.numeric else set())

    def column_value(self, value: Column, row: Sequence[float]) -> float:
        """Value of an encoded column in an encoded row, or what fills its missing cell."""
        column = self.columns[value.number]
        cell = row[column.feature]
        if math.isnan(cell):
            return value.fill
        if column.category < 0:
            return cell
        return 1.0 if int(cell) == column.category else -1.0

    def branch(self, test: NodeTest, row: Sequence[float]) -> int:
        """Branch of an encoded row under a test, -1: cannot tell; the library's own."""
        values = np.array([row], dtype=np.float64)
        return int(route(test.whole, values, self.schema)[0])

    @cached_property
    def schema(self) -> Schema:
        """The schema as tables have it."""
        return Schema.from_dict(self.tree["schema"])

    def branch_of_codes(self, test: NodeTest) -> list[int] | None:
        """Branch of each code of the feature of a univariate test, -1: cannot tell.

        None if the feature is a number.
        """
        rule = test.whole
        if isinstance(rule, Lookup):
            return list(rule.branch)
        if not self.has_codes(test.feature):
            return None
        assert isinstance(rule, Cut)
        codes = range(len(self.features[test.feature]["categories"]))
        return [rule.low if c <= rule.threshold else 1 - rule.low for c in codes]


def branch_names(labels: Sequence[int], classes: Sequence[Any]) -> tuple[str, ...]:
    """What to call the sums of a machine: as the classes its branches answer, if all differ.

    Of a tree for numbers, `classes` is empty.
    """
    if not classes or len(set(labels)) < len(labels):
        return tuple(f"branch {b + 1}" for b in range(len(labels)))
    return tuple(str(classes[k]) for k in labels)


def decide(shares: Sequence[float], costs: list[list[float]] | None) -> int:
    """The most probable class or, with costs, that of least expected cost.

    The first of several; costs are added in the order of the classes.
    """
    every = range(len(shares))
    if costs is None:
        return max(every, key=shares.__getitem__)
    expected = [0.0] * len(shares)
    for share, line in zip(shares, costs, strict=True):
        expected = [e + share * c for e, c in zip(expected, line, strict=True)]
    return min(every, key=expected.__getitem__)


def category_text(category: Any) -> str:
    """A category as text, a whole number without a point."""
    if isinstance(category, float) and category.is_integer():
        return str(int(category))
    return str(category)
