"""What a learner of tests over many columns found at a node, before the test is made.

`Trial` keeps the held-out answers, by which the pruning `contest` compares such tests with
subtrees and with each other. Its functions, one for each class, become a test with a branch
for each class; of two classes this is one linear or quadratic test, of more a machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnitree.column_source import Quadratic
from omnitree.discriminants.base import Functions
from omnitree.held_out import HeldOut
from omnitree.linear_rows import Floats, LinearRows
from omnitree.merit import MERITS
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
