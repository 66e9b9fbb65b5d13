"""Robust linear programming (Bennett & Mangasarian 1992; named in BU95 2.4).

Minimises the average distance by which the rows of the first class miss w.x + b <= -1, plus
that by which those of the second miss w.x + b >= 1. Solved through the dual, which has one
constraint a column instead of one a row:

    max sum a_i   with   sum a_i s_i (1, x_i) = 0,   0 <= a_i <= c_i

where s_i is the sign of the row's class and c_i its share of the class's weight. The weights
are the multipliers of the constraints.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from omnitree.parts.coefficients.base import Coefficients
from omnitree.parts.coefficients.cases import Cases, Machine, merged
from omnitree.parts.coefficients.rls import signs, with_constant


class RobustLP(Coefficients):
    """The hyperplane with the smallest mean error per class, by linear programming."""

    n_classes = 2

    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        """Weights for all columns of `cases`."""
        cases = merged(cases)
        share = cases.weight / np.bincount(cases.y, weights=cases.weight)[cases.y]
        found = linprog(
            -np.ones(len(share)),
            A_eq=(with_constant(cases.z) * signs(cases)[:, None]).T,
            b_eq=np.zeros(cases.z.shape[1] + 1),
            bounds=np.column_stack([np.zeros(len(share)), share]),
            method="highs",
        )
        w = -found.eqlin.marginals
        return Machine(w[None, 1:], w[:1])
