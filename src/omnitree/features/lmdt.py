"""Elimination while training goes on (Utgoff & Brodley 1991, table 3).

The machine is trained, loses its least dispersed column, and is trained on from the weights
it has. What is kept is the smallest machine that is not significantly less accurate than the
best one. Used by the preset lmdt.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from omnitree.coefficients import Machine
from omnitree.features.base import Selection, Trial, Trials, least_dispersed
from omnitree.parts import number


class LMDTElimination(Selection):
    """Drop the least dispersed column while accuracy stays within `delta` of the best.

    Significance is by a one-sided t-test of whether a machine's accuracy could be the mean
    of the best machine's right and wrong answers. The paper says no more than "a t-test";
    with this form its DNF task gives the tree that it prints, while a test of two samples
    would also take machines that cannot express the concept. A drop from a perfect machine
    is always significant.

    Parameters
    ----------
    delta : float, default=0.1
        Elimination ends below the best accuracy by more than this.
    alpha : float, default=0.01
        Level of the t-test.
    """

    def __init__(self, delta=0.1, alpha=0.01):
        self.delta = delta
        self.alpha = alpha

    def select(self, trials: Trials) -> Trial | None:
        delta = number("delta", self.delta, most=1)
        n = float(trials.cases.weight.sum())
        trial = saved = trials.of(trials.all_columns)
        best = trial.accuracy
        while len(trial.columns) > 1 and trial.accuracy >= best - delta - 1e-9:
            i = least_dispersed(trial)[0]
            kept = np.delete(np.arange(len(trial.columns)), i)
            start = Machine(
                np.ascontiguousarray(trial.machine.weights[:, kept]), trial.machine.bias
            )
            trial = trials.of(trial.columns[kept], start)
            if n <= 2 * len(trial.columns):  # too few rows to trust any accuracy
                best = trial.accuracy
            best = max(best, trial.accuracy)
            if not self._worse(trial.accuracy, best, n):
                saved = trial
        return saved if saved.discriminates else None

    def _worse(self, accuracy: float, best: float, n: float) -> bool:
        """Whether an accuracy is significantly below the best one."""
        alpha = number("alpha", self.alpha, least=1e-300, most=0.5)
        if accuracy >= best - 1e-12 or n <= 1:
            return False
        error = np.sqrt(best * (1 - best) / (n - 1))
        return bool(best - accuracy > error * stdtrit(n - 1, 1 - alpha))
