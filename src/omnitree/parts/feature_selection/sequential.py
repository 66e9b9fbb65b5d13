"""Sequential searches for the columns of a test (Brodley & Utgoff 1995, 4.1-4.4 and 6.3.1).

All keep the best test seen, of equals the one with fewer columns, and stop when the current
one is more than 10 % (of all rows) less accurate than that. Tests that send all rows one
way, or that have too few distinct rows for their columns, are passed through but never kept.
Where columns tie, the one with the least dispersed weights goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omnitree.growing.clock import TimeUp
from omnitree.growing.part import number
from omnitree.parts.feature_selection.base import (
    Selection,
    SubsetTrial,
    Trials,
    better,
    least_dispersed,
)


class _Sequential(Selection):
    """What the searches share.

    Parameters
    ----------
    drop : float, default=0.1
        The search ends where accuracy is lower than that of the best test by more.
    underfitting : bool, default=True
        Keep only tests on n columns where there are 2 (n + 1) distinct rows.
    """

    drop: float = 0.1
    underfitting: bool = True

    def _sound(self, trial: SubsetTrial, trials: Trials) -> bool:
        fits = not (self.underfitting and trials.underfits(len(trial.columns)))
        return trial.discriminates and fits

    def _hopeless(self, trial: SubsetTrial, best: SubsetTrial | None) -> bool:
        drop = number("drop", self.drop, most=1)
        return best is not None and trial.accuracy < best.accuracy - drop - 1e-9

    def _eliminate(
        self,
        trials: Trials,
        trial: SubsetTrial,
        may_go: Callable[[SubsetTrial], Sequence[int]],
    ) -> SubsetTrial | None:
        """Backward search; `may_go` names the columns to try at each step."""
        best: SubsetTrial | None = None
        while True:
            if self._sound(trial, trials) and not (
                best is not None and better(best.worth, trial.worth)
            ):
                best = trial
            if len(trial.columns) == 1 or self._hopeless(trial, best):
                return best
            try:
                trial = trials.best_without(trial, may_go(trial))
            except TimeUp:
                return best

    def _add(self, trials: Trials, trial: SubsetTrial) -> SubsetTrial | None:
        """Forward search from a test on one column."""
        best: SubsetTrial | None = None
        n = len(trials.all_columns)
        while True:
            if self._sound(trial, trials) and (
                best is None or better(trial.worth, best.worth)
            ):
                best = trial
            more = len(trial.columns) + 1
            crowded = self.underfitting and trials.underfits(more)
            if more > n or crowded or self._hopeless(trial, best):
                return best
            try:
                trial = trials.best_with(trial)
            except TimeUp:
                return best


class SBE(_Sequential):
    """Sequential backward elimination: drop the column that lowers the merit least."""

    def select(self, trials: Trials) -> SubsetTrial | None:
        first = trials.of(trials.all_columns)
        return self._eliminate(trials, first, least_dispersed)


class SFS(_Sequential):
    """Sequential forward selection: add the column that raises the merit most."""

    def select(self, trials: Trials) -> SubsetTrial | None:
        return self._add(trials, trials.best_with(None))


class DSBE(_Sequential):
    """Dispersion-guided elimination: drop the column with the least dispersed weights."""

    def select(self, trials: Trials) -> SubsetTrial | None:
        first = trials.of(trials.all_columns)
        return self._eliminate(trials, first, lambda t: least_dispersed(t)[:1])


class MixedSBE(_Sequential):
    """Of the least dispersed columns, drop the one that lowers the merit least.

    The mixture of DSBE and SBE that BU95 suggests at the end of 6.3.1.

    Parameters
    ----------
    drop, underfitting
        As in `SBE`.
    width : int, default=5
        How many columns are tried at each step; 1 is DSBE, all is SBE.
    """

    width: int = 5

    def select(self, trials: Trials) -> SubsetTrial | None:
        width = int(number("width", self.width, least=1))
        first = trials.of(trials.all_columns)
        return self._eliminate(trials, first, lambda t: least_dispersed(t)[:width])


class HSS(_Sequential):
    """Heuristic sequential search: forward if one column beats all, else backward."""

    def select(self, trials: Trials) -> SubsetTrial | None:
        whole = trials.of(trials.all_columns)
        single = trials.best_with(None)
        if better(single.worth, whole.worth):
            return self._add(trials, single)
        return self._eliminate(trials, whole, least_dispersed)
