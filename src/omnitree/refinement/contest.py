"""The contest: subtrees against single tests over many features; held-out losses decide.

A univariate tree is cut back by cross-validation (`sizing.py`), which gives every row an
answer while it was held out. Then, from the root down, rivals challenge each node
(`challenge.py`): one test over many features, with a branch for each class. Where a rival
makes fewer held-out errors than the subtree, or as many with a smaller log loss, it takes
its place; else the node keeps its test and the challenge goes on below. The leaves below a
rival answer by its own probabilities, calibrated on held-out rows. On top of the most likely
rival trees are grown, which compete like rivals (`score_trees.py`), and so do the sum of a
rival and others (`sums_of_tests.py`) and that of either and the univariate tree
(`tree_sums.py`). At last the whole tree must be better than a single leaf
(`comparison.py`). So simple regions get simple tests, tests over many features stand only
where evidence asks for them, and noise gets no tree. Used by the preset `omni` and by
`OmniTreeClassifier`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.clock import TimeUp, until
from omnitree.growing.growth import Growth
from omnitree.growing.node import Rules
from omnitree.growing.part import number, unknown
from omnitree.growing.sample import Sample
from omnitree.learners import LEARNERS, CaseBased, Softmax, Stagewise, Steps
from omnitree.learners.trial import Replacement, TrialLearner
from omnitree.pruning.base import Evidence, children, subtree_sums
from omnitree.refinement.arena import Arena
from omnitree.refinement.base import Refinement
from omnitree.refinement.challenge import Challenge, Contender
from omnitree.refinement.comparison import Comparison, is_proven
from omnitree.refinement.deals import asked_again, is_close
from omnitree.refinement.reliability import with_reliability
from omnitree.refinement.score_trees import ScoreTree, limited
from omnitree.refinement.sizing import Grown, Sized, in_sizes
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.splits import Considered
from omnitree.tree.tree import LEAF, Tree

# Nobody can read a quadratic form with more than 500 terms, so larger ones are only tried
# in sparse form; nor the curves of many classes that have more than 2000 weights. How far
# apart two categories are, nobody knows.
RIVALS = (
    Softmax(),
    Softmax("curves", max_columns=500, max_weights=2000, sample_cells=6_000_000),
    Softmax("quadratic", max_columns=500),
    Softmax("blocks", max_columns=500, max_weights=2000, sample_cells=3_000_000),
    Stagewise("blocks", max_classes=2, max_cells=2_500_000),
    Steps(max_cells=800_000),
    CaseBased(numeric_only=True),
)
WITHOUT_CASES = tuple(rival for rival in RIVALS if not isinstance(rival, CaseBased))
# Rows that are dealt to folds, at most, by all repeats together.
REPEATED_ROWS = 750
# What to optimise, and the held-out loss that measures it.
LOSSES = {"error": "errors", "cost": "errors", "log_loss": "log_loss"}


def default_rivals(store_cases: Any = True) -> tuple[TrialLearner, ...]:
    """The rivals of the default classifier, with the one that keeps training rows or not."""
    if not isinstance(store_cases, bool | np.bool_):
        raise ValueError(f"store_cases must be True or False, not {store_cases!r}")
    return RIVALS if store_cases else WITHOUT_CASES


class Contest(Refinement):
    """Cut back by cross-validation, then let tests over many features replace subtrees.

    With a prune set, that judges the size of the tree, its subtrees and the rivals, in
    place of cross-validation; rivals still cross-validate the training rows to choose their
    penalties, calibration and sparsity.

    Parameters
    ----------
    rivals : sequence of Softmax, Boosted, Stagewise, Steps and CaseBased
        From the simplest to the richest; by default softmax tests that are linear, of
        curves, quadratic, and of curves and products together, the last only where curves
        or products have won; at the root of tables with two classes a sparse test of
        curves and products that is built in small steps, however many products there are;
        at the root a test of curves that jump and, of tables without categories, likeness
        to cases. With none the tree is only cut back.
    optimise : {"error", "cost", "log_loss"} or None, default=None
        The held-out loss that decides. None: "cost" if there is a cost matrix, else
        "error". Where errors or costs do not differ (see `se`), log loss decides.
    folds : int, default=10
        Of the cross-validation of the tree.
    se : float, default=1.0
        How many standard errors make a difference, in every choice. With more, trees are
        simpler.

        - Kind: errors do not differ if the difference is at most this many standard errors;
          then log loss decides. A rival with more parameters than the subtree, or than
          another rival, must be better by as many (and must not make more errors than a
          subtree).
        - Growth: so must a tree on top of a rival.
        - Sparsity: a rival that has won loses its smallest weights as long as neither its
          held-out errors are more by a quarter as many, nor its log loss by as many; such a
          tree loses leaves as long as its log loss is not more by a quarter as many.
        - Proof: the whole tree must have a smaller held-out log loss than a single leaf by
          2.5 times as many, or both a smaller log loss and fewer errors by twice as many;
          else it becomes a single leaf. Where few rows are not of the most frequent class,
          more is required. It is also enough that the means of the classes differ (Wilks'
          lambda, at the level of 2.5 times as many standard deviations) and neither loss is
          worse, or that both kinds of evidence together reach twice as many and both
          losses are smaller.
    cautious : bool, default=True
        A rival with more parameters than another one must also be better by `se` if it
        made one more error, or have a log loss that is smaller by 0.02 and by twice as
        many standard errors. So a line stays where curves say much the same. Otherwise
        fewer weights may be worse by half of `se`, in errors and in log loss.
    min_rows : int, default=30
        Nodes with fewer rows have no rivals; with a prune set, nodes with fewer rows of it
        have none either.
    max_rows : int, default=20000
        In nodes with more rows, rivals see a stratified sample of this size. With more
        than ten times as many rows in all, one fold tests the tree instead of all.
    max_challenged : int or None, default=400000
        With more rows in all the nodes that rivals have challenged, from the root down,
        the others keep their tests.
    sparse : bool, default=True
        Whether rivals lose weights, and trees on top of them leaves, that held-out rows do
        not miss (see `se`).
    smooth : bool, default=True
        Shrink the class shares of univariate leaves towards those of their parents, as
        far as held-out rows advise.
    grows : bool, default=True
        At the root, grow univariate trees on top of the rival with the least held-out log
        loss: their leaves shift its scores, and their tests may read them. They compete
        like rivals, if they make at least two errors fewer than it does. So does the sum of
        the best rival and all others without products or built in small steps. It must not
        be worse by `se`, in errors or in log loss; where the best rival is a line, it must
        be likelier by `se`. Without a prune set, the sum
        of either and the univariate tree, cut back to one of a few sizes, competes as well:
        leaves shift its scores by their own log odds. That must make no more errors, be
        likelier by a quarter of `se`, and save one unit of log loss for each leaf.
    repeats : int, default=6
        Cross-validations at the root where the choice is close: where some candidate is
        not behind the best by more than `se`, in errors or in log loss, rows are dealt to
        folds so many times, and all that is said of a row is the mean of what is said while
        it is held out. Candidates that are further behind are left out. With more than 125
        rows there are fewer, with more than 375, or with a prune set, there is one.
    """

    rivals: Any = RIVALS
    optimise: str | None = None
    folds: int = 10
    se: float = 1.0
    cautious: bool = True
    min_rows: int = 30
    max_rows: int = 20_000
    max_challenged: int | None = 400_000
    sparse: bool = True
    smooth: bool = True
    grows: bool = True
    repeats: int = 6

    @property
    def only_cuts(self) -> bool:
        return not len(self.rivals)

    @property
    def adds_features(self) -> bool:
        return bool(len(self.rivals))

    @property
    def takes_rows(self) -> bool:
        return not len(self.rivals)  # rivals always cross-validate training rows

    @property
    def resamples(self) -> bool:
        return True

    def refine(self, tree: Tree, evidence: Evidence) -> Tree:
        """The tree after the contest."""
        comparison, rivals = self._comparison(tree), self._resolved_rivals()
        if tree.models is not None:
            raise ValueError(
                "Contest fits its own models to leaves; use it with leaves='majority'"
            )
        assert evidence.growth is not None
        rules = evidence.growth.rules
        grown = self._judged(tree, evidence)
        if evidence.expired and evidence.held_out is None:
            return tree  # the trees of the folds were cut short and say nothing
        sized = self._size(grown, comparison)
        outcome = self._compete(sized, grown, evidence, rivals, comparison)
        refined, told = self._proven(sized, grown, outcome, rules, comparison.se)
        if not grown.folds or refined.costs is not None:  # costs are not errors
            return refined
        n_folds = None if grown.has_prune_set else self.folds
        return with_reliability(refined, grown.tested, told, n_folds)

    def _proven(
        self, sized: Sized, grown: Grown, outcome: Outcome, rules: Rules, se: float
    ) -> tuple[Tree, HeldOut]:
        """The tree with its replacements, or a leaf if it is not proven; what it loses."""
        if grown.folds and (sized.tree.n_leaves > 1 or outcome.replacements):
            leaf = grown.leaf(self.smooth)
            losses = outcome.losses if outcome.one_deal is None else outcome.one_deal
            parts = losses, leaf.losses, grown.tested, grown.train
            if not is_proven(*parts, rules, se):
                return leaf.tree, leaf.losses
        return outcome.put_into(sized.tree, grown.train), outcome.told

    def _comparison(self, tree: Tree) -> Comparison:
        """The loss that decides and its margins, after checking the options."""
        optimise = self.optimise
        if optimise is None:
            optimise = "error" if tree.costs is None else "cost"
        if not isinstance(optimise, str) or optimise not in LOSSES:
            raise ValueError(unknown("optimise", optimise, list(LOSSES)))
        if optimise == "cost" and tree.costs is None:
            raise ValueError("optimise='cost' needs a cost_matrix")
        se = number("se", self.se, 0)
        return Comparison(LOSSES[optimise], se, bool(self.cautious))

    def _resolved_rivals(self) -> list[TrialLearner]:
        rivals = [LEARNERS.resolve(rival) for rival in self.rivals]
        for given, rival in zip(self.rivals, rivals, strict=True):
            if not isinstance(rival, TrialLearner):
                able = [
                    n for n, cls in LEARNERS.items() if issubclass(cls, TrialLearner)
                ]
                raise TypeError(
                    f"a rival must be a learner whose test is cross-validated before it is "
                    f"made ({', '.join(able)}), not {given!r}"
                )
        return rivals

    def _judged(self, tree: Tree, evidence: Evidence) -> Grown:
        """The tree with what held-out rows say of it."""
        many = len(evidence.train) > 10 * number("max_rows", self.max_rows, 1)
        grown = Grown.of(tree, evidence, self.folds, 1 if many else None)
        return grown.without_costs() if self.optimise == "error" else grown

    def _size(self, grown: Grown, comparison: Comparison) -> Sized:
        """The tree with the least loss; where that leaves it open, the least log loss."""
        if not self.smooth:
            return grown.by_errors(smooth=False)
        by_log_loss = grown.by_log_loss()
        if comparison.loss == "log_loss":
            return by_log_loss
        by_errors = grown.by_errors()
        prefers_log_loss = comparison.is_better(
            by_log_loss.losses,
            by_log_loss.tree.n_parameters,
            by_errors.losses,
            by_errors.tree.n_parameters,
        )
        return by_log_loss if prefers_log_loss else by_errors

    def _compete(
        self,
        sized: Sized,
        grown: Grown,
        evidence: Evidence,
        rivals: Sequence[TrialLearner],
        comparison: Comparison,
    ) -> Outcome:
        """From the root down, let rivals challenge the subtree of each node."""
        assert evidence.growth is not None
        rules = evidence.growth.rules
        outcome = Outcome.of(sized.losses)
        if not rivals:
            return outcome
        tree, loss = sized.tree, comparison.loss
        arena = Arena(tree, grown, rules)
        leaves_below = subtree_sums(tree, np.ones(tree.n_nodes)).astype(int)
        max_leaves, n_leaves = rules.limits.max_leaves, tree.n_leaves
        queue, left = (
            [0],
            np.inf if self.max_challenged is None else self.max_challenged,
        )
        for at in queue:
            if left < 0:
                break
            challenge = arena.challenge(
                at, outcome.losses, loss, self.min_rows, self.max_rows
            )
            if challenge is None:
                continue
            if at == 0 and self.grows and not grown.has_prune_set:
                challenge = challenge.with_trees(in_sizes(grown, sized))
            left -= len(challenge.node.rows)
            spare = None
            if max_leaves is not None:
                spare = max_leaves - n_leaves + int(leaves_below[at])
            try:
                with until(rules.limits.deadline):
                    contenders, winner, one_deal = self._judged_contenders(
                        challenge, grown, evidence, rivals, comparison, spare
                    )
            except TimeUp:
                break
            while winner is not None and not contenders[winner].trial.is_finite:
                del contenders[winner]
                winner = challenge.choose(contenders, comparison, spare)
            considered = challenge.considered(
                contenders, winner, loss, comparison.se if self.repeats > 1 else None
            )
            others = challenge.chosen_by_others(contenders, comparison, spare)
            outcome.tell(challenge.rows, *others, challenge.part)
            if winner is not None:
                new, losses = challenge.replacement(contenders[winner], comparison.se)
                n_leaves += new.n_leaves - leaves_below[at]
                outcome.replace(at, new, considered)
                rows, part = challenge.rows, challenge.part
                if one_deal is not None:
                    outcome.one_deal = outcome.losses.put(rows, one_deal, part)
                outcome.losses = outcome.losses.put(rows, losses, part)
            elif tree.kind[at] != LEAF:
                outcome.considered[at] = considered
                below = children(tree, at)
                queue.extend(range(below.start, below.stop))
        return outcome

    def _judged_contenders(
        self,
        challenge: Challenge,
        grown: Grown,
        evidence: Evidence,
        rivals: Sequence[TrialLearner],
        comparison: Comparison,
        max_leaves: int | None,
    ) -> tuple[list[Contender], int | None, HeldOut | None]:
        """The contenders at a node, and the choice, in as many deals as that needs.

        With more than one, what the first choice has lost in one deal as well.
        """
        growth, n = evidence.growth, len(challenge.node.rows)
        assert growth is not None
        found = self._contenders(challenge, rivals, growth, comparison, max_leaves)
        winner = challenge.choose(found, comparison, max_leaves)
        deals = min(self.repeats, REPEATED_ROWS // n)
        if challenge.depth or grown.has_prune_set or deals < 2 or evidence.expired:
            return found, winner, None
        if not is_close(challenge, found, winner, comparison.se):
            return found, winner, None
        with suppress(TimeUp):  # one deal can do
            left = asked_again(challenge, found, winner, comparison.se)
            trees = any(isinstance(one.trial, ScoreTree) for one in found)
            again = self._contenders(
                challenge, left, growth, comparison, max_leaves, deals, trees
            )
            names = {one.name for one in again}
            # What is further behind stays for the reader of the tree.
            again += [one for one in found if one.rival and one.name not in names]
            one_deal = challenge.subtree if winner is None else found[winner].losses
            return again, challenge.choose(again, comparison, max_leaves), one_deal
        return found, winner, None

    def _contenders(
        self,
        challenge: Challenge,
        rivals: Sequence[TrialLearner],
        growth: Growth,
        comparison: Comparison,
        max_leaves: int | None,
        deals: int = 1,
        trees: bool = True,
    ) -> list[Contender]:
        """All that challenges the subtree at a node.

        Rivals, a sparse one, `trees` on one, and sums of one with another or the subtree.
        """
        limits = growth.rules.limits
        margins = comparison.margins if self.sparse else None
        grows = self.grows and challenge.depth == 0
        on_top = grows or bool(challenge.trees)
        found, winner = challenge.contenders(rivals, comparison, on_top, deals)
        sparser = None
        if winner is not None and margins is not None and not limits.expired():
            sparser = challenge.sparser(found[winner], *margins)
        more = [] if sparser is None else [sparser]
        if not on_top:
            return [*found, *more]
        grown_on = None
        if grows and trees:
            grown_on = challenge.likeliest(found, refitted=True)
        if grown_on is not None and not limits.expired():
            more += challenge.grown_on(
                found[grown_on],
                sparser if grown_on == winner else None,
                limited(growth, max_leaves),
                margins,
                comparison.loss,
            )
        base = challenge.likeliest(found) if winner is None else winner
        if base is None or limits.expired():
            return [*found, *more]
        with suppress(TimeUp):  # what was found so far can do without
            test, thin = found[base], sparser
            added = challenge.sum_with_others(found, test, thin, comparison)
            if added is not None:
                more.append(added)
                test, thin = added, None
            if challenge.trees:
                added = challenge.sum_with_tree(test, thin, comparison)
                more += [] if added is None else [added]
        return [*found, *more]


@dataclass
class Outcome:
    """What the contest has decided so far.

    Attributes
    ----------
    losses : HeldOut
        Of the tree with all replacements.
    told : HeldOut
        The same for the reader of the tree: no row has a say in what is chosen for it.
    settled : bool array (n,)
        Rows for which the others have chosen a replacement.
    one_deal : HeldOut or None
        Of what was first chosen at the root, if rows were dealt several times. That proves
        a tree: means of several answers vary less than one, on noise, too.
    replacements : dict of node to Replacement
    considered : dict of node to candidates
        Of nodes that keep their tests.
    """

    losses: HeldOut
    told: HeldOut
    settled: NDArray[np.bool_]
    one_deal: HeldOut | None = None
    replacements: dict[int, Replacement] = field(default_factory=dict)
    considered: dict[int, tuple[Considered, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, losses: HeldOut) -> Outcome:
        """Nothing has been replaced."""
        return cls(losses, losses, np.zeros(len(losses.weight), dtype=bool))

    def tell(
        self,
        rows: NDArray[np.int64],
        losses: HeldOut,
        settled: NDArray[np.bool_],
        part: NDArray[np.float64],
    ) -> None:
        """What the rows of a node lose, and for which a replacement was chosen there.

        For rows that were settled further up, nothing changes.
        """
        new = np.flatnonzero(~self.settled[rows])
        self.told = self.told.put(rows[new], losses.take(new), part[new])
        self.settled[rows] |= settled

    def replace(
        self, at: int, new: Replacement, considered: tuple[Considered, ...]
    ) -> None:
        """Put something in the place of the subtree at a node."""
        if new.split is not None:
            new = replace(new, split=replace(new.split, candidates=considered))
        if new.subtree is not None:
            below = ((),) * (new.subtree.n_nodes - 1)
            subtree = new.subtree.replace(candidates=(considered, *below))
            new = replace(new, subtree=subtree)
        self.replacements[at] = new

    def put_into(self, tree: Tree, train: Sample) -> Tree:
        """The tree with the replacements, and with the candidates of the other nodes."""
        if any(self.considered.values()):
            of_node = [self.considered.get(at, ()) for at in range(tree.n_nodes)]
            tree = tree.replace(candidates=tuple(of_node))
        if not self.replacements:
            return tree
        subtrees = {
            at: new.subtree
            for at, new in self.replacements.items()
            if new.subtree is not None
        }
        others = {at: n for at, n in self.replacements.items() if at not in subtrees}
        splits = {at: new.split for at, new in others.items()}
        models = {at: new.model for at, new in others.items()}
        return tree.with_splits(splits, train, models, subtrees)
