"""What something loses on rows that were held out: errors (or their costs) and log loss.

A row is held out once, whole, and counts with its weight. Two answers to the same rows are
compared row by row; the standard error of the difference treats rows, or groups of rows
where there are any, and not their weights as the unit of evidence, so it does not change
when all weights are multiplied by a constant.
Made by cross-validated trees (`refinement/sizing.py`) and by tests that might replace them
(`learners/trial.py`); the refinement `contest` compares them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

# No answer is surer than this: one row must not outweigh all others.
LEAST = 1e-9


@dataclass(frozen=True)
class HeldOut:
    """Losses of rows while they were held out."""

    weight: Floats  # (n,): 0 for rows that were never held out
    errors: Floats  # (n,): 1 where the answer was wrong, or what it cost
    log_loss: Floats  # (n,): minus the logarithm of the true class's probability
    # (n,): rows of one group are one piece of evidence; None: every row is.
    groups: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        weight: Floats,
        proba: Floats,
        target: Any,
        groups: NDArray[np.int64] | None = None,
    ) -> HeldOut:
        """From class probabilities (n, K) of rows with a `ClassTarget`."""
        own = np.take_along_axis(proba, target.y[:, None], axis=1)[:, 0]
        return cls(
            weight, target.losses(proba), -np.log(np.maximum(own, LEAST)), groups
        )

    def take(self, rows: NDArray, part: Floats | None = None) -> HeldOut:
        """Some of the rows, whole or in part."""
        groups = None if self.groups is None else self.groups[rows]
        weight = self.weight[rows] if part is None else self.weight[rows] * part
        return HeldOut(weight, self.errors[rows], self.log_loss[rows], groups)

    def put(self, rows: NDArray, other: HeldOut, part: Floats) -> HeldOut:
        """The same with the losses of `rows` exchanged for others, where these are known.

        Of a row that comes there in part, that part of its loss is exchanged. What was held
        out in some folds only says nothing of the other rows.
        """
        known = other.weight > 0
        rows, part = rows[known], part[known]
        errors, log_loss = self.errors.copy(), self.log_loss.copy()
        errors[rows] = (1 - part) * errors[rows] + part * other.errors[known]
        log_loss[rows] = (1 - part) * log_loss[rows] + part * other.log_loss[known]
        return replace(self, errors=errors, log_loss=log_loss)

    def completed(self, other: HeldOut) -> HeldOut:
        """The same, with the losses of another answer for rows that were not held out."""
        known = self.weight > 0
        return HeldOut(
            np.where(known, self.weight, other.weight),
            np.where(known, self.errors, other.errors),
            np.where(known, self.log_loss, other.log_loss),
            other.groups,
        )

    @property
    def complete(self) -> bool:
        """Whether every row was held out."""
        return bool((self.weight > 0).all())

    def mean(self, loss: str) -> float:
        """Weighted mean of "errors" or "log_loss"."""
        return float(np.average(getattr(self, loss), weights=self.weight))

    def gain(self, against: HeldOut, loss: str, less_one: bool = False) -> float:
        """By how many standard errors it loses less than `against`; 0 if equal.

        Only rows that were held out from both count.
        With `less_one` the row, or group, that speaks loudest for it does not count (a
        correction for continuity: of two errors one less is no evidence).
        """
        at = (self.weight > 0) & (against.weight > 0)
        saved = getattr(against, loss)[at] - getattr(self, loss)[at]
        groups = None if self.groups is None else self.groups[at]
        saved = by_group(saved * self.weight[at], groups)
        spread = np.sqrt((saved**2).sum())
        total = saved.sum() - (max(saved.max(initial=0.0), 0.0) if less_one else 0.0)
        return float(total / spread) if spread > 0 else 0.0


def by_group(values: Floats, groups: NDArray[np.int64] | None) -> Floats:
    """Sums over the rows of each group; without groups, the values as they are."""
    if groups is None:
        return values
    return np.bincount(groups, values).astype(np.float64)


def share_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share of n rows.

    Examples
    --------
    >>> [round(end, 3) for end in share_interval(0.0, 20)]
    [0.0, 0.161]
    """
    z2 = float(stats.norm.ppf((1 + level) / 2)) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    low = 0.0 if share == 0 else float(centre - half)
    high = 1.0 if share == 1 else float(centre + half)
    return low, high


def effective_rows(weight: Floats) -> float:
    """Number of equally weighted rows that say as much as rows of some weights (Kish).

    Examples
    --------
    >>> effective_rows(np.array([5.0, 5.0, 5.0])), effective_rows(np.array([1.0, 3.0]))
    (3.0, 1.6)
    """
    return float(weight.sum() ** 2 / (weight**2).sum())
