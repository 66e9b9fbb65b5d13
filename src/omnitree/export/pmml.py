"""PMML 4.4: a TreeModel, or a MiningModel with a segment a leaf where leaves have models.

Every child has a predicate. Where the tests of a node may be unable to tell, it is a
`surrogate` compound: the main test, the surrogates, and at last true or false, as the row
belongs into this branch or not. Without that last word it stays unknown, and the strategy
`weightedConfidence` divides the row among the children by their record counts. Tests on
several features are derived fields; symbols that training never showed are taken as
missing, and symbols that a node never saw become missing in a derived field.

A leaf with a model is a RegressionModel (with softmax, for classes), a leaf without one a
tree of one node; of the segments the first whose way holds is chosen. That cannot say that
a row is divided, nor can a tree that answers a number.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

from omnitree.export.model import Model, Test, symbol_text

NAMESPACE = "http://www.dmg.org/PMML-4_4"


def to_pmml(model: Model) -> str:
    """An XML document."""
    try:
        return _Writer(model).document()
    except RecursionError:
        raise ValueError(
            "the tree is too deep for PMML, whose nodes lie inside each other"
        ) from None


class _Writer:
    def __init__(self, model: Model):
        self.model = model
        names = [f["name"] for f in model.features]
        self.target = _fresh("target" if model.numeric else "class", names)
        self.function = "regression" if model.numeric else "classification"
        if model.numeric and model.dividing:
            raise ValueError(
                "this tree divides rows with gaps and answers a number: PMML cannot say "
                "both; fit it with missing='mean' or 'surrogate'"
            )
        self.prefix = _fresh("omnitree", [n[: len("omnitree")] for n in names])
        self.derived = ET.Element("LocalTransformations")
        self.done: set[str] = set()

    def document(self) -> str:
        """The whole text."""
        root = ET.Element("PMML", version="4.4", xmlns=NAMESPACE)
        header = ET.SubElement(root, "Header")
        ET.SubElement(header, "Application", name="omnitree")
        root.append(self._dictionary())
        whole = ET.SubElement(root, "TreeModel", modelName="omnitree")
        whole.set("functionName", self.function)
        whole.append(self._schema())
        whole.append(self._output())
        if self.model.costs is not None and (
            self.model.dividing or self.model.modelled
        ):
            raise ValueError(
                "this tree has a cost_matrix and divides rows with gaps, or has models in "
                "its leaves: PMML would answer the most probable class; fit it with "
                "missing='mean' or 'surrogate' and plain leaves"
            )
        if self.model.modelled:
            whole.tag = "MiningModel"
            body = self._segments()
        else:
            whole.set("splitCharacteristic", "multiSplit")
            divides = bool(self.model.dividing)
            strategy = "weightedConfidence" if divides else "none"
            whole.set("missingValueStrategy", strategy)
            whole.set("noTrueChildStrategy", "returnNullPrediction")
            body = self._nodes()
        if len(self.derived):
            whole.append(self.derived)
        whole.append(body)
        ET.indent(root, " ")
        text = ET.tostring(root, encoding="unicode", xml_declaration=False)
        _check_characters(text)
        # Readers of XML take a bare carriage return for a new line.
        text = text.replace("\r", "&#13;")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'

    def _schema(self) -> ET.Element:
        """Features that the model uses, and the target."""
        schema = ET.Element("MiningSchema")
        for j in self.model.used:
            field = ET.SubElement(
                schema, "MiningField", name=self.model.features[j]["name"]
            )
            if self.model.has_codes(j):
                field.set("invalidValueTreatment", "asMissing")
        ET.SubElement(schema, "MiningField", name=self.target, usageType="target")
        return schema

    def _dictionary(self) -> ET.Element:
        model = self.model
        fields = ET.Element("DataDictionary", numberOfFields=str(len(model.used) + 1))
        for j in model.used:
            name = model.features[j]["name"]
            if not model.has_codes(j):
                ET.SubElement(
                    fields,
                    "DataField",
                    name=name,
                    optype="continuous",
                    dataType="double",
                )
                continue
            symbols = model.symbols(j)
            field = ET.SubElement(
                fields,
                "DataField",
                name=name,
                optype="categorical",
                dataType=_type(symbols),
            )
            for symbol in symbols:
                ET.SubElement(field, "Value", value=_value(symbol))
        if model.numeric:
            field = ET.SubElement(fields, "DataField", name=self.target)
            field.set("optype", "continuous")
            field.set("dataType", "double")
            return fields
        field = ET.SubElement(
            fields,
            "DataField",
            name=self.target,
            optype="categorical",
            dataType=_type(model.classes),
        )
        for label in model.classes:
            ET.SubElement(field, "Value", value=_value(label))
        return fields

    def _output(self) -> ET.Element:
        output = ET.Element("Output")
        numeric = self.model.numeric
        kind = "double" if numeric else _type(self.model.classes)
        predicted = _fresh("predicted", [f["name"] for f in self.model.features])
        ET.SubElement(
            output,
            "OutputField",
            name=predicted,
            optype="continuous" if numeric else "categorical",
            dataType=kind,
            feature="predictedValue",
        )
        for label in self.model.classes:
            ET.SubElement(
                output,
                "OutputField",
                name=f"p({_value(label)})",
                optype="continuous",
                dataType="double",
                feature="probability",
                value=_value(label),
            )
        return output

    # -- nodes ----------------------------------------------------------------------

    def _nodes(self) -> ET.Element:
        model = self.model
        made: dict[int, ET.Element] = {}
        for node, _ in model.walk():
            record = model.nodes[node]
            above = record["parent"]
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
            element.set("score", _number(model.outputs[node][0]))
        else:
            element.set("score", _value(model.classes[model.labels[node]]))
        element.set("recordCount", _number(self._records(node)))
        counts = model.counts[node]
        for k, label in enumerate(model.classes):
            ET.SubElement(
                element,
                "ScoreDistribution",
                value=_value(label),
                recordCount=_number(counts[k]),
                probability=_number(model.outputs[node][k]),
            )

    def _segments(self) -> ET.Element:
        """A segment for each leaf."""
        model = self.model
        if model.dividing:
            raise ValueError(
                "this tree divides rows with gaps and has models in its leaves: PMML "
                "cannot say both; fit it with missing='mean' or 'surrogate'"
            )
        segments = ET.Element("Segmentation", multipleModelMethod="selectFirst")
        for leaf in model.leaves:
            segment = ET.SubElement(segments, "Segment", id=str(leaf))
            way = [self._predicate(node, b) for node, b in model.path(leaf)]
            if len(way) > 1:
                both = ET.SubElement(
                    segment, "CompoundPredicate", booleanOperator="and"
                )
                both.extend(way)
            else:
                segment.append(way[0] if way else ET.Element("True"))
            segment.append(self._leaf(leaf))
        return segments

    def _leaf(self, leaf: int) -> ET.Element:
        """The model of a leaf."""
        test = self.model.model(leaf)
        if test is None:
            tree = ET.Element("TreeModel", functionName=self.function)
            tree.append(self._schema())
            node = ET.SubElement(tree, "Node", id=str(leaf))
            node.append(ET.Element("True"))
            self._answer(leaf, node)
            return tree
        regression = ET.Element("RegressionModel", functionName=self.function)
        if not self.model.numeric:
            regression.set("normalizationMethod", "softmax")
        schema = self._schema()
        regression.append(schema)
        for k in range(self.model.n_outputs):
            name = f"{self.prefix}_{leaf}_sum_{k}"
            self._derive(name, self._sum(test, k))
            schema.insert(0, ET.Element("MiningField", name=name))
            table = ET.SubElement(regression, "RegressionTable", intercept="0.0")
            if not self.model.numeric:
                table.set("targetCategory", _value(self.model.classes[k]))
            ET.SubElement(table, "NumericPredictor", name=name, coefficient="1.0")
        return regression

    def _records(self, node: int) -> float:
        """Weight of a node; 1 for children of a node without rows, which share alike."""
        model = self.model
        above = model.nodes[node]["parent"]
        siblings = [node] if above < 0 else model.children(above)
        total = sum(sum(model.nodes[i]["value"]) for i in siblings)
        return sum(model.nodes[node]["value"]) if total else 1.0

    def _predicate(self, node: int, b: int) -> ET.Element:
        tests, missing = self.model.tests(node), self.model.missing(node)
        parts = [self._test(node, i, test, b) for i, test in enumerate(tests)]
        if missing is not None and missing >= 0:
            parts.append(ET.Element("True" if missing == b else "False"))
        if len(parts) == 1:
            return parts[0]
        compound = ET.Element("CompoundPredicate", booleanOperator="surrogate")
        compound.extend(parts)
        return compound

    def _test(self, node: int, i: int, test: Test, b: int) -> ET.Element:
        if not test.can_fail:
            return self._many(node, i, test, b)
        feature = test.data["feature"]
        name = self.model.features[feature]["name"]
        codes = self.model.branch_of_codes(test)
        if codes is None:
            operator = "lessOrEqual" if b == test.data["low"] else "greaterThan"
            return _simple(name, operator, _number(test.data["threshold"]))
        symbols = self.model.symbols(feature)
        told = [symbols[c] for c, to in enumerate(codes) if to >= 0]
        if len(told) < len(codes):
            name = self._only(feature, told, f"{node}_{i}")
        here = [symbols[c] for c, to in enumerate(codes) if to == b]
        if len(here) == 1:
            return _simple(name, "equal", _value(here[0]))
        return _set(name, "isIn", here) if here else _set(name, "isNotIn", told)

    def _many(self, node: int, i: int, test: Test, b: int) -> ET.Element:
        """A test on several features, by a field derived once for all branches."""
        names = []
        for k in range(len(test.sums)):
            name = f"{self.prefix}_{node}_{i}_{k}"
            if name not in self.done:
                self._derive(name, self._sum(test, k))
            names.append(name)
        if test.is_machine:
            name = f"{self.prefix}_{node}_{i}"
            if name not in self.done:
                self._derive(name, _largest(names), "categorical", "integer")
            return _simple(name, "equal", str(b))
        cut, name = 0.0, names[0]
        if test.kind == "network":
            name = f"{self.prefix}_{node}_{i}"
            if name not in self.done:
                terms = [_constant(test.data["output_bias"])]
                for w, unit in zip(test.data["output_weights"], names, strict=True):
                    squashed = _apply("tanh", _field(unit))
                    terms.append(_apply("*", _constant(w), squashed))
                self._derive(name, _apply("sum", *terms))
        else:
            cut = test.data["threshold"]
        return _simple(name, "lessOrEqual" if b == 0 else "greaterThan", _number(cut))

    # -- derived fields -------------------------------------------------------------

    def _derive(
        self,
        name: str,
        expression: ET.Element,
        optype: str = "continuous",
        type_: str = "double",
    ) -> None:
        field = ET.SubElement(
            self.derived, "DerivedField", name=name, optype=optype, dataType=type_
        )
        field.append(expression)
        self.done.add(name)

    def _only(self, feature: int, told: list[Any], at: str) -> str:
        """A feature that is missing unless it is one of these symbols."""
        name = f"{self.prefix}_{at}"
        if name not in self.done:
            source = self.model.features[feature]["name"]
            known = [_constant(s) for s in told]
            inside = _apply("isIn", _field(source), *known)
            expression = _apply("if", inside, _field(source))
            self._derive(name, expression, "categorical", _type(told))
        return name

    def _sum(self, test: Test, k: int) -> ET.Element:
        total = test.sums[k]
        terms = [_constant(total.start)]
        for w, a, b in total.terms:
            factors = [_constant(w), self._column(test, a)]
            if b >= 0:
                factors[1] = _apply("*", factors[1], self._column(test, b))
            terms.append(_apply("*", *factors))
        return _apply("sum", *terms)

    def _column(self, test: Test, at: int) -> ET.Element:
        column = self.model.columns[test.columns[at]]
        name, fill = self.model.features[column.feature]["name"], test.fill[at]
        if self.model.has_codes(column.feature):
            symbols = self.model.symbols(column.feature)
            if column.symbol >= 0:
                own = _apply("equal", _field(name), _constant(symbols[column.symbol]))
                value = _apply("if", own, _constant(1.0), _constant(-1.0))
            else:
                value = _constant(len(symbols) - 1.0)
                for code in range(len(symbols) - 2, -1, -1):
                    own = _apply("equal", _field(name), _constant(symbols[code]))
                    value = _apply("if", own, _constant(float(code)), value)
        else:
            value = _field(name)
        return _apply("if", _apply("isMissing", _field(name)), _constant(fill), value)


def _largest(names: list[str]) -> ET.Element:
    """The position of the largest field, the first of several."""
    value = _constant(len(names) - 1)
    for k in range(len(names) - 2, -1, -1):
        beats = [
            _apply("greaterOrEqual", _field(names[k]), _field(other))
            for other in names[k + 1 :]
        ]
        best = beats[0] if len(beats) == 1 else _apply("and", *beats)
        value = _apply("if", best, _constant(k), value)
    return value


def _apply(function: str, *arguments: ET.Element) -> ET.Element:
    element = ET.Element("Apply", function=function)
    element.extend(arguments)
    return element


def _field(name: str) -> ET.Element:
    return ET.Element("FieldRef", field=name)


def _constant(value: Any) -> ET.Element:
    element = ET.Element("Constant", dataType=_type([value]))
    element.text = _value(value)
    return element


def _simple(field: str, operator: str, value: str) -> ET.Element:
    return ET.Element("SimplePredicate", field=field, operator=operator, value=value)


def _set(field: str, operator: str, values: list[Any]) -> ET.Element:
    element = ET.Element("SimpleSetPredicate", field=field, booleanOperator=operator)
    kinds = {"integer": "int", "double": "real"}
    kind = kinds.get(_type(values), "string")
    array = ET.SubElement(element, "Array", n=str(len(values)), type=kind)
    texts = [_value(v) for v in values]
    if kind == "string":
        quoted = (t.replace("\\", "\\\\").replace('"', '\\"') for t in texts)
        texts = [f'"{t}"' for t in quoted]
    array.text = " ".join(texts)
    return element


def _type(values: list[Any]) -> str:
    """The data type of some symbols or labels."""
    if any(isinstance(v, str) for v in values):
        return "string"
    if all(isinstance(v, bool) for v in values):
        return "boolean"
    return "integer" if all(isinstance(v, int) for v in values) else "double"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number(value) if isinstance(value, float) else symbol_text(value)


def _number(value: float) -> str:
    return repr(float(value))


def _fresh(name: str, taken: list[str]) -> str:
    """A name that is not taken."""
    while name in taken:
        name += "_"
    return name


def _check_characters(text: str) -> None:
    """XML 1.0 has no way to write some characters."""
    bad = re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    if bad:
        raise ValueError(f"a name or symbol holds {bad[0]!r}, which XML cannot write")
