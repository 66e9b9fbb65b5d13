"""The contest: subtrees against single tests of many columns; held-out errors decide.

A univariate tree is cut back by cross-validated cost-complexity, which tells for every row
whether it was misclassified while held out. Then, from the root down, each node asks its
rivals: one test over many columns, a branch for each class, cross-validated on the node's
own rows. Where a rival makes fewer held-out errors than the subtree it takes its place; else
the node keeps its test and its children ask again. At the root the simplest rival wins when
in doubt. So simple regions get simple tests, and machines stand only where evidence asks for
them. Used by the preset `omni`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from omnitree.held_out import HeldOut, by_group
from omnitree.learners import LEARNERS, Boosted, Softmax
from omnitree.learners.trial import Trial, TrialLearner
from omnitree.node import Node, Problem
from omnitree.parts import number
from omnitree.pruning.base import (
    Evidence,
    Pruning,
    Rows,
    children,
    mistakes,
    subtree_sums,
    training_errors,
)
from omnitree.pruning.cost_complexity import (
    CostComplexity,
    errors_at,
    fold_trees,
    steps,
    weakest_links,
)
from omnitree.splits import Considered, Split
from omnitree.tree import LEAF, NodeRecord, Tree, tree_from_nodes

# Of more than 500 terms nobody reads a quadratic form, unless few of them are used.
RIVALS = (
    Softmax(),
    Softmax("quadratic", max_columns=500),
    Boosted("quadratic", min_columns=501, max_cells=500_000),
)


class Contest(Pruning):
    """Cut back by cost-complexity, then let tests of many columns replace subtrees.

    Parameters
    ----------
    rivals : sequence of Softmax and Boosted
        From the simplest to the richest; by default a linear and a quadratic softmax and,
        where the latter has more than 500 terms, a boosted quadratic test, which is sparse.
        With none it is cost-complexity pruning.
    folds : int, default=10
        Of the cross-validation of the tree.
    se : float, default=0.0
        The tree is the smallest within this many standard errors of the best.
    margin : float, default=0.0
        A rival must have fewer held-out errors than the subtree by this many standard
        errors of the difference.
    root_margin : float, default=-1.0
        The same for the first rival against the whole tree, if that has more than a leaf:
        when in doubt, one test of the simplest kind is better.
    step : float, default=1.0
        A rival with more parameters must beat one with fewer by this many.
    min_rows : int, default=30
        Nodes with fewer rows have no rivals.
    max_rows : int, default=20000
        In nodes with more rows, rivals see a stratified sample of this size. With more
        than ten times as many rows in all, one fold tests the tree instead of all.
    sparse : float or None, default=0.5
        A rival that has won loses its least weights as long as neither its held-out errors
        nor its held-out likelihood are worse by more than this many standard errors. None
        keeps all weights.
    """

    def __init__(
        self,
        rivals=RIVALS,
        folds=10,
        se=0.0,
        margin=0.0,
        root_margin=-1.0,
        step=1.0,
        min_rows=30,
        max_rows=20_000,
        sparse=0.5,
    ):
        self.rivals = rivals
        self.folds = folds
        self.se = se
        self.margin = margin
        self.root_margin = root_margin
        self.step = step
        self.min_rows = min_rows
        self.max_rows = max_rows
        self.sparse = sparse

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
        rivals = [LEARNERS.resolve(rival) for rival in self.rivals]
        number("margin", self.margin, 0)
        number("root_margin", self.root_margin, -np.inf)
        number("step", self.step, 0)
        rows, problem = evidence.train, evidence.problem
        if problem is None:
            raise ValueError("the contest fits new tests and belongs into fit")
        tree, held_out = self._cut_back(tree, evidence)
        if not rivals:
            return tree
        start, passing, _ = tree.passing(rows.table)
        leaves = subtree_sums(tree, np.ones(tree.n_nodes))
        limits, n_leaves = problem.limits, tree.n_leaves
        splits: dict[int, Split] = {}
        queue = [0]
        for at in queue:
            here = passing[start[at] : start[at + 1]]
            tested = here[held_out.weight[here] > 0]
            enough = held_out.weight[tested].sum() >= self.min_rows - 1e-9
            if not enough or not held_out.wrong[tested].any():
                continue
            if tree.depths[at] == limits.max_depth or limits.expired():
                continue
            eager = at == 0 and tree.kind[0] != LEAF
            first = self.root_margin if eager else self.margin
            trials, best = self._compete(problem, tested, rivals, held_out, first)
            split = None if best is None else trials[best].split()
            more = 0 if split is None else split.n_children - int(leaves[at])
            if limits.max_leaves is not None and n_leaves + more > limits.max_leaves:
                split = None
            if split is None and tree.kind[at] == LEAF:
                continue
            said = _said(tree, at, trials, held_out, None if split is None else best)
            splits[at] = replace(split or tree.split(at), candidates=said)
            if split is None:
                part = children(tree, at)
                queue.extend(range(part.start, part.stop))
            else:
                n_leaves += more
        return graft(tree, splits, rows) if splits else tree

    def _cut_back(self, tree: Tree, evidence: Evidence) -> tuple[Tree, HeldOut]:
        """The pruned tree, and how it fared on rows that were held out."""
        links = weakest_links(tree, training_errors(tree, evidence))
        alphas, prices = steps(tree, links)
        many = tree.value[0].sum() > 10 * number("max_rows", self.max_rows, 1)
        parts = fold_trees(evidence, self.folds, 1 if many else None)
        by_fold = np.array(
            [errors_at(t.tree, t.links, prices * t.total, t.test) for t in parts]
        )
        weight, wrong = np.zeros((2, len(evidence.train.y)))
        for part in parts:
            weight[part.rows] += part.test.weight
        size = CostComplexity(self.folds, se=self.se)
        chosen = size.choose(
            by_fold, by_group(weight, evidence.train.groups), tree.costs is None
        )
        for part in parts:
            answer = part.cut(prices[chosen]).predict_labels(part.test.table)
            lost = mistakes(part.tree, part.test.y, answer)
            wrong[part.rows] += part.test.weight * lost
        return tree.collapse(links <= alphas[chosen]), HeldOut(weight, wrong)

    def _compete(
        self,
        problem: Problem,
        here: np.ndarray,
        rivals: Sequence[TrialLearner],
        held_out: HeldOut,
        first: float,
    ) -> tuple[list[Trial], int | None]:
        """What rivals make of rows of a node; which beats the subtree and the others.

        `first` is the margin of the first rival.
        """
        if len(here) > self.max_rows:
            here = _sample(problem, here, self.max_rows)
        node = Node(problem, here, problem.weight[here])
        least = held_out.shares()[here]
        trials: list[Trial] = []
        best = None
        for rank, rival in enumerate(rivals):
            trial = rival.trial(node, least)
            if trial is None:
                continue
            trials.append(trial)
            found, needed = trial.held_out, self.margin if rank else first
            if best is not None:
                richer = trial.n_parameters > trials[best].n_parameters
                needed = self.step if richer else 0.0
            if found.complete and found.gain(least) > needed + 1e-9:
                best, least = len(trials) - 1, found.shares()
        if best is None or self.sparse is None or problem.limits.expired():
            return trials, best
        sparse = trials[best].sparser(number("sparse", self.sparse, 0))
        if sparse is not None:
            best = len(trials)
            trials.append(sparse)
        return trials, best


def _said(
    tree: Tree, at: int, trials: list[Trial], held_out: HeldOut, best: int | None
) -> tuple[Considered, ...]:
    """The candidates of a node and their held-out errors, for the reader of the tree."""
    if not trials:
        return ()
    here = trials[0].rows.rows
    below = tree.collapse(np.arange(tree.n_nodes)) if at == 0 else _subtree(tree, at)
    share = float(held_out.wrong[here].sum() / held_out.weight[here].sum())
    kind = "leaf" if tree.kind[at] == LEAF else tree.split(at).kind
    what = "error" if tree.costs is None else "cost"
    said = [
        Considered(
            "univariate subtree", kind, below.n_parameters, what, share, best is None
        )
    ]
    for i, trial in enumerate(trials):
        said.append(
            Considered(
                trial.name,
                trial.kind,
                trial.n_parameters,
                what,
                trial.held_out.error,
                best == i,
            )
        )
    return tuple(said)


def _subtree(tree: Tree, at: int) -> Tree:
    """The part of a tree below a node."""
    to = np.arange(tree.n_nodes)
    to[0] = at
    return tree.collapse(to)


def _sample(problem: Problem, rows: np.ndarray, n: int) -> np.ndarray:
    """About n of the rows, in the order of the table, each class by its share."""
    part = Rows(problem.table, problem.y, problem.weight).take(rows)
    return rows[part.folds(len(rows) / n, problem.seed) == 0]


def graft(tree: Tree, splits: dict[int, Split], rows: Rows) -> Tree:
    """The tree with other tests at some nodes.

    Where a test is the node's own (with other candidates to remember), what lies below it
    stays; the branches of any other are leaves.
    """
    start, passing, _ = tree.passing(rows.table)
    records: list[NodeRecord] = []
    queue: list[tuple[int, int, np.ndarray | None]] = [(0, -1, None)]
    for at, parent, value in queue:  # grows while it is read: breadth first
        record = NodeRecord(parent, tree.value[at] if value is None else value)
        records.append(record)
        if value is not None or (tree.kind[at] == LEAF and at not in splits):
            continue
        own, first = len(records) - 1, len(queue)
        kept = None if tree.kind[at] == LEAF else tree.split(at)
        split = record.split = splits.get(at, kept)
        if split is None or split == kept:
            part = children(tree, at)
            queue += [(child, own, None) for child in range(part.start, part.stop)]
        else:
            here = passing[start[at] : start[at + 1]]
            branch = split.route(rows.table, here)
            counts = np.zeros((split.n_children, len(tree.classes)))
            np.add.at(counts, (branch, rows.y[here]), rows.weight[here])
            queue += [(at, own, c) for c in counts]
        record.children = range(first, len(queue))
    return tree_from_nodes(tree.schema, tree.classes, records).replace(costs=tree.costs)
