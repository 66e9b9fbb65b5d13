"""Elimination while training goes on (Utgoff & Brodley 1991, table 3).

The machine is trained, loses its least dispersed column, and is trained on from the weights
it has. What is kept is the smallest machine that is not significantly less accurate than the
one kept before, or than the best one. Used by the preset lmdt.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.special import stdtrit

from omnitree.growing.clock import TimeUp, check_time
from omnitree.growing.part import number, one_of
from omnitree.parts.coefficients import Machine
from omnitree.parts.feature_selection.base import (
    Columns,
    Floats,
    Selection,
    SubsetTrial,
    Trials,
    least_dispersed,
)


class LMDTElimination(Selection):
    """Drop the column with the least dispersed weights while accuracy stays within `delta`.

    The smaller machine is saved if it is at least as accurate as the best so far, or not
    significantly worse by a one-sided t-test. Of that the paper says no more than "a
    t-test" of "the difference in the mean classification accuracies" against "the best
    linear machine saved", which can be read in several ways (`against`). A machine that
    is more than `delta` below the best is not saved, whatever the test says: on the
    paper's DNF task such machines cannot express the concept, and the tree it prints
    has none of them.

    Parameters
    ----------
    delta : float, default=0.1
        Elimination ends below the best accuracy by more than this.
    alpha : float, default=0.01
        Level of the t-test.
    against : {"saved", "best"}, default="saved"
        "saved": the machine saved before, row by row (a paired test), so that accuracy may
        fall by several small steps, down to `delta` below the best. "best": the best
        accuracy so far, taken as known (one sample); a drop from a perfect machine is then
        always significant, and machines have about twice the variables.
    """

    delta: float = 0.1
    alpha: float = 0.01
    against: str = "saved"

    def select(self, trials: Trials) -> SubsetTrial | None:
        delta = number("delta", self.delta, most=1)
        one_of("against", self.against, ("saved", "best"))
        rows = float(trials.cases.weight.sum())
        trial = saved = best = trials.of(trials.all_columns)
        with suppress(TimeUp):  # then the machine saved last is the test
            while len(trial.columns) > 1:
                trial = trials.of(*self._without_least(trial))
                few = rows <= 2 * len(trial.columns)  # too few to trust any accuracy
                if few or trial.accuracy >= best.accuracy - 1e-12:
                    best = saved = trial
                    continue
                if trial.accuracy < best.accuracy - delta - 1e-9:
                    break
                other = best if self.against == "best" else saved
                if trial.accuracy >= other.accuracy - 1e-12 or not self.worse(
                    trial, other, trials
                ):
                    saved = trial
        return saved if saved.discriminates else None

    @staticmethod
    def _without_least(trial: SubsetTrial) -> tuple[Columns, Machine]:
        """Columns without the least dispersed one, and the weights that they have."""
        i = least_dispersed(trial)[0]
        kept = np.delete(np.arange(len(trial.columns)), i)
        weights = np.ascontiguousarray(trial.machine.weights[:, kept])
        return trial.columns[kept], Machine(weights, trial.machine.bias)

    def worse(self, trial: SubsetTrial, other: SubsetTrial, trials: Trials) -> bool:
        """Whether the accuracy of a test is significantly below that of another."""
        alpha = number("alpha", self.alpha, least=1e-300, most=0.5)
        weight = trials.cases.weight
        n = float(weight.sum())
        if n <= 1:
            return False
        loss = other.accuracy - trial.accuracy
        if self.against == "best":
            spread = other.accuracy * (1 - other.accuracy)
        else:
            check_time(n_cells=2 * trials.cells_of_branches())
            change = self._right(other, trials) - self._right(trial, trials)
            spread = float(weight @ (change - loss) ** 2) / n
        return bool(loss > np.sqrt(spread / (n - 1)) * stdtrit(n - 1, 1 - alpha))

    @staticmethod
    def _right(trial: SubsetTrial, trials: Trials) -> Floats:
        """1 for the rows that a test sends to their class, 0 for the others."""
        z, y = trials.cases.z[:, trial.columns], trials.cases.y
        return (trial.machine.branches(z) == y).astype(float)
