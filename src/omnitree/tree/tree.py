"""The tree: one frozen struct of arrays for every learner.

Nodes are rows of parallel arrays. Siblings are adjacent and follow their parent, so branch
b of a node is `first_child + b`. A node's tests (the main one, then its surrogates) are a
range of the test arrays, and a test is a slice of one int pool and one double pool: an axis
cut, a category map, a hyperplane and a linear machine are all stored alike and routed by
one compiled rule (`_core/route.hpp`). Class counts are kept in every node, and nodes may
have linear or quadratic models besides (`leaf_models.py`), which then answer in their
stead. A tree for numbers has no classes; of its nodes the weight, a constant and its loss
are kept. Where rows go is in `routing.py`, what nodes answer in `answers.py`; a tree is
made of another by `collapse`, which cuts, and by `with_splits` (`rebuilding.py`), which
puts other tests in.

`to_dict` is the public tree, version 1; `docs/tree_format.md` describes it and every
exporter reads only that. `from_dict` checks all of it (`records.py`) before a tree is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from omnitree._core.predict import subtrees
from omnitree.data.schema import Schema
from omnitree.data.switches import cached_property
from omnitree.data.table import Table
from omnitree.tree.answers import Answers
from omnitree.tree.expression import plain_rule
from omnitree.tree.importance import Amounts, feature_importances
from omnitree.tree.leaf_models import (
    Known,
    LeafModel,
    LeafModels,
    n_parameters,
    ranges,
    starts,
)
from omnitree.tree.plain import plain_tree
from omnitree.tree.rebuilding import (
    DTYPES,
    SampleLike,
    free_of,
    learned,
    of_tests,
    records_with,
)
from omnitree.tree.records import (
    NodeRecord,
    check_amounts,
    check_records,
    read_extras,
    read_tree,
)
from omnitree.tree.routing import LEAF
from omnitree.tree.shared_models import own_functions
from omnitree.tree.splits import KINDS, SPLITS, Considered, Split, renumbered


@dataclass(frozen=True, eq=False)
class Tree(Answers):
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
    ranges : float64 array of shape (n_features, 2) or None
        The smallest and the largest value of each numeric feature in the training rows,
        NaN for others, where there are deviations; explanations stay within.
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
    reliability : float64 array of shape (n_nodes, 3) or None
        Share of the held-out rows in each node whose class was predicted correctly by
        trees grown without them, and the ends of its 95 % interval; NaN where no row
        was held out.
    free : int32 array of shape (n_nodes,) or None
        Free parameters of tests that have fewer than weights and threshold, since their
        weights were found through principal components; 0 for all other nodes.
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
    ranges: np.ndarray | None = None
    models: LeafModels | None = None
    constant: np.ndarray | None = None
    loss: np.ndarray | None = None
    candidates: tuple[tuple[Considered, ...], ...] | None = None
    costs: np.ndarray | None = None
    importance: tuple[Amounts, ...] | None = None
    model_importance: tuple[Amounts, ...] | None = None
    shrinkage: float | None = None
    reliability: np.ndarray | None = None
    free: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name, dtype in DTYPES.items():
            given = getattr(self, name)
            if given is not None:
                array = np.ascontiguousarray(given, dtype=dtype).view()
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties are cheap to make again and would double the pickle.
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return own | {"kinds": tuple(KINDS)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kinds = state.pop("kinds")
        codes = {n: renumbered(state[n], kinds) for n in ("kind", "test_kind")}
        self.__dict__.update(state | codes)

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
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.kind == LEAF))

    @property
    def depth(self) -> int:
        """Length of the longest path from the root to a leaf."""
        return int(self.depths.max())

    @property
    def n_parameters(self) -> int:
        """Free parameters: 1 a leaf, 2 a univariate node, k + 1 a linear one over k.

        A leaf with a model has those of the model instead; one that all leaves below a
        test share counts once, and if it is the test's own functions only what is new in
        it: the scale. Of models that differ by their biases alone, the weights count once.
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
            own = own_functions(plain_rule(split.rule), model.to_dict())
            rich += model.n_params if own is None else own.n_params
        known: Known = {}
        rich += n_parameters([self.model(leaf, known) for leaf in sorted(leaves)])
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
            free=0 if self.free is None else int(self.free[node]),
        )

    def model(self, node: int, known: Known | None = None) -> LeafModel | None:
        """The linear or quadratic model of a node, or None.

        Who asks for many passes the same `known` each time; see `LeafModels.unpacked`.
        """
        if self.models is None:
            return None
        return self.models.unpacked(node, {} if known is None else known)

    def _unpack(self, test: int) -> tuple[Any, list[int], list[float]]:
        return (
            SPLITS[KINDS[self.test_kind[test]]],
            self.index[self.index_ptr[test] : self.index_ptr[test + 1]].tolist(),
            self.weight[self.weight_ptr[test] : self.weight_ptr[test + 1]].tolist(),
        )

    def complexity(self, node: int) -> int:
        """Free parameters of a node's test, as its choice counted them if there was one.

        Two of a univariate test, k + 1 of one over k columns or principal components.
        """
        split = self.split(node)
        chosen = [c.parameters for c in split.candidates if c.chosen]
        return chosen[0] if chosen else split.complexity

    @cached_property
    def feature_importances(self) -> np.ndarray:
        """Share of each feature in what the tree explains; adds up to one, or all 0.

        That is the decrease of the Gini impurity, or of the loss, at tests and by models
        in leaves. A test on several features, or a model, divides it by contributions:
        the size of the weight times the standard deviation of the column among the rows
        of the node (`omnitree.tree.importance`).
        """
        return feature_importances(self)

    # -- change ---------------------------------------------------------------------

    def replace(self, **changes: Any) -> Tree:
        """A copy with some arrays exchanged."""
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        return Tree(**(state | changes))

    def recount(self, table: Table, y: np.ndarray, weight: np.ndarray) -> Tree:
        """The same tests with the class counts of other rows.

        A missing value divides them as it divides rows in `predict`.
        """
        return self.replace(value=self.class_counts(table, y, weight))

    def with_counts(self, sample: SampleLike) -> Tree:
        """The same tests, learned from another sample.

        All nodes get its class counts, or its weights, constants and losses.

        Unlike in `recount`, the sample itself says in which proportions its rows with
        missing values are divided, as when the tree was grown on it.
        """
        return self.replace(**learned(self, sample))

    def with_splits(
        self,
        splits: Mapping[int, Split | None],
        sample: SampleLike,
        models: Mapping[int, LeafModel | None] | None = None,
        subtrees: Mapping[int, Tree] | None = None,
    ) -> Tree:
        """The tree with other tests, or whole subtrees, in some nodes.

        The branches of a new test are leaves: what lay below the old one is gone. All
        counts are those of `sample`, rows divided by missing values included.

        Parameters
        ----------
        splits : mapping of node to Split or None
            The new tests; None makes the node a leaf.
        sample : Sample
            The training rows.
        models : mapping of node to LeafModel, optional
            What answers in the leaves that a node of `splits` gets, or in itself where it
            becomes a leaf.
        subtrees : mapping of node to Tree, optional
            Trees over the same features that take the place of nodes.

        Returns
        -------
        Tree
            With the nodes in breadth-first order; importances are not carried over.
        """
        records = records_with(self, splits, models or {}, subtrees or {})
        tree = tree_from_nodes(self.schema, self.classes, records)
        names = ("deviation", "ranges", "costs", "shrinkage")
        kept = {name: getattr(self, name) for name in names}
        return tree.replace(**kept).with_counts(sample)

    def collapse(self, cut: np.ndarray) -> Tree:
        """The tree with some subtrees cut off.

        Parameters
        ----------
        cut : array of bool or int, one per node
            Where true (or -1), the node becomes a leaf. An int array can also name a
            descendant that takes the node's place (C4.5's subtree raising), or say by -2
            that the node becomes, or stays, a leaf without its model; models then remain
            only in leaves that are marked by -1. A node that stays as it is has its own
            number. What lies below a cut does not matter.

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
        tree = self
        if self.models is not None and (to == -2).any():
            tree = self.replace(models=self.models.only(to == -1))
        # Of each new node the old one whose test and counts it has.
        kept, parent, first = subtrees.kept(self.shape, np.maximum(to, -1))
        return tree._take(kept, first < 0, first, parent)

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
            reliability=None if self.reliability is None else self.reliability[kept],
            free=free_of(self.free, kept, leaf),
            test_start=starts(n_tests),
            test_kind=self.test_kind[tests],
            index_ptr=starts(n_index),
            weight_ptr=starts(n_weight),
            index=self.index[ranges(self.index_ptr[:-1][tests], n_index)],
            weight=self.weight[ranges(self.weight_ptr[:-1][tests], n_weight)],
            candidates=of_tests(self.candidates, kept, leaf),
            importance=of_tests(self.importance, kept, leaf),
            model_importance=self.model_importance
            and tuple(self.model_importance[old] for old in kept),
        )

    # -- plain form -----------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The public tree: plain lists and dicts, ready for JSON."""
        return plain_tree(self)

    @classmethod
    def from_dict(cls, data: Any) -> Tree:
        """Read a tree written by `to_dict`.

        Raises
        ------
        ValueError
            With the reason, if anything in it is wrong; nothing is used unchecked.
        """
        schema, classes, records = read_tree(data)
        tree = tree_from_nodes(schema, classes, records)
        check_amounts(records)
        return tree.replace(**read_extras(data, tree.schema, len(tree.classes)))


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
    # As many as weights and threshold, or more, says nothing.
    free = [s.free if s and s.free < s.n_params else 0 for s in split_of]
    arrays["free"] = free if any(free) else None
    if not classes:
        arrays["constant"] = [n.constant for n in nodes]
        arrays["loss"] = [n.loss for n in nodes]
    return Tree(schema=schema, classes=classes, models=models, **arrays)


def _count_kinds(kind: np.ndarray) -> dict[str, int]:
    counts = np.bincount(kind, minlength=len(KINDS))
    return {name: int(counts[i]) for i, name in enumerate(KINDS) if i != LEAF}
