"""Cases: stored rows that a test or a model of a leaf compares every row with.

The likeness of a row to a case is exp(-sum of precision * (cell - the case's)^2) over some
encoded columns: 1 where all are equal, and the closer to 0 the more they differ. Each sum
adds the likeness to each case times a weight; a case of another class has the weight 0.
`packed_cases` lays out what `_core/predict/sums.hpp` reads; `likenesses` gives the operators
that exports translate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from omnitree.tree.expression import Call, Column, Constant, Product, Sum

Numbers = tuple[float, ...]
# What stands for the column of a curve where cases follow, and how many they are.
MARK = -1


def likenesses(
    columns: Sequence[Column], precision: Numbers, cases: Sequence[Numbers]
) -> list[Call]:
    """How alike a row is to each case, in the form that exporters translate.

    Examples
    --------
    >>> from omnitree.tree.expression import evaluate
    >>> (one,) = likenesses([Column(0, 0.0)], (0.5,), [(3.0,)])
    >>> float(evaluate(one, lambda column: 3.0))
    1.0
    """
    found = []
    for case in cases:
        terms = []
        for column, own, at in zip(columns, precision, case, strict=True):
            apart = Sum((column, Constant(-at)))
            terms.append(Product((Constant(-own), apart, apart)))
        found.append(Call("exp", Sum(tuple(terms))))
    return found


def cases_problem(holder: Any) -> str | None:
    """What is wrong with the cases of a test or a model, or None."""
    if problem := _lengths_problem(holder):
        return problem
    if any(not 0 <= own < math.inf for own in holder.precision):
        return "precision must not be negative"
    numbers = (*holder.cases, *holder.case_weights)
    if not all(math.isfinite(v) for line in numbers for v in line):
        return "cases and their weights must be finite"
    return None


def _lengths_problem(holder: Any) -> str | None:
    m, n_sums = len(holder.columns), len(holder.bias)
    if not m:
        return "cases need columns"
    if not holder.cases:
        return "no cases"
    if not (len(holder.precision) == m and all(len(c) == m for c in holder.cases)):
        return "precision and every case need a number for each column"
    if len(holder.case_weights) != n_sums or any(
        len(w) != len(holder.cases) for w in holder.case_weights
    ):
        return f"each case needs a weight in {n_sums} sums"
    return None


def packed_cases(holder: Any) -> tuple[list[int], list[float]]:
    """Ints and doubles of cases, to stand where those of another curve would.

    The precision of each column, then of each case its columns and its weight in each sum.
    """
    if problem := _lengths_problem(holder):
        raise ValueError(problem)
    numbers = list(holder.precision)
    weights = zip(*holder.case_weights, strict=True)
    for case, own in zip(holder.cases, weights, strict=True):
        numbers += (*case, *own)
    return [MARK, len(holder.cases)], numbers


def unpacked_cases(
    n: int, numbers: Sequence[float], m: int, k: int
) -> tuple[Numbers, tuple[Numbers, ...], tuple[Numbers, ...]]:
    """Precision, cases and weights of n cases over m columns in k sums."""
    rows = np.reshape(numbers[m:], (n, m + k))
    weights = tuple(map(tuple, rows[:, m:].T.tolist()))
    return tuple(numbers[:m]), tuple(map(tuple, rows[:, :m].tolist())), weights
