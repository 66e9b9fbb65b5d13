"""The contest: subtrees against single tests of many columns; held-out losses decide.

A univariate tree is cut back by cross-validation (`sizing.py`), which gives every row an
answer while it was held out. Then, from the root down, each node asks its rivals: one test
over many columns, a branch for each class, cross-validated on the node's own rows. Where a
rival makes fewer held-out errors than the subtree, or as many with a smaller log loss, it
takes its place; else the node keeps its test and its children ask again. The leaves below a
rival answer by its own probabilities, calibrated on held-out rows. At last the whole tree
must be better than a single leaf. So simple regions get simple tests, machines stand only
where evidence asks for them, and noise gets no tree. Used by the preset `omni`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import stats

from omnitree.growing.node import Node, Rules
from omnitree.growing.part import number, unknown
from omnitree.growing.sample import Sample
from omnitree.learners import LEARNERS, Boosted, Softmax
from omnitree.learners.trial import Replacement, Trial, TrialLearner
from omnitree.parts.discriminants.wilks import wilks_p_value
from omnitree.pruning.base import (
    Evidence,
    Pruning,
    children,
    subtree_sums,
)
from omnitree.pruning.sizing import Grown, Sized
from omnitree.resampling.held_out import HeldOut
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import Considered, Split
from omnitree.tree.tree import LEAF, NodeRecord, Tree, tree_from_nodes

# Nobody can read a quadratic form with more than 500 terms, so larger ones are only tried
# in sparse form.
RIVALS = (
    Softmax(),
    Softmax("quadratic", max_columns=500),
    Boosted("quadratic", min_columns=501, max_cells=500_000),
)
# Share of `min_gain` that is enough if log loss and errors both say so.
BOTH = 0.8
# What to optimise, and the held-out loss that measures it.
LOSSES = {"error": "errors", "cost": "errors", "log_loss": "log_loss"}


class Contest(Pruning):
    """Cut back by cross-validation, then let tests of many columns replace subtrees.

    Parameters
    ----------
    rivals : sequence of Softmax and Boosted
        From the simplest to the richest; by default a linear and a quadratic softmax and,
        where the latter has more than 500 terms, a boosted quadratic test, which is sparse.
        With none the tree is only cut back.
    optimise : {"error", "cost", "log_loss"} or None, default=None
        The held-out loss that decides. None: "cost" if there is a cost matrix, else
        "error". Where errors or costs do not differ (see `doubt`), log loss decides.
    folds : int, default=10
        Of the cross-validation of the tree.
    se : float, default=0.0
        The tree is the smallest within this many standard errors of the best.
    doubt : float, default=1.0
        Errors do not differ if the difference is at most this many standard errors. (A
        rival with more parameters than a subtree must not make more errors, though.)
    step : float, default=1.0
        A rival with more parameters than the subtree, or than another rival, must beat it
        by this many standard errors.
    min_gain : float, default=2.5
        The whole tree must have a smaller held-out log loss than a single leaf by this
        many standard errors, or both a smaller log loss and fewer errors by 0.8 times as
        many; else it is a single leaf. Where few rows are not of the most frequent class,
        more is asked. It is also enough that the means of the classes differ (Wilks'
        lambda, at the level of so many standard deviations) and neither loss is worse.
    min_rows : int, default=30
        Nodes with fewer rows have no rivals.
    max_rows : int, default=20000
        In nodes with more rows, rivals see a stratified sample of this size. With more
        than ten times as many rows in all, one fold tests the tree instead of all.
    sparse : float or None, default=0.5
        A rival that has won loses its least weights as long as neither its held-out errors
        nor its held-out likelihood are worse by more than this many standard errors. None
        keeps all weights.
    smooth : bool, default=True
        Shrink the class shares of univariate leaves towards those of their parents, as
        far as held-out rows advise.
    """

    def __init__(
        self,
        rivals=RIVALS,
        optimise=None,
        folds=10,
        se=0.0,
        doubt=1.0,
        step=1.0,
        min_gain=2.5,
        min_rows=30,
        max_rows=20_000,
        sparse=0.5,
        smooth=True,
    ):
        self.rivals = rivals
        self.optimise = optimise
        self.folds = folds
        self.se = se
        self.doubt = doubt
        self.step = step
        self.min_gain = min_gain
        self.min_rows = min_rows
        self.max_rows = max_rows
        self.sparse = sparse
        self.smooth = smooth

    @property
    def only_cuts(self) -> bool:
        return not len(self.rivals)

    @property
    def adds_features(self) -> bool:
        return bool(len(self.rivals))

    @property
    def resamples(self) -> bool:
        return True

    def prune(self, tree: Tree, evidence: Evidence) -> Tree:
        """The tree after the contest."""
        loss = self._loss(tree)
        rivals = [LEARNERS.resolve(rival) for rival in self.rivals]
        if evidence.growth is None:
            raise ValueError(
                "Contest fits new tests, so it only works inside fit; pass it as pruning="
            )
        if tree.models is not None:
            raise ValueError(
                "Contest fits its own models to leaves; use it with leaves='majority'"
            )
        rules = evidence.growth.rules
        many = len(evidence.train) > 10 * number("max_rows", self.max_rows, 1)
        grown = Grown.of(tree, evidence, self.folds, 1 if many else None)
        if self.optimise == "error":
            grown = grown.without_costs()
        sized = self._cut_back(grown, loss)
        found, held_out = self._replace(sized, grown.evidence, rivals, loss)
        if grown.folds and sized.tree.n_leaves + len(found) > 1:
            leaf = grown.leaf(self.smooth)
            if not self._proven(held_out, leaf.held_out, evidence.train, rules):
                return leaf.tree
        return graft(sized.tree, found, evidence.train) if found else sized.tree

    def _proven(
        self, tree: HeldOut, leaf: HeldOut, sample: Sample, rules: Rules
    ) -> bool:
        """Whether a tree is better than a single leaf beyond doubt.

        Of a rare class few rows speak, whatever their weight: the fewer they are, the more
        is asked, by Student's distribution. Their losses are skewed, so two of them count
        for one degree of freedom (`benchmarks/noise.py`). A tree that is not worse in
        either loss is believed where a test of significance says that classes differ.
        """
        y, groups = sample.y, sample.groups
        if groups is not None:
            y = y[np.unique(groups, return_index=True)[1]]
        others = len(y) - np.bincount(y).max()
        errors, log_loss = (tree.gain(leaf, by) for by in ("errors", "log_loss"))

        def enough(normal: float) -> float:
            return float(stats.t.isf(stats.norm.sf(normal), max(others // 2 - 1, 1)))

        if log_loss >= enough(self.min_gain):
            return True
        if min(errors, log_loss) >= enough(BOTH * self.min_gain):
            return True
        if groups is not None or errors < 0 or log_loss <= 0:
            return False
        rows = np.arange(len(y))
        columns = Node(sample, rules, rows, np.ones(len(y))).linear.columns
        return wilks_p_value(columns, y) < stats.norm.sf(self.min_gain)

    def _loss(self, tree: Tree) -> str:
        """The held-out loss that decides, after checking the options."""
        for name in ("doubt", "step", "min_gain"):
            number(name, getattr(self, name), 0)
        optimise = self.optimise
        if optimise is None:
            optimise = "error" if tree.costs is None else "cost"
        if not isinstance(optimise, str) or optimise not in LOSSES:
            raise ValueError(unknown("optimise", optimise, list(LOSSES)))
        if optimise == "cost" and tree.costs is None:
            raise ValueError("optimise='cost' needs a cost_matrix")
        return LOSSES[optimise]

    def _cut_back(self, grown: Grown, loss: str) -> Sized:
        """The tree with the least loss; where that leaves it open, the least log loss."""
        if not self.smooth:
            return grown.by_errors(self.se, smooth=False)
        by_log_loss = grown.by_log_loss()
        if loss == "log_loss":
            return by_log_loss
        by_errors = grown.by_errors(self.se)
        sizes = by_log_loss.tree.n_parameters, by_errors.tree.n_parameters
        new, old = by_log_loss.held_out, by_errors.held_out
        return by_log_loss if self._better(new, old, loss, *sizes) else by_errors

    def _better(
        self, new: HeldOut, old: HeldOut, loss: str, size: int, old_size: int
    ) -> bool:
        """Whether something with `size` parameters is better than the old.

        What is richer must not make more errors, but for a single leaf in the old's place,
        which ranks nothing.
        """
        richer = size > old_size
        gain = new.gain(old, loss)
        worst = 0.0 if richer and old_size > 1 else -self.doubt
        if loss != "log_loss" and worst <= gain <= self.doubt:
            gain = new.gain(old, "log_loss")
        return gain > (self.step if richer else 0.0) + 1e-9

    def _replace(
        self,
        sized: Sized,
        evidence: Evidence,
        rivals: Sequence[TrialLearner],
        loss: str,
    ) -> tuple[dict[int, Replacement | Split], HeldOut]:
        """What stands at nodes after all rivals were asked, and what the tree then loses.

        A node that keeps its test has that test, with the candidates to remember.
        """
        tree, held_out, sample = sized.tree, sized.held_out, evidence.train
        assert evidence.growth is not None
        rules = evidence.growth.rules
        found: dict[int, Replacement | Split] = {}
        if not rivals:
            return found, held_out
        start, passing, _ = tree.passing(evidence.train.table)
        leaves = subtree_sums(tree, np.ones(tree.n_nodes))
        limits, n_leaves = rules.limits, tree.n_leaves
        queue = [0]
        for at in queue:
            here = passing[start[at] : start[at + 1]]
            tested = here[held_out.weight[here] > 0]
            enough = len(tested) >= self.min_rows
            if not enough or not getattr(held_out, loss)[tested].any():
                continue
            if tree.depths[at] == limits.max_depth or limits.expired():
                continue
            is_leaf = tree.kind[at] == LEAF
            size = _subtree(tree, at).n_parameters
            here = tested
            if len(here) > self.max_rows:
                here = _some(sample, here, self.max_rows, rules.seed)
            node = Node(sample, rules, here, sample.weight[here])
            trials, best = self._compete(node, rivals, held_out, loss, size)
            winner = None if best is None else trials[best].replacement()
            more = 0 if winner is None else winner.n_leaves - int(leaves[at])
            if limits.max_leaves is not None and n_leaves + more > limits.max_leaves:
                winner = None
            won = None if winner is None or best is None else trials[best]
            if won is None:
                best = None
            candidates = _candidates(tree, at, size, trials, held_out, best, loss)
            if winner is not None and won is not None:
                n_leaves += more
                if winner.split is not None:
                    split = replace(winner.split, candidates=candidates)
                    winner = replace(winner, split=split)
                lost = won.held_out
                if winner.split is None:
                    constant = _as_constant(lost, won.rows.y)
                    if lost.gain(constant, "log_loss") <= self.step:
                        # The model says no more than the class shares do.
                        winner, lost = replace(winner, model=None), constant
                found[at] = winner
                held_out = held_out.put(won.rows.rows, lost)
            elif not is_leaf:
                found[at] = replace(tree.split(at), candidates=candidates)
                part = children(tree, at)
                queue.extend(range(part.start, part.stop))
        return found, held_out

    def _compete(
        self,
        node: Node,
        rivals: Sequence[TrialLearner],
        held_out: HeldOut,
        loss: str,
        size: int,
    ) -> tuple[list[Trial], int | None]:
        """What rivals make of rows of a node; which beats the subtree and the others.

        `size` are the parameters of the subtree.
        """
        least = held_out.take(node.rows)
        trials: list[Trial] = []
        best = None
        for rival in rivals:
            trial = rival.trial(node, least)
            if trial is None:
                continue
            trials.append(trial)
            new = trial.held_out
            own_size = trial.n_parameters
            if new.complete and self._better(new, least, loss, own_size, size):
                best, least, size = len(trials) - 1, new, own_size
        if best is None or self.sparse is None or node.rules.limits.expired():
            return trials, best
        sparse = trials[best].sparser(number("sparse", self.sparse, 0))
        if sparse is not None:
            best = len(trials)
            trials.append(sparse)
        return trials, best


def _as_constant(held_out: HeldOut, y: np.ndarray) -> HeldOut:
    """Losses with the log loss of a leaf that answers the class shares of the rows."""
    counts = np.bincount(y, held_out.weight)
    share = (counts + 1 / len(counts)) / (counts.sum() + 1)
    return replace(held_out, log_loss=-np.log(share[y]))


def _candidates(
    tree: Tree,
    at: int,
    size: int,
    trials: list[Trial],
    held_out: HeldOut,
    best: int | None,
    loss: str,
) -> tuple[Considered, ...]:
    """The candidates of a node and their held-out losses, for the reader of the tree.

    Errors, or their costs, unless the winner has no fewer of them than the subtree: then
    log loss has decided.
    """
    if not trials:
        return ()
    subtree = held_out.take(trials[0].rows.rows)
    if best is not None and trials[best].held_out.mean(loss) >= subtree.mean(loss):
        loss = "log_loss"
    what = "error" if tree.costs is None else "cost"
    if loss == "log_loss":
        what = "held-out log loss"
    kind = "leaf" if tree.kind[at] == LEAF else tree.split(at).kind
    score = subtree.mean(loss)
    out = [Considered("univariate subtree", kind, size, what, score, best is None)]
    for i, trial in enumerate(trials):
        score = trial.held_out.mean(loss)
        out.append(
            Considered(
                trial.name, trial.kind, trial.n_parameters, what, score, best == i
            )
        )
    return tuple(out)


def _subtree(tree: Tree, at: int) -> Tree:
    """The part of a tree below a node."""
    if at == 0:
        return tree
    to = np.arange(tree.n_nodes)
    to[0] = at
    return tree.collapse(to)


def _some(sample: Sample, rows: np.ndarray, n: int, seed: int) -> np.ndarray:
    """About n of the rows, in the order of the table, each class by its share."""
    part = replace(sample, groups=None).take(rows)
    return rows[part.folds(len(rows) / n, seed) == 0]


def graft(tree: Tree, found: dict[int, Replacement | Split], rows: Sample) -> Tree:
    """The tree with other tests at some nodes.

    A node with a `Split`, its own test with candidates to remember, keeps what lies below
    it; a `Replacement` ends in leaves that answer by its model.
    """
    start, passing, part = tree.passing(rows.table)
    records: list[NodeRecord] = []
    new_leaf = tuple[np.ndarray, LeafModel | None]
    queue: list[tuple[int, int, new_leaf | None]] = [(0, -1, None)]
    for at, parent, leaf in queue:  # grows while it is read: breadth first
        if leaf is not None:
            records.append(NodeRecord(parent, leaf[0], model=leaf[1]))
            continue
        record = NodeRecord(parent, tree.value[at])
        records.append(record)
        own, first = len(records) - 1, len(queue)
        new = found.get(at)
        if isinstance(new, Replacement):
            record.split = new.split
            if new.split is None:
                record.model = new.model
                continue
            here = slice(start[at], start[at + 1])
            branch = new.split.route(rows.table, passing[here])
            counts = np.zeros((new.split.n_children, len(tree.classes)))
            weight = rows.weight[passing[here]] * part[here]
            np.add.at(counts, (branch, rows.y[passing[here]]), weight)
            queue += [(at, own, (c, new.model)) for c in counts]
        elif tree.kind[at] == LEAF:
            continue
        else:
            record.split = tree.split(at) if new is None else new
            below = children(tree, at)
            queue += [(child, own, None) for child in range(below.start, below.stop)]
        record.children = range(first, len(queue))
    new_tree = tree_from_nodes(tree.schema, tree.classes, records)
    return new_tree.replace(costs=tree.costs, shrinkage=tree.shrinkage)
