"""A sigmoid unit trained by gradient descent on its squared error (LDT05 1.2, ID-LP).

`Perceptron` descends by SciPy's L-BFGS, which needs no rate, from weights 0. Without weight
decay the weights of separable groups grow without end. `StochasticPerceptron` takes a step a
row, as the authors' program does. Used by the preset id-lp; `descend` also by the network
learner.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from omnitree._core.linear import machine as kernel
from omnitree.growing.clock import check_time
from omnitree.growing.part import number, one_of
from omnitree.growing.threads import one_thread
from omnitree.parts.coefficients.base import Coefficients
from omnitree.parts.coefficients.cases import Cases, Floats, Machine, instances
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


class StochasticPerceptron(Coefficients):
    """A sigmoid unit trained for a few epochs, a step a row, for two classes.

    So the program of LDT05's authors trains (its public version, with these values); trees
    are then less accurate than those of `Perceptron` and as accurate as published
    (`benchmarks/results/id_lp_variants.md`). Weights start at 0, in the program within 0.01
    of it; those after the epoch with fewest errors on the training rows are kept.

    Parameters
    ----------
    error : {"entropy", "squared"}, default="entropy"
        The program has the entropy of two softmax outputs, which doubles the rate; the
        paper names the squared error.
    epochs : int, default=10
    rate : float, default=0.1
    cooling : float, default=0.95
        The rate is multiplied by this after each epoch.
    momentum : float, default=0.6
        How much of the step before is added to a step.
    """

    error: str = "entropy"
    epochs: int = 10
    rate: float = 0.1
    cooling: float = 0.95
    momentum: float = 0.6

    n_classes = 2
    random = True

    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        """Weights for all columns of `cases`."""
        squared = one_of("error", self.error, ("entropy", "squared")) == "squared"
        epochs = int(number("epochs", self.epochs, least=1, most=1e6))
        slowing = (
            number("rate", self.rate),
            number("cooling", self.cooling, most=1),
            number("momentum", self.momentum, most=1),
        )
        x, y = instances(cases)
        w = np.zeros((1, x.shape[1]))
        orders = np.tile(np.arange(len(y), dtype=np.int64), (epochs, 1))
        rng.permuted(orders, axis=1, out=orders)
        kernel.descent(x, y, w, orders, *slowing, squared)
        return Machine(w[:, 1:], w[:, 0])


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
