"""The multivariate learner: which features, with what weights, and is one feature enough.

`fit` reads as sections 2 to 4 of Brodley & Utgoff (1995): the node's rows are encoded and
standardised (`Cases`), a feature selection looks for the columns of the test, a coefficient
learner for their weights. A learner for two classes meets more of them by grouping the
classes first, the question the paper leaves open. Used by the presets bu95 and lmdt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.learners.grouped import discriminant, in_groups
from omnitree.learners.univariate import Univariate
from omnitree.parts.coefficients import COEFFICIENTS, Cases
from omnitree.parts.coefficients.cases import merged
from omnitree.parts.feature_selection import SELECTIONS, trials_of
from omnitree.parts.feature_selection.base import Columns, Price, better, pick
from omnitree.parts.grouping import GROUPINGS
from omnitree.parts.merit import MERITS
from omnitree.tree.splits import Split


class Multivariate(SplitLearner):
    """Linear tests over selected features.

    Parameters
    ----------
    coefficients : str or Coefficients, default="rls"
        Learns the weights.
    selection : str or Selection, default="hss"
        Finds the features.
    merit : str or Merit, default="gain_ratio"
        Compares tests.
    univariate : bool, default=False
        Whether the best linear test competes with all tests on one feature under the same
        merit (BU95's "+ Uni"). Of equals the simpler one wins.
    grouping : str or Grouping, default="restarted_exchange"
        How more than two classes become two groups where `coefficients` can separate but
        two.
    machine : None, str or Coefficients, default=None
        Learns the weights in place of `coefficients` in trees of more than two classes,
        as BU95 does for such data sets: "thermal" gives linear machines, with a branch per
        class.
    cost_weight : float, default=1
        With costs of features: a test that adds the share s of all costs to what the path
        has paid is worth its merit / (1 + s) ** cost_weight.

    Examples
    --------
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Multivariate
    >>> X = [[x, y, 0.5] for x in range(6) for y in range(6)]
    >>> clf = TreeClassifier(Multivariate(selection="sbe"))
    >>> clf.fit(X, [x + y > 4 for x, y, _ in X]).tree_.split(0).columns
    (0, 1)
    """

    coefficients: Any = "rls"
    selection: Any = "hss"
    merit: Any = "gain_ratio"
    univariate: bool = False
    grouping: Any = "restarted_exchange"
    machine: Any = None
    cost_weight: float = 1.0

    uses_costs = True

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test for one node."""
        linear = self._linear(node, rng)
        if not self.univariate:
            return linear
        plain = self._univariate(node, rng)
        if linear is None or plain is None:
            return linear or plain
        return linear if better(linear.merit, plain.merit) else plain

    def _linear(self, node: Node, rng: np.random.Generator) -> Split | None:
        many = self.machine is not None and node.target.n_classes > 2
        coefficients = COEFFICIENTS.resolve(self.machine if many else self.coefficients)
        merit = MERITS.resolve(self.merit, "classification")
        cases = merged(Cases.of(node))
        if not len(cases.columns):
            return None
        training = cases
        if coefficients.n_classes == 2 < cases.n_classes:
            asked = discriminant(node, coefficients, merit, rng)
            left = GROUPINGS.resolve(self.grouping).find(asked)
            if left is None:
                return None
            training = in_groups(cases, left)
        trials = trials_of(
            training, coefficients, merit, rng, cases, self._price(node, cases)
        )
        trial = SELECTIONS.resolve(self.selection).select(trials)
        if trial is None:
            return None
        return cases.take(trial.columns).split(trial.machine, trial.worth)

    def _univariate(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The best test on one feature, judged as the linear one is."""
        learner = Univariate(merit=self.merit, categories="one_rest")
        if node.rules.feature_costs is None:
            split = learner.fit(node, rng)
            return None if split is None else self._judged(split, node)
        splits = learner.fit_each(node, rng)
        worths = [-np.inf if s is None else self._judged(s, node).merit for s in splits]
        best = splits[pick(worths)]
        return None if best is None else self._judged(best, node)

    def _judged(self, split: Split, node: Node) -> Split:
        """A test with its merit over the rows that it can place, and its price."""
        merit = MERITS.resolve(self.merit, "classification")
        worth = float(merit(node.branch_statistics(split)))
        if node.rules.feature_costs is not None:
            features = split.features(node.sample.table.schema)
            worth /= node.price(features, self.cost_weight)
        return replace(split, merit=worth)

    def _price(self, node: Node, cases: Cases) -> Price | None:
        if node.rules.feature_costs is None:
            return None
        feature = node.sample.table.encoded.feature[cases.columns]

        def price(columns: Columns) -> float:
            return node.price(set(feature[columns].tolist()), self.cost_weight)

        return price
