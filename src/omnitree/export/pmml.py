"""PMML 4.4: a TreeModel, or a RegressionModel over derived fields.

In a TreeModel every child has a predicate. Where the tests of a node may fail to place a
row, it is a `surrogate` compound: the main test, the surrogates, and finally true or false,
depending on whether such rows take this branch. Tests on several features are derived
fields; categories never seen in training count as missing, and categories that a node has
never seen become missing in a derived field.

A tree that divides rows among branches, or has models in its leaves, computes its answers
in derived fields (`pmml_fields`), and the RegressionModel only hands them on; with costs, a
TreeModel names the class of least expected cost. The standard has constructs for both
(`weightedConfidence`, segments), but PMML4S answers nothing for the first and leaves out
the outputs of the second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from omnitree.export.model import Model, NodeTest
from omnitree.export.pmml_fields import Fields, number_of, text_of, type_of

NAMESPACE = "http://www.dmg.org/PMML-4_4"
# Levels that are indented.
DEEPEST = 20
QUOTED = {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"}


def to_pmml(model: Model) -> str:
    """An XML document."""
    return PmmlWriter(model).document()


class PmmlWriter:
    def __init__(self, model: Model):
        self.model = model
        names = [f["name"] for f in model.features]
        self.target = _fresh("target" if model.numeric else "class", names)
        self.function = "regression" if model.numeric else "classification"
        prefix = _fresh("omnitree", [n[: len("omnitree")] for n in names])
        self.fields = Fields(model, prefix)

    def document(self) -> str:
        """The whole text."""
        model = self.model
        root = ET.Element("PMML", version="4.4", xmlns=NAMESPACE)
        header = ET.SubElement(root, "Header")
        ET.SubElement(header, "Application", name="omnitree")
        root.append(self._dictionary())
        whole = ET.SubElement(root, "TreeModel", modelName="omnitree")
        whole.set("functionName", self.function)
        whole.append(self._schema())
        if not (model.dividing or model.modelled):
            whole.append(self._output())
            body = [self._nodes()]
        else:
            answers = self.fields.answers()
            if model.costs is None:
                whole.append(self._output())
                body = self._tables(answers)
            else:
                whole.append(self._output(answers))
                body = [self._decision(answers)]
        if body[0].tag == "Node":
            whole.set("splitCharacteristic", "multiSplit")
            whole.set("missingValueStrategy", "none")
            whole.set("noTrueChildStrategy", "returnNullPrediction")
        else:
            whole.tag = "RegressionModel"
            if not model.numeric:
                whole.set("normalizationMethod", "simplemax")
        if len(self.fields.element):
            whole.append(self.fields.element)
        whole.extend(body)
        text = "\n".join(_lines(root))
        _check_characters(text)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'

    def _schema(self) -> ET.Element:
        """Features that the model uses, and the target."""
        schema = ET.Element("MiningSchema")
        for j in self.model.used:
            name = self.model.features[j]["name"]
            field = ET.SubElement(schema, "MiningField", name=name)
            if self.model.has_codes(j):
                field.set("invalidValueTreatment", "asMissing")
        ET.SubElement(schema, "MiningField", name=self.target, usageType="target")
        return schema

    def _dictionary(self) -> ET.Element:
        """All fields: numbers, or categories with their values."""
        model = self.model
        known = {
            model.features[j]["name"]: model.categories(j) if model.has_codes(j) else []
            for j in model.used
        }
        known[self.target] = model.classes
        fields = ET.Element("DataDictionary", numberOfFields=str(len(known)))
        for name, categories in known.items():
            field = _field(fields, "DataField", name, categories)
            for category in categories:
                ET.SubElement(field, "Value", value=text_of(category))
        return fields

    def _output(self, answers: list[ET.Element] | None = None) -> ET.Element:
        """The class and its probabilities, of the model's own or of derived fields."""
        output = ET.Element("Output")
        name = _fresh("predicted", [f["name"] for f in self.model.features])
        field = _field(output, "OutputField", name, self.model.classes)
        field.set("feature", "predictedValue")
        for k, label in enumerate(self.model.classes):
            field = _field(output, "OutputField", f"p({text_of(label)})", [])
            if answers is None:
                field.set("feature", "probability")
                field.set("value", text_of(label))
            else:
                field.set("feature", "transformedValue")
                field.append(answers[k])
        return output

    # -- nodes ----------------------------------------------------------------------

    def _nodes(self) -> ET.Element:
        model = self.model
        made: dict[int, ET.Element] = {}
        for node, _ in model.walk():
            above = model.above(node)
            element = ET.Element("Node", id=str(node))
            if above < 0:
                element.append(ET.Element("True"))
            else:
                b = node - model.children(above)[0]
                element.append(self._predicate(above, b))
                made[above].append(element)
            self._answer(node, element)
            made[node] = element
        return made[0]

    def _answer(self, node: int, element: ET.Element) -> None:
        """The class and the probabilities of a node, or its number."""
        model = self.model
        if model.numeric:
            element.set("score", number_of(model.outputs[node][0]))
        else:
            element.set("score", text_of(model.classes[model.labels[node]]))
        element.set("recordCount", number_of(sum(model.nodes[node]["value"])))
        for k, label in enumerate(model.classes):
            share = ET.SubElement(element, "ScoreDistribution", value=text_of(label))
            share.set("recordCount", number_of(model.counts[node][k]))
            share.set("probability", number_of(model.outputs[node][k]))

    def _decision(self, answers: list[ET.Element]) -> ET.Element:
        """A tree that only names the class of least expected cost."""
        field = self.fields.cheapest(answers)
        root = ET.Element("Node", id="0")
        ET.SubElement(root, "True")
        for k, label in enumerate(self.model.classes):
            node = ET.SubElement(root, "Node", id=str(k + 1), score=text_of(label))
            node.append(_simple(field, "equal", str(k)))
        return root

    def _tables(self, answers: list[ET.Element]) -> list[ET.Element]:
        """The answers as regressions on one field each."""
        tables = []
        for k, answer in enumerate(answers):
            table = ET.Element("RegressionTable", intercept="0.0")
            if not self.model.numeric:
                table.set("targetCategory", text_of(self.model.classes[k]))
            if answer.tag == "Constant":
                table.set("intercept", str(answer.text))
            else:
                name = answer.get("field", "")
                ET.SubElement(table, "NumericPredictor", name=name, coefficient="1.0")
            tables.append(table)
        return tables

    def _predicate(self, node: int, b: int) -> ET.Element:
        tests, missing = self.model.tests(node), self.model.missing(node)
        parts = [self._test(node, i, test, b) for i, test in enumerate(tests)]
        if missing is not None and missing >= 0:
            parts.append(ET.Element("True" if missing == b else "False"))
        return _compound("surrogate", parts)

    def _test(self, node: int, i: int, test: NodeTest, b: int) -> ET.Element:
        if not test.can_fail:
            return self._many(node, i, test, b)
        feature = test.feature
        name = self.model.features[feature]["name"]
        codes = self.model.branch_of_codes(test)
        if codes is None:
            operator = "lessOrEqual" if b == test.cut.low else "greaterThan"
            return _simple(name, operator, number_of(test.cut.threshold))
        categories = self.model.categories(feature)
        told = [categories[c] for c, to in enumerate(codes) if to >= 0]
        if len(told) < len(codes):
            name = self.fields.only(feature, told, f"{node}_{i}")
        here = [categories[c] for c, to in enumerate(codes) if to == b]
        if len(here) == 1:
            return _simple(name, "equal", text_of(here[0]))
        return _set(name, "isIn", here) if here else _set(name, "isNotIn", told)

    def _many(self, node: int, i: int, test: NodeTest, b: int) -> ET.Element:
        """A test on several features, by a field derived once for all branches."""
        key = f"{node}_{i}"
        if test.is_machine:
            return _simple(self.fields.largest(test, key), "equal", str(b))
        (name,) = self.fields.values(test, key)
        operator = "lessOrEqual" if b == 0 else "greaterThan"
        return _simple(name, operator, number_of(test.cut.threshold))


def _field(parent: ET.Element, tag: str, name: str, values: list[Any]) -> ET.Element:
    """A field that holds one of some values, or a number if there are none."""
    optype = "categorical" if values else "continuous"
    kind = type_of(values) if values else "double"
    return ET.SubElement(parent, tag, name=name, optype=optype, dataType=kind)


def _compound(operator: str, parts: list[ET.Element]) -> ET.Element:
    if len(parts) == 1:
        return parts[0]
    compound = ET.Element("CompoundPredicate", booleanOperator=operator)
    compound.extend(parts)
    return compound


def _simple(field: str, operator: str, value: str) -> ET.Element:
    return ET.Element("SimplePredicate", field=field, operator=operator, value=value)


def _set(field: str, operator: str, values: list[Any]) -> ET.Element:
    """Whether a field is in a set, or is not."""
    kinds = {"integer": "int", "double": "real"}
    kind = kinds.get(type_of(values), "string")
    texts = [text_of(v) for v in values]
    if any(character in text for text in texts for character in '"\\'):
        # Engines differ in what they read as an escaped quote in an array.
        each = "equal" if operator == "isIn" else "notEqual"
        both = "or" if operator == "isIn" else "and"
        return _compound(both, [_simple(field, each, text) for text in texts])
    element = ET.Element("SimpleSetPredicate", field=field, booleanOperator=operator)
    array = ET.SubElement(element, "Array", n=str(len(values)), type=kind)
    array.text = " ".join(f'"{t}"' if kind == "string" else t for t in texts)
    return element


def _fresh(name: str, taken: list[str]) -> str:
    """A name that is not taken."""
    while name in taken:
        name += "_"
    return name


def _lines(root: ET.Element) -> Iterator[str]:
    """The lines of a document; nodes may lie inside each other as deep as they like."""
    stack: list[tuple[ET.Element | str, int]] = [(root, 0)]
    while stack:
        item, level = stack.pop()
        pad = " " * min(level, DEEPEST)
        if isinstance(item, str):
            yield pad + item
            continue
        names = "".join(f' {k}="{escape(v, QUOTED)}"' for k, v in item.items())
        if len(item):
            yield f"{pad}<{item.tag}{names}>"
            stack.append((f"</{item.tag}>", level))
            stack.extend((child, level + 1) for child in reversed(item))
        elif item.text:
            # Readers of XML take a bare carriage return for a new line.
            text = escape(item.text, {"\r": "&#13;"})
            yield f"{pad}<{item.tag}{names}>{text}</{item.tag}>"
        else:
            yield f"{pad}<{item.tag}{names} />"


def _check_characters(text: str) -> None:
    """XML 1.0 has no way to write some characters."""
    bad = re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    if bad:
        raise ValueError(f"a name or category holds {bad[0]!r}, which XML cannot write")
