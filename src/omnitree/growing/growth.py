"""How the trees of one fit are grown, as one value.

The grown tree, the trees of cross-validation and those that other methods compare it with
all come from `Growth.grow`. Made by the estimators; prunings find it in their evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.clock import until
from omnitree.growing.grower import grow
from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.tree.tree import Tree


@dataclass(frozen=True)
class Growth:
    """A learner and the rules it works by."""

    learner: SplitLearner
    rules: Rules  # with leaves
    # (n_classes,): what each class weighs while tests are found; None: as much as its
    # rows.
    priors: NDArray[np.float64] | None = None

    def settled(self, sample: Sample) -> Growth:
        """The same with all that leaves choose once for a training sample chosen."""
        with until(self.rules.limits.deadline):
            leaves = self.rules.leaves.settled(sample, self.rules)
        return replace(self, rules=replace(self.rules, leaves=leaves))

    def grow(self, sample: Sample, verbose: int = 0) -> Tree:
        """The tree of a sample, with what its nodes answer as leaves."""
        weighed = sample
        if self.priors is not None:
            weight = sample.weight * self.priors[sample.y]
            weight *= sample.weight.sum() / weight.sum()
            weighed = replace(sample, weight=weight)
        tree = grow(Node.root(weighed, self.rules), self.learner, verbose)
        if weighed is not sample:
            tree = tree.recount(sample.table, sample.y, sample.weight)
        if sample.target.costs is not None:
            tree = tree.replace(costs=sample.target.costs)
        with until(self.rules.limits.deadline):
            return self.rules.leaves.fit(tree, sample, self.rules)
