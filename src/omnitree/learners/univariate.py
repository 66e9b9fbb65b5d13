"""The univariate learner: tests on one feature, searched exhaustively.

All cuts between adjacent distinct values of every numeric feature are tried under any
merit; categorical features become a branch per category, two sets of categories, or one
category against the rest. Where a number is predicted, its loss takes the place of the
merit (`numeric_features.py`). Whole trees are grown in compiled code where that can be
(`growing/dispatch.py`). Ties go to the lowest feature index, then to the lowest cut. Used
by the presets id3, c4.5, rp-c4.5, cart, uni-gini, uni-gain-ratio and random-attribute, and
by the default regressor.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from omnitree.data.schema import Schema
from omnitree.data.table import Table
from omnitree.growing.axis_trees import CATEGORIES, AxisSearch
from omnitree.growing.clock import check_time
from omnitree.growing.constraints import Constraints
from omnitree.growing.dispatch import growers_for
from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node, Rules
from omnitree.growing.part import number, one_of
from omnitree.growing.sample import Sample
from omnitree.growing.stopping import Limits
from omnitree.learners.binned import best_binned
from omnitree.learners.numeric_features import best_feature, proposals
from omnitree.learners.ruled import BROKEN, Kept, best_ruled
from omnitree.parts.leaves import ConstantLeaves
from omnitree.parts.merit import MERITS, Merit
from omnitree.tree.splits import Split

if TYPE_CHECKING:
    from omnitree.growing.blocks.sum_node import SumNode

# Passes over a column that sorting it takes as long as.
SORT = 5


class Univariate(SplitLearner):
    """Tests on one feature at a time; for classes and for numbers.

    Where a number is predicted, tests are compared by the criterion of the regressor and
    the kind of its leaves, and categories form two sets; `min_branch`, `monotone` and
    `interactions` are the options.

    Parameters
    ----------
    merit : str or Merit, default="gini"
        How partitions are compared; see `omnitree.parts.merit.MERITS`.
    categories : {"subset", "multiway", "one_rest", "groups"}, default="subset"
        Tests on categorical features. "subset" (CART): two sets of categories; exact for
        two classes (under convex merits as Gini and gain, where `min_branch` does not bind)
        and for up to ten categories at the node, else the best cut of the categories
        ordered along the first principal component of their class shares. "multiway" (C4.5,
        ID3): a branch for each category of the training table. "one_rest": one category
        against the others. "groups": C4.5's option -s, categories merged pairwise as long
        as the gain ratio rises.
    choice : {"best", "random"}, default="best"
        "random" (Liu & White 1994) draws the feature and cuts it at its best.
    min_branch : float, default=1
        At least two branches must get this much weight.
    min_gain : float, default=0
        For a numeric target and leaves with models: a node stays a leaf unless its best test
        raises the likelihood by more than so many times what the best test of mere noise
        would.
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
        all nodes below. For a numeric target, the answer takes the place of the
        probability, and the criterion must be the squared error.
    interactions : list of groups of features, optional
        Features on one path must lie in one group, a list of names or numbers; groups may
        overlap, and features that no group names are one more group.

    Costs, `monotone` and `interactions` make it grow node by node, each feature judged by
    itself: C4.5's rule of mean gain does not hold then, ``choice="random"``, ``release8``
    and ``collapse`` are refused, and a test gets no surrogates, which would look at
    features unpaid, or break the rules (rows with a missing value take the larger branch).

    Examples
    --------
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Univariate
    >>> clf = TreeClassifier(learner=Univariate(merit="gain"))
    >>> clf.fit([[1], [2], [3]], ["a", "a", "b"]).tree_.split(0).threshold
    2.5
    """

    merit: Any = "gini"
    categories: str = "subset"
    choice: str = "best"
    min_branch: float = 1
    min_gain: float = 0
    release8: bool = False
    threshold: str = "midpoint"
    collapse: bool = False
    cost_weight: float = 1.0
    monotone: Any = None
    interactions: Any = None

    tasks = ("classification", "regression")
    options_of: ClassVar = {
        "classification": (
            *("merit", "categories", "choice", "release8"),
            *("threshold", "collapse", "cost_weight"),
        ),
        "regression": ("min_gain",),
    }
    uses_costs = True

    def constraints(self, schema: Schema) -> Constraints | None:
        """What `monotone` and `interactions` say."""
        return Constraints.of(self.monotone, self.interactions, schema)

    def search(self, root: Node) -> AxisSearch | None:
        """What it looks for; None where features have rules, or leaves linear models."""
        constant = root.target.n_classes or type(root.rules.leaves) is ConstantLeaves
        if not constant or self._ruled(root):
            return None
        return self._search(MERITS.resolve(self.merit, "classification"), self.collapse)

    def _ruled(self, node: Node) -> bool:
        """Whether something about features has to be kept in mind."""
        given = (self.monotone, self.interactions, node.rules.feature_costs)
        return any(rule is not None for rule in given)

    def _search(self, merit: Merit, collapse: bool) -> AxisSearch:
        one_of("categories", self.categories, CATEGORIES)
        one_of("choice", self.choice, ("best", "random"))
        one_of("threshold", self.threshold, ("midpoint", "value"))
        return AxisSearch(
            merit=merit,
            categories=self.categories,
            random_feature=self.choice == "random",
            min_branch=number("min_branch", self.min_branch),
            release8=bool(self.release8),
            value_thresholds=self.threshold == "value",
            collapse=bool(collapse),
        )

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test for one node."""
        if self._ruled(node):
            return self._fit_ruled(node, rng)
        if not node.target.n_classes:
            return best_feature(
                node,
                number("min_branch", self.min_branch),
                number("min_gain", self.min_gain),
            )
        table = node.sample.table
        return self._stump(node, Table(table.values[node.rows], table.schema), rng)

    @property
    def grows_from(self) -> str | None:
        """Histograms; but C4.5's rules need to see the values of rows."""
        return None if self._of_rows() else "histograms"

    def _of_rows(self) -> dict[str, Any]:
        """Options by which it has to see rows."""
        usual = {
            "choice": "best",
            "threshold": "midpoint",
            "release8": False,
            "collapse": False,
            "monotone": None,
            "interactions": None,
        }
        given = {name: getattr(self, name) for name in usual}
        return {name: value for name, value in given.items() if value != usual[name]}

    def needs_rows(self) -> str:
        """The options that cannot be grown from sums."""
        options = (f"{name}={value!r}" for name, value in self._of_rows().items())
        return f"the learner 'univariate' with {', '.join(options)}"

    def fit_sums(self, node: SumNode, rng: np.random.Generator):
        """Best test for one node, cut between bins."""
        merit = MERITS.resolve(self.merit) if node.n_classes else None

        def by_rows(rows: Node) -> Split | None:
            return self._stump(rows, rows.sample.table, rng)

        return best_binned(node, merit, number("min_branch", self.min_branch), by_rows)

    def fit_each(self, node: Node, rng: np.random.Generator) -> list[Split | None]:
        """Best test on each feature by itself."""
        every = range(node.sample.table.schema.n_features)
        return [self._alone(node, j, rng) for j in every]

    def _alone(
        self, node: Node, feature: int, rng: np.random.Generator, merit: Any = None
    ) -> Split | None:
        """Best test on one feature."""
        values, schema = node.sample.table.values, node.sample.table.schema
        own = Schema((schema.features[feature],), schema.named)
        alone = Table(values[node.rows, feature][:, None], own)
        split = self._stump(node, alone, rng, merit)
        # The one feature of that table is number 0.
        return split and replace(split, feature=feature)  # type: ignore[call-arg]

    def _fit_ruled(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The test with the best merit for its price among those that keep the rules."""
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
        if not node.target.n_classes:
            propose = proposals(node, number("min_branch", self.min_branch))
            return best_ruled(self, node, propose, self.cost_weight)
        merit = MERITS.resolve(self.merit, "classification")

        def propose_kept(feature: int, direction: int) -> Split | None:
            kept = Kept(merit, direction, node.bounds)
            split = self._alone(node, feature, rng, kept if kept.binds else merit)
            return None if split is None or split.merit <= BROKEN / 2 else split

        return best_ruled(self, node, propose_kept, self.cost_weight)

    def _stump(
        self, node: Node, table: Table, rng: np.random.Generator, merit: Any = None
    ) -> Split | None:
        """Best test of a node on some of its table, by the learner's or another merit."""
        check_time(n_cells=SORT * table.values.size)
        seed = int(rng.integers(2**63))
        rules = Rules(node.rules.missing, Limits(max_depth=1), seed)
        root = Node.root(Sample(table, node.target, node.weight), rules)
        merit = MERITS.resolve(self.merit, "classification") if merit is None else merit
        search = self._search(merit, collapse=False)
        stump = next(growers_for(search, root)).grow(search, root, None)
        return None if stump.n_nodes == 1 else stump.split(0)
