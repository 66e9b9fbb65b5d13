"""The tree: one frozen struct of arrays for every learner.

Nodes are rows of parallel arrays. Siblings are adjacent and follow their parent, so branch
b of a node is `first_child + b`. A node's tests (the main one, then its surrogates) are a
range of the test arrays, and a test is a slice of one int pool and one double pool: an axis
cut, a category map, a hyperplane and a linear machine are all stored alike and routed by
one compiled rule (`_core/route.hpp`). Class counts are kept in every node, and nodes may
have linear or quadratic models besides (`leaf_models.py`), which then answer in their
stead. A tree for numbers has no classes; of its nodes the weight, a constant and its loss
are kept.

`to_dict` is the public tree, version 1; `docs/tree_format.md` describes it and every
exporter reads only that. `from_dict` checks all of it (`records.py`) before a tree is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse

from omnitree._core.predict import route as kernel
from omnitree._core.predict import subtrees
from omnitree.data.schema import Schema
from omnitree.data.table import Table
from omnitree.tree.importance import Amounts, node_importances
from omnitree.tree.leaf_models import LeafModel, LeafModels, ranges, starts
from omnitree.tree.records import (
    FORMAT,
    VERSION,
    NodeRecord,
    check_records,
    read_costs,
    read_deviations,
    read_importance,
    read_shrinkage,
    read_tree,
)
from omnitree.tree.shared_models import own_functions
from omnitree.tree.splits import KINDS, SPLITS, Considered, Split

LEAF = 0
# Below this many rows a thread costs more than it saves.
ROWS_PER_THREAD = 16_384


@dataclass(frozen=True, eq=False)
class Tree:
    """A fitted decision tree.

    Attributes
    ----------
    schema : Schema
        Names, kinds and categories of the features.
    classes : tuple
        Class labels, in the order of the columns of `value`; none in a tree for numbers.
    kind : uint8 array
        Kind of each node's main test (index in `omnitree.tree.splits.KINDS`), 0 in a leaf.
    first_child, n_children, parent : int32 arrays
        -1, 0 in a leaf; -1 at the root.
    missing : int32 array
        Branch of rows that the node's tests cannot place; -1 divides them among all
        branches in proportion to the training weight.
    merit : float64 array
        What the learner thought of the test.
    value : float64 array of shape (n_nodes, n_classes)
        Weighted class counts of the training rows at every node; in a tree for numbers
        one column, their weight.
    test_start, test_kind, index_ptr, weight_ptr, index, weight
        The tests, packed.
    deviation : float64 array or None
        Standard deviation of each encoded column in the training rows, where some test
        or model looks at several columns; only words about weights need it.
    models : LeafModels or None
        Linear and quadratic models of nodes. That of a leaf answers for its rows
        instead of `value`; that of a decision node would if the node were a leaf.
    constant, loss : float64 arrays or None
        In a tree for numbers: what each node answers as a leaf without a model, and the
        loss of its answer (of the model's, if it has one) over the training rows here.
    costs : float64 array of shape (n_classes, n_classes) or None
        What it costs to say class j (column) for a row of class i (line). The answer is
        then the class of least expected cost, not the most probable one.
    importance, model_importance : tuples or None
        For every node what its test, and what its model, adds to the importance of each
        feature (`estimators.gains`); only where some test looks at several columns or
        there are models, since all others follow from the counts.
    candidates : tuple or None
        For every node the tests that its own was chosen from, where learners compete.
    shrinkage : float or None
        How many rows the shares of a node's parent count for in its own probabilities;
        None: a node answers the class shares of its rows.
    """

    schema: Schema
    classes: tuple[Any, ...]
    kind: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    parent: np.ndarray
    missing: np.ndarray
    merit: np.ndarray
    value: np.ndarray
    test_start: np.ndarray
    test_kind: np.ndarray
    index_ptr: np.ndarray
    weight_ptr: np.ndarray
    index: np.ndarray
    weight: np.ndarray
    deviation: np.ndarray | None = None
    models: LeafModels | None = None
    constant: np.ndarray | None = None
    loss: np.ndarray | None = None
    candidates: tuple[tuple[Considered, ...], ...] | None = None
    costs: np.ndarray | None = None
    importance: tuple[Amounts, ...] | None = None
    model_importance: tuple[Amounts, ...] | None = None
    shrinkage: float | None = None

    def __post_init__(self) -> None:
        for name, dtype in _DTYPES.items():
            if getattr(self, name) is None:
                continue
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype)
            array = array.view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties are cheap to make again and would double the pickle.
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        about = (
            "regression"
            if self.constant is not None
            else f"{len(self.classes)} classes"
        )
        return (
            f"Tree({self.n_nodes} nodes, {self.n_leaves} leaves, depth {self.depth}, "
            f"{self.schema.n_features} features, {about})"
        )

    @property
    def task(self) -> str:
        """What the tree answers: "classification" or "regression"."""
        return "classification" if self.constant is None else "regression"

    # -- counts ---------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.kind)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.kind == LEAF))

    @property
    def shape(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the compiled loops over nodes (`_core/subtrees`) read."""
        return self.first_child, self.n_children, self.parent

    @cached_property
    def depths(self) -> np.ndarray:
        """Depth of every node; 0 at the root."""
        return subtrees.depths(self.shape)

    @property
    def depth(self) -> int:
        """Length of the longest path from the root to a leaf."""
        return int(self.depths.max())

    @property
    def n_parameters(self) -> int:
        """Free parameters: 1 a leaf, 2 a univariate node, k + 1 a linear one over k.

        A leaf with a model has those of the model instead; one that all leaves below a
        test share counts once, and if it is the test's own functions only what is new in
        it: the scale.
        """
        inner = np.flatnonzero(self.kind != LEAF)
        plain = self.kind[inner] <= KINDS.index("subset")
        rich = sum(self.split(node).n_params for node in inner[~plain])
        leaves = set(np.flatnonzero(self.kind == LEAF).tolist())
        for node in self.sharing:
            first = int(self.first_child[node])
            leaves -= set(range(first, first + int(self.n_children[node])))
            split, model = self.split(node), self.model(first)
            assert model is not None
            own = own_functions(split.kind, split.to_dict(), model.to_dict())
            rich += model.n_params if own is None else own.n_params
        models = [self.model(leaf) for leaf in leaves]
        rich += sum(1 if m is None else m.n_params for m in models)
        return int(2 * np.count_nonzero(plain) + rich)

    @cached_property
    def sharing(self) -> list[int]:
        """Nodes whose children are all leaves with one and the same model."""
        if self.models is None:
            return []
        found = []
        answers = (self.kind == LEAF) & self.models.there
        for node in np.flatnonzero(self.kind != LEAF).tolist():
            first = int(self.first_child[node])
            end = first + int(self.n_children[node])
            if answers[first:end].all() and all(
                self.models.same(first, other) for other in range(first + 1, end)
            ):
                found.append(node)
        return found

    @property
    def has_weights(self) -> bool:
        """Whether some test looks at several columns, or there are models."""
        return self.models is not None or bool(
            (self.kind > KINDS.index("subset")).any()
        )

    def node_kinds(self, by_depth: bool = False) -> Any:
        """Number of decision nodes of each kind.

        Parameters
        ----------
        by_depth : bool, default=False
            Count level by level.

        Returns
        -------
        dict of str to int, or with `by_depth` a list of them, the root's first
        """
        if by_depth:
            return [
                _count_kinds(self.kind[self.depths == d]) for d in range(self.depth)
            ]
        return _count_kinds(self.kind)

    # -- tests ----------------------------------------------------------------------

    def split(self, node: int) -> Split:
        """The test of a decision node, with its surrogates."""
        if self.kind[node] == LEAF:
            raise ValueError(f"node {node} is a leaf")
        first, *others = (
            self._unpack(t)
            for t in range(self.test_start[node], self.test_start[node + 1])
        )
        cls, index, weight = first
        return cls.unpack(
            index,
            weight,
            merit=float(self.merit[node]),
            missing=int(self.missing[node]),
            surrogates=tuple(c.unpack(i, w) for c, i, w in others),
            candidates=() if self.candidates is None else self.candidates[node],
        )

    def model(self, node: int) -> LeafModel | None:
        """The linear or quadratic model of a node, or None."""
        return None if self.models is None else self.models[node]

    def _unpack(self, test: int) -> tuple[Any, list[int], list[float]]:
        return (
            SPLITS[KINDS[self.test_kind[test]]],
            self.index[self.index_ptr[test] : self.index_ptr[test + 1]].tolist(),
            self.weight[self.weight_ptr[test] : self.weight_ptr[test + 1]].tolist(),
        )

    def complexity(self, node: int) -> int:
        """Free parameters of a node's test, as its choice counted them if there was one."""
        split = self.split(node)
        chosen = [c.parameters for c in split.candidates if c.chosen]
        return chosen[0] if chosen else split.n_params

    # -- routing --------------------------------------------------------------------

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
        sums = np.zeros(self.n_nodes)
        kernel.axis_sums(self._axis_nodes, table.values, weight, sums)
        return sums / np.maximum(self.value.sum(axis=1), np.finfo(float).tiny)

    def _place(self, table: Table, n_jobs: int | None = None) -> np.ndarray:
        """Leaf of each row; -1 for rows that a gap divides."""
        n = table.n_rows
        leaf = np.empty(n, dtype=np.int32)
        axis = None if table.has_gaps else self._axis_nodes
        run = kernel.apply_tree if axis is None else kernel.apply_axis
        what = self.routing_arrays if axis is None else axis
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
        leaf = self._place(table, n_jobs)
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
        """Leaf of each row; of a row that a gap divides, the leaf with most of it."""
        leaf = self._place(table, n_jobs)
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
        path = self.leaf_shares(table, n_jobs) @ self._ancestors
        path.sort_indices()
        return path

    def passing(self, table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows that pass through each node: (start, row, part).

        Those of node i are row[start[i]:start[i + 1]], ascending, and the parts of them
        that pass; as `decision_path` by columns.
        """
        leaf = self._place(table)
        if leaf.min() < 0:
            path = self.decision_path(table).tocsc()
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

    @cached_property
    def filled_value(self) -> np.ndarray:
        """`value`, with the counts of the nearest ancestor where no row came."""
        value = self.value.copy()
        for node in np.flatnonzero(value.sum(axis=1) <= 0):
            if node:
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
    def feature_importances(self) -> np.ndarray:
        """Share of each feature in what the tree explains; adds up to one, or all 0.

        That is the decrease of the Gini impurity, or of the loss, at tests and by models
        in leaves. A test on several features, or a model, divides it by contributions:
        the size of the weight times the standard deviation of the column among the rows
        of the node (`omnitree.tree.importance`).
        """
        importance = np.zeros(self.schema.n_features)
        if self.has_weights:
            for amounts in node_importances(self.to_dict()):
                for feature, amount in amounts:
                    importance[feature] += amount
        else:
            impurity = self.loss
            if impurity is None:
                weight = self.value.sum(axis=1)
                safe = np.maximum(weight, np.finfo(float).tiny)
                impurity = weight - (self.value**2).sum(axis=1) / safe
            drop = impurity.copy()
            np.subtract.at(drop, self.parent[1:], impurity[1:])
            inner = self.kind != LEAF
            tested = self.index[self.index_ptr[self.test_start[:-1][inner]]]
            np.add.at(importance, tested, np.maximum(drop[inner], 0.0))
        total = importance.sum()
        return importance / total if total > 0 else importance

    @cached_property
    def labels(self) -> np.ndarray:
        """Index of the class that every node answers, the first of equals."""
        return self.decide(self.outputs)

    def decide(self, shares: np.ndarray) -> np.ndarray:
        """Index of the class to answer for each line of probabilities.

        The most probable one or, with `costs`, the one of least expected cost; the first
        of equals. Costs are added in the order of the classes, as all exporters do.
        """
        if self.costs is None:
            return shares.argmax(axis=1)
        expected = np.zeros(shares.shape)
        for k, line in enumerate(self.costs):
            expected += shares[:, k, None] * line
        return expected.argmin(axis=1)

    def predict_labels(self, table: Table, n_jobs: int | None = None) -> np.ndarray:
        """Index of the class to answer for each row; see `decide`."""
        if self.models is None:
            leaf = self._place(table, n_jobs)
            if leaf.min() >= 0:
                return self.labels[leaf]
        return self.decide(self.predict_value(table, self.outputs, n_jobs))

    def predict_value(self, table: Table, per_node: np.ndarray, n_jobs=None):
        """Mean of the answers over each row's leaves.

        A leaf answers with its line of `per_node`, or by its model if it has one.
        """
        leaf = self._place(table, n_jobs)
        if leaf.min() >= 0:
            return self.node_answers(table, np.arange(len(leaf)), leaf, per_node)
        shares = self.leaf_shares(table, n_jobs)
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

    def recount(self, table: Table, y: np.ndarray, weight: np.ndarray) -> Tree:
        """The same tests with the class counts of other rows."""
        n, k = self.value.shape
        leaf = self._place(table)
        if leaf.min() >= 0:
            cell = leaf.astype(np.int64) * k + y
            value = np.bincount(cell, weight, minlength=n * k).reshape(n, k)
        else:
            labels = sparse.csr_array((weight, (np.arange(len(y)), y)), (len(y), k))
            value = (self.leaf_shares(table).T @ labels).toarray(order="C")
        subtrees.add_up(self.shape, value)
        return self.replace(value=value)

    # -- change ---------------------------------------------------------------------

    def replace(self, **changes: Any) -> Tree:
        """A copy with some arrays exchanged."""
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        return Tree(**(state | changes))

    def collapse(self, cut: np.ndarray) -> Tree:
        """The tree with some subtrees cut off.

        Parameters
        ----------
        cut : array of bool or int, one per node
            Where true (or -1), the node becomes a leaf. An int array can also name a
            descendant that takes the node's place (C4.5's subtree raising); a node that
            stays as it is has its own number. What lies below a cut does not matter.

        Returns
        -------
        Tree
            With the nodes in breadth-first order.
        """
        cut = np.asarray(cut)
        if cut.shape != (self.n_nodes,):
            raise ValueError(
                f"cut has shape {cut.shape}, the tree {self.n_nodes} nodes"
            )
        own = np.arange(self.n_nodes)
        to = np.where(cut, -1, own) if cut.dtype == bool else cut.astype(np.int64)
        # Of each new node the old one whose test and counts it has.
        kept, parent, first = subtrees.kept(self.shape, to)
        return self._take(kept, first < 0, first, parent)

    def _take(
        self, kept: np.ndarray, leaf: np.ndarray, first: Any, parent: Any
    ) -> Tree:
        """A tree of the nodes `kept`, those marked `leaf` without their tests."""
        inner = ~leaf
        n_tests = np.where(inner, np.diff(self.test_start)[kept], 0)
        tests = ranges(self.test_start[:-1][kept], n_tests)
        n_index = np.diff(self.index_ptr)[tests]
        n_weight = np.diff(self.weight_ptr)[tests]
        return self.replace(
            kind=np.where(inner, self.kind[kept], LEAF),
            first_child=first,
            n_children=np.where(inner, self.n_children[kept], 0),
            parent=parent,
            missing=np.where(inner, self.missing[kept], 0),
            merit=np.where(inner, self.merit[kept], 0.0),
            value=self.value[kept],
            models=None if self.models is None else self.models.take(kept),
            constant=None if self.constant is None else self.constant[kept],
            loss=None if self.loss is None else self.loss[kept],
            test_start=starts(n_tests),
            test_kind=self.test_kind[tests],
            index_ptr=starts(n_index),
            weight_ptr=starts(n_weight),
            index=self.index[ranges(self.index_ptr[:-1][tests], n_index)],
            weight=self.weight[ranges(self.weight_ptr[:-1][tests], n_weight)],
            candidates=_of_tests(self.candidates, kept, leaf),
            importance=_of_tests(self.importance, kept, leaf),
            model_importance=self.model_importance
            and tuple(self.model_importance[old] for old in kept),
        )

    # -- plain form -----------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The public tree: plain lists and dicts, ready for JSON."""
        out: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "task": self.task,
            "schema": self.schema.to_dict(),
        }
        if self.constant is None:
            out["classes"] = list(self.classes)
        if self.costs is not None:
            out["costs"] = self.costs.tolist()
        if self.shrinkage is not None:
            out["shrinkage"] = float(self.shrinkage)
        out["nodes"] = [self._node_dict(i) for i in range(self.n_nodes)]
        if self.deviation is not None:
            out["deviations"] = self.deviation.tolist()
        return out

    def _node_dict(self, node: int) -> dict[str, Any]:
        out: dict[str, Any] = {
            "id": node,
            "parent": int(self.parent[node]),
            "kind": KINDS[self.kind[node]],
            "value": self.value[node].tolist(),
        }
        if self.constant is not None and self.loss is not None:
            out["constant"] = float(self.constant[node])
            out["loss"] = float(self.loss[node])
        model = self.model(node)
        if model is not None:
            out["model"] = model.to_dict()
        if self.model_importance is not None and self.model_importance[node]:
            out["model_importance"] = [list(p) for p in self.model_importance[node]]
        if self.kind[node] == LEAF:
            return out
        split = self.split(node)
        first = int(self.first_child[node])
        out["children"] = list(range(first, first + split.n_children))
        out["merit"] = split.merit
        out["missing"] = "divide" if split.missing < 0 else split.missing
        out["test"] = split.to_dict()
        if split.surrogates:
            out["surrogates"] = [
                {"kind": s.kind, "test": s.to_dict()} for s in split.surrogates
            ]
        if self.importance is not None and self.importance[node]:
            out["importance"] = [list(pair) for pair in self.importance[node]]
        if split.candidates:
            out["candidates"] = [asdict(c) for c in split.candidates]
        return out

    @classmethod
    def from_dict(cls, data: Any) -> Tree:
        """Read a tree written by `to_dict`.

        Raises
        ------
        ValueError
            With the reason, if anything in it is wrong; nothing is used unchecked.
        """
        tree = tree_from_nodes(*read_tree(data))
        return tree.replace(
            deviation=read_deviations(data, tree.schema),
            costs=read_costs(data, len(tree.classes)),
            importance=read_importance(data, "importance", tree.schema),
            model_importance=read_importance(data, "model_importance", tree.schema),
            shrinkage=read_shrinkage(data),
        )


_DTYPES = {
    "kind": np.uint8,
    "first_child": np.int32,
    "n_children": np.int32,
    "parent": np.int32,
    "missing": np.int32,
    "merit": np.float64,
    "value": np.float64,
    "test_start": np.int64,
    "test_kind": np.uint8,
    "index_ptr": np.int64,
    "weight_ptr": np.int64,
    "index": np.int32,
    "weight": np.float64,
    "deviation": np.float64,
    "constant": np.float64,
    "loss": np.float64,
    "costs": np.float64,
}


def tree_from_nodes(
    schema: Schema, classes: tuple[Any, ...], nodes: Sequence[NodeRecord]
) -> Tree:
    """Pack nodes into a tree after checking their structure and their tests."""
    check_records(schema, len(classes), nodes)
    inner = [n.split for n in nodes if n.split is not None]
    tests = [t for s in inner for t in (s, *s.surrogates)]
    packed = [t.pack() for t in tests]
    split_of = [n.split for n in nodes]
    arrays: dict[str, Any] = {
        "kind": [KINDS.index(s.kind) if s else LEAF for s in split_of],
        "first_child": [n.children[0] if n.children else -1 for n in nodes],
        "n_children": [len(n.children) for n in nodes],
        "parent": [n.parent for n in nodes],
        "missing": [s.missing if s else 0 for s in split_of],
        "merit": [s.merit if s else 0.0 for s in split_of],
        "value": [n.value for n in nodes],
        "test_start": starts([1 + len(s.surrogates) if s else 0 for s in split_of]),
        "test_kind": [kind for kind, _, _ in packed],
        "index_ptr": starts([len(index) for _, index, _ in packed]),
        "weight_ptr": starts([len(weight) for _, _, weight in packed]),
        "index": [i for _, index, _ in packed for i in index],
        "weight": [w for _, _, weight in packed for w in weight],
    }
    models = LeafModels.of([n.model for n in nodes])
    chosen_from = tuple(s.candidates if s else () for s in split_of)
    arrays["candidates"] = chosen_from if any(chosen_from) else None
    if not classes:
        arrays["constant"] = [n.constant for n in nodes]
        arrays["loss"] = [n.loss for n in nodes]
    return Tree(schema=schema, classes=classes, models=models, **arrays)


def _of_tests(by_node: Any, kept: np.ndarray, leaf: np.ndarray) -> Any:
    """What belongs to the tests of nodes, for those that stay; nothing in a leaf."""
    return by_node and tuple(
        () if is_leaf else by_node[old] for old, is_leaf in zip(kept, leaf, strict=True)
    )


def _count_kinds(kind: np.ndarray) -> dict[str, int]:
    counts = np.bincount(kind, minlength=len(KINDS))
    return {name: int(counts[i]) for i, name in enumerate(KINDS) if i != LEAF}
