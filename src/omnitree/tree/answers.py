"""What the nodes of a tree answer: class shares, numbers, or what their models say.

`Answers` is the part of `Tree` that turns counts, models and costs into probabilities,
classes and numbers, for nodes and for rows.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from omnitree._core.predict import subtrees
from omnitree.data.switches import cached_property
from omnitree.data.table import Table
from omnitree.tree.leaf_models import LeafModels
from omnitree.tree.routing import Routing


def decide(shares: np.ndarray, costs: np.ndarray | None) -> np.ndarray:
    """Index of the class to answer for each line of probabilities.

    The most probable one or, with costs, the one of least expected cost; the first of
    equals. Costs are added in the order of the classes, as all exporters do.
    """
    if costs is None:
        return shares.argmax(axis=1)
    expected = np.zeros(shares.shape)
    for k, line in enumerate(costs):
        expected += shares[:, k, None] * line
    return expected.argmin(axis=1)


class Answers(Routing):
    """What a tree says of rows, and of the rows of a node."""

    models: LeafModels | None
    constant: np.ndarray | None
    costs: np.ndarray | None
    shrinkage: float | None

    @cached_property
    def filled_value(self) -> np.ndarray:
        """`value`, with the counts of the nearest ancestor where no row came."""
        empty = np.flatnonzero(self.value.sum(axis=1) <= 0)
        if not empty.any():  # of thousands of classes a copy takes much room
            return self.value
        value = self.value.copy()
        for node in empty[empty > 0]:
            value[node] = value[self.parent[node]]
        return value

    @cached_property
    def class_shares(self) -> np.ndarray:
        """Class shares of every node, from `filled_value`."""
        return self.filled_value / self.filled_value.sum(axis=1, keepdims=True)

    def shrunken_shares(self, m: float) -> np.ndarray:
        """Class shares of every node, with those of its parent counting as `m` rows.

        The parent's are shrunken in the same way, so a small leaf borrows from all its
        ancestors. The root gets one row, divided equally among the classes: no class has
        the probability 0.
        """
        k = self.value.shape[1]
        shares = np.empty(self.value.shape)
        shares[0] = (self.value[0] + 1 / k) / (self.value[0].sum() + 1)
        total = self.value.sum(axis=1)
        subtrees.shrunken_shares(self.shape, self.value, total, m, shares)
        return shares

    @cached_property
    def outputs(self) -> np.ndarray:
        """Answer of every node without its model: probabilities, or one number."""
        if self.constant is None:
            if self.shrinkage is None:
                return self.class_shares
            return self.shrunken_shares(self.shrinkage)
        constant = self.constant.copy()
        for node in np.flatnonzero(self.value[:, 0] <= 0):
            if node:
                constant[node] = constant[self.parent[node]]
        return constant[:, None]

    @cached_property
    def labels(self) -> np.ndarray:
        """Index of the class that every node answers, the first of equals."""
        return self.decide(self.outputs)

    def decide(self, shares: np.ndarray) -> np.ndarray:
        """Index of the class to answer for each line of probabilities."""
        return decide(shares, self.costs)

    def predict_labels(self, table: Table, n_jobs: int | None = None) -> np.ndarray:
        """Index of the class to answer for each row; see `decide`."""
        leaf = self.place(table, n_jobs)
        if self.models is None and leaf.min() >= 0:
            return self.labels[leaf]
        return self.decide(self._values_of(table, leaf, self.outputs))

    def predict_value(self, table: Table, per_node: np.ndarray, n_jobs=None):
        """Mean of the answers over each row's leaves.

        A leaf answers with its line of `per_node`, or by its model if it has one.
        """
        return self._values_of(table, self.place(table, n_jobs), per_node)

    def _values_of(
        self, table: Table, leaf: np.ndarray, per_node: np.ndarray
    ) -> np.ndarray:
        """`predict_value` of rows that were placed."""
        if leaf.min() >= 0:
            return self.node_answers(table, np.arange(len(leaf)), leaf, per_node)
        shares = self._shares_of(table, leaf)
        if self.models is None:
            return shares @ per_node
        rows = np.repeat(np.arange(len(leaf)), np.diff(shares.indptr))
        answer = self.node_answers(table, rows, shares.indices, per_node)
        answer *= shares.data[:, None]
        return np.add.reduceat(answer, shares.indptr[:-1], axis=0)

    def node_answers(
        self, table: Table, rows: np.ndarray, nodes: np.ndarray, per_node: np.ndarray
    ) -> np.ndarray:
        """What `nodes`, as leaves, answer for `rows`: line i is nodes[i] for rows[i]."""
        answer = per_node[nodes]
        if self.models is not None:
            self.models.answer(table, rows, nodes, answer)
        return answer

    def class_counts(
        self, table: Table, y: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """Class counts of some rows in every node, divided as the tree divides rows."""
        leaf = self.place(table)
        if leaf.min() >= 0:
            return self.counts_in(leaf, y, weight)
        shape = len(y), self.value.shape[1]
        labels = sparse.csr_array((weight, (np.arange(len(y)), y)), shape)
        value = (self._shares_of(table, leaf).T @ labels).toarray(order="C")
        subtrees.add_up(self.shape, value)
        return value

    def counts_in(
        self, leaf: np.ndarray, y: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """Class counts in every node of rows that are each in one leaf."""
        n, k = self.value.shape
        cell = leaf.astype(np.int64) * k + y
        value: np.ndarray = np.bincount(cell, weight, minlength=n * k).reshape(n, k)
        subtrees.add_up(self.shape, value)
        return value
