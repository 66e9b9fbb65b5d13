"""Rules of tests as programs for the interpreter in `_core/predict/program.hpp`.

Kinds of tests without a compiled case are routed by it: `program` writes the operators of
`expression.py` as ints and doubles, and `route` runs them. Used by splits of such kinds and
by exports, which ask for single rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from omnitree._core.predict import route as kernel
from omnitree.data.schema import Schema
from omnitree.tree.curves import packed_curve
from omnitree.tree.expression import (
    FUNCTIONS,
    AtMost,
    Call,
    Cell,
    Column,
    Constant,
    Curve,
    Cut,
    Largest,
    Lookup,
    Rule,
    Sum,
    Value,
    parts,
)

# Numbers that the interpreter can hold at once.
DEEPEST = 64
# A code that no kind of test has in `_core/predict/route.hpp`.
NO_KIND = 255


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


# Operators of `_core/predict/program.hpp`, in its order.
_OPERATORS = (
    "constant",
    "column",
    "cell",
    "curve",
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
            depth += 1 if step[0] <= _CODE["curve"] else -(step[0] not in _UNARY)
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
        case Curve():
            numbers = packed_curve(value.knots, [value.line])
            yield [_CODE["curve"], value.column, len(value.knots)], numbers
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
