"""The K-way learner: a branch for each class, chosen by the largest discriminant.

Linear discriminants of all classes at the node become one linear machine, over all columns
or over the single column that does best. Branches that get no training row are dropped;
their rows then go to the best of the others. Used by the presets fact and cruise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import one_of
from omnitree.learners.analytic import varying
from omnitree.parts.discriminants import DISCRIMINANTS, Discriminants, Functions
from omnitree.parts.merit import MERITS, Merit
from omnitree.tree.splits import Split


@dataclass(frozen=True)
class KWayCandidate:
    """Discriminants whose branches all have rows, and these by branch and class."""

    functions: Functions
    counts: Floats

    @property
    def is_useful(self) -> bool:
        """Whether its branches differ in their largest class."""
        return len(set(self.counts.argmax(axis=1).tolist())) > 1


class KWay(SplitLearner):
    """One branch per class: a row goes to the class with the largest discriminant.

    Parameters
    ----------
    discriminants : str or Discriminants, default="lda"
        Must be linear.
    node : {"linear", "univariate"}, default="linear"
        Discriminants of all columns, or of the one column with the best merit.
    merit : str or Merit, default="gain"
        Compares columns, and nodes where the best are split first.
    improve : bool, default=False
        Leave a node whole if its branches make no fewer training errors (FACT).
    distinct : bool, default=False
        Where all branches have the same largest class, take the next best test: another
        column, or discriminants with equal priors (CRUISE).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import KWay
    >>> clf = TreeClassifier(learner=KWay(), max_depth=1).fit(*load_iris(return_X_y=True))
    >>> clf.tree_.n_leaves
    3
    """

    discriminants: str | Discriminants = "lda"
    node: str = "linear"
    merit: str | Merit = "gain"
    improve: bool = False
    distinct: bool = False
    draws = False

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best K-way test for one node."""
        discriminants = DISCRIMINANTS.resolve(self.discriminants)
        merit = MERITS.resolve(self.merit, "classification")
        one_of("node", self.node, ("linear", "univariate"))
        if not discriminants.linear:
            kind = type(discriminants).__name__
            raise ValueError(f"K-way nodes need linear discriminants, not {kind}")
        rows = node.linear
        search = self._linear if self.node == "linear" else self._univariate
        tests = search(rows, discriminants, merit)
        best = next(tests, None)
        if self.distinct and best is not None and not best.is_useful:
            best = next((test for test in tests if test.is_useful), best)
        if best is None:
            return None
        errors = best.counts.sum() - best.counts.max(axis=1).sum()
        if self.improve and errors >= node.total - node.statistics.max() - 1e-9:
            return None
        return rows.machine(
            best.functions.weights, best.functions.bias, float(merit(best.counts))
        )

    def _linear(
        self, rows: NodeColumns, discriminants: Discriminants, merit: Merit
    ) -> Iterator[KWayCandidate]:
        """Discriminants of all columns: with the node's priors, then with equal ones."""
        for equal in (False, True) if self.distinct else (False,):
            test = _candidate(rows, discriminants.fit(rows, equal))
            if test is not None:
                yield test

    def _univariate(
        self, rows: NodeColumns, discriminants: Discriminants, merit: Merit
    ) -> Iterator[KWayCandidate]:
        """Discriminants of single columns, the best first, of equals the first."""
        tests = []
        for j in np.flatnonzero(varying(rows)):
            functions = discriminants.fit(rows.of_column(int(j)))
            weights = np.zeros((len(functions.classes), rows.columns.shape[1]))
            weights[:, [j]] = functions.weights
            own = Functions(functions.classes, weights, functions.bias)
            test = _candidate(rows, own)
            if test is not None:
                tests.append(test)
        value = np.array([float(merit(test.counts)) for test in tests])
        yield from (tests[i] for i in np.argsort(-np.round(value, 12), kind="stable"))


def _candidate(rows: NodeColumns, functions: Functions) -> KWayCandidate | None:
    """Functions with a branch each that some row takes, or None for fewer than two."""
    if not (functions.weights != 0).any():
        return None
    branch = functions.values(rows.columns).argmax(axis=1)
    n = len(functions.classes)
    cells = branch * rows.n_classes + rows.y
    flat = np.bincount(cells, weights=rows.weight, minlength=n * rows.n_classes)
    counts: Floats = flat.reshape(n, -1).astype(np.float64)
    used = np.flatnonzero(counts.sum(axis=1) > 0)
    if len(used) < 2:
        return None
    return KWayCandidate(functions.take(used), counts[used])
