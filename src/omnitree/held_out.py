"""How something fares on rows that were held out.

Said by trees that were cut back and by tests that might take their place (`losses` says what
an error of these costs); the pruning `contest` compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree.linear_rows import Floats


@dataclass(frozen=True)
class HeldOut:
    """Weight of each row while it was held out, and of it the errors, or their costs."""

    weight: Floats
    wrong: Floats
    groups: NDArray[np.int64] | None = None  # rows that were held out together

    @property
    def error(self) -> float:
        """Share of what was held out that was misclassified, or mean cost."""
        return float(self.wrong.sum() / self.weight.sum())

    @property
    def complete(self) -> bool:
        """Whether every row was held out."""
        return bool((self.weight > 0).all())

    def shares(self) -> Floats:
        """Share of each row that was misclassified; 0 if it was never held out."""
        return self.wrong / np.where(self.weight > 0, self.weight, 1.0)

    def gain(self, against: Floats) -> float:
        """By how many standard errors it errs less than `against`, a share of each row.

        The row is the unit of evidence: a heavy one counts for more, but is one case. So is
        a group of rows.
        """
        gain = by_group(against * self.weight - self.wrong, self.groups)
        spread = np.sqrt((gain**2).sum())
        return float(gain.sum() / spread) if spread > 0 else 0.0


def by_group(values: Floats, groups: NDArray[np.int64] | None) -> Floats:
    """Sums over the rows of each group; without groups, the values as they are."""
    if groups is None:
        return values
    return np.bincount(groups, values).astype(np.float64)


def effective_rows(weight: Floats) -> float:
    """Number of equally weighted rows that say as much as rows of some weights (Kish).

    Where rows are in groups, of those: then give the weights of the groups (`by_group`).

    Examples
    --------
    >>> effective_rows(np.array([5.0, 5.0, 5.0])), effective_rows(np.array([1.0, 3.0]))
    (3.0, 1.6)
    """
    return float(weight.sum() ** 2 / (weight**2).sum())


def losses(
    branch: NDArray[np.int64],
    y: NDArray[np.int32],
    weight: Floats,
    costs: Floats | None,
) -> Floats:
    """Cost of each row where branch i is meant for class i; without costs 1 for an error.

    A branch answers the class that costs least for the rows, of some weight, that it has.
    """
    if costs is None:
        return (branch != y).astype(np.float64)
    k = len(costs)
    counts = np.bincount(branch * k + y, weight, k * k).reshape(k, k)
    return costs[y, (counts @ costs).argmin(axis=1)[branch]]
