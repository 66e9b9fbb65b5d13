"""Derived fields of PMML documents, and the pieces of XML they are made of.

A test on several features is a field for each of its sums. The answers of a tree that a
predicate cannot give (rows that are divided among branches, models in leaves) are fields
too, from the leaves up: that of a node is that of the branch that its test names, or, if it
names none, the mean of all branches by their shares. What the models of several leaves have
in common is a field that they all add their biases to. Only functions that every engine has
are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial, reduce
from typing import Any
from xml.etree import ElementTree as ET

from omnitree.export.model import Model, NodeTest, category_text
from omnitree.tree import expression as ex

DIVIDED = -1  # what the field of a node's branch holds where no test places the row


class Fields:
    """The derived fields of one document; no feature's name begins with `prefix`."""

    def __init__(self, model: Model, prefix: str):
        self.model = model
        self.prefix = prefix
        self.element = ET.Element("LocalTransformations")
        self._done: dict[str, str] = {}

    def derive(self, key: str, expression: ET.Element, category: str = "") -> str:
        """Add a field, of numbers unless the type of a category is given; its name."""
        name = self._done[key] = f"{self.prefix}_{key}"
        optype = "categorical" if category else "continuous"
        field = ET.SubElement(self.element, "DerivedField", name=name, optype=optype)
        field.set("dataType", category or "double")
        field.append(expression)
        return name

    def only(self, feature: int, told: list[Any], key: str) -> str:
        """A feature that is missing unless it is one of these categories."""
        if key in self._done:
            return self._done[key]
        source = self.model.features[feature]["name"]
        inside = apply("isIn", field_of(source), *map(constant, told))
        expression = apply("if", inside, field_of(source))
        return self.derive(key, expression, type_of(told))

    def values(self, test: NodeTest, key: str) -> list[str]:
        """The values of a test on several features, or of a model."""
        return [
            self._done.get(f"{key}_{k}")
            or self.derive(f"{key}_{k}", self._value(value))
            for k, value in enumerate(test.values)
        ]

    def largest(self, test: NodeTest, key: str) -> str:
        """The branch of a machine: the position of its largest value."""
        names = self.values(test, key)
        if key not in self._done:
            self._position_of_largest(names, key)
        return self._done[key]

    def _position_of_largest(self, names: Sequence[str], key: str) -> str:
        """The field with the position of the largest field, the first of several."""
        top = field_of(self.derive(f"{key}_top", apply("max", *map(field_of, names))))
        place = constant(len(names) - 1)
        for k in range(len(names) - 2, -1, -1):
            found = apply("equal", field_of(names[k]), top)
            place = apply("if", found, constant(k), place)
        return self.derive(key, place, "integer")

    # -- answers --------------------------------------------------------------------

    def answers(self) -> list[ET.Element]:
        """What a row gets: the probability of each class, or the number."""
        model = self.model
        found: dict[int, list[ET.Element]] = {}
        for node in reversed([node for node, _ in model.walk()]):  # children first
            if model.is_leaf(node):
                found[node] = self._leaf(node)
            else:
                below = [found.pop(child) for child in model.children(node)]
                found[node] = self._mixture(node, below)
        return found[0]

    def cheapest(self, answers: list[ET.Element]) -> str:
        """The position of the class of least expected cost, from the probabilities."""
        saved = []
        for j in range(len(answers)):
            pairs = zip(answers, self.model.costs or (), strict=True)
            terms = [apply("*", p, constant(-float(line[j]))) for p, line in pairs]
            saved.append(self.derive(f"saved_{j}", apply("sum", *terms)))
        return self._position_of_largest(saved, "answer")

    def _leaf(self, leaf: int) -> list[ET.Element]:
        test = self.model.model(leaf)
        if test is None:
            return [constant(float(v)) for v in self.model.outputs[leaf]]
        # Leaves may share a model.
        key = f"model_{test.rule!r}"
        if key not in self._done:
            self._done[key] = f"model_{leaf}"
        own = self._done[key]
        if self.model.speakers[leaf] in self.model.shared_by:
            sums = [field_of(name) for name in self._shifted(leaf, own)]
        else:
            sums = [field_of(name) for name in self.values(test, own)]
        if self.model.numeric:
            return sums
        if f"{own}_p0" not in self._done:
            self._softmax(sums, own)
        return [field_of(self._done[f"{own}_p{k}"]) for k in range(len(sums))]

    def _shifted(self, leaf: int, key: str) -> list[str]:
        """The sums of a leaf whose model others have, too: its biases and what all share."""
        first = self.model.speakers[leaf]
        shared = self.model.model(first)
        assert shared is not None
        names = []
        for k, bias in enumerate(self.model.biases(leaf)):
            functions, value = f"functions_{first}_{k}", shared.values[k]
            if functions not in self._done:
                assert isinstance(value, ex.Sum)
                terms = ex.Sum((ex.Constant(0.0), *value.terms[1:]))
                self.derive(functions, self._value(terms))
            both = constant(bias), field_of(self._done[functions])
            own = f"{key}_{k}"
            names.append(self._done.get(own) or self.derive(own, apply("sum", *both)))
        return names

    def _softmax(self, sums: list[ET.Element], key: str) -> None:
        """Probabilities from sums; the largest is taken off, so that none is too large."""
        top = field_of(self.derive(f"{key}_top", apply("max", *sums)))
        powers = [
            field_of(self.derive(f"{key}_e{k}", apply("exp", apply("-", one, top))))
            for k, one in enumerate(sums)
        ]
        total = field_of(self.derive(f"{key}_total", apply("sum", *powers)))
        for k, power in enumerate(powers):
            self.derive(f"{key}_p{k}", apply("/", power, total))

    def _mixture(self, node: int, below: list[list[ET.Element]]) -> list[ET.Element]:
        """The answers of a node from those of its children."""
        model = self.model
        texts = [[ET.tostring(one) for one in answers] for answers in below]
        if all(other == texts[0] for other in texts):
            return below[0]
        branch = field_of(self._branch(node))
        shares = [model.shares[child] for child in model.children(node)]
        made = []
        for k in range(model.n_outputs):
            own = [answers[k] for answers in below]
            value = own[-1]
            for b in range(len(own) - 2, -1, -1):
                value = apply("if", apply("equal", branch, constant(b)), own[b], value)
            if node in model.dividing:
                pairs = zip(shares, own, strict=True)
                parts = [apply("*", constant(s), one) for s, one in pairs]
                divided = apply("equal", branch, constant(DIVIDED))
                value = apply("if", divided, apply("sum", *parts), value)
            made.append(field_of(self.derive(f"{node}_p{k}", value)))
        return made

    def _branch(self, node: int) -> str:
        """The field that holds the branch of a row at a node."""
        missing = self.model.missing(node)
        last = constant(DIVIDED if missing is None else missing)
        tests = list(enumerate(self.model.tests(node)))
        for i, test in reversed(tests):
            key = f"{node}_{i}"
            if test.is_machine:
                last = field_of(self.largest(test, key))
                continue
            if test.can_fail:
                value = self._placed(test, last)
            else:
                (name,) = self.values(test, key)
                value = _side(test, field_of(name))
            name = self.derive(f"{key}_branch", value, "integer")
            last = field_of(name)
        return last.get("field", "")

    def _placed(self, test: NodeTest, last: ET.Element) -> ET.Element:
        """The branch that a test on one feature names, or else `last`."""
        feature = test.feature
        field = field_of(self.model.features[feature]["name"])
        codes = self.model.branch_of_codes(test)
        if codes is None:
            value = _side(test, field)
        else:
            categories = self.model.categories(feature)
            value = last
            for b in sorted(set(codes) - {-1}, reverse=True):
                here = [
                    constant(categories[c]) for c, to in enumerate(codes) if to == b
                ]
                value = apply("if", apply("isIn", field, *here), constant(b), value)
        return apply("if", apply("isMissing", field), last, value)

    # -- values ---------------------------------------------------------------------

    def _value(self, value: ex.Value) -> ET.Element:
        """An expression of fields."""
        if isinstance(value, ex.Constant):
            return constant(value.value)
        if isinstance(value, ex.Column):
            return self._column(value)
        if isinstance(value, ex.Curve):
            return self._curve(value)
        inside = [self._value(part) for part in ex.parts(value)]
        match value:
            case ex.Sum():
                return apply("sum", *inside)
            case ex.Product():
                return reduce(partial(apply, "*"), inside)
            case ex.AtMost():
                at_most = apply("lessOrEqual", *inside)
                return apply("if", at_most, constant(1.0), constant(0.0))
            case ex.Call():
                return apply(value.function, *inside)
        raise AssertionError(value)

    def _column(self, filled: ex.Column) -> ET.Element:
        column = self.model.columns[filled.number]
        field = field_of(self.model.features[column.feature]["name"])
        if column.category >= 0:
            categories = self.model.categories(column.feature)
            own = apply("equal", field, constant(categories[column.category]))
            value = apply("if", own, constant(1.0), constant(-1.0))
        else:
            value = self._number(column.feature)
        return apply("if", apply("isMissing", field), constant(filled.fill), value)

    def _number(self, feature: int) -> ET.Element:
        """A feature that is a number, or the code of one with an order; not missing."""
        field = field_of(self.model.features[feature]["name"])
        if not self.model.has_codes(feature):
            return field
        categories = self.model.categories(feature)
        value = constant(len(categories) - 1.0)
        for code in range(len(categories) - 2, -1, -1):
            own = apply("equal", field, constant(categories[code]))
            value = apply("if", own, constant(float(code)), value)
        return value

    def _curve(self, value: ex.Curve) -> ET.Element:
        """A curve of an encoded column."""
        feature = self.model.columns[value.column].feature
        field = field_of(self.model.features[feature]["name"])
        x = self._number(feature)
        if len(x):  # codes, looked up once
            key = f"code_{feature}"
            if key not in self._done:
                codes = apply("if", apply("isMissing", field), constant(-1.0), x)
                self.derive(key, codes)
            x = field_of(self._done[key])

        def choose(at: float, low: ET.Element, high: ET.Element) -> ET.Element:
            return apply("if", apply("lessOrEqual", x, constant(at)), low, high)

        def piece(start: float, knot: float, slope: float) -> ET.Element:
            past = apply("*", apply("-", x, constant(knot)), constant(slope))
            return apply("sum", constant(start), past)

        above = apply("greaterOrEqual", x, constant(value.knots[-1]))
        inside = value.written(choose, piece)
        inside = apply("if", above, constant(value.values[-1]), inside)
        inside = choose(value.knots[0], constant(value.values[0]), inside)
        return apply("if", apply("isMissing", field), constant(value.missing), inside)


def _side(test: NodeTest, value: ET.Element) -> ET.Element:
    """The branch of a test that cuts a value."""
    low = apply("lessOrEqual", value, constant(float(test.cut.threshold)))
    return apply("if", low, constant(test.cut.low), constant(1 - test.cut.low))


def apply(function: str, *arguments: ET.Element) -> ET.Element:
    """A function of some expressions."""
    element = ET.Element("Apply", function=function)
    # Fields and constants stand in several expressions.
    element.extend(a if len(a) else copy(a) for a in arguments)
    return element


def field_of(name: str) -> ET.Element:
    """The value of a field."""
    return ET.Element("FieldRef", field=name)


def constant(value: Any) -> ET.Element:
    """A category or number."""
    element = ET.Element("Constant", dataType=type_of([value]))
    element.text = text_of(value)
    return element


def type_of(values: list[Any]) -> str:
    """The data type of some categories or labels."""
    if any(isinstance(v, str) for v in values):
        return "string"
    if all(isinstance(v, bool) for v in values):
        return "boolean"
    return "integer" if all(isinstance(v, int) for v in values) else "double"


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_of(value) if isinstance(value, float) else category_text(value)


def number_of(value: float) -> str:
    return repr(float(value))
