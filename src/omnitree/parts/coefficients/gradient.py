"""A sigmoid unit trained by gradient descent on its squared error (LDT05 1.2, ID-LP).

The descent is SciPy's L-BFGS, which needs no rate, from weights 0. Without weight decay the
weights of separable groups grow without end. Used by the preset id-lp; `descend` also by the
network learner.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from omnitree.growing.clock import check_time
from omnitree.growing.part import number
from omnitree.growing.threads import one_thread
from omnitree.parts.coefficients.base import Coefficients
from omnitree.parts.coefficients.cases import Cases, Floats, Machine
from omnitree.parts.coefficients.rls import with_constant


class Perceptron(Coefficients):
    """A sigmoid unit fitted by least squares, for two classes.

    The paper names the error and the method; the number of epochs and the decay are
    assumptions.

    Parameters
    ----------
    epochs : int, default=200
        Maximum number of steps; the descent ends earlier when nothing is left to gain.
    decay : float, default=0.001
        Penalty on half the squared length of the weights, the bias left out, beside the mean
        squared error of targets 0 and 1.
    """

    epochs: int = 200
    decay: float = 0.001

    n_classes = 2

    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        """Weights for all columns of `cases`."""
        x = with_constant(cases.z)
        penalty = np.full(x.shape[1], number("decay", self.decay))
        penalty[0] = 0.0
        error = squared_error(cases)

        def loss(w: Floats) -> tuple[float, Floats]:
            value, slope = error(x @ w)
            return value + 0.5 * float(penalty @ w**2), slope @ x + penalty * w

        w = descend(loss, np.zeros(x.shape[1]), self.epochs)
        return Machine(w[None, 1:], w[:1])


def squared_error(cases: Cases) -> Callable[[Floats], tuple[float, Floats]]:
    """Mean squared error of sigmoid units as a function of their sums, and its gradient."""
    target = cases.y.astype(np.float64)
    share = cases.weight / cases.weight.sum()

    def error(sums: Floats) -> tuple[float, Floats]:
        p = expit(sums)
        off = share * (p - target)
        return float(off @ (p - target)), 2 * off * p * (1 - p)

    return error


def descend(
    loss: Callable[[Floats], tuple[float, Floats]], start: Floats, epochs: float
) -> Floats:
    """Where the descent from `start` ends; `loss` gives value and gradient."""
    steps = int(number("epochs", epochs, least=1, most=1e9))
    options = {"maxiter": steps, "maxfun": 2 * steps + 10}

    def watched(w: Floats) -> tuple[float, Floats]:
        check_time()
        return loss(w)

    with one_thread():
        found = minimize(watched, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x, dtype=np.float64)
