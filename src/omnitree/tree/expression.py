"""The small form that every test and every leaf model is lowered to.

A test is a `Rule`: a `Lookup` of one category, a `Cut` of one number, or the position of the
`Largest` of several. Numbers are made of constants, cells, encoded columns, sums, products,
comparisons and a few functions. Exporters, explanations and the explorer's page translate
these operators and know no kinds of tests, so a new kind needs nothing from them; where no
compiled case routes it, `program` writes its rule for the interpreter in
`_core/predict/program.hpp`.

Sums are added, and products multiplied, from left to right: every translation that keeps
this order gives the library's numbers to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from omnitree._core.predict import route as kernel
from omnitree.data.schema import Schema

FUNCTIONS = ("tanh", "exp")
# Numbers that the interpreter of programs can hold at once.
DEEPEST = 64
# A code that no kind of test has in `_core/predict/route.hpp`.
NO_KIND = 255


@dataclass(frozen=True, slots=True)
class Constant:
    """A number."""

    value: float


@dataclass(frozen=True, slots=True)
class Cell:
    """The cell of a numeric or ordered feature; where it is missing, no test can tell.

    It only stands alone in a `Cut`.
    """

    feature: int


@dataclass(frozen=True, slots=True)
class Column:
    """An encoded column by its number; `fill` where its cell is missing."""

    number: int
    fill: float


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms, added from left to right."""

    terms: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Factors, multiplied from left to right."""

    factors: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One of `FUNCTIONS` of a number."""

    function: str
    argument: Value


@dataclass(frozen=True, slots=True)
class AtMost:
    """1 where left <= right, else 0."""

    left: Value
    right: Value


Value: TypeAlias = Constant | Cell | Column | Sum | Product | Call | AtMost


@dataclass(frozen=True, slots=True)
class Lookup:
    """`branch[code]` of a categorical feature; -1, or no such code: cannot tell."""

    feature: int
    branch: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """Branch `low` where value <= threshold, else 1 - low; `low` is 1 only for cells."""

    value: Value
    threshold: float
    low: int = 0


@dataclass(frozen=True, slots=True)
class Largest:
    """The position of the largest value, the first of several."""

    values: tuple[Value, ...]


Rule: TypeAlias = Lookup | Cut | Largest


# -- making -----------------------------------------------------------------------------


def filled(columns: Sequence[int], fill: Sequence[float]) -> list[Column]:
    """Encoded columns with what fills their missing cells."""
    return [Column(c, f) for c, f in zip(columns, fill, strict=True)]


def products(columns: Sequence[Column], terms: Iterable[Sequence[int]]) -> list[Value]:
    """Products of two columns by their positions; -1 leaves the second one out."""
    return [
        columns[a] if b < 0 else Product((columns[a], columns[b])) for a, b in terms
    ]


def weighted(start: float, weights: Sequence[float], factors: Sequence[Value]) -> Sum:
    """start + sum of weight * factor."""
    pairs = zip(weights, factors, strict=True)
    terms = (Product((Constant(w), factor)) for w, factor in pairs)
    return Sum((Constant(start), *terms))


def simplified(value: Any) -> Any:
    """A value or rule without terms whose weight is 0, which add nothing."""
    match value:
        case Sum():
            first, *others = value.terms
            terms = [first, *(t for t in others if _weight(t) != 0)]
            if monomials(value) is None:
                terms = [simplified(t) for t in terms]
            return Sum(tuple(terms))
        case Product():
            return Product(tuple(map(simplified, value.factors)))
        case Call():
            return Call(value.function, simplified(value.argument))
        case AtMost():
            return AtMost(simplified(value.left), simplified(value.right))
        case Cut():
            return Cut(simplified(value.value), value.threshold, value.low)
        case Largest():
            return Largest(tuple(map(simplified, value.values)))
    return value


def _weight(term: Value) -> float | None:
    """The constant that a product begins with, or that a term is."""
    first = term.factors[0] if isinstance(term, Product) else term
    return first.value if isinstance(first, Constant) else None


# -- reading ----------------------------------------------------------------------------


def parts(value: Any) -> tuple[Any, ...]:
    """What a value or rule is directly made of."""
    match value:
        case Sum():
            return value.terms
        case Product():
            return value.factors
        case Call():
            return (value.argument,)
        case AtMost():
            return value.left, value.right
        case Cut():
            return (value.value,)
        case Largest():
            return value.values
    return ()


def walk(value: Any) -> Iterator[Any]:
    """A value or rule and all it is made of, in order."""
    stack = [value]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(reversed(parts(one)))


def feature_of(rule: Rule) -> int | None:
    """The feature of a test that looks at one cell and may be unable to tell, or None."""
    if isinstance(rule, Lookup):
        return rule.feature
    if isinstance(rule, Cut) and isinstance(rule.value, Cell):
        return rule.value.feature
    return None


def evaluate(value: Value, read: Callable[[Any], Any]) -> Any:
    """The number that a value is, or an array of them.

    Parameters
    ----------
    value : Value
    read : callable
        Gives what a `Column` or `Cell` holds, a number or an array of them.
    """
    match value:
        case Constant():
            return value.value
        case Sum():
            first, *others = value.terms
            total = evaluate(first, read)
            for term in others:
                total = total + evaluate(term, read)
            return total
        case Product():
            first, *others = value.factors
            total = evaluate(first, read)
            for factor in others:
                total = total * evaluate(factor, read)
            return total
        case Call():
            return getattr(np, value.function)(evaluate(value.argument, read))
        case AtMost():
            left, right = evaluate(value.left, read), evaluate(value.right, read)
            return np.where(left <= right, 1.0, 0.0)
    return read(value)


# -- plain forms ------------------------------------------------------------------------


def plain_rule(rule: Rule) -> dict[str, Any]:
    """A rule in plain types, for words and for the explorer's page.

    `feature` and `branch` of a lookup; `feature`, `threshold` and `low` of the cut of a
    cell. Sums of weights times columns, or times products of two, are a table: `columns`,
    `fill`, `terms` if there are products (positions in the columns, -1: none), and
    `weights` with a `threshold`, or a list of them with a list `bias`. Of other values:
    `columns` and `fill`, and `value` with a `threshold`, or `values` (`plain_value`).
    """
    match rule:
        case Lookup():
            return {"feature": rule.feature, "branch": list(rule.branch)}
        case Cut(value=Cell(feature)):
            return {"feature": feature, "threshold": rule.threshold, "low": rule.low}
        case Cut():
            table = sums_table([rule.value])
            if table is None or table["bias"] != [0.0]:
                form = {"value": plain_value(rule.value), "threshold": rule.threshold}
                return _columns_of(rule) | form
            table["weights"], table["threshold"] = table["weights"][0], rule.threshold
            del table["bias"]
            return table
    table = sums_table(rule.values)
    if table is not None:
        return table
    return _columns_of(rule) | {"values": [plain_value(v) for v in rule.values]}


def sums_table(values: Sequence[Value]) -> dict[str, Any] | None:
    """Sums over the same terms as a table of weights; None if the values are none."""
    found = [monomials(value) for value in values]
    terms = found[0].terms if found[0] else ()
    if any(one is None or one.terms != terms for one in found):
        return None
    table: dict[str, Any] = {
        "weights": [list(one.weights) for one in found if one],
        "bias": [one.start for one in found if one],
    }
    columns = [column for term in terms for column in term]
    if any(len(term) == 2 for term in terms):
        columns = list(dict.fromkeys(columns))
        at = {column: i for i, column in enumerate(columns)}
        table["terms"] = [[at[a], at[b[0]] if b else -1] for a, *b in terms]
    table["columns"] = [column.number for column in columns]
    table["fill"] = [column.fill for column in columns]
    return table


@dataclass(frozen=True, slots=True)
class Monomials:
    """start + sum of weight * term; a term is a column, or two that are multiplied."""

    start: float
    weights: tuple[float, ...]
    terms: tuple[tuple[Column, ...], ...]


def monomials(value: Value) -> Monomials | None:
    """A value as a weighted sum of columns and products of two; None if it is none."""
    if not isinstance(value, Sum) or not isinstance(value.terms[0], Constant):
        return None
    weights: list[float] = []
    terms: list[tuple[Column, ...]] = []
    for term in value.terms[1:]:
        match term:
            case Product((Constant(weight), Column() as column)):
                terms.append((column,))
            case Product((Constant(weight), Product((Column() as a, Column() as b)))):
                terms.append((a, b))
            case _:
                return None
        weights.append(weight)
    return Monomials(value.terms[0].value, tuple(weights), tuple(terms))


def _columns_of(rule: Rule) -> dict[str, Any]:
    columns = list(dict.fromkeys(v for v in walk(rule) if isinstance(v, Column)))
    return {
        "columns": [column.number for column in columns],
        "fill": [column.fill for column in columns],
    }


def plain_value(value: Value) -> Any:
    """A value as nested lists: an operator and what it is applied to; a number alone."""
    match value:
        case Constant():
            return value.value
        case Column():
            return ["column", value.number, value.fill]
        case Call():
            return [value.function, plain_value(value.argument)]
    name = {Sum: "sum", Product: "product", AtMost: "at_most"}[type(value)]
    return [name, *map(plain_value, parts(value))]


def route(rule: Rule, values: np.ndarray, schema: Schema) -> np.ndarray:
    """Branch of each row of encoded values under a rule, -1 where it cannot tell."""
    code, numbers = program(rule)
    out = np.empty(len(values), dtype=np.int32)
    kernel.route_test(
        NO_KIND,
        np.array([0, 0, *code], dtype=np.int32),
        np.array(numbers, dtype=np.float64),
        values,
        np.arange(len(values)),
        *schema.linear_columns(),
        out,
    )
    return out


# -- programs ---------------------------------------------------------------------------

# Operators of `_core/predict/program.hpp`, in its order.
_OPERATORS = (
    "constant",
    "column",
    "cell",
    "add",
    "multiply",
    *FUNCTIONS,
    "at_most",
    "cut",
    "rival",
    "lookup",
)
_CODE = {name: code for code, name in enumerate(_OPERATORS)}


def program(rule: Rule) -> tuple[list[int], list[float]]:
    """A rule as ints and doubles for the compiled interpreter.

    Operands come before their operators. Every value of a `Largest` is a rival of the
    best one so far.
    """
    code: list[int] = []
    numbers: list[float] = []
    if isinstance(rule, Lookup):
        return [_CODE["lookup"], rule.feature, len(rule.branch), *rule.branch], []
    for value in parts(rule):
        depth = deepest = 0
        for step, number in _steps(value):
            code += step
            numbers += number
            depth += 1 if step[0] <= _CODE["cell"] else -(step[0] not in _UNARY)
            deepest = max(deepest, depth)
        if deepest > DEEPEST:
            raise ValueError(f"a test that needs more than {DEEPEST} numbers at once")
        if isinstance(rule, Largest):
            code.append(_CODE["rival"])
    if isinstance(rule, Cut):
        code += [_CODE["cut"], rule.low]
        numbers.append(rule.threshold)
    return code, numbers


_UNARY = [_CODE[name] for name in FUNCTIONS]


def _steps(value: Value) -> Iterator[tuple[list[int], list[float]]]:
    """Operators with their ints and doubles, operands first."""
    match value:
        case Constant():
            yield [_CODE["constant"]], [value.value]
        case Column():
            yield [_CODE["column"], value.number], [value.fill]
        case Cell():
            yield [_CODE["cell"], value.feature], []
        case Call():
            yield from _steps(value.argument)
            yield [_CODE[value.function]], []
        case AtMost():
            yield from _steps(value.left)
            yield from _steps(value.right)
            yield [_CODE["at_most"]], []
        case _:
            name = "add" if isinstance(value, Sum) else "multiply"
            for i, part in enumerate(parts(value)):
                yield from _steps(part)
                if i:
                    yield [_CODE[name]], []
