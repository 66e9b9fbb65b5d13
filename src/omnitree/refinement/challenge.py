"""One node of the contest: rivals challenge the subtree that stands there.

A rival is a learner of one test over many features (`TrialLearner`). It learns from the
training rows of the node. Without a prune set it is cross-validated on them, and its losses
are compared row by row with those of the subtree in the cross-validation of the whole tree.
With a prune set it is fitted to them all and, like the subtree, judged by the rows of the
prune set that come to the node; cross-validation then only chooses its penalty, its
calibration and its sparsity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.growth import Growth
from omnitree.growing.node import CURVED, Node
from omnitree.growing.sample import Sample
from omnitree.learners import CaseBased, Softmax, Stagewise, Steps
from omnitree.learners.trial import Replacement, Trial, TrialLearner, folds_of
from omnitree.refinement.comparison import Comparison
from omnitree.refinement.score_trees import ScoreTree, promising, score_trees
from omnitree.refinement.shifted_leaves import TreeOnTest
from omnitree.refinement.sizing import Sized
from omnitree.refinement.sums_of_tests import SumOfTests, sum_of_tests
from omnitree.refinement.tree_sums import FOLDS, TreeSum, tree_sums
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModels
from omnitree.tree.splits import Considered

# How the names of sparse tests begin (`SoftmaxTrial.sparser`).
SPARSE = "sparse "
# And what all sums of tests are called.
SUM = "sum of tests"
# How the names of tests begin that have few of all curves and products (`Stagewise`).
STAGEWISE = "stagewise "
# Columns that tests may have which are added to others: no products.
PLAIN = ("linear", "curves", "steps")
# Standard errors by which a test is so much worse than a subtree that no tree on top of it
# will be better.
HOPELESS = 3.0
# Rows for each feature that curves need below the root: subtrees are many, most are small,
# and to find the columns of curves takes as long as to reject them.
ROWS = 40
# A sum of a test and a tree must be likelier than the test by so many times the standard
# errors of the one knob.
TREE = 0.25
# Log loss, of all rows together, that each leaf of a tree must save that is added to a test:
# what Akaike's criterion asks for a parameter.
LEAF_PRICE = 1.0


@dataclass(frozen=True)
class Contender:
    """A rival's test, or what is made of it, and what it loses on held-out rows."""

    trial: Trial | TreeOnTest
    losses: HeldOut
    rival: TrialLearner | None = None  # whose test it is, if it has all its terms

    @property
    def name(self) -> str:
        """Rivals of other cross-validations have the same.

        That of their sum does not tell its tests, of which some may add nothing in one of
        them; the reader of the tree sees the name of the trial.
        """
        if isinstance(self.trial, TreeSum) and isinstance(self.trial.trial, SumOfTests):
            return f"{SUM} and tree"
        return SUM if isinstance(self.trial, SumOfTests) else self.trial.name

    @property
    def added(self) -> set[str]:
        """The names of the tests that it is a sum of, if it is one."""
        trial = self.trial.trial if isinstance(self.trial, TreeSum) else self.trial
        return set(trial.summands) if isinstance(trial, SumOfTests) else set()


@dataclass(frozen=True)
class Challenge:
    """A node, with the rows to learn from and those to be judged by.

    Attributes
    ----------
    node : Node
        The rows that rivals learn from.
    tested : Sample or None
        The prune set, if that judges; else rivals are cross-validated.
    rows, part : arrays
        The held-out rows of the node by their position, and the part of each that comes
        here.
    subtree : HeldOut
        What the subtree loses on them.
    n_parameters : int
        Of the subtree.
    kind : str
        Kind of the test at its top.
    depth : int
        Number of tests above the node.
    trees : tuple of Sized
        The subtree in several sizes, with answers to the held-out rows of the node, to be
        added to the rivals' tests.
    """

    node: Node
    tested: Sample | None
    rows: NDArray[np.int64]
    part: NDArray[np.float64]
    subtree: HeldOut
    n_parameters: int
    kind: str
    depth: int = 0
    trees: tuple[Sized, ...] = ()

    def with_trees(self, trees: Iterable[Sized]) -> Challenge:
        """The same with trees whose answers are to all held-out rows of the table."""
        own = []
        for one in trees:
            at = np.searchsorted(np.flatnonzero(one.losses.weight > 0), self.rows)
            if one.tree.n_leaves > 1:
                own.append(replace(one, answers=one.answers[at]))
        return replace(self, trees=tuple(own))

    def losses_of(self, trial: Trial | TreeOnTest) -> HeldOut:
        """What a rival's test, or a tree on it, loses on the held-out rows of the node."""
        if self.tested is None:
            return trial.held_out
        new, target = trial.replacement, self.tested.target.take(self.rows)
        if new.subtree is not None:
            table = self.tested.take(self.rows).table
            proba = new.subtree.predict_value(table, new.subtree.value)
        else:
            models = LeafModels.of([new.model])
            assert models is not None
            proba = np.empty((len(self.rows), target.n_classes))
            first = np.zeros(len(self.rows), dtype=np.int32)
            models.answer(self.tested.table, self.rows, first, proba)
        groups = self.tested.groups_of(self.rows)
        weight = self.subtree.weight
        return HeldOut.of(weight, proba, target, groups)

    def contenders(
        self,
        rivals: Sequence[TrialLearner],
        comparison: Comparison,
        grows: bool = False,
        deals: int = 1,
    ) -> tuple[list[Contender], int | None]:
        """Every rival's test, and which of them beats the subtree and all before it.

        Where trees grow on the likeliest, rivals need not be ahead, and where the subtree
        leads, curves are tried with products, too. With several deals of the rows to folds,
        none of the rivals gives up: they were chosen in one deal.
        """
        found: list[Contender] = []
        expansions: list[str] = []
        winner, losses, n_parameters = None, self.subtree, self.n_parameters
        for rival in rivals:
            won = None if winner is None else expansions[winner]
            led = grows and winner is None and self.likeliest(found) is not None
            idle = _is_idle(rival, expansions, won) and not led and deals == 1
            if idle or not self._suits(rival, winner is not None):
                continue
            against = losses if self.tested is None and deals == 1 else None
            slack = HOPELESS if grows else 0.0
            trial = rival.trial(self.node, against, slack, deals)
            if trial is None:
                continue
            new = Contender(trial, self.losses_of(trial), rival)
            found.append(new)
            expansions.append(trial.expansion)
            own_size = trial.n_parameters
            judge = comparison.is_better if winner is None else comparison.is_worth
            if new.losses.complete and judge(
                new.losses, own_size, losses, n_parameters
            ):
                winner, losses, n_parameters = len(found) - 1, new.losses, own_size
        return found, winner

    def _suits(self, rival: TrialLearner, led: bool) -> bool:
        """Whether a rival has something of its own to say, and rows to learn it from.

        Below the root, curves are asked for in leaves only if a line leads: where no cut
        of a single feature helps, no curve does. Tests by small steps are not asked for
        there at all: a few cuts are easier to read.
        """
        if self.depth and isinstance(rival, Stagewise | Steps | CaseBased):
            return False
        if self.depth == 0 or rival.expansion not in CURVED:
            return rival.is_richer(self.node)
        few = len(self.node.rows) < ROWS * self.node.sample.table.schema.n_features
        if few or (self.kind == "leaf" and not led):
            return False
        return rival.is_richer(self.node)

    def sparser(
        self, contender: Contender, margin: float, unlikelier: float | None = None
    ) -> Contender | None:
        """The same test with fewer weights, if cross-validation does not miss them.

        Of many rows, some folds judge it; the other rows count as for all weights, so that
        its losses can be compared with those of any other test.
        """
        assert isinstance(contender.trial, Trial)
        trial = contender.trial.sparser(margin, unlikelier)
        if trial is None:
            return None
        losses = self.losses_of(trial).completed(contender.losses)
        return Contender(trial, losses)

    def likeliest(
        self, contenders: Sequence[Contender], refitted: bool = False
    ) -> int | None:
        """The test with the least held-out log loss.

        Of those that can be fitted to other folds, if trees are to be grown on it. None if
        all are far worse than the subtree.
        """
        able = []
        for i, one in enumerate(contenders):
            gains = [one.losses.gain(self.subtree, x) for x in ("errors", "log_loss")]
            trial = one.trial
            if refitted and (not isinstance(trial, Trial) or trial.fold is None):
                continue
            if one.losses.complete and max(gains) > -HOPELESS:
                able.append(i)
        return min(
            able, key=lambda i: contenders[i].losses.mean("log_loss"), default=None
        )

    def grown_on(
        self,
        base: Contender,
        sparse: Contender | None,
        growth: Growth,
        margins: tuple[float, float] | None,
        loss: str,
    ) -> list[Contender]:
        """The trees on top of a rival's test that are better than it.

        They are tried with all its weights, then grown with those of its sparse form, which
        is found if it is not known; without margins it keeps them all.
        """
        assert isinstance(base.trial, Trial)
        least = 0.0 if margins is None else margins[0]
        over = promising(base.trial, self.node, growth, least, loss)
        if over and sparse is None and margins is not None:
            sparse = self.sparser(base, *margins)
        trial = base.trial if sparse is None else sparse.trial
        assert isinstance(trial, Trial)
        found = score_trees(trial, self.node, growth, least, loss, over)
        return [Contender(tree, self.losses_of(tree)) for tree in found]

    def sum_with_others(
        self,
        found: Sequence[Contender],
        base: Contender,
        sparse: Contender | None,
        comparison: Comparison,
    ) -> Contender | None:
        """The sum of a rival's test, sparse if it can be, and others that add few terms.

        These are all sums of lines and curves, and tests made by small steps. None, if the
        sum is not better than the test.
        """
        trial, whole = _thinned(base, sparse)
        if trial.expansion == "cases":
            return None
        others = [
            one.trial
            for one in found
            if one is not base
            and one.losses.complete
            and isinstance(one.trial, Trial)
            and (one.trial.expansion in PLAIN or one.name.startswith(STAGEWISE))
        ]
        added = sum_of_tests(self.node, [trial, *others], whole) if others else None
        if added is None:
            return None
        new = Contender(added, self.losses_of(added))
        losses = base.losses if sparse is None else sparse.losses
        better = comparison.is_sum_likelier(new.losses, losses, added.bends)
        return new if better else None

    def sum_with_tree(
        self, base: Contender, sparse: Contender | None, comparison: Comparison
    ) -> Contender | None:
        """The sum of a rival's test, in its sparse form if it has one, and a tree.

        None, if it is not better than the test. Each leaf of the tree has its price.
        """
        trial, whole = _thinned(base, sparse)
        losses = base.losses if sparse is None else sparse.losses

        def price(one: TreeSum) -> float:
            lost = one.held_out.log_loss @ one.held_out.weight
            return float(lost) + LEAF_PRICE * one.tree.n_leaves

        best = min(
            tree_sums(self.node, trial, self.trees, whole), key=price, default=None
        )
        if best is None or price(best) >= losses.log_loss @ losses.weight:
            return None
        better = comparison.is_likelier(best.held_out, losses, TREE)
        return Contender(best, best.held_out) if better else None

    def choose(
        self,
        contenders: Sequence[Contender],
        comparison: Comparison,
        max_leaves: int | None = None,
    ) -> int | None:
        """Which contender takes the place of the subtree; None if it stays.

        The rival that beats the subtree and all rivals before it, in its sparse form if it
        has one; then trees, which must not only be likelier; then sums of two tests, and of
        test and tree.
        """
        names = [one.name for one in contenders]
        sparse_forms = {SPARSE + name for name in names}
        winner, losses, n_parameters = None, self.subtree, self.n_parameters
        for i, one in enumerate(contenders):
            size = one.trial.n_parameters
            if not _is_rival(one) or one.name in sparse_forms:
                continue
            judge = comparison.is_better if winner is None else comparison.is_worth
            if one.losses.complete and judge(one.losses, size, losses, n_parameters):
                winner, losses, n_parameters = i, one.losses, size
        if winner is not None:
            if SPARSE + names[winner] in names:
                winner = names.index(SPARSE + names[winner])
            best = contenders[winner]
            losses, n_parameters = best.losses, best.trial.n_parameters
            if max_leaves is not None and best.trial.replacement.n_leaves > max_leaves:
                winner, losses, n_parameters = None, self.subtree, self.n_parameters
        for i, one in enumerate(contenders):
            if isinstance(one.trial, ScoreTree):
                size = one.trial.n_parameters
                gain = one.losses.gain(losses, comparison.loss, less_one=True)
                if (winner is None or gain > 0) and comparison.is_better(
                    one.losses, size, losses, n_parameters
                ):
                    winner, losses, n_parameters = i, one.losses, size
        for i, one in enumerate(contenders):
            if not isinstance(one.trial, SumOfTests | TreeSum):
                continue
            if max_leaves is not None and one.trial.replacement.n_leaves > max_leaves:
                continue
            size = one.trial.n_parameters
            if winner is None:  # a plain tree is much easier to read
                better = comparison.is_worth(one.losses, size, losses, n_parameters)
            else:
                better = (
                    comparison.is_likelier(one.losses, losses, TREE)
                    if isinstance(one.trial, TreeSum)
                    else comparison.is_sum_likelier(one.losses, losses, one.trial.bends)
                )
            if better:
                winner, losses, n_parameters = i, one.losses, size
        return winner

    def chosen_by_others(
        self,
        contenders: Sequence[Contender],
        comparison: Comparison,
        max_leaves: int | None = None,
    ) -> tuple[HeldOut, NDArray[np.bool_]]:
        """What rows lose if other folds choose, and for which these replace the subtree.

        The best of several has fewer errors on the rows that chose it than on new ones.
        """
        node = self.node
        if self.tested is not None:
            node = Node(self.tested, node.rules, self.rows, self.subtree.weight)
        fold, losses = folds_of(node, FOLDS), self.subtree
        replaced = np.zeros(len(self.rows), dtype=bool)
        for k in np.unique(fold) if fold is not None else ():
            rest, own = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            others = replace(self, subtree=self.subtree.take(rest))
            judged = [replace(c, losses=c.losses.take(rest)) for c in contenders]
            winner = others.choose(judged, comparison, max_leaves)
            if winner is not None:
                answer = contenders[winner].losses.take(own)
                losses = losses.put(own, answer, np.ones(len(own)))
                replaced[own] = True
        return losses, replaced

    def behind(
        self, contenders: Sequence[Contender], winner: int | None
    ) -> dict[str, float]:
        """By how many standard errors, in errors or log loss, others are behind the choice.

        By their names, that of the subtree is empty. Dense and sparse forms of one test are
        no choice, nor are a sum and the tests that it has.
        """
        every = {c.name: c.losses for c in contenders if c.losses.complete}
        chosen, same = self.subtree, set()
        if winner is not None:
            chosen = contenders[winner].losses
            same = {contenders[winner].name, *contenders[winner].added}
            every |= {"": self.subtree}
        twins = same | {SPARSE + name for name in same}
        twins |= {name.removeprefix(SPARSE) for name in same}
        return {
            name: max(chosen.gain(other, loss) for loss in ("errors", "log_loss"))
            for name, other in every.items()
            if winner is None or name not in twins
        }

    def replacement(
        self, winner: Contender, min_gain: float
    ) -> tuple[Replacement, HeldOut]:
        """What takes the place of the subtree, and what that loses on held-out rows.

        Where all rows take one branch there is only a leaf with a model; a model that says
        no more than the class shares is left out.
        """
        new, losses = winner.trial.replacement, winner.losses
        if new.split is None and new.subtree is None:
            y = self.node.y if self.tested is None else self.tested.y[self.rows]
            plain = _as_constant(losses, y, self.node.statistics)
            if losses.gain(plain, "log_loss") <= min_gain:
                return replace(new, model=None), plain
        return new, losses

    def considered(
        self,
        contenders: Sequence[Contender],
        winner: int | None,
        loss: str,
        se: float | None = None,
    ) -> tuple[Considered, ...]:
        """The candidates and their held-out losses, for the reader of the tree.

        Errors, or their costs, unless the winner has no fewer of them than the subtree:
        then log loss has decided. With its lead over each of them, if `se`, the standard
        errors that make a difference, is given.
        """
        if not contenders:
            return ()
        if winner is not None:
            chosen = contenders[winner].losses.mean(loss)
            loss = "log_loss" if chosen >= self.subtree.mean(loss) else loss
        what = "error" if self.node.target.costs is None else "cost"
        what = "held-out log loss" if loss == "log_loss" else what
        names = [("univariate subtree", self.kind, self.n_parameters, self.subtree)]
        for trial, losses in ((c.trial, c.losses) for c in contenders):
            names.append((trial.name, trial.kind, trial.n_parameters, losses))
        chosen_at = 0 if winner is None else winner + 1
        best = names[chosen_at][-1]
        return tuple(
            Considered(
                name,
                kind,
                size,
                what,
                losses.mean(loss),
                i == chosen_at,
                # On the rows that it was tested on: it may have been given up.
                round(0.0 - losses.gain(best, loss), 2)
                if se is not None and i != chosen_at
                else None,
                se if i == chosen_at else None,
            )
            for i, (name, kind, size, losses) in enumerate(names)
        )


def _is_rival(contender: Contender) -> bool:
    """Whether it is one test by itself, with all its terms or few."""
    return isinstance(contender.trial, Trial) and not isinstance(
        contender.trial, SumOfTests
    )


def _thinned(
    contender: Contender, sparse: Contender | None
) -> tuple[Trial, Trial | None]:
    """A test in its sparse form, if there is one, and the test with all its terms."""
    assert isinstance(contender.trial, Trial)
    if sparse is None:
        return contender.trial, None
    assert isinstance(sparse.trial, Trial)
    return sparse.trial, contender.trial


def _is_idle(rival: TrialLearner, expansions: list[str], won: str | None) -> bool:
    """Whether all curves and products are tried together though neither has won."""
    tried = {"curves", "quadratic"} & set(expansions)
    together = rival.expansion == "blocks" and isinstance(rival, Softmax)
    return together and bool(tried) and won not in tried


def _as_constant(losses: HeldOut, y: np.ndarray, counts: np.ndarray) -> HeldOut:
    """Losses with the log loss of a leaf that answers class shares."""
    share = (counts + 1 / len(counts)) / (counts.sum() + 1)
    return replace(losses, log_loss=-np.log(share[y]))
