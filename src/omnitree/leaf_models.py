"""Linear models in nodes: what a leaf with a model answers.

A `LeafModel` is K sums over encoded columns, bias plus weights times columns; a gap takes
the column's fill. For classes the sums go through softmax and K is the number of classes;
for numbers there is one sum, the answer itself. `LeafModels` holds those of all nodes of a
tree, packed for `_core/models.pyx`. A decision node may have one too: what it would answer
as a leaf, which is what pruning asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from omnitree._core import models as kernel
from omnitree.table import Table

LINKS = ("softmax", "identity")


@dataclass(frozen=True)
class LeafModel:
    """A linear model over encoded columns.

    Attributes
    ----------
    columns : tuple of int
        Encoded columns, by number.
    fill : tuple of float
        What each column is where its cell is missing.
    bias : tuple of float
        One a sum.
    weights : tuple of tuples of float
        A row a sum, a weight a column.
    link : str
        "softmax": the sums become probabilities of classes; "identity": they are the
        answer.
    """

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    bias: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    link: str = "softmax"

    @classmethod
    def of(cls, bias: Any, weights: Any, fill: Any, link: str = "softmax") -> LeafModel:
        """The model with weights (K, p) for all p columns; those without weight go."""
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
        """Free parameters; of softmax, one sum follows from the others."""
        sums = len(self.bias) - (self.link == "softmax")
        return sums * (len(self.columns) + 1)

    def to_dict(self) -> dict[str, Any]:
        """The model in plain types."""
        return {
            "link": self.link,
            "columns": list(self.columns),
            "fill": list(self.fill),
            "bias": list(self.bias),
            "weights": [list(row) for row in self.weights],
        }


@dataclass(frozen=True, eq=False)
class LeafModels:
    """The models of the nodes of a tree, packed.

    Attributes
    ----------
    link : str
        Of all models, as in `LeafModel`.
    index_ptr, weight_ptr : int64 arrays (n_nodes + 1,)
        The slice of each node in the pools; an empty slice of weights: no model.
    index : int32 array
        Columns.
    weight : float64 array
        Of each model the fills, the K biases, and K weights a column.
    """

    link: str
    index_ptr: np.ndarray
    weight_ptr: np.ndarray
    index: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, models: Sequence[LeafModel | None]) -> LeafModels | None:
        """Pack the models of all nodes; None if there are none."""
        link = next((m.link for m in models if m is not None), None)
        if link is None:
            return None
        index: list[int] = []
        weight: list[float] = []
        index_ptr, weight_ptr = [0], [0]
        for model in models:
            if model is not None:
                index += model.columns
                weight += [*model.fill, *model.bias]
                weight += [
                    w for column in zip(*model.weights, strict=True) for w in column
                ]
            index_ptr.append(len(index))
            weight_ptr.append(len(weight))
        return cls(
            link,
            np.array(index_ptr, dtype=np.int64),
            np.array(weight_ptr, dtype=np.int64),
            np.array(index, dtype=np.int32),
            np.array(weight, dtype=np.float64),
        )

    def __post_init__(self) -> None:
        for f in fields(self)[1:]:
            view = getattr(self, f.name).view()
            view.flags.writeable = False
            object.__setattr__(self, f.name, view)

    def __getitem__(self, node: int) -> LeafModel | None:
        """The model of a node, or None."""
        weight = self.weight[self.weight_ptr[node] : self.weight_ptr[node + 1]]
        if not len(weight):
            return None
        columns = self.index[self.index_ptr[node] : self.index_ptr[node + 1]]
        m = len(columns)
        rows = weight[m:].reshape(m + 1, -1)
        return LeafModel(
            tuple(columns.tolist()),
            tuple(weight[:m].tolist()),
            tuple(rows[0].tolist()),
            tuple(map(tuple, rows[1:].T.tolist())),
            self.link,
        )

    @property
    def there(self) -> np.ndarray:
        """Whether each node has a model."""
        return np.diff(self.weight_ptr) > 0

    def take(self, kept: np.ndarray) -> LeafModels | None:
        """The models of some nodes, in this order."""
        return LeafModels.of([self[int(node)] for node in kept])

    def answer(
        self, table: Table, rows: np.ndarray, nodes: np.ndarray, out: np.ndarray
    ) -> None:
        """Write into `out` what the models of `nodes` answer for `rows`.

        Lines of nodes without a model stay as they are.
        """
        kernel.answers(
            self.index_ptr,
            self.weight_ptr,
            self.index,
            self.weight,
            self.link == "softmax",
            table.values,
            *table.schema.linear_columns(),
            np.ascontiguousarray(rows, dtype=np.int64),
            np.ascontiguousarray(nodes, dtype=np.int32),
            out,
        )
