"""Univariate tests under rules: what features cost, monotone answers, interactions.

A learner proposes, for each allowed feature, the best test that keeps the rules on the rows
with a known value. The test with the best merit for its price is taken, provided that it
also keeps the rules once rows with missing values are included. Used by the univariate
learner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from omnitree.growing.learner import Floats, SplitLearner
from omnitree.growing.node import Node
from omnitree.parts.feature_selection.base import pick
from omnitree.parts.merit import Merit
from omnitree.parts.merit.base import ratio
from omnitree.tree.splits import Split

# Merit of a partition that breaks a rule. It is finite, since searches compare by adding.
BROKEN = -1e300


class Kept(Merit):
    """A merit that bounds what the branches answer.

    They answer with the share of the second of two classes, or with the mean of numbers.

    Parameters
    ----------
    merit : Merit
    direction : {-1, 0, 1}
        How the answer may go from branch 0 to branch 1.
    bounds : tuple of two floats
        Between which the answer of every branch must lie.
    """

    merit: Merit
    direction: int
    bounds: tuple[float, float]

    @property
    def binds(self) -> bool:
        """Whether there is anything to keep."""
        return bool(self.direction) or self.bounds != (-np.inf, np.inf)

    def size(self, statistics: Floats) -> Floats:
        return self.merit.size(statistics)

    def score(self, statistics: Floats) -> Floats:
        size = self.size(statistics)
        answer, (low, high) = ratio(statistics[..., 1], size), self.bounds
        broken = ((size > 0) & ((answer < low) | (answer > high))).any(axis=-1)
        if self.direction:
            broken |= self.direction * (answer[..., 1] - answer[..., 0]) < 0
        return np.where(broken, BROKEN, self.merit(statistics))


def best_ruled(
    learner: SplitLearner,
    node: Node,
    propose: Callable[[int, int], Split | None],
    cost_weight: Any = 1.0,
) -> Split | None:
    """The test with the best merit for its price that keeps the constraints of the growth.

    `propose` gives the best test on a feature whose answers go in a direction.
    """
    schema, rules = node.sample.table.schema, node.rules.constraints
    if rules is None and learner.constraints(schema) is not None:
        raise ValueError(
            "monotone and interactions must hold in the whole tree: give them to the "
            f"learner of the tree, not to a {type(learner).__name__} inside another one"
        )
    every = range(schema.n_features)
    found = []
    for j in every if rules is None else rules.allowed(node.tested):
        direction = 0 if rules is None else int(rules.direction[j])
        split = propose(j, direction)
        if split is not None:
            worth = split.merit / node.price({j}, cost_weight)
            found.append(replace(split, merit=worth, direction=direction))
    while found:
        best = found.pop(pick([split.merit for split in found]))
        if rules is None or not rules.monotone or node.keeps_bounds(best):
            return best
    return None
