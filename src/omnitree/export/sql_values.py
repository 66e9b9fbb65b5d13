"""Values, names and literals in SQL.

`SqlValues` translates the values of tests and models: columns, curves, sums and products.
`SqlWriter` makes an expression of a whole tree from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from omnitree.export.model import Model
from omnitree.tree import expression as ex

# Sums of more terms are added up in groups: SQLite and DuckDB nest 1000 deep.
LONGEST_SUM = 400
# Some databases refuse to make smaller numbers than exp(-700) nearly is.
LEAST_POWER = "-7.0E2"


class SqlValues:
    """Values of a model's tests, over the quoted names of its features."""

    model: Model
    names: list[str]  # quoted, of the features
    prefix: str  # of names for values

    def _value(self, value: ex.Value) -> str:
        """A value where no brackets are needed around a sum."""
        if not isinstance(value, ex.Sum):
            return self._factor(value)
        terms = value.terms
        if len(terms) > 1 and terms[0] == ex.Constant(0.0):
            terms = terms[1:]
        return added([self._factor(term) for term in terms])

    def _factor(self, value: ex.Value) -> str:
        """A value as it stands in a product."""
        match value:
            case ex.Constant():
                return number(value.value)
            case ex.Column():
                return self._column(value)
            case ex.Curve():
                return self._curve(value)
            case ex.Product():
                inner = [
                    f"({self._factor(f)})"
                    if isinstance(f, ex.Product)
                    else self._factor(f)
                    for f in value.factors
                ]
                return " * ".join(inner)
            case ex.Call(function="exp"):
                return exp(self._value(value.argument))
            case ex.Call():
                return f"TANH({self._value(value.argument)})"
            case ex.AtMost():
                both = f"{self._value(value.left)} <= {self._value(value.right)}"
                return f"CASE WHEN {both} THEN 1.0E0 ELSE 0.0E0 END"
        return f"({self._value(value)})"

    def _column(self, value: ex.Column) -> str:
        """Value of an encoded column, or what fills its missing cell."""
        column = self.model.columns[value.number]
        name, fill = self.names[column.feature], number(value.fill)
        if not self.model.has_codes(column.feature):
            return f"COALESCE({name}, {fill})"
        if column.feature in self._coded:
            code = self._alias("c", column.feature)
            cases = (
                f"WHEN {code} = {column.category} THEN 1.0E0 WHEN {code} >= 0 THEN -1.0E0"
                if column.category >= 0
                else f"WHEN {code} >= 0 THEN {code}"
            )
            return f"CASE {cases} ELSE {fill} END"
        values = (-1.0, 1.0) if column.category >= 0 else (0.0, 1.0)
        return self._translated(column.feature, map(number, values), fill)

    def _curve(self, value: ex.Curve) -> str:
        """A curve of an encoded column."""
        feature = self.model.columns[value.column].feature
        x = self.names[feature]
        missing = f"{x} IS NULL"
        if self.model.has_codes(feature):
            x = self._translated(feature, ("0", "1"), "-1")
            if feature in self._coded:
                x = self._alias("c", feature)
            missing = f"{x} < 0"
        inside = value.written(
            lambda at, low, high: (
                f"CASE WHEN {x} <= {number(at)} THEN {low} ELSE {high} END"
            ),
            lambda v, knot, slope: (
                f"{number(v)} + ({x} - {number(knot)}) * {number(slope)}"
            ),
        )
        return (
            f"CASE WHEN {missing} THEN {number(value.missing)} "
            f"WHEN {x} <= {number(value.knots[0])} THEN {number(value.values[0])} "
            f"WHEN {x} >= {number(value.knots[-1])} THEN {number(value.values[-1])} "
            f"ELSE {inside} END"
        )

    def _translated(self, feature: int, values: Iterable[str], other: str) -> str:
        """A value for each category of a feature."""
        pairs = zip(self.model.categories(feature), values, strict=False)
        cases = " ".join(f"WHEN {literal(s)} THEN {value}" for s, value in pairs)
        return f"CASE {self.names[feature]} {cases} ELSE {other} END"

    def _alias(self, what: str, *numbers: int) -> str:
        return quoted(f"{self.prefix}{what}{'_'.join(map(str, numbers))}")

    @cached_property
    def _coded(self) -> list[int]:
        """Features of three categories or more in tests on several features."""
        model = self.model
        many = [test for test in model.all_tests if not test.can_fail]
        used = {feature for test in many for feature in model.features_of(test)}
        coded = [feature for feature in sorted(used) if model.has_codes(feature)]
        return [feature for feature in coded if len(model.categories(feature)) > 2]


def exp(value: str) -> str:
    """The exponential function of a number up to 0."""
    return f"CASE WHEN {value} < {LEAST_POWER} THEN 0.0E0 ELSE EXP({value}) END"


def largest(names: list[str], values: list[str]) -> str:
    """The value that belongs to the largest name, the first of several.

    That is the first which nothing after it exceeds.
    """
    if len(names) == 1:
        return values[0]
    cases = []
    for k, name in enumerate(names[:-1]):
        beats = " AND ".join(f"{name} >= {other}" for other in names[k + 1 :])
        cases.append(f"WHEN {beats} THEN {values[k]}")
    return f"CASE {' '.join(cases)} ELSE {values[-1]} END"


def added(terms: list[str]) -> str:
    """A sum, in this order; very long ones in groups."""
    while len(terms) > LONGEST_SUM:
        groups = [terms[i : i + LONGEST_SUM] for i in range(0, len(terms), LONGEST_SUM)]
        terms = [f"({' + '.join(group)})" for group in groups]
    return " + ".join(terms)


def quoted(text: str) -> str:
    """A quoted identifier."""
    if "\0" in text:
        raise ValueError(f"the name {text!r} holds a zero byte: SQL cannot write it")
    return '"' + text.replace('"', '""') + '"'


def number(value: float) -> str:
    """A literal of double precision that reads back as the same number."""
    text = repr(float(value))
    return text if "e" in text else f"{text}E0"


def literal(value: Any) -> str:
    """A string, a number or a truth value."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(
                f"the text {value!r} holds a zero byte: SQL cannot write it"
            )
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return repr(value) if isinstance(value, int) else number(value)
