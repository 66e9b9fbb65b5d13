"""Linear, quadratic and additive models in nodes: what a leaf with a model answers.

A `LeafModel` is K sums, bias plus weights times terms plus curves, or plus cases. A term is
an encoded column or, in a quadratic model, the product of two; a missing cell takes the
column's fill. An additive model adds curves (`tree/curves.py`), a model of cases how alike a
row is to each (`tree/cases.py`). For classes the sums go through softmax and K is the number
of classes; for numbers there is one sum, the answer itself.
`LeafModels` holds those of all nodes of a tree, packed for `_core/models.pyx`. A decision
node may have one too: what it would answer as a leaf, which is what pruning asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any

import numpy as np

from omnitree._core.predict import models as kernel
from omnitree.data.table import Table
from omnitree.tree.cases import MARK, likenesses, packed_cases, unpacked_cases
from omnitree.tree.curves import n_values, packed_curves, unpacked_curves
from omnitree.tree.expression import Sum, curves_of, filled, products, weighted

LINKS = ("softmax", "identity")


def _optional() -> Any:
    return field(default=(), metadata={"optional": True})


@dataclass(frozen=True)
class LeafModel:
    """A linear, quadratic or additive model over encoded columns."""

    columns: tuple[int, ...]  # encoded columns, by number
    fill: tuple[float, ...]  # what each column is where its cell is missing
    bias: tuple[float, ...]  # one a sum
    weights: tuple[tuple[float, ...], ...]  # a row a sum, a weight a term
    # "softmax": the sums become probabilities of classes; "identity": they are the
    # answer.
    link: str = "softmax"
    # Of a quadratic model: positions in `columns` whose columns are multiplied, as in
    # `QuadraticMachineSplit`; (a, -1) is the column at a alone. Empty in a linear
    # model, whose terms are the columns in their order.
    terms: tuple[tuple[int, int], ...] = _optional()
    # Of an additive model: the encoded column, a number, of each curve.
    curve_columns: tuple[int, ...] = _optional()
    # Where the pieces of each curve meet, strictly increasing.
    knots: tuple[tuple[float, ...], ...] = _optional()
    # For each sum the values of each curve at its knots, then that of a missing cell.
    # Empty where there are no curves.
    curve_values: tuple[tuple[tuple[float, ...], ...], ...] = _optional()
    # Of a model of cases: what a difference in each column counts, the columns of each
    # case, and for each sum the weight of each case. Such a model has no terms but those
    # in `terms`, and no curves.
    precision: tuple[float, ...] = _optional()
    cases: tuple[tuple[float, ...], ...] = _optional()
    case_weights: tuple[tuple[float, ...], ...] = _optional()

    @property
    def n_params(self) -> int:
        """Free parameters: biases, weights that are not 0, and values of curves.

        Of softmax one sum follows from the others, so that each term, case and curve has
        at most those of K - 1 sums. The columns of a case are not fitted; its precisions
        count as one.
        """
        sums = len(self.bias) - (self.link == "softmax")
        weights = np.count_nonzero(self.weights, axis=0)
        n = int(sums + np.minimum(weights, sums).sum())
        if self.cases:
            alike = np.count_nonzero(self.case_weights, axis=0)
            n += int(np.minimum(alike, sums).sum()) + 1
        for lines in zip(*self.curve_values, strict=True):
            n += sum(sorted(map(n_values, lines), reverse=True)[:sums])
        return n

    @property
    def is_finite(self) -> bool:
        """Whether no number is infinite or NaN."""
        numbers = (self.fill, self.bias, *self.weights, *self.knots)
        numbers += (self.precision, *self.cases, *self.case_weights)
        return all(np.isfinite(own).all() for own in chain(numbers, *self.curve_values))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The terms, also of a linear model."""
        if self.terms or self.cases:
            return self.terms
        return tuple((at, -1) for at in range(len(self.columns)))

    @property
    def sums(self) -> tuple[Sum, ...]:
        """The sums in the form that exporters translate, before the link."""
        columns = filled(self.columns, self.fill)
        factors = products(columns, self.pairs)
        if self.cases:
            alike = likenesses(columns, self.precision, self.cases)
            every = zip(self.bias, self.weights, self.case_weights, strict=True)
            return tuple(weighted(b, (*w, *v), [*factors, *alike]) for b, w, v in every)
        lines = self.curve_values or ((),) * len(self.bias)
        rows = zip(self.bias, self.weights, lines, strict=True)
        return tuple(weighted(b, w, factors, curves_of(self, v)) for b, w, v in rows)

    def to_dict(self) -> dict[str, Any]:
        """The model in plain types; `terms` only where there are products, curves alike."""
        out = {
            "link": self.link,
            "columns": list(self.columns),
            "fill": list(self.fill),
            "bias": list(self.bias),
            "weights": [list(row) for row in self.weights],
        }
        if self.terms:
            out["terms"] = [list(pair) for pair in self.terms]
        if self.curve_columns:
            out["curve_columns"] = list(self.curve_columns)
            out["knots"] = [list(knots) for knots in self.knots]
            out["curve_values"] = [
                [list(line) for line in lines] for lines in self.curve_values
            ]
        if self.cases:
            for name in ("cases", "case_weights"):
                out[name] = [list(line) for line in getattr(self, name)]
            out["precision"] = list(self.precision)
        return out

    @property
    def _packed(self) -> tuple[list[int], list[float]]:
        """Ints and doubles of the curves, or of the cases."""
        if self.cases:
            return packed_cases(self)
        return packed_curves(self, self.curve_values)


# Models by all that is packed of them but their biases (`LeafModels.unpacked`).
Known = dict[tuple[Any, ...], LeafModel]


@dataclass(frozen=True, eq=False)
class LeafModels:
    """The models of the nodes of a tree, packed."""

    link: str  # of all models, as in `LeafModel`
    # (n_nodes + 1,): the slice of each node in the pools; an empty slice of weights: no
    # model.
    index_ptr: np.ndarray
    weight_ptr: np.ndarray
    term_ptr: np.ndarray
    curve_ptr: np.ndarray
    index: np.ndarray  # columns
    # Of each model the fills, the K biases, K weights a term, and the curves
    # (`packed_curve`) or the cases (`packed_cases`).
    weight: np.ndarray
    # Of each quadratic model its terms, two positions among its columns each; nothing
    # of a linear model.
    term: np.ndarray
    # Of each curve its column and how many knots it has; -1 and how many cases there are.
    curve: np.ndarray

    @classmethod
    def of(cls, models: Sequence[LeafModel | None]) -> LeafModels | None:
        """Pack the models of all nodes; None if there are none."""
        link = next((m.link for m in models if m is not None), None)
        if link is None:
            return None
        index = [() if m is None else m.columns for m in models]
        curves = [([], []) if m is None else m._packed for m in models]
        weight = [
            np.empty(0)
            if m is None
            else np.concatenate([m.fill, m.bias, np.transpose(m.weights).ravel(), more])
            for m, (_, more) in zip(models, curves, strict=True)
        ]
        term = [() if m is None else np.ravel(m.terms) for m in models]
        return cls._joined(link, index, weight, term, [pairs for pairs, _ in curves])

    @classmethod
    def dense(
        cls, bias: np.ndarray, weights: np.ndarray, fill: np.ndarray, link: str
    ) -> LeafModels:
        """Pack linear models for all nodes with a weight for every column.

        `bias` is (nodes, K), `weights` (nodes, K, p), `fill` (p,); columns without any
        weight in a node are left out of its model.
        """
        index, weight = [], []
        for b, w in zip(bias, weights, strict=True):
            used = np.flatnonzero(w.any(axis=0))
            index.append(used)
            weight.append(np.concatenate([fill[used], b, w.T[used].ravel()]))
        none: list[Any] = [()] * len(index)
        return cls._joined(link, index, weight, none, none)

    @classmethod
    def _joined(
        cls,
        link: str,
        index: list[Any],
        weight: list[Any],
        term: list[Any],
        curve: list[Any],
    ) -> LeafModels:
        pools = (index, weight, term, curve)
        slices = [starts([len(part) for part in parts]) for parts in pools]
        joined = [
            np.concatenate(
                [
                    np.asarray(p, dtype=np.float64 if parts is weight else np.int32)
                    for p in parts
                ]
            )
            for parts in pools
        ]
        return cls(link, *slices, *joined)

    def __post_init__(self) -> None:
        for f in fields(self)[1:]:
            view = getattr(self, f.name).view()
            view.flags.writeable = False
            object.__setattr__(self, f.name, view)

    @property
    def _pools(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """The slices of the nodes in each pool, and the pool."""
        return (
            (self.index_ptr, self.index),
            (self.weight_ptr, self.weight),
            (self.term_ptr, self.term),
            (self.curve_ptr, self.curve),
        )

    def __getitem__(self, node: int) -> LeafModel | None:
        """The model of a node, or None."""
        return self.unpacked(node, {})

    def unpacked(self, node: int, known: Known) -> LeafModel | None:
        """The model of a node, or None, for who asks for those of many nodes.

        `known` has what was unpacked before, and is added to: a model that differs from
        one of these by its biases alone shares all else with it. Many leaves may shift the
        scores of one model, whose numbers take four times as much room unpacked.
        """
        columns, weight, term, curve = (
            pool[ptr[node] : ptr[node + 1]] for ptr, pool in self._pools
        )
        if not len(weight):
            return None
        m = len(columns)
        if at_cases := len(curve) > 0 and curve[0] == MARK:
            n_terms, once, of_sums = len(term) // 2, m * (int(curve[1]) + 1), curve[1]
        else:
            n_terms, once = len(term) // 2 or m, int(curve[1::2].sum())
            of_sums = 2 * once + len(curve)  # values and slopes of a sum
        k = (len(weight) - m - once) // (n_terms + 1 + int(of_sums))
        end = m + (n_terms + 1) * k
        bias = tuple(weight[m : m + k].tolist())
        parts = columns, weight[:m], weight[m + k :], term, curve
        key = self.link, k, *(part.tobytes() for part in parts)
        if (first := known.get(key)) is not None:
            return first if first.bias == bias else replace(first, bias=bias)
        rows = weight[m + k : end].reshape(n_terms, k)
        more: dict[str, Any] = {}
        if at_cases:
            cases = unpacked_cases(int(curve[1]), weight[end:].tolist(), m, k)
            more = dict(zip(("precision", "cases", "case_weights"), cases, strict=True))
        elif once:
            curves = unpacked_curves(curve.tolist(), weight[end:].tolist(), k)
            names = ("curve_columns", "knots", "curve_values")
            more = dict(zip(names, curves, strict=True))
        known[key] = LeafModel(
            tuple(columns.tolist()),
            tuple(weight[:m].tolist()),
            bias,
            tuple(map(tuple, rows.T.tolist())),
            self.link,
            tuple(map(tuple, term.reshape(-1, 2).tolist())),
            **more,
        )
        return known[key]

    @property
    def there(self) -> np.ndarray:
        """Whether each node has a model."""
        return np.diff(self.weight_ptr) > 0

    def take(self, kept: np.ndarray) -> LeafModels | None:
        """The models of some nodes, in this order; None if there are none."""
        if not self.there[kept].any():
            return None
        return self._cut(kept, np.ones(len(kept), dtype=bool))

    def only(self, where: np.ndarray) -> LeafModels | None:
        """The models of the nodes where a mask is true; the other nodes have none."""
        if not (self.there & where).any():
            return None
        return self._cut(np.arange(len(where)), where)

    def _cut(self, nodes: np.ndarray, where: np.ndarray) -> LeafModels:
        """The models of some nodes, in this order, those of a mask with what they hold."""
        slices, pools = [], []
        for ptr, pool in self._pools:
            length = np.where(where, np.diff(ptr)[nodes], 0)
            slices.append(starts(length))
            pools.append(pool[ranges(ptr[:-1][nodes], length)])
        return LeafModels(self.link, *slices, *pools)

    def same(self, a: int, b: int) -> bool:
        """Whether two nodes have the same model."""
        return all(
            np.array_equal(pool[ptr[a] : ptr[a + 1]], pool[ptr[b] : ptr[b + 1]])
            for ptr, pool in self._pools
        )

    def answer(
        self, table: Table, rows: np.ndarray, nodes: np.ndarray, out: np.ndarray
    ) -> None:
        """Write into `out` what the models of `nodes` answer for `rows`.

        Lines of nodes without a model stay as they are.
        """
        kernel.answers(
            self.index_ptr,
            self.weight_ptr,
            self.term_ptr,
            self.curve_ptr,
            self.index,
            self.weight,
            self.term,
            self.curve,
            self.link == "softmax",
            table.values,
            *table.schema.linear_columns(),
            np.ascontiguousarray(rows, dtype=np.int64),
            np.ascontiguousarray(nodes, dtype=np.int32),
            out,
        )


def n_parameters(models: Iterable[LeafModel | None]) -> int:
    """Free parameters of leaves: 1 without a model, else those of the model.

    Of models that differ by their biases alone, the weights count once.
    """
    total = 0
    known: set[LeafModel] = set()
    for model in models:
        if model is None:
            total += 1
            continue
        functions = replace(model, bias=())
        biases = len(model.bias) - (model.link == "softmax")
        total += biases if functions in known else model.n_params
        known.add(functions)
    return total


def starts(counts: Any) -> np.ndarray:
    """Begin of each slice, and the end of the last, from their lengths."""
    return np.concatenate([[0], np.cumsum(np.asarray(counts, dtype=np.int64))])


def ranges(begin: np.ndarray, length: np.ndarray) -> np.ndarray:
    """All integers of the ranges [begin, begin + length), one after another."""
    start = starts(length)
    step = np.repeat(np.asarray(begin) - start[:-1], length)
    return np.arange(start[-1]) + step
