"""Several cross-validations of all that competes at a node, and their mean.

Which of several candidates is best may depend on how the rows were dealt to folds. Where a
choice is close, the contest deals them again, for the candidates that may still be chosen;
each is then judged by what it loses on each row in the mean of all rounds. Used by the
refinement `contest`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from omnitree.growing.node import Node
from omnitree.learners.trial import Trial
from omnitree.refinement.challenge import Challenge, Contender
from omnitree.refinement.shifted_leaves import TreeOnTest
from omnitree.refinement.sizing import Sized
from omnitree.refinement.sums_of_tests import SumOfTests
from omnitree.resampling.held_out import HeldOut


@dataclass(frozen=True)
class Round:
    """A node with its contenders in one cross-validation."""

    challenge: Challenge
    contenders: list[Contender]


def dealt_again(
    challenge: Challenge,
    seed: int,
    losses: HeldOut | None,
    trees: Iterable[Sized] | None = None,
) -> Challenge:
    """The same node, whose rivals deal their folds by another seed.

    `losses` are those of the subtree in another cross-validation, for all training rows;
    None where it is not judged again. `trees` are to be added to tests, in place of those
    of the last cross-validation.
    """
    old = challenge.node
    node = Node(old.sample, replace(old.rules, seed=seed), old.rows, old.weight)
    node.views.update(old.views)  # the columns are the same
    node.penalties.update(old.penalties)  # and need the same penalties
    again = replace(challenge, node=node)
    if losses is not None:
        subtree = losses.take(challenge.rows, challenge.part)
        again = replace(again, subtree=subtree)
    return again if trees is None else again.with_trees(trees)


def expansions_of(trial: Trial | TreeOnTest) -> set[str]:
    """The columns of all softmax tests that a candidate is made of."""
    if isinstance(trial, TreeOnTest):
        return expansions_of(trial.trial)
    if isinstance(trial, SumOfTests):
        return set().union(*map(expansions_of, trial.tests))
    return {trial.expansion}


def undecided(found: Round, winner: int | None, doubt: float) -> set[str]:
    """Names of the choice and of all that is not behind it by so many standard errors.

    None, where the choice is not close. The name of the subtree is empty.
    """
    behind = found.challenge.behind(found.contenders, winner)
    close = {name for name, by in behind.items() if by <= doubt}
    own = "" if winner is None else found.contenders[winner].name
    return close | {own} if close else set()


def mean_round(rounds: Sequence[Round]) -> Round:
    """Mean losses of the subtree, and of the contenders of at least half of the rounds.

    A contender keeps the test of the first round in which all rows were held out.
    """
    first = rounds[0]
    if len(rounds) == 1:
        return first
    by_name: dict[str, list[Contender]] = {}
    for one in rounds:
        for contender in one.contenders:
            by_name.setdefault(contender.name, []).append(contender)
    found = []
    for same in by_name.values():
        complete = [one for one in same if one.losses.complete]
        if complete and 2 * len(complete) >= len(rounds):
            losses = HeldOut.mean_of([one.losses for one in complete])
            found.append(Contender(complete[0].trial, losses))
    subtree = HeldOut.mean_of([one.challenge.subtree for one in rounds])
    return Round(replace(first.challenge, subtree=subtree), found)
