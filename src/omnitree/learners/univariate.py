"""The univariate learner: tests on one feature, searched exhaustively.

All cuts between adjacent distinct values of every numeric feature are tried under any
merit; symbolic features become a branch per symbol, two sets of symbols, or one symbol
against the rest. Whole trees are grown in compiled code: `_core/presort` for plain numbers
without gaps under Gini, gain, gain ratio or entropy (sorted once, O(d n) a level),
`_core/general` for everything else. Ties go to the lowest feature index, then to the lowest
cut. Used by the presets id3, c4.5, rp-c4.5, cart, uni-gini, uni-gain-ratio and
random-attribute.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from omnitree._core.univariate import general, presort
from omnitree.data.schema import Schema
from omnitree.data.table import Table
from omnitree.growing.constraints import Constraints
from omnitree.growing.learner import SplitLearner, Tick
from omnitree.growing.missing import Fractional, Surrogate
from omnitree.growing.node import Node, Problem
from omnitree.growing.part import number, unknown
from omnitree.growing.stopping import Limits
from omnitree.learners.ruled import BROKEN, Kept, best_ruled
from omnitree.parts.merit import CUSTOM, MERITS, Gain, GainRatio
from omnitree.tree.splits import KINDS, Split
from omnitree.tree.tree import LEAF, Tree

CATEGORIES = ("multiway", "subset", "one_rest", "groups")
# Merits that presort.hpp knows: its code, and the factor from its scale to the merit's.
PRESORTED = {
    "Gini": (0, 1.0),
    "Gain": (1, 1.0),
    "GainRatio": (1, 1.0),
    "Entropy": (1, float(np.log(2))),
}


class Univariate(SplitLearner):
    """Tests on one feature at a time.

    Parameters
    ----------
    merit : str or Merit, default="gini"
        How partitions are compared; see `omnitree.parts.merit.MERITS`.
    categories : {"subset", "multiway", "one_rest", "groups"}, default="subset"
        Tests on symbolic features. "subset" (CART): two sets of symbols; exact for two
        classes (under convex merits as Gini and gain, where `min_branch` does not bind)
        and for up to ten symbols at the node, else the best cut of the symbols ordered
        along the first principal component of their class shares. "multiway" (C4.5,
        ID3): a branch for each symbol of the training table. "one_rest": one symbol
        against the others. "groups": C4.5's option -s, symbols merged pairwise as long
        as the gain ratio rises.
    choice : {"best", "random"}, default="best"
        "random" (Liu & White 1994) draws the feature and cuts it at its best.
    min_branch : float, default=1
        At least two branches must get this much weight.
    release8 : bool, default=False
        C4.5 release 8's rules for numeric cuts: at least 10 % of the known rows per class
        (at most 25) on each side, the gain lowered by log2(cuts) / rows, and positive.
    threshold : {"midpoint", "value"}, default="midpoint"
        Where a cut is put: halfway, or (C4.5) at the largest training value below that.
    collapse : bool, default=False
        C4.5: a subtree that makes no fewer training errors than a leaf (less 0.001) is
        collapsed as soon as it is grown.
    cost_weight : float, default=1
        With costs of features: a test that adds the share s of all costs to what the path
        has paid is worth its merit / (1 + s) ** cost_weight.
    monotone : dict or array of shape (n_features,), optional
        +1 where the probability of the second class must not fall as a feature rises, -1
        where it must not rise, 0 where it may do both; a dict has names or numbers of
        features, or names of parts of dates. For two classes and features with an order.
        As in scikit-learn's trees: branches in order, and a bound halfway between them for
        all nodes below.
    interactions : list of groups of features, optional
        Features on one path must lie in one group, a list of names or numbers; groups may
        overlap, and features that no group names are one more group.

    Costs, `monotone` and `interactions` make it grow node by node, each feature judged by
    itself: C4.5's rule of mean gain does not hold then, ``choice="random"``, ``release8``
    and ``collapse`` are refused, and a test gets no surrogates, which would look at
    features unpaid, or break the rules (rows with a gap take the larger branch).

    Examples
    --------
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Univariate
    >>> clf = TreeClassifier(learner=Univariate(merit="gain"))
    >>> clf.fit([[1], [2], [3]], ["a", "a", "b"]).tree_.split(0).threshold
    2.5
    """

    grows_trees = True
    uses_costs = True

    def __init__(
        self,
        merit="gini",
        categories="subset",
        choice="best",
        min_branch=1,
        release8=False,
        threshold="midpoint",
        collapse=False,
        cost_weight=1.0,
        monotone=None,
        interactions=None,
    ):
        self.merit = merit
        self.categories = categories
        self.choice = choice
        self.min_branch = min_branch
        self.release8 = release8
        self.threshold = threshold
        self.collapse = collapse
        self.cost_weight = cost_weight
        self.monotone = monotone
        self.interactions = interactions

    def constraints(self, schema: Schema) -> Constraints | None:
        """What `monotone` and `interactions` say."""
        return Constraints.of(self.monotone, self.interactions, schema)

    def grows(self, node: Node) -> bool:
        """Whether it grows whole trees: nothing about features has to be kept in mind."""
        free = self.monotone is None and self.interactions is None
        return free and node.problem.feature_costs is None

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test for one node."""
        if not self.grows(node):
            return self._fit_ruled(node, rng)
        table = node.problem.table
        return self._stump(node, Table(table.values[node.rows], table.schema), rng)

    def fit_each(self, node: Node, rng: np.random.Generator) -> list[Split | None]:
        """Best test on each feature by itself."""
        every = range(node.problem.table.schema.n_features)
        return [self._alone(node, j, rng) for j in every]

    def _alone(
        self, node: Node, feature: int, rng: np.random.Generator, merit: Any = None
    ) -> Split | None:
        """Best test on one feature."""
        values, schema = node.problem.table.values, node.problem.table.schema
        own = Schema((schema.features[feature],), schema.named)
        alone = Table(values[node.rows, feature][:, None], own)
        split = self._stump(node, alone, rng, merit)
        # The one feature of that table is number 0.
        return split and replace(split, feature=feature)  # type: ignore[call-arg]

    def _fit_ruled(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The test most worth its price among those that keep the rules."""
        for name, usual in (
            ("choice", "best"),
            ("release8", False),
            ("collapse", False),
        ):
            if getattr(self, name) != usual:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} does not go with feature_costs, "
                    "monotone or interactions"
                )
        merit = MERITS.resolve(self.merit)

        def propose(feature: int, direction: int) -> Split | None:
            kept = Kept(merit, direction, node.bounds)
            split = self._alone(node, feature, rng, kept if kept.binds else merit)
            return None if split is None or split.merit <= BROKEN / 2 else split

        return best_ruled(self, node, propose, self.cost_weight)

    def _stump(
        self, node: Node, table: Table, rng: np.random.Generator, merit: Any = None
    ) -> Split | None:
        """Best test of a node on some of its table, by the learner's or another merit."""
        part = Problem(
            table=table,
            y=node.y,
            weight=node.weight,
            n_classes=node.problem.n_classes,
            missing=node.problem.missing,
            limits=Limits(max_depth=1),
            seed=int(rng.integers(2**63)),
        )
        root = Node(part, np.arange(len(node.rows)), node.weight)
        stump = self._grow(root, (), None, merit)
        return None if stump.n_nodes == 1 else stump.split(0)

    def grow(self, node: Node, classes: tuple, tick: Tick | None) -> Tree:
        """The whole tree of a training table (all its rows, in order)."""
        tree = self._grow(node, classes, tick)
        return tree.collapse(useless(tree)) if self.collapse else tree

    def _grow(
        self, node: Node, classes: tuple, tick: Tick | None, merit: Any = None
    ) -> Tree:
        problem, limits = node.problem, node.problem.limits
        table = problem.table
        merit = merit or MERITS.resolve(self.merit)
        min_branch = number("min_branch", self.min_branch)
        # Whether a subtree is useless shows only when it is grown whole.
        max_depth = limits.max_depth if self.collapse else limits.depth_needed
        _among("categories", self.categories, CATEGORIES)
        _among("choice", self.choice, ("best", "random"))
        _among("threshold", self.threshold, ("midpoint", "value"))
        if self._can_presort(node, merit):
            code, factor = PRESORTED[type(merit).__name__]
            plain = (node.weight == 1.0).all()
            grown = presort.grow_numeric(
                table.values,
                node.y,
                None if plain else node.weight,
                problem.n_classes,
                code,
                limits.min_rows,
                min_branch,
                max_depth,
                tick,
                by_ratio=merit.code == GainRatio.code,
                release8=bool(self.release8),
                value_thresholds=self.threshold == "value",
                sorted_as=table.sorted_as,
            )
            return axis_tree(node, classes, grown, factor)
        options: dict[str, Any] = {
            "merit": merit.code,
            "missing": problem.missing.code,
            "categories": {"multiway": 0, "subset": 1, "one_rest": 2, "groups": 3}[
                self.categories
            ],
            "random_attribute": self.choice == "random",
            "release8": bool(self.release8),
            "threshold_is_value": self.threshold == "value",
            "min_rows": limits.min_rows,
            "min_branch": min_branch,
            "max_depth": max_depth,
            "max_surrogates": (problem.missing.max_surrogates if table.has_gaps else 0),
            "seed": problem.seed,
        }
        arrays = general.grow_general(
            table.values,
            node.y,
            node.weight,
            table.schema.n_categories,
            problem.n_classes,
            options,
            merit if merit.code == CUSTOM else None,
            tick,
        )
        return Tree(schema=table.schema, classes=classes, **arrays)

    def _can_presort(self, node: Node, merit: Any) -> bool:
        table = node.problem.table
        return (
            type(merit).__name__ in PRESORTED
            and merit.code != CUSTOM
            and self.choice == "best"
            and (not self.release8 or isinstance(merit, Gain | GainRatio))
            and not table.has_gaps
            and not table.schema.n_categories.any()
        )


def _among(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(unknown(name, value, list(known)))


def axis_tree(node: Node, classes: tuple, grown: dict, factor: float) -> Tree:
    """A tree from the plain arrays of `_core/presort`."""
    feature = grown["feature"]
    inner = feature >= 0
    n = int(inner.sum())
    index = np.zeros(2 * n, dtype=np.int32)
    index[::2] = feature[inner]
    tree = Tree(
        schema=node.problem.table.schema,
        classes=classes,
        kind=np.where(inner, KINDS.index("axis"), LEAF),
        first_child=grown["first_child"],
        n_children=np.where(inner, 2, 0),
        parent=grown["parent"],
        missing=np.where(inner, -1, 0),
        merit=grown["merit"] * factor,
        value=grown["value"],
        test_start=np.concatenate([[0], np.cumsum(inner)]),
        test_kind=np.full(n, KINDS.index("axis")),
        index_ptr=2 * np.arange(n + 1),
        weight_ptr=np.arange(n + 1),
        index=index,
        weight=grown["threshold"][inner],
    )
    policy = node.problem.missing
    if isinstance(policy, Fractional) or not n:
        return tree
    branch = np.zeros(tree.n_nodes, dtype=np.int32)
    if isinstance(policy, Surrogate):  # no gaps, no surrogates: the larger branch
        weight = tree.value.sum(axis=1)
        left = tree.first_child[inner]
        branch[inner] = weight[left + 1] > weight[left]
    else:
        mean = tree.axis_means(node.problem.table, node.weight)
        branch[inner] = mean[inner] > grown["threshold"][inner]
    return tree.replace(missing=branch)


def useless(tree: Tree) -> np.ndarray:
    """Nodes whose subtree makes no fewer training errors than a leaf, as C4.5 has it."""
    as_leaf = tree.value.sum(axis=1) - tree.value.max(axis=1)
    errors = as_leaf.copy()
    below = np.zeros(tree.n_nodes)
    cut = np.zeros(tree.n_nodes, dtype=bool)
    for node in range(tree.n_nodes - 1, -1, -1):  # children before parents
        if tree.kind[node] != LEAF:
            errors[node] = below[node]
            if below[node] >= as_leaf[node] - 1e-3:
                cut[node] = True
                errors[node] = as_leaf[node]
        if node:
            below[tree.parent[node]] += errors[node]
    return cut
