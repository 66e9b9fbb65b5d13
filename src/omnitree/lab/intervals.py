"""Measures of answers to held-out rows, each with a 95 % interval.

Every measure is a mean over rows, or a smooth function of means, so that each row has an
influence on it: the measure's derivative by the row's share. The squares of the influences
add up to the variance. Rows that belong together (groups) count as one: their influences
are added before they are squared. Weights are shares: only their ratios matter. The rows
are those held out in turn by a cross-validation, whose fits share training rows: what one
fit does wrong the others do, too. For k folds the variance is therefore multiplied by
1 + k/(k - 1), as in the corrected resampled t test of Nadeau & Bengio (2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from omnitree.resampling.held_out import share_interval

Floats = NDArray[np.float64]
LEVEL = 0.95


class Interval(NamedTuple):
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ScoredRows:
    """Rows, their weights, and which belong together.

    >>> rows = ScoredRows(np.ones(100))
    >>> wrong = np.arange(100) < 10
    >>> [round(v, 3) for v in rows.share(wrong)]
    [0.1, 0.055, 0.175]
    """

    weight: Floats
    groups: NDArray[np.intp] | None = None  # codes from 0
    folds: int | None = (
        None  # that the rows were held out in; None: one fit answered all
    )

    @property
    def inflation(self) -> float:
        """What shared training rows multiply variances by."""
        return 1.0 if self.folds is None else 1 + self.folds / (self.folds - 1)

    def take(self, rows: NDArray) -> ScoredRows:
        """Some of the rows."""
        groups = None
        if self.groups is not None:
            groups = np.unique(self.groups[rows], return_inverse=True)[1]
        return ScoredRows(self.weight[rows], groups, self.folds)

    def units(self, values: Floats) -> Floats:
        """Sums over rows that belong together."""
        if self.groups is None:
            return values
        return np.bincount(self.groups, weights=values).astype(np.float64)

    @property
    def n_units(self) -> float:
        """How many independent rows or groups these weights are worth (Kish 1965)."""
        weight = self.units(self.weight)
        return float(weight.sum() ** 2 / (weight**2).sum())

    def mean(self, values: NDArray) -> float:
        """The weighted mean."""
        return float(np.average(values, weights=self.weight))

    def influence(self, values: NDArray) -> Floats:
        """What each row adds to the weighted mean."""
        return self.weight * (values - self.mean(values)) / self.weight.sum()

    def standard_error(self, influence: Floats) -> float:
        """Of the measure that rows have this influence on."""
        sums = self.units(influence)
        n = len(sums)
        variance = (sums**2).sum() * n / (n - 1) if n > 1 else np.inf
        return float(np.sqrt(variance * self.inflation))

    @property
    def quantile(self) -> float:
        """Standard errors from an estimate to the end of its interval."""
        freedom = max(len(self.units(self.weight)) - 1, 1)
        return float(stats.t.ppf((1 + LEVEL) / 2, freedom))

    def plain(self, value: float, influence: Floats) -> Interval:
        """An interval of the same length to both sides."""
        half = self.quantile * self.standard_error(influence)
        return Interval(value, value - half, value + half)

    def difference(self, values: NDArray) -> Interval:
        """The mean of differences, which may be of either sign."""
        return self.plain(self.mean(values), self.influence(values))

    def positive(self, values: NDArray) -> Interval:
        """The mean of losses: an interval on the scale of their logarithm."""
        value = self.mean(values)
        if value == 0:
            return Interval(0.0, 0.0, 0.0)
        error = self.standard_error(self.influence(values)) / value
        factor = np.exp(min(self.quantile * error, 700))
        return Interval(value, float(value / factor), float(value * factor))

    def share(self, yes: NDArray) -> Interval:
        """The share of rows for which something holds: Wilson's interval.

        It is that of as many rows as the weights and groups are worth.
        """
        value = self.mean(yes)
        error = self.standard_error(self.influence(yes))
        n = self.n_units / self.inflation
        if error > 0:
            rows = ScoredRows(self.weight).n_units / self.inflation
            n = min(value * (1 - value) / error**2, rows)
        return wilson(value, n)

    def area(self, score: Floats, positive: NDArray) -> Interval:
        """The area under the ROC curve, by the variance of DeLong et al. (1988).

        >>> truth = np.array([False, False, True, True])
        >>> ScoredRows(np.ones(4)).area(np.array([0.1, 0.4, 0.35, 0.8]), truth).value
        0.75
        """
        above, influence = np.empty(len(score)), np.empty(len(score))
        for own, sign in ((positive, 1.0), (~positive, -1.0)):
            above[own] = _share_below(
                sign * score[own], sign * score[~own], self.weight[~own]
            )
        value = float(np.average(above[positive], weights=self.weight[positive]))
        for own in (positive, ~positive):
            weight = self.weight[own]
            influence[own] = weight * (above[own] - value) / weight.sum()
        if not 0 < value < 1:
            n = min(positive.sum(), (~positive).sum()) / self.inflation
            return wilson(value, float(n))
        half = self.quantile * self.standard_error(influence) / (value * (1 - value))
        low, high = special.expit(special.logit(value) + np.array([-half, half]))
        return Interval(value, float(low), float(high))

    def determination(self, loss: Floats, spread: Floats) -> Interval:
        """R squared: one less the ratio of two means of squares."""
        below = self.mean(spread)
        ratio = self.mean(loss) / below
        influence = -self.weight * (loss - ratio * spread) / (self.weight.sum() * below)
        found = self.plain(1 - ratio, influence)
        return found._replace(high=min(found.high, 1.0))

    def calibration_slope(self, proba: Floats, truth: NDArray) -> Interval | None:
        """By what the logarithms of probabilities must be multiplied to fit best.

        Of two classes it is the slope of the logistic regression on the logit, without
        a constant. Below 1 probabilities are too extreme, above 1 not enough. None if
        all probabilities of each row are equal. Those below 1/(2n) count as that.
        """
        z = np.log(np.maximum(proba, 0.5 / len(proba)))
        own = z[np.arange(len(z)), truth]
        slope = 1.0
        for _ in range(50):
            q = special.softmax(slope * z, axis=1)
            mean = (q * z).sum(axis=1)
            score = self.weight * (own - mean)
            curvature = float(self.weight @ ((q * z**2).sum(axis=1) - mean**2))
            if curvature < 1e-12 * self.weight.sum():
                return None
            step = float(np.clip(score.sum() / curvature, -1, 1))
            slope += step
            if abs(step) < 1e-9:
                break
        return self.plain(slope, score / curvature)


def wilson(share: float, n: float) -> Interval:
    """Wilson's score interval of a share of n rows.

    >>> [round(v, 3) for v in wilson(0.0, 20)]
    [0.0, 0.0, 0.161]
    """
    return Interval(share, *share_interval(share, n, LEVEL))


def _share_below(scores: Floats, others: Floats, weight: Floats) -> Floats:
    """The share of the others below each score, equal ones by half."""
    order = np.argsort(others, kind="stable")
    others = others[order]
    sums = np.concatenate([[0.0], np.cumsum(weight[order])])
    below = sums[np.searchsorted(others, scores, "left")]
    upto = sums[np.searchsorted(others, scores, "right")]
    return (below + upto) / (2 * sums[-1])
