"""Where the rows of a table go in a tree.

One compiled rule (`_core/route.hpp`) places rows. A row that some test can place neither by
itself nor by its surrogates is divided among the branches, in proportion to their training
weight, and so ends in several leaves with parts that add up to one. `Routing` is the half
of `Tree` that knows this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse

from omnitree._core.predict import route as kernel
from omnitree._core.predict import subtrees
from omnitree.data.schema import Schema
from omnitree.data.switches import cached_property, disabled
from omnitree.data.table import Table
from omnitree.tree.splits import KINDS

LEAF = 0
# Below this many rows a thread costs more than it saves.
ROWS_PER_THREAD = 16_384


class Routing:
    """What a tree does with rows before anybody asks for an answer."""

    schema: Schema
    kind: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    parent: np.ndarray
    missing: np.ndarray
    value: np.ndarray
    test_start: np.ndarray
    test_kind: np.ndarray
    index_ptr: np.ndarray
    weight_ptr: np.ndarray
    index: np.ndarray
    weight: np.ndarray

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.kind)

    @property
    def shape(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the compiled loops over nodes (`_core/subtrees`) read."""
        return self.first_child, self.n_children, self.parent

    @cached_property
    def depths(self) -> np.ndarray:
        """Depth of every node; 0 at the root."""
        return subtrees.depths(self.shape)

    @cached_property
    def routing_arrays(self) -> tuple[np.ndarray, ...]:
        """What the compiled rule reads, in the order of `_core/route.pyx`."""
        return (
            self.kind,
            self.first_child,
            self.n_children,
            self.missing,
            self.shares,
            self.test_start,
            self.test_kind,
            self.index_ptr,
            self.weight_ptr,
            self.index,
            self.weight,
            *self.schema.linear_columns(),
        )

    @cached_property
    def shares(self) -> np.ndarray:
        """Each node's part of its parent's training weight; 1 at the root.

        Taken over the siblings, so that the shares of a node's branches add to one.
        """
        weight = self.value.sum(axis=1)
        total = np.zeros(self.n_nodes)
        np.add.at(total, self.parent[1:], weight[1:])
        share = np.ones(self.n_nodes)
        above = total[self.parent[1:]]
        equal = 1.0 / np.maximum(self.n_children[self.parent[1:]], 1)
        known = above > 0
        share[1:] = np.where(known, weight[1:] / np.where(known, above, 1.0), equal)
        return share

    @cached_property
    def _axis_nodes(self) -> np.ndarray | None:
        """Nodes packed for the fast rule, or None if some test is no plain cut."""
        inner = self.kind != LEAF
        if (self.kind[inner] != KINDS.index("axis")).any():
            return None
        nodes = np.empty(
            self.n_nodes,
            dtype=[("threshold", "f8"), ("feature", "i4"), ("first", "i4")],
        )
        nodes["threshold"] = np.inf
        nodes["feature"] = 0
        nodes["first"] = np.arange(self.n_nodes)
        main = self.test_start[:-1][inner]
        if self.index[self.index_ptr[main] + 1].any():
            return None  # a cut whose low side is branch 1
        nodes["threshold"][inner] = self.weight[self.weight_ptr[main]]
        nodes["feature"][inner] = self.index[self.index_ptr[main]]
        nodes["first"][inner] = self.first_child[inner]
        return nodes.view(np.uint8)

    def axis_means(self, table: Table, weight: np.ndarray) -> np.ndarray:
        """Mean of the tested feature at every decision node, of axis cuts only."""
        sums, nodes = np.zeros(self.n_nodes), self._axis_nodes
        assert nodes is not None
        kernel.axis_sums(nodes, table.values, weight, sums)
        return sums / np.maximum(self.value.sum(axis=1), np.finfo(float).tiny)

    def place(self, table: Table, n_jobs: int | None = None) -> np.ndarray:
        """Leaf of each row; -1 for rows that a missing value divides."""
        n = table.n_rows
        leaf = np.empty(n, dtype=np.int32)
        slow = table.has_missing or disabled("fast_routing")
        axis = None if slow else self._axis_nodes
        run: Any = kernel.apply_tree if axis is None else kernel.apply_axis
        what = self.routing_arrays if axis is None else axis
        n_threads = 1
        if n >= ROWS_PER_THREAD and not disabled("threads"):
            n_threads = min(effective_n_jobs(n_jobs), 1 + n // ROWS_PER_THREAD)
        if n_threads == 1:
            run(what, table.values, 0, n, leaf)
        else:
            ends = np.linspace(0, n, n_threads + 1).astype(np.int64)
            Parallel(n_jobs=n_threads, prefer="threads")(
                delayed(run)(what, table.values, ends[i], ends[i + 1], leaf)
                for i in range(n_threads)
            )
        return leaf

    def leaf_shares(self, table: Table, n_jobs: int | None = None) -> sparse.csr_array:
        """Matrix rows x nodes: the part of each row that ends in each leaf."""
        return self._shares_of(table, self.place(table, n_jobs))

    def _shares_of(self, table: Table, leaf: np.ndarray) -> sparse.csr_array:
        """`leaf_shares` of rows that were placed."""
        divided = np.flatnonzero(leaf < 0)
        indptr, leaves, share = kernel.divide_rows(
            self.routing_arrays, table.values, divided
        )
        counts = np.ones(len(leaf), dtype=np.int64)
        counts[divided] = np.diff(indptr)
        start = np.concatenate([[0], np.cumsum(counts)])
        columns = np.repeat(leaf, counts)
        data = np.ones(start[-1])
        inside = np.repeat(leaf < 0, counts)
        columns[inside], data[inside] = leaves, share
        shape = (table.n_rows, self.n_nodes)
        return sparse.csr_array((data, columns, start), shape=shape)

    def apply(self, table: Table, n_jobs: int | None = None) -> np.ndarray:
        """Leaf of each row; of a divided row, the leaf with most of it."""
        leaf = self.place(table, n_jobs)
        divided = np.flatnonzero(leaf < 0)
        if len(divided):
            ptr, leaves, share = kernel.divide_rows(
                self.routing_arrays, table.values, divided
            )
            # Lowest id among the leaves with the greatest share.
            row = np.repeat(np.arange(len(divided)), np.diff(ptr))
            order = np.lexsort((leaves, -share, row))
            leaf[divided] = leaves[order][ptr[:-1]]
        return leaf

    def decision_path(
        self, table: Table, n_jobs: int | None = None
    ) -> sparse.csr_array:
        """Matrix rows x nodes: the part of each row that passes through each node."""
        return self._path_of(table, self.place(table, n_jobs))

    def _path_of(self, table: Table, leaf: np.ndarray) -> sparse.csr_array:
        """`decision_path` of rows that were placed."""
        path = self._shares_of(table, leaf) @ self._ancestors
        path.sort_indices()
        return path

    def passing(
        self, table: Table, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows that pass through each node: (start, row, part).

        Those of node i are row[start[i]:start[i + 1]], ascending, and the parts of them
        that pass; as `decision_path` by columns.
        """
        leaf = self.place(table, n_jobs)
        if leaf.min() < 0:
            path = self._path_of(table, leaf).tocsc()
            return path.indptr, path.indices.astype(np.int64), path.data
        start, row = subtrees.passing(self.shape, leaf)
        return start, row, np.ones(len(row))

    @cached_property
    def _ancestors(self) -> sparse.csr_array:
        """Matrix nodes x nodes: 1 where the column is the row's node or above it."""
        counts = self.depths.astype(np.int64) + 1
        start = np.concatenate([[0], np.cumsum(counts)])
        columns = np.empty(start[-1], dtype=np.int32)
        for node in range(self.n_nodes):
            end = start[node + 1]
            columns[end - 1] = node
            above = self.parent[node]
            if above >= 0:
                columns[start[node] : end - 1] = columns[
                    start[above] : start[above + 1]
                ]
        shape = (self.n_nodes, self.n_nodes)
        return sparse.csr_array((np.ones(len(columns)), columns, start), shape=shape)
