"""Choices by cross-validation: the simplest candidate that is not beaten.

Candidates are trained and tested on folds of the node's rows (`node_folds.py`), or of a
sample of them if the node is large. 5x2cv tests decide whether the more complex of two has
a smaller error (OMNI, section 2; LDT05, section 7); the plain choice takes the simplest
candidate within a standard error of the best. Used by the presets omni-cv and hybrid-5x2f.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from itertools import combinations

import numpy as np
from scipy import special

from omnitree.growing.node import Node
from omnitree.growing.node_folds import NodeFolds, sample
from omnitree.growing.part import number, one_of
from omnitree.parts.choice.base import Choice, Floats, Proposal, Verdict
from omnitree.resampling.held_out import by_group, effective_rows


class _CrossValidated(Choice):
    """What the choices by cross-validation share: trials on a sample."""

    criterion = "error"
    _: KW_ONLY
    min_rows: float = 10
    max_rows: int = 20_000

    @property
    def resamples(self) -> bool:
        return True

    def choose(
        self, proposals: Sequence[Proposal], rng: np.random.Generator
    ) -> Verdict:
        least = number("min_rows", self.min_rows)
        most = int(number("max_rows", self.max_rows, least=10))
        node = proposals[0].node
        if len(proposals) == 1 or node.total < least - 1e-9:
            return Verdict(0, (None,) * len(proposals))
        folds = self._divide(sample(node, most, rng), rng)
        if folds.tested.all(axis=1).any():  # all rows are of one group
            return Verdict(0, (None,) * len(proposals))
        errors = np.array(
            [
                p.learner.trial_losses(folds, own)
                for p, own in zip(proposals, rng.spawn(len(proposals)), strict=True)
            ]
        )
        means = tuple(errors.mean(axis=1).tolist())
        return Verdict(self._winner(errors, folds.node), means)

    def _divide(self, node, rng: np.random.Generator) -> NodeFolds:
        raise AssertionError(f"{type(self).__name__} does not divide")

    def _winner(self, errors: Floats, node: Node) -> int:
        """Position of the winner by the errors (m, D) on the folds."""
        raise AssertionError(f"{type(self).__name__} has no winner")


class FiveByTwo(_CrossValidated):
    """Five times two halves, and a test for each pair of candidates."""

    level: float = 0.05
    bonferroni: bool = False
    rule: str = "ordered"

    def p_value(self, difference: Floats) -> float:
        """Chance of differences (5, 2), simple less complex, if both were as good."""
        raise AssertionError(f"{type(self).__name__} is no test")

    def _divide(self, node, rng):
        return NodeFolds.five_by_two(node, rng)

    def _winner(self, errors: Floats, node: Node) -> int:
        level = number("level", self.level, most=1)
        one_of("rule", self.rule, ("ordered", "multitest"))
        m = len(errors)
        if self.bonferroni:
            level /= m * (m - 1) / 2
        beats = np.zeros((m, m), dtype=bool)  # [complex, simple]
        for i, j in combinations(range(m), 2):
            difference = np.reshape(errors[i] - errors[j], (5, 2))
            beats[j, i] = self.p_value(difference) < level
        if self.rule == "multitest":
            return int(np.argmin(beats.any(axis=0)))
        better = [j for j in range(1, m) if beats[j, :j].all()]
        return max(better, default=0)


_FIVE_BY_TWO = """
    Parameters
    ----------
    level : float, default=0.05
        A more complex candidate must be better with one minus this confidence.
    bonferroni : bool, default={bonferroni}
        Divide the level by the number of pairs of candidates.
    rule : {{"ordered", "multitest"}}, default="ordered"
        "ordered" (OMNI): the most complex candidate that beats all simpler ones.
        "multitest" (the authors' program): the simplest one that none beats.
    min_rows : float, default=10
        A node with fewer gets the simplest candidate.
    max_rows : int, default=20000
        A node with more is judged by a sample of this size, of each class its share.
    """


class FiveByTwoT(FiveByTwo):
    __doc__ = "Dietterich's 5x2cv t test, one-sided.\n" + _FIVE_BY_TWO.format(
        bonferroni=False
    )

    def p_value(self, difference: Floats) -> float:
        return t_probability(difference[0, 0], difference)


class CombinedT(FiveByTwo):
    __doc__ = (
        "The combined 5x2cv t test, one-sided: the mean of all ten differences over "
        "their pooled deviation.\n" + _FIVE_BY_TWO.format(bonferroni=True)
    )

    bonferroni: bool = True

    def p_value(self, difference: Floats) -> float:
        # Ten differences with the variance s^2 of one have a mean with s^2 / 10; of the
        # two of a replication s^2 is estimated by the pooled variance.
        return t_probability(difference.mean() * np.sqrt(10), difference)


class CombinedF(FiveByTwo):
    __doc__ = (
        "Alpaydin's combined 5x2cv F test; the complex candidate must be better.\n"
        + _FIVE_BY_TWO.format(bonferroni=False)
    )

    def p_value(self, difference: Floats) -> float:
        if difference.mean() <= 0:
            return 1.0
        spread = pooled_variance(difference) * 5
        if spread <= 1e-24:
            return 0.0
        return float(special.fdtrc(10, 5, (difference**2).sum() / (2 * spread)))


def pooled_variance(difference: Floats) -> float:
    """Mean over the replications of the variance of their two differences."""
    centred = difference - difference.mean(axis=1, keepdims=True)
    return float((centred**2).sum() / 5)


def t_probability(value: float, difference: Floats) -> float:
    """One-sided probability of value over the pooled deviation, t with 5 degrees."""
    spread = pooled_variance(difference)
    if spread <= 1e-24:
        return 0.0 if value > 1e-12 else 1.0
    return float(special.stdtr(5, -value / np.sqrt(spread)))


class OneStandardError(_CrossValidated):
    """The simplest candidate within one standard error of the lowest cross-validated error.

    Parameters
    ----------
    folds : int, default=10
    se : float, default=1.0
        Number of standard errors (of the error of the best, by the rows tested).
    min_rows : float, default=10
        A node with fewer gets the simplest candidate.
    max_rows : int, default=20000
        A node with more is judged by a sample of this size, of each class its share.
    """

    folds: int = 10
    se: float = 1.0

    def _divide(self, node, rng):
        return NodeFolds.k_fold(node, int(number("folds", self.folds, 2, 32)), rng)

    def _winner(self, errors: Floats, node: Node) -> int:
        mean = errors.mean(axis=1)
        best = int(mean.argmin())
        if node.target.n_classes:
            groups = node.sample.groups_of(node.rows)
            n = effective_rows(by_group(node.weight, groups))
            error = np.sqrt(mean[best] * (1 - mean[best]) / n)
        else:  # a loss has no known spread: that of the folds tells
            error = errors[best].std() / np.sqrt(errors.shape[1])
        limit = mean[best] + number("se", self.se) * error
        return int(np.argmax(mean <= limit + 1e-12 * max(1.0, limit)))
