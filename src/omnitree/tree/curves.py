"""Curves: piecewise linear functions of one number, in tests and in models of leaves.

A curve is given by its knots and a line of values: one at each knot, then that of a missing
cell. Between knots it is straight, beyond the first and the last it stays as it is there. A
machine or a model has one set of knots a curve and a line for each of its sums.

`Curve` in `tree/expression.py` is one such function; `packed_curve` lays out what
`_core/predict/sums.hpp` reads. Slopes are computed here and nowhere else, so that compiled
code and every export multiply by the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from operator import lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.schema import Schema

Line = Sequence[float]


def slopes(knots: Sequence[float], line: Line) -> list[float]:
    """The slope of each piece."""
    return [
        (line[i + 1] - line[i]) / (knots[i + 1] - knots[i])
        for i in range(len(knots) - 1)
    ]


def curve_at(knots: Sequence[float], line: Line, x: Any) -> NDArray[np.float64]:
    """A curve at numbers, NaN where they are missing.

    Examples
    --------
    >>> curve_at((0.0, 2.0), (1.0, 5.0, -3.0), [-9.0, 0.5, 2.0, 9.0, float("nan")])
    array([ 1.,  2.,  5.,  5., -3.])
    """
    x = np.asarray(x, dtype=np.float64)
    knot, value = np.asarray(knots, dtype=float), np.asarray(line, dtype=float)
    inside = np.clip(x, knot[0], knot[-1])  # a difference of infinite numbers is none
    at = np.clip(np.searchsorted(knot, inside) - 1, 0, len(knot) - 2)
    out = value[at] + (inside - knot[at]) * np.asarray(slopes(knots, line))[at]
    out = np.where(x <= knot[0], value[0], np.where(x >= knot[-1], value[-2], out))
    return np.where(np.isnan(x), value[-1], out)


def n_values(line: Line) -> int:
    """Free parameters of a curve: none if it is 0 everywhere.

    Its values but one, since a constant belongs to the bias; that of a missing cell if it
    is not 0.
    """
    return len(line) - 2 + (line[-1] != 0) if any(line) else 0


def curve_problem(knots: Sequence[float], lines: Sequence[Line]) -> str | None:
    """What is wrong with a curve, or None."""
    n = len(knots)
    if n < 2:
        return f"a curve needs at least 2 knots, not {n}"
    if not all(map(math.isfinite, knots)):
        return "the knots of a curve must be finite"
    if any(low >= high for low, high in pairwise(knots)):
        return "the knots of a curve must be strictly increasing"
    if any(len(line) != n + 1 for line in lines):
        return (
            f"a curve of {n} knots needs {n + 1} values: one at each knot, then that "
            "of a missing cell"
        )
    if not math.isfinite(knots[-1] - knots[0]) or not all(
        math.isfinite(v) for line in lines for v in (*line, *slopes(knots, line))
    ):
        return "the values and slopes of a curve must be finite"
    return None


def curves_problem(
    holder: Any, lines: Sequence[Sequence[Line]], n_sums: int, schema: Schema
) -> str | None:
    """What is wrong with the curves of a test or a model of so many sums, or None.

    `lines` are those of each of its sums.
    """
    if problem := _lengths_problem(holder, lines):
        return problem
    if len(lines) != n_sums:
        return f"curves of {n_sums} sums are needed"
    if not all(0 <= column < schema.n_columns for column in holder.curve_columns):
        return "column out of range"
    for j, knots in enumerate(holder.knots):
        if problem := curve_problem(knots, [own[j] for own in lines]):
            return problem
    return category_problem(holder.curve_columns, schema)


def category_problem(columns: Sequence[int], schema: Schema) -> str | None:
    """What is wrong with the columns of curves, which must be numbers, or None."""
    category = schema.linear_columns()[1]
    if any(category[column] >= 0 for column in columns):
        return "a curve of a category: give its column a weight instead"
    return None


def _lengths_problem(holder: Any, lines: Sequence[Sequence[Line]]) -> str | None:
    n = len(holder.curve_columns)
    if len(holder.knots) == n and all(len(own) == n for own in lines):
        return None
    return "each curve needs a column, knots, and values in every sum"


def packed_curve(knots: Sequence[float], lines: Sequence[Line]) -> list[float]:
    """Doubles of a curve with K lines, as `sums.hpp` reads them.

    The knots; then K values and K slopes at each knot and of a missing cell. Beyond the
    last knot, and of a missing cell, slopes are 0.
    """
    n = len(knots)
    # What is wrong, if anything, takes longer to find out.
    rises = n >= 2 and all(map(lt, knots, knots[1:]))
    if not rises or any(len(line) != n + 1 for line in lines):
        raise ValueError(curve_problem(knots, lines))
    steep = [[*slopes(knots, line), 0.0, 0.0] for line in lines]
    out = list(knots)
    for pair in zip(zip(*lines, strict=True), zip(*steep, strict=True), strict=True):
        for own in pair:
            out += own
    usual = math.isfinite(sum(out) + (knots[-1] - knots[0]))
    if not usual and (problem := curve_problem(knots, lines)):
        raise ValueError(problem)
    return out


def unpacked_curve(
    packed: Sequence[float], n: int, k: int
) -> tuple[tuple[float, ...], list[tuple[float, ...]], Sequence[float]]:
    """Knots and lines of a packed curve of n knots and k lines, and what follows it."""
    end = n + 2 * (n + 1) * k
    lines = [tuple(packed[n + at : end : 2 * k]) for at in range(k)]
    return tuple(packed[:n]), lines, packed[end:]


def packed_curves(holder: Any, lines: Sequence[Sequence[Line]]) -> tuple[list, list]:
    """Ints (column and number of knots of each curve) and doubles of all curves."""
    if problem := _lengths_problem(holder, lines):
        raise ValueError(problem)
    pairs, numbers = [], []
    for j, (column, knots) in enumerate(
        zip(holder.curve_columns, holder.knots, strict=True)
    ):
        pairs += [column, len(knots)]
        numbers += packed_curve(knots, [own[j] for own in lines])
    return pairs, numbers


def unpacked_curves(
    pairs: Sequence[int], numbers: Sequence[float], k: int
) -> tuple[tuple[int, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Columns, knots, and for each of k sums the lines of all curves."""
    knots, lines = [], []
    for n in pairs[1::2]:
        own, found, numbers = unpacked_curve(numbers, n, k)
        knots.append(own)
        lines.append(found)
    by_sum = tuple(tuple(found[at] for found in lines) for at in range(k))
    return tuple(pairs[::2]), tuple(knots), by_sum
