"""What a learner of tests over many columns found at a node, before the test is made.

`TrialLearner` is what such learners (softmax, boosted) share.

`Trial` keeps the held-out answers, by which the pruning `contest` compares such tests with
subtrees and with each other. Its functions, one for each class, become a test with a branch
for each class; of two classes this is one linear or quadratic test, of more a machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnitree.column_source import Quadratic
from omnitree.discriminants.base import Functions
from omnitree.folds import deal
from omnitree.held_out import HeldOut
from omnitree.learners.base import SplitLearner
from omnitree.linear_rows import Floats, LinearRows
from omnitree.merit import MERITS
from omnitree.node import EXPANSIONS, Node
from omnitree.parts import number, unknown
from omnitree.splits import Split


@dataclass(frozen=True)
class Trial:
    """What cross-validation found.

    Attributes
    ----------
    name : str
        Of the candidate, for the reader of the tree.
    rows : LinearRows
    expansion : str
        "linear" or "quadratic".
    held_out : HeldOut
    """

    name: str
    rows: LinearRows
    expansion: str
    held_out: HeldOut

    @property
    def kind(self) -> str:
        """Kind of the test."""
        two = len(self.rows.present) == 2
        if self.expansion == "linear":
            return "linear" if two else "machine"
        return "quadratic" if two else "quadratic_machine"

    @property
    def n_parameters(self) -> int:
        """Free parameters of the test."""
        return self.parameters(self.rows.n_columns)

    def parameters(self, n_columns: int) -> int:
        """Free parameters of a test over so many columns."""
        k = len(self.rows.present)
        return (1 if k == 2 else k) * (n_columns + 1)

    def functions(self) -> tuple[Floats, Floats]:
        """Weights (k, p) and biases (k,) of the columns, fitted to all rows."""
        raise AssertionError(f"{type(self).__name__} has no functions")

    def sparser(self, margin: float) -> Trial | None:
        """A test with fewer weights that is not worse by so many standard errors."""
        return None

    def split(self) -> Split | None:
        """The test; None if all rows take one branch."""
        weights, bias = self.functions()
        branch = (self.rows.columns @ weights.T + bias).argmax(axis=1)
        cells = branch * self.rows.n_classes + self.rows.y
        shape = (len(bias), self.rows.n_classes)
        counts = np.bincount(cells, self.rows.weight, shape[0] * shape[1])
        counts = counts.reshape(shape)
        used = np.flatnonzero(counts.sum(axis=1) > 0)
        if len(used) < 2:
            return None
        merit = float(MERITS.resolve("gain")(counts[used]))
        weights, bias = weights[used], bias[used]
        source, fill = self.rows.source, self.rows.fill
        if len(used) == 2:
            return source.split(weights[1] - weights[0], bias[0] - bias[1], fill, merit)
        if isinstance(source, Quadratic):
            return source.machine(weights, bias, fill, merit)
        functions = Functions(self.rows.present[used], weights, bias)
        return functions.machine(self.rows, merit)


@dataclass(frozen=True)
class Folds:
    """Rows of a node for cross-validation.

    Attributes
    ----------
    y : int array (n,)
        Classes as positions among those present.
    fold : int array (n,)
        The fold that holds each row out.
    costs : float array or None
        What wrong answers cost, a line for each class present.
    """

    y: NDArray[np.int32]
    fold: NDArray[np.int64]
    costs: Floats | None

    @classmethod
    def of(cls, node: Node, rows: LinearRows, folds: int) -> Folds | None:
        """Folds of a node, whatever the order of rows; None where there are not two."""
        problem = node.problem
        y = np.searchsorted(rows.present, rows.y).astype(np.int32)
        fold = deal(
            problem.row_hash[rows.rows],
            y,
            folds,
            problem.seed,
            (rows.weight,),
            problem.groups_of(rows.rows),
        )
        if (fold == fold[0]).all():
            return None
        costs = problem.class_costs
        return cls(y, fold, None if costs is None else costs[rows.present])


class TrialLearner(SplitLearner):
    """A learner whose test is cross-validated before it is made."""

    expansion: str
    min_columns: int
    max_columns: int | None
    max_cells: int | None

    @property
    def resamples(self) -> bool:
        return True

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The test for one node."""
        trial = self.trial(node)
        return None if trial is None else trial.split()

    def check_expansion(self) -> None:
        """Refuse an expansion that does not exist."""
        if self.expansion not in EXPANSIONS:
            raise ValueError(unknown("expansion", self.expansion, list(EXPANSIONS)))

    def suits(self, node: Node) -> bool:
        """Whether the node has two classes, and a number of columns that is allowed."""
        p = node.problem.source(self.expansion).n_columns
        k = int((node.counts > 0).sum())
        columns, cells = (
            np.inf if most is None else most
            for most in (self.max_columns, self.max_cells)
        )
        number("min_columns", self.min_columns, 1)
        number("max_columns", columns, 1)
        few = len(node.rows) * p * k <= number("max_cells", cells, 1)
        return k >= 2 and self.min_columns <= p <= columns and few

    def trial(self, node: Node, against: Floats | None = None) -> Trial | None:
        """Cross-validate; None where there is nothing to fit.

        `against` has the share of each row that another test misclassifies; a learner may
        give up when it sees that it cannot do better.
        """
        raise AssertionError(f"{type(self).__name__} has no trial")
