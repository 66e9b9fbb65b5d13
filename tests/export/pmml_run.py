"""A plain interpreter of the PMML that omnitree writes, after the text of PMML 4.4.

Predicates are True, False or None (unknown). A tree is scored as the standard says for the
strategies `none` and `weightedConfidence`. It knows no more than tests need, and fails
loudly on anything else.
"""

from __future__ import annotations

import math
import shlex
from functools import reduce
from operator import add
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

NS = "{http://www.dmg.org/PMML-4_4}"
TYPES: dict[str, Any] = {
    "double": float,
    "integer": int,
    "string": str,
    "boolean": lambda cell: {"true": True, "false": False}[str(cell).lower()],
}


class Pmml:
    """A document, ready to score rows."""

    def __init__(self, text: str):
        root = ET.fromstring(text)
        assert root.tag == f"{NS}PMML" and root.get("version") == "4.4"
        fields = root.findall(f"{NS}DataDictionary/{NS}DataField")
        self.types = {f.get("name"): TYPES[f.get("dataType")] for f in fields}
        self.valid = {
            f.get("name"): {
                TYPES[f.get("dataType")](v.get("value"))
                for v in f.findall(f"{NS}Value")
            }
            for f in fields
        }
        assert len(self.valid) == len(fields)
        tree = root.find(f"{NS}TreeModel")
        body = "Node"
        if tree is None:
            tree, body = root.find(f"{NS}MiningModel"), "Segmentation"
        tags = [child.tag.removeprefix(NS) for child in tree]
        order = ["MiningSchema", "Output", "LocalTransformations", body]
        assert tags == [t for t in order if t in tags]
        self.strategy = tree.get("missingValueStrategy")
        self.function = tree.get("functionName")
        schema = tree.findall(f"{NS}MiningSchema/{NS}MiningField")
        self.active = {f.get("name"): f for f in schema if f.get("usageType") is None}
        (self.target,) = [
            f.get("name") for f in schema if f.get("usageType") == "target"
        ]
        self.derived = tree.findall(f"{NS}LocalTransformations/{NS}DerivedField")
        for field in self.derived:
            self.types[field.get("name")] = TYPES[field.get("dataType")]
        self.root = tree.find(f"{NS}{body}")
        self.outputs = [
            o.get("value")
            for o in tree.findall(f"{NS}Output/{NS}OutputField")
            if o.get("feature") == "probability"
        ]

    def score(self, row: dict[str, Any]) -> tuple[Any, list[float]]:
        """Class and probabilities of a row; None is missing."""
        values: dict[str, Any] = {}
        for name, field in self.active.items():
            cell = row.get(name)
            values[name] = None if cell is None else self.types[name](cell)
            if self.valid[name] and values[name] not in self.valid[name]:
                assert field.get("invalidValueTreatment") == "asMissing"
                values[name] = None
        for field in self.derived:
            values[field.get("name")] = evaluate(field[0], values)
        find = self._segment if self.root.tag == f"{NS}Segmentation" else self._node
        score, shares = find(self.root, values)
        if self.function == "regression":
            return float(score), []
        return self.types[self.target](score), [shares[v] for v in self.outputs]

    def _segment(self, segments: ET.Element, values: dict):
        """The first segment whose predicate is true."""
        assert segments.get("multipleModelMethod") == "selectFirst"
        verdicts = [self._holds(s[0], values) for s in segments]
        model = segments[verdicts.index(True)][1]
        known = {f.get("name") for f in model.find(f"{NS}MiningSchema")}
        if model.tag == f"{NS}TreeModel":
            return self._node(model.find(f"{NS}Node"), values)
        assert model.tag == f"{NS}RegressionModel"
        assert model.get("functionName") == self.function
        sums = {}
        for table in model.findall(f"{NS}RegressionTable"):
            total = float(table.get("intercept"))
            for part in table:
                assert part.tag == f"{NS}NumericPredictor" and part.get("name") in known
                total += float(part.get("coefficient")) * values[part.get("name")]
            sums[table.get("targetCategory")] = total
        if self.function == "regression":
            assert list(sums) == [None]
            return sums[None], {}
        assert model.get("normalizationMethod") == "softmax"
        powers = {c: math.exp(s - max(sums.values())) for c, s in sums.items()}
        shares = {c: p / sum(powers.values()) for c, p in powers.items()}
        return max(shares, key=shares.__getitem__), shares

    def _node(self, node: ET.Element, values: dict) -> tuple[str, dict[str, float]]:
        while True:
            children = node.findall(f"{NS}Node")
            if not children:
                found = node.findall(f"{NS}ScoreDistribution")
                shares = {s.get("value"): float(s.get("probability")) for s in found}
                assert bool(shares) == (self.function == "classification")
                return node.get("score"), shares
            verdicts = [self._holds(child[0], values) for child in children]
            if True in verdicts:
                node = children[verdicts.index(True)]
                continue
            assert self.strategy == "weightedConfidence"
            unknown = [c for c, v in zip(children, verdicts, strict=True) if v is None]
            assert unknown == children
            size = [float(c.get("recordCount")) for c in unknown]
            total: dict[str, float] = {}
            for child, n in zip(unknown, size, strict=True):
                for label, p in self._node(child, values)[1].items():
                    total[label] = total.get(label, 0.0) + p * n / sum(size)
            return max(total, key=total.__getitem__), total

    def _holds(self, predicate: ET.Element, values: dict) -> bool | None:
        tag = predicate.tag.removeprefix(NS)
        if tag in ("True", "False"):
            return tag == "True"
        if tag == "CompoundPredicate":
            if predicate.get("booleanOperator") == "and":
                verdicts = [self._holds(part, values) for part in predicate]
                return (
                    False if False in verdicts else None if None in verdicts else True
                )
            assert predicate.get("booleanOperator") == "surrogate"
            for part in predicate:
                if (verdict := self._holds(part, values)) is not None:
                    return verdict
            return None
        name = predicate.get("field")
        value = values[name]
        if value is None:
            return None
        if tag == "SimplePredicate":
            other = self.types[name](predicate.get("value"))
            return {
                "equal": lambda: value == other,
                "lessOrEqual": lambda: value <= other,
                "greaterThan": lambda: value > other,
            }[predicate.get("operator")]()
        assert tag == "SimpleSetPredicate"
        array = predicate[0]
        items = array_items(array.text)
        assert len(items) == int(array.get("n"))
        assert array.get("type") in ("string", "int", "real")
        inside = value in [self.types[name](i) for i in items]
        return inside == (predicate.get("booleanOperator") == "isIn")


def array_items(text: str) -> list[str]:
    """Items of an Array: blanks between them, quotes around those with blanks."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="")
    lexer.whitespace_split, lexer.commenters, lexer.quotes = True, "", '"'
    return list(lexer)


FUNCTIONS: dict[str, Any] = {
    "sum": lambda *v: reduce(add, v),  # Python's own is more exact from 3.12 on
    "*": lambda a, b: a * b,
    "tanh": math.tanh,
    "equal": lambda a, b: a == b,
    "greaterOrEqual": lambda a, b: a >= b,
    "and": lambda *v: all(v),
    "isIn": lambda a, *v: a in v,
}


def evaluate(element: ET.Element, values: dict[str, Any]) -> Any:
    """The value of an expression; what needs a missing value is missing."""
    tag = element.tag.removeprefix(NS)
    if tag == "Constant":
        return TYPES[element.get("dataType")](element.text)
    if tag == "FieldRef":
        return values[element.get("field")]
    assert tag == "Apply"
    function = element.get("function")
    if function == "isMissing":
        return evaluate(element[0], values) is None
    if function == "if":
        condition = evaluate(element[0], values)
        if condition is None:
            return None
        if condition:
            return evaluate(element[1], values)
        return evaluate(element[2], values) if len(element) > 2 else None
    arguments = [evaluate(child, values) for child in element]
    return None if None in arguments else FUNCTIONS[function](*arguments)


def run_pmml(text: str, tree: dict, rows: list[list[Any]], folder: Any):
    """Labels and probabilities of all rows."""
    document = Pmml(text)
    names = [f["name"] for f in tree["schema"]["features"]]
    answers = [document.score(dict(zip(names, r, strict=True))) for r in rows]
    if tree["task"] == "regression":
        return [a[0] for a in answers], np.array([a[:1] for a in answers])
    return [a[0] for a in answers], np.array([a[1] for a in answers])
