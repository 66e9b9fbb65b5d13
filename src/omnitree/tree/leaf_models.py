"""Linear and quadratic models in nodes: what a leaf with a model answers.

A `LeafModel` is K sums, bias plus weights times terms. A term is an encoded column or, in a
quadratic model, the product of two; a missing cell takes the column's fill. For classes the
sums go through softmax and K is the number of classes; for numbers there is one sum, the
answer itself. `LeafModels` holds those of all nodes of a tree, packed for
`_core/models.pyx`. A decision node may have one too: what it would answer as a leaf, which
is what pruning asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from omnitree._core.predict import models as kernel
from omnitree.data.table import Table
from omnitree.tree.expression import Sum, filled, products, weighted

LINKS = ("softmax", "identity")


@dataclass(frozen=True)
class LeafModel:
    """A linear or quadratic model over encoded columns.

    Attributes
    ----------
    columns : tuple of int
        Encoded columns, by number.
    fill : tuple of float
        What each column is where its cell is missing.
    bias : tuple of float
        One a sum.
    weights : tuple of tuples of float
        A row a sum, a weight a term.
    link : str
        "softmax": the sums become probabilities of classes; "identity": they are the
        answer.
    terms : tuple of pairs of int
        Of a quadratic model: positions in `columns` whose columns are multiplied, as in
        `QuadraticMachineSplit`; (a, -1) is the column at a alone. Empty in a linear
        model, whose terms are the columns in their order.
    """

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    bias: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    link: str = "softmax"
    terms: tuple[tuple[int, int], ...] = field(default=(), metadata={"optional": True})

    @classmethod
    def of(cls, bias: Any, weights: Any, fill: Any, link: str = "softmax") -> LeafModel:
        """The linear model with weights (K, p) of p columns; those without weight go."""
        weights = np.asarray(weights, dtype=np.float64)
        used = np.flatnonzero((weights != 0).any(axis=0))
        return cls(
            tuple(used.tolist()),
            tuple(np.asarray(fill, dtype=np.float64)[used].tolist()),
            tuple(np.asarray(bias, dtype=np.float64).tolist()),
            tuple(map(tuple, weights[:, used].tolist())),
            link,
        )

    @property
    def n_params(self) -> int:
        """Free parameters: biases, and weights that are not 0.

        Of softmax one sum follows from the others, so that each term has at most K - 1.
        """
        sums = len(self.bias) - (self.link == "softmax")
        weights = np.count_nonzero(self.weights, axis=0)
        return int(sums + np.minimum(weights, sums).sum())

    @property
    def sums(self) -> tuple[Sum, ...]:
        """The sums in the form that exporters translate, before the link."""
        columns = filled(self.columns, self.fill)
        factors = products(columns, self.terms) if self.terms else columns
        pairs = zip(self.bias, self.weights, strict=True)
        return tuple(weighted(b, w, factors) for b, w in pairs)

    def to_dict(self) -> dict[str, Any]:
        """The model in plain types; `terms` only where there are products."""
        out = {
            "link": self.link,
            "columns": list(self.columns),
            "fill": list(self.fill),
            "bias": list(self.bias),
            "weights": [list(row) for row in self.weights],
        }
        if self.terms:
            out["terms"] = [list(pair) for pair in self.terms]
        return out


@dataclass(frozen=True, eq=False)
class LeafModels:
    """The models of the nodes of a tree, packed.

    Attributes
    ----------
    link : str
        Of all models, as in `LeafModel`.
    index_ptr, weight_ptr, term_ptr : int64 arrays (n_nodes + 1,)
        The slice of each node in the pools; an empty slice of weights: no model.
    index : int32 array
        Columns.
    weight : float64 array
        Of each model the fills, the K biases, and K weights a term.
    term : int32 array
        Of each quadratic model its terms, two positions among its columns each; nothing
        of a linear model.
    """

    link: str
    index_ptr: np.ndarray
    weight_ptr: np.ndarray
    term_ptr: np.ndarray
    index: np.ndarray
    weight: np.ndarray
    term: np.ndarray

    @classmethod
    def of(cls, models: Sequence[LeafModel | None]) -> LeafModels | None:
        """Pack the models of all nodes; None if there are none."""
        link = next((m.link for m in models if m is not None), None)
        if link is None:
            return None
        index = [() if m is None else m.columns for m in models]
        weight = [
            np.empty(0)
            if m is None
            else np.concatenate([m.fill, m.bias, np.transpose(m.weights).ravel()])
            for m in models
        ]
        term = [() if m is None else np.ravel(m.terms) for m in models]
        return cls._joined(link, index, weight, term)

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
        return cls._joined(link, index, weight, [()] * len(index))

    @classmethod
    def _joined(
        cls, link: str, index: list[Any], weight: list[Any], term: list[Any]
    ) -> LeafModels:
        return cls(
            link,
            starts([len(part) for part in index]),
            starts([len(part) for part in weight]),
            starts([len(part) for part in term]),
            np.concatenate([np.asarray(part, dtype=np.int32) for part in index]),
            np.concatenate(weight),
            np.concatenate([np.asarray(part, dtype=np.int32) for part in term]),
        )

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
        )

    def __getitem__(self, node: int) -> LeafModel | None:
        """The model of a node, or None."""
        columns, weight, term = (
            pool[ptr[node] : ptr[node + 1]] for ptr, pool in self._pools
        )
        if not len(weight):
            return None
        m = len(columns)
        n_terms = len(term) // 2 or m
        rows = weight[m:].reshape(n_terms + 1, -1)
        return LeafModel(
            tuple(columns.tolist()),
            tuple(weight[:m].tolist()),
            tuple(rows[0].tolist()),
            tuple(map(tuple, rows[1:].T.tolist())),
            self.link,
            tuple(map(tuple, term.reshape(-1, 2).tolist())),
        )

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
            self.index,
            self.weight,
            self.term,
            self.link == "softmax",
            table.values,
            *table.schema.linear_columns(),
            np.ascontiguousarray(rows, dtype=np.int64),
            np.ascontiguousarray(nodes, dtype=np.int32),
            out,
        )


def starts(counts: Any) -> np.ndarray:
    """Begin of each slice, and the end of the last, from their lengths."""
    return np.concatenate([[0], np.cumsum(np.asarray(counts, dtype=np.int64))])


def ranges(begin: np.ndarray, length: np.ndarray) -> np.ndarray:
    """All integers of the ranges [begin, begin + length), one after another."""
    start = starts(length)
    step = np.repeat(np.asarray(begin) - start[:-1], length)
    return np.arange(start[-1]) + step
