"""Multivariate tree pruning (Brodley & Utgoff 1995, section 5): tests are pruned too.

After reduced-error pruning, the tests of nodes whose children are all leaves lose features
by backward elimination, as long as the held-out rows are served no worse; of the tests on
the way the one with fewest errors stays. Weights are learned again from the node's own
training rows. Used by the preset bu95.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from omnitree.growing.missing import Mean
from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.learners.grouped import in_groups
from omnitree.parts.coefficients import COEFFICIENTS, Cases, Machine
from omnitree.parts.coefficients.cases import merged
from omnitree.parts.feature_selection import dispersion, trials_of
from omnitree.parts.merit import Misclassification
from omnitree.pruning.base import Evidence, children, held_out_rows
from omnitree.pruning.reduced_error import ReducedError
from omnitree.tree.records import NodeRecord
from omnitree.tree.splits import LinearSplit, MachineSplit, Split
from omnitree.tree.tree import LEAF, Tree, tree_from_nodes


class MultivariatePruning(ReducedError):
    """Reduced-error pruning, then fewer features in the tests above leaves.

    Parameters
    ----------
    share : float, default=0.2
        Share of the training rows held out, by class, when no prune set is given.
    order : {"bottom_up", "top_down"}, default="bottom_up"
        As in `ReducedError`.
    coefficients : str or Coefficients, default="rls"
        Learns the weights of the simplified tests; it should be the learner's own.
    ties : bool, default=False
        Whether a test with fewer features also takes the place of one that errs as often.
        Elimination goes on through ties either way. The paper does not say; without, the
        features that are dropped on its hepatitis data are nearer to its table 24.
    """

    def __init__(self, share=0.2, order="bottom_up", coefficients="rls", ties=False):
        super().__init__(share, order)
        self.coefficients = coefficients
        self.ties = ties

    @property
    def only_cuts(self) -> bool:
        return False

    def prune(self, tree: Tree, evidence: Evidence) -> Tree:
        if tree.models is not None:
            raise ValueError(
                "multivariate pruning changes tests, and with them the rows of leaves: "
                "it cannot keep models in leaves; choose another pruning, or "
                "leaves='majority'"
            )
        COEFFICIENTS.resolve(self.coefficients)  # wrong ones are told, used or not
        tree = super().prune(tree, evidence)
        held_out = held_out_rows(evidence, "multivariate")
        simpler: dict[int, tuple[Split, np.ndarray]] = {}
        parts = [_Passing(tree, rows) for rows in (evidence.train, held_out)]
        for at in range(tree.n_nodes):
            if tree.kind[at] == LEAF or tree.kind[children(tree, at)].any():
                continue
            split = tree.split(at)
            if isinstance(split, LinearSplit | MachineSplit) and len(split.columns) > 1:
                train, test = (part.node(at) for part in parts)
                rng = np.random.default_rng([evidence.seed, at])
                found = self._simplify(split, train, test, rng)
                if found is not split:
                    simpler[at] = found, _table(found, train)
        return _with_tests(tree, simpler) if simpler else tree

    def _simplify(
        self,
        split: LinearSplit | MachineSplit,
        train: Node,
        test: Node,
        rng: np.random.Generator,
    ) -> Split:
        """The test with fewest errors on the held-out rows on the way to fewer features."""
        coefficients = COEFFICIENTS.resolve(self.coefficients)
        cases = merged(Cases.of(train))
        place = {int(c): i for i, c in enumerate(cases.columns)}
        columns = np.array([place[c] for c in split.columns if c in place], dtype=int)
        training = cases
        if coefficients.n_classes == 2 < cases.n_classes:
            side = _table(split, train)
            training = in_groups(cases, side[0] >= side[1:].max(axis=0))
        trials = trials_of(training, coefficients, Misclassification(), rng)
        kept = np.isin(split.columns, cases.columns)
        weights = np.atleast_2d(split.weights)[:, kept] * cases.scaling.std[columns]
        spread = dispersion(Machine(weights, np.zeros(len(weights))))
        best: Split = split
        errors = least = _errors(split, train, test)
        while len(columns) > 1:
            trial, found, wrong = None, best, np.inf
            for i in np.argsort(spread, kind="stable"):
                one = trials.of(np.delete(columns, i))
                if one.discriminates:
                    fewer = cases.take(one.columns).split(one.machine, split.merit)
                    now = _errors(fewer, train, test)
                    if now < wrong - 1e-9:
                        trial, found, wrong = one, fewer, now
            if trial is None or wrong > errors + 1e-9:
                break
            columns, spread, errors = trial.columns, dispersion(trial.machine), wrong
            if self.ties or errors < least - 1e-9:
                best, least = found, errors
        return best


class _Passing:
    """Some rows, by the nodes of a tree that they pass."""

    def __init__(self, tree: Tree, sample: Sample):
        self.path = tree.decision_path(sample.table).tocsc()
        self.sample = sample

    def node(self, at: int) -> Node:
        """The rows that come to a node."""
        share = self.path[:, [at]].tocoo()
        order = np.argsort(share.row)
        rows = share.row[order].astype(np.int64)
        return Node(
            self.sample,
            Rules(Mean()),
            rows,
            self.sample.weight[rows] * share.data[order],
        )


def _table(split: Split, node: Node) -> np.ndarray:
    """Class counts of the rows of a node by branch."""
    branch = split.route(node.sample.table, node.rows)
    shape = (split.n_children, node.target.n_classes)
    table = np.zeros(shape)
    np.add.at(table, (branch, node.y), node.weight)
    return table


def _errors(split: Split, train: Node, test: Node) -> float:
    """Errors, or their cost, on held-out rows of a test whose branches are leaves."""
    learned, seen = _table(split, train), _table(split, test)
    empty = learned.sum(axis=1, keepdims=True) <= 0
    learned = np.where(empty, train.statistics, learned)
    costs = train.target.costs
    every = np.arange(len(seen))
    if costs is None:
        return float(seen.sum() - seen[every, learned.argmax(axis=1)].sum())
    return float((seen @ costs)[every, (learned @ costs).argmin(axis=1)].sum())


def _with_tests(tree: Tree, tests: dict[int, tuple[Split, np.ndarray]]) -> Tree:
    """The tree with other tests, given with the counts of the leaves below them."""
    records: list[NodeRecord] = []
    # What becomes a node: its parent, its counts and, of nodes that stay, its old number.
    queue: list[tuple[int, np.ndarray, int | None]] = [(-1, tree.value[0], 0)]
    for parent, value, old in queue:  # grows while it is read: breadth first
        record = NodeRecord(parent, value)
        if old is not None and tree.kind[old] != LEAF:
            below: list[tuple[int, np.ndarray, int | None]]
            if old in tests:
                record.split = replace(tests[old][0], merit=float(tree.merit[old]))
                below = [(len(records), counts, None) for counts in tests[old][1]]
            else:
                record.split = tree.split(old)
                part = children(tree, old)
                below = [
                    (len(records), tree.value[c], c)
                    for c in range(part.start, part.stop)
                ]
            record.children = range(len(queue), len(queue) + len(below))
            queue.extend(below)
        records.append(record)
    return tree_from_nodes(tree.schema, tree.classes, records)
