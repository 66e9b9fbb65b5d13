"""What tests on weighted sums share: of columns, or of products of two columns.

A kind with `terms` sums products, one without sums the columns themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.tree.expression import Cut, Largest, Value, filled, products, weighted
from omnitree.tree.splits.base import Split, columns_problem, widths_problem

Numbers = tuple[float, ...]


class _Sums(Split):
    columns: tuple[int, ...]
    fill: Numbers
    weights: Any

    @property
    def factors(self) -> Sequence[Value]:
        """What the weights belong to."""
        columns = filled(self.columns, self.fill)
        terms = getattr(self, "terms", None)
        return columns if terms is None else products(columns, terms)

    @property
    def _width(self) -> int:
        return len(getattr(self, "terms", self.columns))

    def features(self, schema: Schema) -> set[int]:
        """Those of its columns, without making the rule of many thousands of terms."""
        columns = np.asarray(self.columns, dtype=np.intp)
        if (terms := getattr(self, "terms", None)) is not None:
            used = np.unique(np.asarray(terms, dtype=np.intp))
            columns = columns[used[used >= 0]]
        bent = np.asarray(getattr(self, "curve_columns", ()), dtype=np.intp)
        return set(schema.linear_columns()[0][np.r_[columns, bent]].tolist())


class SumSplit(_Sums):
    """One sum against a threshold: branch 0 where it is <= threshold."""

    threshold: float

    @property
    def n_params(self) -> int:
        return len(self.weights) + 1

    @property
    def rule(self) -> Cut:
        return Cut(weighted(0.0, self.weights, self.factors), self.threshold)

    def problem(self, schema: Schema) -> str | None:
        return columns_problem(self, schema) or widths_problem(
            [self.weights], 1, self._width
        )


class LargestSumSplit(_Sums):
    """A sum for each branch: that of the largest, the first of several."""

    bias: Numbers

    @property
    def n_children(self) -> int:
        return len(self.bias)

    @property
    def n_params(self) -> int:
        return len(self.bias) + int(np.count_nonzero(self.weights))

    @property
    def rule(self) -> Largest:
        factors, pairs = self.factors, zip(self.bias, self.weights, strict=True)
        return Largest(tuple(weighted(b, w, factors) for b, w in pairs))

    def problem(self, schema: Schema) -> str | None:
        return columns_problem(self, schema) or widths_problem(
            self.weights, len(self.bias), self._width
        )


def joined(bias: Numbers, weights: Sequence[Numbers]) -> list[float]:
    """Each bias and its weights, one after another, as compiled code reads them."""
    return [v for b, w in zip(bias, weights, strict=True) for v in (b, *w)]


def parted(numbers: list[float], n: int) -> tuple[Numbers, tuple[Numbers, ...]]:
    """Biases and weights of n sums that were `joined`."""
    rows = np.reshape(numbers, (n, len(numbers) // max(n, 1))).tolist()
    return tuple(row[0] for row in rows), tuple(tuple(row[1:]) for row in rows)
