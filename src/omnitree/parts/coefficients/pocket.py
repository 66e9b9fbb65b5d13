"""The pocket algorithm (Gallant 1986; BU95 3.2).

Rows drawn at random correct the weights by the absolute error correction rule; the weights
that answered the longest run of rows right are kept in the pocket. Used by the preset bu95.
"""

from __future__ import annotations

import numpy as np

from omnitree._core.linear import machine as kernel
from omnitree.growing.part import number
from omnitree.parts.coefficients.base import Coefficients
from omnitree.parts.coefficients.cases import Cases, Machine, instances
from omnitree.parts.coefficients.thermal import start_weights


class Pocket(Coefficients):
    """Perceptron corrections; keeps the weights with the longest run of correct predictions.

    Two classes get a threshold unit, more a linear machine. A row of weight w is there w
    times (see `coefficients/cases.py`).

    Parameters
    ----------
    passes : float, default=100
        Rows are drawn until each has been seen this many times on average, or until all are
        classified correctly. The paper gives no number.
    epsilon : float, default=0.1
        By how much a correction goes beyond what puts the row right (BU95 3.3).
    ratchet : bool, default=False
        Change the pocket only for weights that are right on more of all rows (Gallant's
        "ratchet"; not in BU95).
    """

    passes: float = 100
    epsilon: float = 0.1
    ratchet: bool = False

    random = True

    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        """Weights for all columns of `cases`."""
        x, y = instances(cases)
        w = start_weights(cases)
        draws = int(number("passes", self.passes, least=1, most=1e9) * len(y))
        epsilon = number("epsilon", self.epsilon)
        seed = int(rng.integers(2**63))
        kernel.pocket(x, y, w, epsilon, bool(self.ratchet), draws, seed)
        return Machine(w[:, 1:], w[:, 0])
