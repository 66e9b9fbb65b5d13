"""What a coefficient learner is, and the rows and machines it works with.

The columns of a node are standardised on the node's own rows (Brodley & Utgoff 1995, 2.2),
gaps become 0, the mean. A coefficient learner turns them into weights: one discriminant for
two classes (a linear threshold unit), or one a class (a linear machine). `Cases.split` folds
the weights back into the user's units. Used by the feature selections and the multivariate
learner.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree.data.encoding.linear_view import LinearView
from omnitree.growing.node import Node
from omnitree.growing.part import Part
from omnitree.tree.splits import LinearSplit, MachineSplit, Split

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """Weights on standardised columns.

    Attributes
    ----------
    weights : float array (D, m)
        With D = 1 a threshold unit, whose class is 1 where its discriminant is above 0;
        with D > 1 a linear machine, whose class has the largest discriminant (the first of
        several).
    bias : float array (D,)
    """

    weights: Floats
    bias: Floats

    def branches(self, z: Floats) -> NDArray[np.intp]:
        """Branch of each row."""
        g = z @ self.weights.T + self.bias
        return (
            (g[:, 0] > 0).astype(np.intp) if len(self.bias) == 1 else g.argmax(axis=1)
        )


@dataclass(frozen=True)
class Cases:
    """Rows of a node as coefficient learners see them.

    Attributes
    ----------
    z : float array (n, m), C-ordered
        Columns with mean 0 and deviation 1 at this node; gaps and constant columns are 0.
    y : int array (n,)
        Position of the row's class among the classes present, `classes`.
    weight : float array (n,)
    columns : int array (m,)
        Which encoded columns of the table these are.
    classes : int array (D,)
    mean, std : float arrays (m,)
    """

    z: Floats
    y: NDArray[np.int32]
    weight: Floats
    columns: NDArray[np.intp]
    classes: NDArray[np.intp]
    mean: Floats
    std: Floats

    @classmethod
    def of(cls, node: Node) -> Cases:
        """The rows of a node; columns that are constant there are left out."""
        view = node.sample.table.linear_view
        mean, std, z = view.standardise(node.rows, node.weight, order="C")
        used = np.flatnonzero(std > 0)
        classes = np.flatnonzero(node.statistics > 0)
        return cls(
            np.ascontiguousarray(z[:, used]),
            np.searchsorted(classes, node.y).astype(np.int32),
            node.weight,
            used,
            classes,
            mean[used],
            std[used],
        )

    @property
    def n_classes(self) -> int:
        """Number of classes present."""
        return len(self.classes)

    @cached_property
    def class_weight(self) -> Floats:
        """Weight of each class present."""
        return np.bincount(self.y, self.weight, self.n_classes).astype(np.float64)

    @cached_property
    def n_distinct(self) -> int:
        """Number of rows with different cells, whatever their class."""
        return len(np.unique(self.z, axis=0))

    def take(self, columns: NDArray[np.intp]) -> Cases:
        """Only some of the columns, by their positions here."""
        return replace(
            self,
            z=np.ascontiguousarray(self.z[:, columns]),
            columns=self.columns[columns],
            mean=self.mean[columns],
            std=self.std[columns],
        )

    def counts(self, branch: NDArray[np.intp], n_branches: int) -> Floats:
        """Weighted table branches x classes present, as merits read it."""
        cell = branch * self.n_classes + self.y
        size = n_branches * self.n_classes
        table = np.bincount(cell, weights=self.weight, minlength=size)
        return table.astype(np.float64).reshape(n_branches, self.n_classes)

    def split(self, machine: Machine, merit: float) -> Split:
        """The machine as a test in the table's own units.

        Branches of a machine that get none of these rows are dropped; their rows then go
        to the best of the others.
        """
        weights, bias = LinearView.fold(
            machine.weights, machine.bias, self.mean, self.std
        )
        columns = tuple(int(j) for j in self.columns)
        fill = tuple(self.mean.tolist())
        if len(bias) == 1:
            w = tuple(weights[0].tolist())
            return LinearSplit.in_units(columns, w, fill, float(-bias[0]), merit=merit)
        used = np.unique(machine.branches(self.z))
        return MachineSplit(
            columns,
            fill,
            tuple(bias[used].tolist()),
            tuple(tuple(w) for w in weights[used].tolist()),
            merit=merit,
        )


class Coefficients(Part):
    """Finds the weights of a linear test.

    Attributes
    ----------
    n_classes : int or None
        The number of classes it can separate; None: any.
    random : bool
        Whether the weights depend on the random numbers given.
    resumes : bool
        Whether `train` takes a machine to start from as its third argument.
    """

    n_classes: int | None = None
    random = False
    resumes = False

    @abstractmethod
    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        """Weights for all columns of `cases`."""
