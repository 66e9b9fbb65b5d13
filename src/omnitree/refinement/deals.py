"""What is dealt to folds again where the choice at a node is close.

Which of several candidates is best may depend on how the rows were dealt to folds. Where a
choice is close, the contest deals them several times, for the rivals that may still be
chosen or be part of a sum; what is said of a row is then the mean over all deals. Used by
the refinement `contest`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from omnitree.learners.trial import Trial, TrialLearner
from omnitree.refinement.challenge import SPARSE, Challenge, Contender


def is_close(
    challenge: Challenge,
    contenders: Sequence[Contender],
    winner: int | None,
    doubt: float,
) -> bool:
    """Whether something is not behind the choice by so many standard errors."""
    return min(challenge.behind(contenders, winner).values(), default=np.inf) <= doubt


def asked_again(
    challenge: Challenge,
    contenders: Sequence[Contender],
    winner: int | None,
    doubt: float,
) -> list[TrialLearner]:
    """The rivals whose tests are as close to the choice, or that it is made of."""
    chosen = challenge.subtree if winner is None else contenders[winner].losses
    parts = set() if winner is None else made_of(contenders[winner])
    left = []
    for one in contenders:
        if one.rival is None:
            continue
        by = max(chosen.gain(one.losses, loss) for loss in ("errors", "log_loss"))
        if by <= doubt or one.name in parts:
            left.append(one.rival)
    return left


def made_of(contender: Contender) -> set[str]:
    """The names of the rivals' tests that it is made of, with all their terms."""
    trial = contender.trial
    own = trial if isinstance(trial, Trial) else trial.trial
    return {name.removeprefix(SPARSE) for name in contender.added or {own.name}}
