"""The small form that every test and every leaf model is lowered to.

A test is a `Rule`: a `Lookup` of one category, a `Cut` of one number, or the position of
the `Largest` of several. Numbers are made of constants, cells, encoded columns, curves of
them, sums, products, comparisons and a few functions. Exporters, explanations and the
explorer's page translate these operators and know no kinds of tests, so a new kind needs
nothing from them; where no compiled case routes it, `programs.py` writes its rule for an
interpreter.

Sums are added, and products multiplied, from left to right: every translation that keeps
this order gives the library's numbers to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from omnitree.tree.curves import curve_at, slopes

FUNCTIONS = ("tanh", "exp")

T = TypeVar("T")


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
class Curve:
    """A piecewise linear function of an encoded column that is a number.

    With knots t and values v: v[0] where x <= t[0]; v[-1] where x >= t[-1]; else, with
    t[i] < x <= t[i + 1], v[i] + (x - t[i]) * slopes[i]. `missing` where the cell is missing.
    """

    column: int
    knots: tuple[float, ...]
    values: tuple[float, ...]
    missing: float

    @property
    def line(self) -> tuple[float, ...]:
        """The values at the knots, then that of a missing cell."""
        return (*self.values, self.missing)

    @property
    def slopes(self) -> list[float]:
        """The slope of each piece."""
        return slopes(self.knots, self.values)

    def written(
        self,
        choose: Callable[[float, T, T], T],
        piece: Callable[[float, float, float], T],
    ) -> T:
        """What it is between its first and its last knot, by halving.

        `choose` writes one of two where x is at most a number, else the other; `piece`
        writes value + (x - knot) * slope.
        """
        every = zip(self.values[:-1], self.knots[:-1], self.slopes, strict=True)
        pieces = [piece(*one) for one in every]
        at = list(self.knots[1:-1])
        while at:  # two neighbours become one, in every second place
            pairs = zip(at[::2], pieces[:-1:2], pieces[1::2], strict=True)
            rest = pieces[-1:] if len(pieces) % 2 else []
            pieces, at = [choose(*pair) for pair in pairs] + rest, at[1::2]
        return pieces[0]


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


Value: TypeAlias = Constant | Cell | Column | Curve | Sum | Product | Call | AtMost


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


def weighted(
    start: float,
    weights: Sequence[float],
    factors: Sequence[Value],
    curves: Iterable[Curve] = (),
) -> Sum:
    """start + sum of weight * factor + sum of curves."""
    pairs = zip(weights, factors, strict=True)
    terms = (Product((Constant(w), factor)) for w, factor in pairs)
    return Sum((Constant(start), *terms, *curves))


def curves_of(holder: Any, lines: Sequence[Sequence[float]]) -> list[Curve]:
    """The curves of a test or a model in one of its sums.

    `holder` has `curve_columns` and `knots`; `lines` are the values at the knots of each
    curve, then that of a missing cell.
    """
    parts = zip(holder.curve_columns, holder.knots, lines, strict=True)
    return [Curve(c, knots, tuple(v[:-1]), v[-1]) for c, knots, v in parts]


def simplified(value: Any) -> Any:
    """A value or rule without terms whose weight is 0, and curves that are: no change."""
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
    """The constant that a product begins with, or that a term is; 0 of a curve of zeros."""
    if isinstance(term, Curve):
        return None if any(term.line) else 0.0
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


def columns_in(value: Any) -> list[int]:
    """Encoded columns that a value or rule looks at, by number, each once."""
    found = (
        one.number if isinstance(one, Column) else one.column
        for one in walk(value)
        if isinstance(one, Column | Curve)
    )
    return list(dict.fromkeys(found))


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
        Gives what a `Column` or `Cell` holds, a number or an array of them; a curve asks
        for its column with NaN as `fill`.
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
        case Curve():
            x = read(Column(value.column, math.nan))
            return curve_at(value.knots, value.line, x)
    return read(value)


def check_sizes(value: Any, largest: float) -> float:
    """A bound of the size of a value, for cells no larger than 1 or than what fills them.

    Raises
    ------
    ValueError
        If it, or a value that it is made of, may be larger than `largest`.
    """
    inside = [check_sizes(part, largest) for part in parts(value)]
    match value:
        case Constant():
            size = abs(value.value)
        case Column():
            size = max(1.0, abs(value.fill))
        case Curve():
            size = max(map(abs, value.line))
        case Sum():
            size = sum(inside)
        case Product():
            size = math.prod(inside)
        case Call("exp"):
            below_0 = _is_negative(value.argument)
            size = 1.0 if below_0 else math.exp(min(inside[0], 700.0))
        case _:
            size = 1.0
    if not size <= largest:
        raise ValueError("its weights are so large that sums of them would overflow")
    return size


def _is_negative(value: Value) -> bool:
    """Whether a value is a sum of squares, each times a number that is not above 0."""
    return isinstance(value, Sum) and all(
        isinstance(term, Product)
        and len(term.factors) == 3
        and isinstance(term.factors[0], Constant)
        and term.factors[0].value <= 0
        and term.factors[1] == term.factors[2]
        for term in value.terms
    )


# -- plain forms ------------------------------------------------------------------------


def plain_rule(rule: Rule) -> dict[str, Any]:
    """A rule in plain types, for words and for the explorer's page.

    `feature` and `branch` of a lookup; `feature`, `threshold` and `low` of the cut of a
    cell. Sums of weights times columns, or times products of two, are a table: `columns`,
    `fill`, `terms` if there are products (positions in the columns, -1: none), and
    `weights` with a `threshold`, or a list of them with a list `bias`; if curves are added,
    too, `curve_columns`, `knots` and `curve_values` (at the knots, then of a missing cell)
    or a list of them. Of other values: `columns` and `fill`, and `value` with a
    `threshold`, or `values` (`plain_value`).
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
            if "curve_values" in table:
                table["curve_values"] = table["curve_values"][0]
            del table["bias"]
            return table
    table = sums_table(rule.values)
    if table is not None:
        return table
    return _columns_of(rule) | {"values": [plain_value(v) for v in rule.values]}


def sums_table(values: Sequence[Value]) -> dict[str, Any] | None:
    """Sums over the same terms as a table of weights; None if the values are none.

    Curves are the same if their columns and knots are.
    """
    found = [monomials(value) for value in values]
    terms = found[0].terms if found[0] else ()
    bends = found[0].bends if found[0] else []
    if any(one is None or one.terms != terms or one.bends != bends for one in found):
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
    if bends:
        table["curve_columns"] = [column for column, _ in bends]
        table["knots"] = [list(knots) for _, knots in bends]
        table["curve_values"] = [
            [list(c.line) for c in one.curves] for one in found if one
        ]
    return table


@dataclass(frozen=True, slots=True)
class Monomials:
    """start + sum of weight * term + sum of curves.

    A term is a column, or two that are multiplied.
    """

    start: float
    weights: tuple[float, ...]
    terms: tuple[tuple[Column, ...], ...]
    curves: tuple[Curve, ...] = ()

    @property
    def bends(self) -> list[tuple[int, tuple[float, ...]]]:
        """Columns and knots of the curves."""
        return [(curve.column, curve.knots) for curve in self.curves]


def monomials(value: Value) -> Monomials | None:
    """A value as a weighted sum of columns and products of two; None if it is none.

    Curves come last.
    """
    if not isinstance(value, Sum) or not isinstance(value.terms[0], Constant):
        return None
    weights: list[float] = []
    terms: list[tuple[Column, ...]] = []
    curves = tuple(term for term in value.terms if isinstance(term, Curve))
    plain = value.terms[1 : len(value.terms) - len(curves)]
    for term in plain:
        match term:
            case Product((Constant(weight), Column() as column)):
                terms.append((column,))
            case Product((Constant(weight), Product((Column() as a, Column() as b)))):
                terms.append((a, b))
            case _:
                return None
        weights.append(weight)
    return Monomials(value.terms[0].value, tuple(weights), tuple(terms), curves)


def _columns_of(rule: Rule) -> dict[str, Any]:
    """Columns with what fills them; None where only curves look at one."""
    columns = list(dict.fromkeys(v for v in walk(rule) if isinstance(v, Column)))
    filled_in = {column.number for column in columns}
    bent = [number for number in columns_in(rule) if number not in filled_in]
    return {
        "columns": [column.number for column in columns] + bent,
        "fill": [column.fill for column in columns] + [None] * len(bent),
    }


def plain_value(value: Value) -> Any:
    """A value as nested lists: an operator and what it is applied to; a number alone."""
    match value:
        case Constant():
            return value.value
        case Column():
            return ["column", value.number, value.fill]
        case Curve():
            return ["curve", value.column, list(value.knots), list(value.line)]
        case Call():
            return [value.function, plain_value(value.argument)]
    name = {Sum: "sum", Product: "product", AtMost: "at_most"}[type(value)]
    return [name, *map(plain_value, parts(value))]
