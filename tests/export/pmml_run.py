"""A plain interpreter of the PMML that omnitree writes, after the text of PMML 4.4.

Predicates are True, False or None (unknown). It knows no more than tests need, and fails
loudly on anything else. `test_pmml_engine.py` asks an engine of other people.
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
        tree = root[-1]
        body = {f"{NS}TreeModel": "Node", f"{NS}RegressionModel": "RegressionTable"}[
            tree.tag
        ]
        tags = [child.tag.removeprefix(NS) for child in tree]
        order = ["MiningSchema", "Output", "LocalTransformations", body]
        assert list(dict.fromkeys(tags)) == [t for t in order if t in tags]
        assert tree.get("missingValueStrategy") in (None, "none")
        self.model = tree
        self.function = tree.get("functionName")
        schema = tree.findall(f"{NS}MiningSchema/{NS}MiningField")
        self.active = {f.get("name"): f for f in schema if f.get("usageType") is None}
        (self.target,) = [
            f.get("name") for f in schema if f.get("usageType") == "target"
        ]
        self.derived = tree.findall(f"{NS}LocalTransformations/{NS}DerivedField")
        for field in self.derived:
            self.types[field.get("name")] = TYPES[field.get("dataType")]
        self.outputs = tree.findall(f"{NS}Output/{NS}OutputField")[1:]

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
        if self.model.tag == f"{NS}TreeModel":
            score, shares = self._node(self.model.find(f"{NS}Node"), values)
        else:
            score, shares = self._regression(values)
        if self.function == "regression":
            return float(score), []
        proba = []
        for field in self.outputs:
            if field.get("feature") == "transformedValue":
                proba.append(evaluate(field[0], values))
            else:
                assert field.get("feature") == "probability"
                proba.append(shares[field.get("value")])
        return self.types[self.target](score), proba

    def _regression(self, values: dict) -> tuple[Any, dict[str, float]]:
        """The largest of the regressions, and their shares; or the only one."""
        sums = {}
        for table in self.model.findall(f"{NS}RegressionTable"):
            total = float(table.get("intercept"))
            for part in table:
                assert part.tag == f"{NS}NumericPredictor"
                total += float(part.get("coefficient")) * values[part.get("name")]
            sums[table.get("targetCategory")] = total
        if self.function == "regression":
            assert list(sums) == [None]
            return sums[None], {}
        assert self.model.get("normalizationMethod") == "simplemax"
        shares = {c: s / sum(sums.values()) for c, s in sums.items()}
        return max(shares, key=shares.__getitem__), shares

    def _node(self, node: ET.Element, values: dict) -> tuple[str, dict[str, float]]:
        while True:
            children = node.findall(f"{NS}Node")
            if not children:
                found = node.findall(f"{NS}ScoreDistribution")
                shares = {s.get("value"): float(s.get("probability")) for s in found}
                return node.get("score"), shares
            verdicts = [self._holds(child[0], values) for child in children]
            node = children[verdicts.index(True)]

    def _holds(self, predicate: ET.Element, values: dict) -> bool | None:
        tag = predicate.tag.removeprefix(NS)
        if tag in ("True", "False"):
            return tag == "True"
        if tag == "CompoundPredicate":
            verdicts = [self._holds(part, values) for part in predicate]
            if (operator := predicate.get("booleanOperator")) in ("and", "or"):
                decisive = operator == "or"
                if decisive in verdicts:
                    return decisive
                return None if None in verdicts else not decisive
            assert operator == "surrogate"
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
                "notEqual": lambda: value != other,
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
    "-": lambda a, b: a - b,
    "/": lambda a, b: a / b,
    "max": max,
    "exp": math.exp,
    "tanh": math.tanh,
    "lessOrEqual": lambda a, b: a <= b,
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
