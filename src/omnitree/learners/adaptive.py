"""The learner of Friedman (1977): plain variables and an adaptive one compete.

Every column is cut by itself, and so is a linear combination made for the node (the adaptive
variable). The best test wins; if they are equally good, the one on a single column. Used by
the preset friedman.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.learners.analytic import Analytic
from omnitree.learners.linear import Linear
from omnitree.tree.splits import Split


class Adaptive(SplitLearner):
    """The better of the best univariate test and the best linear test.

    Parameters
    ----------
    grouping : str or Grouping, default="one_rest"
        Found for each column by itself, and for the linear combination.
    direction : str or Direction, default="fisher"
        Of the linear combination.
    threshold : str or Threshold, default="kolmogorov_smirnov"
    merit : str or Merit, default="kolmogorov_smirnov"
        Compares groupings, columns and the two kinds of test.
    """

    grouping: Any = "one_rest"
    direction: Any = "fisher"
    threshold: Any = "kolmogorov_smirnov"
    merit: Any = "kolmogorov_smirnov"
    draws = False

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The better test, or None where neither separates anything."""
        plain = Analytic(self.grouping, self.threshold, self.merit).fit(node, rng)
        linear = Linear(self.grouping, self.direction, self.threshold, self.merit).fit(
            node, rng
        )
        if plain is None or linear is None:
            return plain or linear
        return linear if linear.merit > plain.merit + 1e-12 else plain
