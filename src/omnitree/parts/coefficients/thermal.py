"""Thermal training of units and machines (Frean 1990; LMDT91 2.3; BU95 3.3).

A row Y of class i that is taken for class j moves the weights W_i by cY and W_j by -cY,
c = beta^2 / (beta + k), unless k >= beta: then it is too far off. k is the absolute error
correction (W_j - W_i)'Y / 2Y'Y, plus epsilon. Whenever the magnitude of the machine, the sum
of the lengths of its weight vectors, falls after it rose in the correction before, or stays
as it is, beta becomes a * beta - b. Used by the presets bu95 and lmdt.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from omnitree._core.linear import machine as kernel
from omnitree.growing.clock import tick, time_is_up
from omnitree.growing.part import number
from omnitree.parts.coefficients.base import Coefficients
from omnitree.parts.coefficients.cases import Cases, Floats, Machine, instances

BETA = 2.0  # the initial temperature of both papers


class _Annealed(Coefficients):
    """What both forms share: the corrections."""

    a: float = 0.999
    b: float = 0.0005
    epsilon: float = 0.1
    random = True
    resumes = True

    def train(
        self, cases: Cases, rng: np.random.Generator, start: Machine | None = None
    ) -> Machine:
        """Weights for all columns of `cases`, from 0 or from a machine on these columns."""
        x, y, seed = self._presented(cases, rng)
        w = start_weights(cases, start)
        cooling = number("a", self.a, most=1), number("b", self.b, least=1e-9)
        epsilon = number("epsilon", self.epsilon)
        kernel.thermal(x, y, w, BETA, *cooling, epsilon, *self._end(), seed, tick)
        return Machine(w[:, 1:], w[:, 0])

    @abstractmethod
    def _presented(self, cases: Cases, rng: np.random.Generator) -> Any:
        """Rows, classes, and the seed of draws or None for passes."""

    @abstractmethod
    def _end(self) -> tuple[float, float, float]:
        """alpha, least beta, certainty."""


class Thermal(_Annealed):
    """Annealed corrections, in passes over the rows (BU95, table 1).

    The rows are shuffled once. Training ends after a pass that changes nothing (so also
    when all rows are right), or in whose last 2m rows, with m columns, every correction was
    small: its magnitude 2c|Y| below `alpha` times the largest magnitude that the machine has
    had. A row that is right, or too far off, has a correction of 0. So training often ends
    after a few passes, long before beta is small, and may leave rows wrong that could be
    right; trees of such units have the published sizes, those of units trained to the end
    are smaller (`benchmarks/results/pruning_ties.md`). Both ends are looked at after whole
    passes, as in the paper's table. A row of weight w is there w times (see
    `coefficients/cases.py`). Two classes get a threshold unit, which is what a machine of
    two classes amounts to.

    Parameters
    ----------
    a, b : float, default=0.999, 0.0005
        Rate and constant of the cooling.
    epsilon : float, default=0.1
    alpha : float, default=0.01
        0: train to the end.
    """

    alpha: float = 0.01

    def _presented(self, cases: Cases, rng: np.random.Generator):
        return *instances(cases, shuffle=rng), None

    def _end(self) -> tuple[float, float, float]:
        return number("alpha", self.alpha, most=1), 0.0, 0.0


class LMDTThermal(_Annealed):
    """Annealed corrections, on rows drawn at random (LMDT91, table 2).

    Training ends at beta < 0.001, or when the machine is right on all rows with a
    probability above 0.99. That is estimated by a run: if r rows drawn in turn changed
    nothing, a row among n that would was missed with the chance (1 - 1/n)^r. Rows that are
    wrong but too far off to be corrected count as rows that change nothing, or training
    might not end.

    What comes out depends on the rows drawn. With several tries the machine that is right on
    most rows is kept; the first that is right on all ends them.

    Parameters
    ----------
    a, b : float, default=0.995, 0.0005
    epsilon : float, default=0
    least : float, default=0.001
        Training ends at beta below this.
    certainty : float, default=0.99
    tries : int, default=1
    """

    a: float = 0.995
    epsilon: float = 0.0
    least: float = 0.001
    certainty: float = 0.99
    tries: int = 1

    def train(
        self, cases: Cases, rng: np.random.Generator, start: Machine | None = None
    ) -> Machine:
        """The best of several machines, each from 0 or from `start`."""
        kept = super().train(cases, rng, start)
        others = int(number("tries", self.tries, least=1)) - 1
        # Of thousands of classes, finding out what is wrong takes as long as training.
        if not others or time_is_up():
            return kept
        fewest = self._wrong(kept, cases)
        for _ in range(others):
            if fewest == 0:
                break
            machine = super().train(cases, rng, start)
            if time_is_up():
                break
            wrong = self._wrong(machine, cases)
            if wrong < fewest - 1e-9:
                kept, fewest = machine, wrong
        return kept

    @staticmethod
    def _wrong(machine: Machine, cases: Cases) -> float:
        return float(cases.weight[machine.branches(cases.z) != cases.y].sum())

    def _presented(self, cases: Cases, rng: np.random.Generator):
        return *instances(cases), int(rng.integers(2**63))

    def _end(self) -> tuple[float, float, float]:
        certainty = number("certainty", self.certainty, most=1 - 1e-9)
        return 0.0, number("least", self.least), certainty


def start_weights(cases: Cases, start: Machine | None = None) -> Floats:
    """Weights to train on, the bias first: one vector for two classes, else one a class."""
    if start is not None:
        return np.column_stack([start.bias, start.weights])
    k = cases.n_classes
    return np.zeros((1 if k == 2 else k, cases.z.shape[1] + 1))
