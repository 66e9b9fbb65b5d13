"""When one answer to held-out rows is better than another, and when a tree is proven.

Used by the contest, which compares sizes of a tree, subtrees and tests over many features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.parts.discriminants.wilks import wilks_p_value
from omnitree.resampling.held_out import HeldOut

# How many times the standard errors of the one knob, `se`, each choice takes.
# What has fewer terms may be worse by so many, in errors and in log loss, and what has fewer
# leaves by the first: if what is easier to read is preferred further, and if not.
FEWER = {True: (0.25, 1.0), False: (0.5, 0.5)}
# Likelier is clearly likelier by so many.
CLEAR = 2.0
# A tree is proven against a single leaf by so many; or by this share of them, if log loss
# and errors both have it, or if held-out rows and a test of significance have it together.
PROVEN = 2.5
BOTH = 0.8
# And if it saves so much log loss: if the probability of a row's own class is, in the
# geometric mean, larger by two percent.
SAVED = 0.02


@dataclass(frozen=True)
class Comparison:
    """The loss that decides, and how many standard errors make a difference.

    Attributes
    ----------
    loss : {"errors", "log_loss"}
    se : float
        Errors do not differ if the difference is at most this many standard errors, and
        what has more parameters must be better by as many.
    cautious : bool
        Whether what is easier to read is preferred further: more is asked of a test with
        more parameters than another one (`is_worth`), and fewer terms may be less likely.
    """

    loss: str
    se: float = 1.0
    cautious: bool = True

    @property
    def margins(self) -> tuple[float, float]:
        """Standard errors by which fewer terms may be worse, in errors and in log loss.

        Fewer leaves of a tree on top of a test may be worse by the first.
        """
        errors, log_loss = FEWER[self.cautious]
        return errors * self.se, log_loss * self.se

    def is_better(
        self, new: HeldOut, n_parameters: int, old: HeldOut, old_parameters: int
    ) -> bool:
        """Whether something with so many parameters is better than the old.

        What is richer must not make more errors, unless it replaces a single leaf, which
        ranks nothing.
        """
        richer = n_parameters > old_parameters
        gain = new.gain(old, self.loss)
        worst = 0.0 if richer and old_parameters > 1 else -self.se
        if self.loss != "log_loss" and worst <= gain <= self.se:
            gain = new.gain(old, "log_loss")
        return gain > (self.se if richer else 0.0) + 1e-9

    def is_worth(
        self, new: HeldOut, n_parameters: int, old: HeldOut, old_parameters: int
    ) -> bool:
        """Whether a test is better than another one that is easier to read.

        Where it has more parameters, it must be better even with one more error, or clearly
        likelier.
        """
        if not self.is_better(new, n_parameters, old, old_parameters):
            return False
        if (
            n_parameters <= old_parameters
            or not self.cautious
            or self.loss == "log_loss"
        ):
            return True
        if min(less_one(new, old), new.gain(old, "errors", less_one=True)) > self.se:
            return True
        saved = old.mean("log_loss") - new.mean("log_loss")
        return saved >= SAVED and new.gain(old, "log_loss") > CLEAR * self.se

    def is_likelier(self, new: HeldOut, old: HeldOut, margin: float) -> bool:
        """Whether a sum of a test and a tree is better than the test, or than another.

        Means of answers are rarely far behind the better one, so it is enough if the log
        loss is less by `margin` times the standard errors, and errors are no more.
        """
        likelier = new.gain(old, "log_loss") > margin * self.se
        if self.loss == "log_loss":
            return likelier
        errors = new.gain(old, self.loss)
        return errors > self.se or (likelier and errors >= 0)

    def is_sum_likelier(self, new: HeldOut, old: HeldOut, bent: bool) -> bool:
        """Whether a sum of tests is better than one of them.

        Where that has curves or products, the sum is as easy to read, and its errors vary
        less with the rows: it is enough if neither loss is worse by `se`. Where the test is
        a line that is `bent` by the sum, that must be likelier by as many.
        """
        least = self.se if bent else -self.se
        errors = new.gain(old, self.loss)
        return new.gain(old, "log_loss") > least and errors >= -self.se


def less_one(new: HeldOut, old: HeldOut) -> float:
    """By how many standard errors there are fewer errors, if there were one more.

    Where rows differ in weight or cost, the one that was saved may be a light one; this
    takes off the largest.
    """
    at = new.weight > 0
    saved = float((old.errors - new.errors)[at] @ new.weight[at])
    one = max(float(x.errors[at].max(initial=0.0)) for x in (new, old))
    gain = new.gain(old, "errors")
    return gain * (1 - one * new.weight.max() / saved) if saved > 0 else gain


def _n_others(sample: Sample) -> int:
    """Rows that are not of the most frequent class; groups with such a row, if any."""
    if sample.groups is None:
        return len(sample) - int(np.bincount(sample.y).max())
    _, group = np.unique(sample.groups, return_inverse=True)
    n_groups = int(group.max()) + 1
    low, high = np.full(n_groups, sample.y.max()), np.zeros(n_groups, dtype=np.int64)
    np.minimum.at(low, group, sample.y)
    np.maximum.at(high, group, sample.y)
    return n_groups - int(np.bincount(low[low == high], minlength=1).max())


def is_proven(
    tree: HeldOut,
    leaf: HeldOut,
    tested: Sample,
    train: Sample,
    rules: Rules,
    se: float = 1.0,
) -> bool:
    """Whether a tree is better than a single leaf beyond doubt.

    The fewer rows, or groups, are not of the most frequent class alone, the more is
    required, by Student's distribution, whatever they weigh. Their losses are skewed, so
    two of them count for one degree of freedom (`benchmarks/noise.py`). A tree that is not
    worse in either loss is also believed if a test of significance finds that the classes
    differ, or, if it is better in both, where the two together do (Stouffer's method: on
    noise, what held-out rows say and the test's result have next to nothing in common).

    Parameters
    ----------
    tree, leaf : HeldOut
        Losses on the rows `tested`.
    tested, train : Sample
    rules : Rules
    se : float, default=1.0
        Standard errors of a difference, as in `Comparison`; proof takes `PROVEN` times as
        many.
    """
    min_gain, freedom = PROVEN * se, max(_n_others(tested) // 2 - 1, 1)
    errors, log_loss = (tree.gain(leaf, loss) for loss in ("errors", "log_loss"))

    def required(gain: float) -> float:
        return float(stats.t.isf(stats.norm.sf(gain), freedom))

    if log_loss >= required(min_gain):
        return True
    if min(errors, log_loss) >= required(BOTH * min_gain):
        return True
    if train.groups is not None or errors < 0 or log_loss <= 0:
        return False
    everything = Node(train, rules, np.arange(len(train)), np.ones(len(train)))
    p_value = wilks_p_value(everything.linear.columns, train.y)
    if p_value < stats.norm.sf(min_gain):
        return True
    held_out = stats.norm.isf(stats.t.sf(min(errors, log_loss), freedom))
    together = (held_out + stats.norm.isf(p_value)) / np.sqrt(2)
    return bool(min(errors, log_loss) > 0 and together >= BOTH * min_gain)
