"""The contest: subtrees against single tests of many columns; held-out errors decide.

A univariate tree is cut back by cross-validated cost-complexity, which tells for every row
whether it was misclassified while held out. Then, from the root down, each node asks its
rivals: one test over many columns, a branch for each class, cross-validated on the node's
own rows. Where a rival makes fewer held-out errors than the subtree it takes its place; else the
node keeps its test and its children ask again. So simple regions get simple tests, and a
linear or quadratic machine stands only where evidence asks for it. Used by the preset
`omni`.
"""

from __future__ import annotations

import numpy as np

from omnitree.folds import fold_weights
from omnitree.learners import LEARNERS, Softmax
from omnitree.learners.softmax import Trial
from omnitree.node import Node, Problem
from omnitree.parts import number
from omnitree.pruning.base import (
    Evidence,
    Pruning,
    Rows,
    children,
    subtree_sums,
    training_errors,
)
from omnitree.pruning.cost_complexity import errors_at, fold_trees, weakest_links
from omnitree.splits import Split
from omnitree.tree import LEAF, NodeRecord, Tree, tree_from_nodes

RIVALS = (Softmax(), Softmax("quadratic"))


class Contest(Pruning):
    """Cut back by cost-complexity, then let tests of many columns replace subtrees.

    Parameters
    ----------
    rivals : sequence of Softmax, default=(linear, quadratic)
        From the simplest to the richest.
    folds : int, default=10
        Of the cross-validation of the tree.
    se : float, default=0.0
        The tree is the smallest within this many standard errors of the best.
    margin : float, default=0.5
        A rival must have fewer errors than the best so far by this many standard errors
        of the difference; a richer one, than a simpler one.
    min_rows : int, default=30
        Nodes with fewer rows have no rivals.
    max_rows : int, default=20000
        In nodes with more rows, rivals see a stratified sample of this size.
    """

    def __init__(
        self,
        rivals=RIVALS,
        folds=10,
        se=0.0,
        margin=0.5,
        min_rows=30,
        max_rows=20_000,
    ):
        self.rivals = rivals
        self.folds = folds
        self.se = se
        self.margin = margin
        self.min_rows = min_rows
        self.max_rows = max_rows

    def prune(self, tree: Tree, evidence: Evidence) -> Tree:
        """The tree after the contest."""
        rivals = [LEARNERS.resolve(rival) for rival in self.rivals]
        margin = number("margin", self.margin, 0)
        rows, problem = evidence.train, evidence.problem
        if problem is None:
            raise ValueError("the contest fits new tests and belongs into fit")
        tree, wrong = self._cut_back(tree, evidence)
        path = tree.decision_path(rows.table).tocsc()
        leaves = subtree_sums(tree, np.ones(tree.n_nodes))
        limits, n_leaves = problem.limits, tree.n_leaves
        winners: dict[int, Split] = {}
        queue = [0]
        for at in queue:
            here = np.sort(path.indices[path.indptr[at] : path.indptr[at + 1]])
            if tree.value[at].sum() < self.min_rows or not wrong[here].any():
                continue
            winner = None
            if tree.depths[at] != limits.max_depth and not limits.expired():
                winner = self._best_rival(problem, here, wrong, rivals, margin)
            split = None if winner is None else winner.split()
            more = 0 if split is None else split.n_children - int(leaves[at])
            room = limits.max_leaves is None or n_leaves + more <= limits.max_leaves
            if split is not None and room:
                winners[at] = split
                n_leaves += more
            elif tree.kind[at] != LEAF:
                part = children(tree, at)
                queue.extend(range(part.start, part.stop))
        return graft(tree, winners, rows) if winners else tree

    def _cut_back(self, tree: Tree, evidence: Evidence) -> tuple[Tree, np.ndarray]:
        """The pruned tree, and the weight of each row that was wrong while held out."""
        links = weakest_links(tree, training_errors(tree, evidence))
        total = tree.value[0].sum()
        alphas = np.unique(np.concatenate([[0.0], links[tree.kind != LEAF]]))
        prices = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf) / total
        parts = fold_trees(evidence, self.folds)
        errors = np.sum(
            [errors_at(t.tree, t.links, prices * t.total, t.test, None) for t in parts],
            axis=0,
        )
        best = errors.min()
        slack = self.se * np.sqrt(best * max(1 - best / total, 0.0))
        chosen = int(np.flatnonzero(errors <= best + slack + 1e-9)[-1])
        wrong = np.zeros(len(evidence.train.y))
        for part in parts:
            answer = part.cut(prices[chosen]).predict_labels(part.test.table)
            wrong[part.rows] += part.test.weight * (answer != part.test.y)
        return tree.collapse(links <= alphas[chosen]), wrong

    def _best_rival(
        self, problem: Problem, here: np.ndarray, wrong: np.ndarray, rivals, margin
    ) -> Trial | None:
        """The rival that beats the subtree and all simpler rivals, or None."""
        if len(here) > self.max_rows:
            here = _sample(problem, here, self.max_rows)
        node = Node(problem, here, problem.weight[here])
        best, best_wrong = None, wrong[here]
        for rival in rivals:
            trial = rival.trial(node)
            if trial is None:
                continue
            gain = best_wrong - trial.wrong
            spread = np.sqrt((gain**2 / node.weight).sum())
            if gain.sum() > margin * spread + 1e-9:
                best, best_wrong = trial, trial.wrong
        return best


def _sample(problem: Problem, rows: np.ndarray, n: int) -> np.ndarray:
    """About n of the rows, in the order of the table, each class by its share."""
    part = Rows(problem.table, problem.y, problem.weight).take(rows)
    folds = len(rows) / n
    weight = fold_weights(part.table, part.y, part.weight, folds, problem.seed)
    return rows[weight[:, 0] > 0]


def graft(tree: Tree, winners: dict[int, Split], rows: Rows) -> Tree:
    """The tree with tests in place of some subtrees; their branches are leaves."""
    path = tree.decision_path(rows.table).tocsc()
    records: list[NodeRecord] = []
    queue: list[tuple[int, int, np.ndarray | None]] = [(0, -1, None)]
    for at, parent, value in queue:  # grows while it is read: breadth first
        record = NodeRecord(parent, tree.value[at] if value is None else value)
        records.append(record)
        if value is not None or (tree.kind[at] == LEAF and at not in winners):
            continue
        first = len(queue)
        if at in winners:
            record.split = winners[at]
            here = np.sort(path.indices[path.indptr[at] : path.indptr[at + 1]])
            branch = record.split.route(rows.table, here)
            counts = np.zeros((record.split.n_children, len(tree.classes)))
            np.add.at(counts, (branch, rows.y[here]), rows.weight[here])
            queue += [(at, len(records) - 1, c) for c in counts]
        else:
            record.split = tree.split(at)
            part = children(tree, at)
            own = len(records) - 1
            queue += [(child, own, None) for child in range(part.start, part.stop)]
        record.children = range(first, len(queue))
    return tree_from_nodes(tree.schema, tree.classes, records)
