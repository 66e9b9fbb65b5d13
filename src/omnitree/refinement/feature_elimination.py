"""Fewer features in the tests above leaves (Brodley & Utgoff 1995, section 5).

The paper calls it multivariate tree pruning: after reduced-error pruning, the tests of nodes
whose children are all leaves lose features by backward elimination, as long as the held-out
rows are served no worse; of the tests on the way the one with fewest errors stays. Weights
are learned again from the node's own training rows. The paper may mean children that were
leaves before anything was cut, so that fewer tests lose features
(`benchmarks/results/mtp_variants.md`). Used by the preset bu95.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from omnitree.growing.missing import Mean
from omnitree.growing.node import Node, Rules
from omnitree.growing.part import one_of
from omnitree.learners.grouped import in_groups
from omnitree.parts.coefficients import COEFFICIENTS, Cases, Coefficients, Machine
from omnitree.parts.coefficients.cases import merged
from omnitree.parts.feature_selection import dispersion, trials_of
from omnitree.parts.feature_selection.base import pick
from omnitree.parts.merit import Misclassification
from omnitree.pruning.base import Evidence, children, held_out_rows
from omnitree.refinement.base import NodeRows, Refinement
from omnitree.tree.splits import LinearSplit, MachineSplit, Split
from omnitree.tree.tree import LEAF, Tree

# Differences of errors below this are rounding.
ROUNDING = 1e-9


class FeatureElimination(Refinement):
    """Eliminate features from linear tests above leaves while held-out rows allow it.

    It judges by the prune set, or by the rows that the pruning holds out.

    Parameters
    ----------
    share : float, default=0.2
        Share of the training rows held out, by class, where there is no prune set and the
        pruning holds out none.
    coefficients : str or Coefficients, default="rls"
        Learns the weights of the simplified tests; it should be the learner's own.
    ties : bool, default=False
        Whether a test with fewer features also takes the place of one that errs as often.
        Elimination goes on through ties either way. The paper does not say; without, the
        features that are dropped on its hepatitis data are nearer to its table 24.
    judge : {"held_out", "training"}, default="held_out"
        Which rows say, in each step, what feature goes: of all tests with one feature less
        the one with fewest errors on them is tried on the held-out rows. The paper says
        that its search for features is used (SBE), which judges by the training rows.
    needed : bool, default=False
        Whether only tests are simplified that held-out rows need: a leaf would make more
        errors. Reduced-error pruning leaves no others unless it keeps ties.
    machine : None, str or Coefficients, default=None
        Learns the weights in trees of more than two classes, as in `Multivariate`.
    """

    share: float = 0.2
    coefficients: str | Coefficients = "rls"
    ties: bool = False
    judge: str = "held_out"
    needed: bool = False
    machine: Any = None

    @property
    def needs_share(self) -> float:
        return self.share

    def refine(self, tree: Tree, evidence: Evidence) -> Tree:
        """The tree with simpler tests above its leaves."""
        if tree.models is not None:
            raise ValueError(
                "feature elimination changes tests, and with them the rows of leaves: it "
                "cannot keep models in leaves; choose leaves='majority'"
            )
        many = self.machine is not None and evidence.train.target.n_classes > 2
        coefficients = COEFFICIENTS.resolve(self.machine if many else self.coefficients)
        one_of("judge", self.judge, ("held_out", "training"))
        held_out = held_out_rows(evidence, "feature elimination")
        learning, judging = NodeRows(tree, evidence.train), NodeRows(tree, held_out)
        rules = Rules(Mean())
        simpler: dict[int, Split | None] = {}
        for at in range(tree.n_nodes):
            if tree.kind[at] == LEAF or tree.kind[children(tree, at)].any():
                continue
            split = tree.split(at)
            if isinstance(split, LinearSplit | MachineSplit) and len(split.columns) > 1:
                train, test = learning.node(at, rules), judging.node(at, rules)
                if self.needed and not _is_needed(split, train, test):
                    continue
                rng = np.random.default_rng([evidence.seed, at])
                found = self._simplify(split, coefficients, train, test, rng)
                if found is not split:
                    simpler[at] = replace(found, merit=split.merit)
        return tree.with_splits(simpler, evidence.train) if simpler else tree

    def _simplify(
        self,
        split: LinearSplit | MachineSplit,
        coefficients: Coefficients,
        train: Node,
        test: Node,
        rng: np.random.Generator,
    ) -> Split:
        """The test with fewest errors on the held-out rows on the way to fewer features."""
        cases = merged(Cases.of(train))
        place = {int(c): i for i, c in enumerate(cases.columns)}
        columns = np.array([place[c] for c in split.columns if c in place], dtype=int)
        training = cases
        if coefficients.n_classes == 2 < cases.n_classes:
            side = _branch_counts(split, train)
            training = in_groups(cases, side[0] >= side[1:].max(axis=0))
        trials = trials_of(training, coefficients, Misclassification(), rng)
        varies = np.isin(split.columns, cases.columns)
        weights = np.atleast_2d(split.weights)[:, varies] * cases.scaling.std[columns]
        spread = dispersion(Machine(weights, np.zeros(len(weights))))
        best: Split = split
        errors = fewest = _errors(split, train, test)
        while len(columns) > 1:
            order = np.argsort(spread, kind="stable")
            shorter = [trials.of(np.delete(columns, i)) for i in order]
            shorter = [trial for trial in shorter if trial.discriminates]
            if self.judge == "training" and shorter:
                shorter = [shorter[pick([trial.worth for trial in shorter])]]
            step, step_split, step_errors = None, best, np.inf
            for trial in shorter:
                candidate = cases.take(trial.columns).split(trial.machine, split.merit)
                wrong = _errors(candidate, train, test)
                if wrong < step_errors - ROUNDING:
                    step, step_split, step_errors = trial, candidate, wrong
            if step is None or step_errors > errors + ROUNDING:
                break
            columns, spread, errors = (
                step.columns,
                dispersion(step.machine),
                step_errors,
            )
            if self.ties or errors < fewest - ROUNDING:
                best, fewest = step_split, errors
        return best


def _branch_counts(split: Split, node: Node) -> np.ndarray:
    """Class counts of the rows of a node by branch."""
    branch = split.route(node.sample.table, node.rows)
    return node.target.statistics_by(branch, split.n_children, node.weight)


def _is_needed(split: Split, train: Node, test: Node) -> bool:
    """Whether held-out rows get more errors, or costs, from a leaf than from the test."""
    tested, costs = test.statistics, train.target.costs
    if costs is None:
        as_leaf = tested.sum() - tested[train.statistics.argmax()]
    else:
        as_leaf = (tested @ costs)[(train.statistics @ costs).argmin()]
    return bool(as_leaf > _errors(split, train, test) + ROUNDING)


def _errors(split: Split, train: Node, test: Node) -> float:
    """Errors, or their cost, on held-out rows of a test whose branches are leaves."""
    learned, tested = _branch_counts(split, train), _branch_counts(split, test)
    empty = learned.sum(axis=1, keepdims=True) <= 0
    learned = np.where(empty, train.statistics, learned)
    costs, every = train.target.costs, np.arange(len(tested))
    if costs is None:
        return float(tested.sum() - tested[every, learned.argmax(axis=1)].sum())
    return float((tested @ costs)[every, (learned @ costs).argmin(axis=1)].sum())
