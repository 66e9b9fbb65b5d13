"""Elimination while training goes on (Utgoff & Brodley 1991, table 3).

The machine is trained, loses its least dispersed column, and is trained on from the weights
it has. What is kept is the smallest machine that is not significantly less accurate than the
best one, or than the one kept before. Used by the preset lmdt.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from omnitree.coefficients import Machine
from omnitree.features.base import Selection, Trial, Trials, least_dispersed
from omnitree.parts import number, unknown

AGAINST = ("best", "saved")


class LMDTElimination(Selection):
    """Drop the least dispersed column while accuracy stays within `delta` of the best.

    The smaller machine is saved if it is at least as accurate as the best so far, or not
    significantly worse by a one-sided t-test. Of that the paper says no more than "a t-test"
    of "the difference in the mean classification accuracies" against "the best linear
    machine saved", which can be read in two ways (`against`). A machine that is more than
    `delta` below the best is not saved, whatever the test says: on the paper's DNF task such
    machines cannot express the concept, and the tree it prints has none of them.

    Parameters
    ----------
    delta : float, default=0.1
        Elimination ends below the best accuracy by more than this.
    alpha : float, default=0.01
        Level of the t-test.
    against : {"best", "saved"}, default="best"
        "best": the best accuracy so far, taken as known (one sample); a drop from a perfect
        machine is then always significant. "saved": the machine saved before (two samples),
        so that accuracy may fall by several small steps, down to `delta` below the best.
        With the latter machines are as small as those of LMDT91's table 4; the former has
        the accuracies that LDT05 found with LMDT, and less error on most data.
    """

    def __init__(self, delta=0.1, alpha=0.01, against="best"):
        self.delta = delta
        self.alpha = alpha
        self.against = against

    def select(self, trials: Trials) -> Trial | None:
        delta = number("delta", self.delta, most=1)
        if self.against not in AGAINST:
            raise ValueError(unknown("against", self.against, list(AGAINST)))
        n = float(trials.cases.weight.sum())
        trial = saved = trials.of(trials.all_columns)
        best = trial.accuracy
        while len(trial.columns) > 1:
            i = least_dispersed(trial)[0]
            kept = np.delete(np.arange(len(trial.columns)), i)
            start = Machine(
                np.ascontiguousarray(trial.machine.weights[:, kept]), trial.machine.bias
            )
            trial = trials.of(trial.columns[kept], start)
            if n <= 2 * len(trial.columns):  # too few rows to trust any accuracy
                best = trial.accuracy
            best = max(best, trial.accuracy)
            if trial.accuracy < best - delta - 1e-9:
                break
            if not self._worse(trial.accuracy, best, saved.accuracy, n):
                saved = trial
        return saved if saved.discriminates else None

    def _worse(self, accuracy: float, best: float, saved: float, n: float) -> bool:
        """Whether an accuracy is significantly below that it is held against."""
        alpha = number("alpha", self.alpha, least=1e-300, most=0.5)
        known = self.against == "best"
        other = best if known else saved
        if accuracy >= min(best, other) - 1e-12 or n <= 1:
            return False
        spread = other * (1 - other) + (0.0 if known else accuracy * (1 - accuracy))
        critical = stdtrit((n - 1) * (1 if known else 2), 1 - alpha)
        return bool(other - accuracy > np.sqrt(spread / (n - 1)) * critical)
