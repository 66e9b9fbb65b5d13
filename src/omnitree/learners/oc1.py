"""OC1's learner (Murthy, Kasif & Salzberg 1994): hill climbing with random jumps and
restarts over the coefficients of a linear test.

From the best axis-parallel test, then from random ones, each coefficient in turn goes to
its best value; steps that gain nothing are allowed for a while, and where no coefficient
helps, random directions are tried. The best plane of all restarts is taken if it beats the
best axis-parallel test. Numbers are standardised at the node; a category's column is 0
where the category is absent, so that its coefficient moves only the rows that have it. Used
by the preset oc1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.part import number, one_of
from omnitree.learners.oblique import Floats, Slope, compiled_merit, is_better
from omnitree.parts.coefficients import Cases, Machine
from omnitree.tree.splits import Split

ORDERS = ("sequential", "best", "random")


class OC1(SplitLearner):
    """A linear test found by hill climbing from many starting points.

    Parameters
    ----------
    merit : str or Merit, default="twoing"
    restarts : int, default=20
        Starts at each node, the first from the best axis-parallel test.
    jumps : int, default=5
        Random directions tried in a row where no single coefficient helps.
    order : {"sequential", "best", "random"}, default="sequential"
        Coefficients one after the other, always the one that gains most, or `picks` of
        them drawn at random (OC1's R-50).
    picks : int, default=50
        For ``order="random"``.
    stagnation : int, default=10
        Steps in a row that may leave the merit as it is.

    Examples
    --------
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import OC1
    >>> X = [[i, j] for i in range(6) for j in range(6)]
    >>> y = [int(i + j > 5) for i, j in X]
    >>> TreeClassifier(learner=OC1(), random_state=0).fit(X, y).tree_.n_leaves
    2
    """

    merit: Any = "twoing"
    restarts: int = 20
    jumps: int = 5
    order: str = "sequential"
    picks: int = 50
    stagnation: int = 10

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The best plane found, or the best axis-parallel test if none is better."""
        options = {
            "order": ORDERS.index(one_of("order", self.order, ORDERS)),
            "tolerance": TOLERANCE,
            **{
                name: int(number(name, getattr(self, name)))
                for name in ("jumps", "picks", "stagnation")
            },
        }
        merit = compiled_merit(self.merit)
        cases = Cases.of(node)
        origin = _origin(cases, node)
        slope = Slope(
            np.ascontiguousarray((cases.z - origin).T),
            cases.y,
            cases.weight,
            cases.n_classes,
            merit,
        )
        if not len(slope.columns) or not np.isfinite(slope.cuts[:, 1]).any():
            return None
        order = slope.best_first()
        first = int(order[0])
        bias, axis = slope.cuts[first]
        w = self._climb(slope.take(order), bias, axis, node, rng, options)
        if w is None:
            schema, at = node.sample.table.schema, origin[first] - bias
            return cases.scaling.cut(schema, first, at, 0.0, _score(slope, first))
        weights = np.zeros(len(order))
        weights[order] = w[:-1]
        length = np.linalg.norm(weights)
        plane = Machine(weights[None] / length, (w[-1:] - origin @ weights) / length)
        return cases.split(plane, slope.take(order).score(w))

    def _climb(self, slope: Slope, bias, axis, node, rng, options) -> Floats | None:
        """The best plane of all starts; None if none beats the axis-parallel test."""
        p = len(slope.columns)
        # As in the program: with fewer rows any plane would do.
        if p < 2 or node.total <= 2 * p:
            return None
        best, best_merit = None, axis
        w = np.zeros(p + 1)
        w[0], w[p] = 1.0, bias
        mean = np.average(slope.columns, axis=1, weights=slope.weight)
        for _ in range(int(number("restarts", self.restarts, least=1))):
            seed = int(rng.integers(2**63))
            w, merit, pure = slope.climb(w, [0.0], seed=seed, **options)
            if is_better(merit, best_merit):
                best, best_merit = w, merit
            if pure or node.rules.limits.expired():
                break
            w = rng.uniform(-1, 1, p + 1)
            w[p] -= w[:p] @ mean  # through the middle of the rows, or nearly
        return best


# OC1's: what gains less than this share of the merit is no progress.
TOLERANCE = 1e-4


def _origin(cases: Cases, node: Node) -> Floats:
    """Where the climb's columns are 0, in standardised units."""
    category = node.sample.table.schema.linear_columns()[1][cases.columns]
    absent = cases.z.min(axis=0, initial=0.0)
    return np.where(category >= 0, absent, 0.0)


def _score(slope: Slope, j: int) -> float:
    w = np.array([1.0, slope.cuts[j, 0]])
    return slope.take(np.array([j])).score(w)
