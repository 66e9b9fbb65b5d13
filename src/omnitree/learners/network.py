"""The network learner: a net with one hidden layer separates two groups of classes.

Neural trees (Guo & Gelfand 1992; LDT05 1.2, ID-MLP). The net has tanh units and a sigmoid
output and is trained on the squared error by backpropagation, with SciPy's L-BFGS. Used by
the preset id-mlp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.node_columns import Floats
from omnitree.growing.part import number
from omnitree.learners.grouped import separate
from omnitree.parts.coefficients import Cases
from omnitree.parts.coefficients.gradient import descend, squared_error
from omnitree.tree.splits import NetworkSplit, Split


@dataclass(frozen=True)
class Net:
    """Weights on standardised columns."""

    # (h, m + 1): of each hidden unit the bias, then the weights of the columns.
    hidden: Floats
    output: Floats  # (h + 1,): the bias, then the weights of the hidden units

    @classmethod
    def of(cls, parameters: Floats, h: int) -> Net:
        """All parameters in a row, hidden units first."""
        return cls(parameters[: -h - 1].reshape(h, -1), parameters[-h - 1 :])

    def units(self, z: Floats) -> Floats:
        """Output of the hidden units for each row."""
        return np.tanh(z @ self.hidden[:, 1:].T + self.hidden[:, 0])

    def sums(self, units: Floats) -> Floats:
        """What the sigmoid of the output sees."""
        return units @ self.output[1:] + self.output[0]

    def branches(self, z: Floats) -> NDArray[np.intp]:
        """Branch of each row."""
        return (self.sums(self.units(z)) > 0).astype(np.intp)

    def gradient(self, z: Floats, units: Floats, slope: Floats) -> Floats:
        """Of the parameters, from the derivative of the error by each row's sum."""
        back = slope[:, None] * self.output[1:] * (1 - units**2)
        hidden = np.column_stack([back.sum(axis=0), back.T @ z])
        return np.concatenate([hidden.ravel(), [slope.sum()], slope @ units])

    def split(self, cases: Cases, merit: float) -> NetworkSplit:
        """The net as a test in the table's own units."""
        scaling = cases.scaling
        weights, bias = scaling.fold(self.hidden[:, 1:], self.hidden[:, 0])
        return NetworkSplit(
            tuple(scaling.which.tolist()),
            tuple(scaling.mean.tolist()),
            tuple(bias.tolist()),
            tuple(tuple(row) for row in weights.tolist()),
            float(self.output[0]),
            tuple(self.output[1:].tolist()),
            merit=merit,
        )


class Network(SplitLearner):
    """Separate two groups of classes by a network with one hidden layer.

    The papers name the error and the method; the number of hidden units, epochs and the
    decay are assumptions. The weights start at random.

    Parameters
    ----------
    hidden : int, default=5
        Number of hidden units.
    epochs : int, default=200
        Maximum number of steps of the descent.
    decay : float, default=0.001
        Penalty on half the squared length of the weights, biases left out, beside the mean
        squared error of targets 0 and 1.
    grouping : str or Grouping, default="exchange"
    merit : str or Merit, default="gain"
        Compares groupings.
    scout : None, str or Coefficients, default="rls"
        Finds linear tests that compare groupings, so that one net a node is trained; None:
        a net for every grouping that is tried.
    """

    hidden: int = 5
    epochs: int = 200
    decay: float = 0.001
    grouping: Any = "exchange"
    merit: Any = "gain"
    scout: Any = "rls"

    random = True

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test for two groups of the classes of a node."""
        best = separate(node, rng, self.train, self.grouping, self.merit, self.scout)
        if best is None:
            return None
        cases, net, value = best
        return net.split(cases, value)

    def train(self, cases: Cases, rng: np.random.Generator) -> Net:
        """A net for two classes."""
        h = int(number("hidden", self.hidden, least=1, most=1e6))
        m = cases.z.shape[1]
        penalty = np.full(h * (m + 1) + h + 1, number("decay", self.decay))
        penalty[: h * (m + 1) : m + 1] = penalty[-h - 1] = 0.0
        error = squared_error(cases)

        def loss(w: Floats) -> tuple[float, Floats]:
            net = Net.of(w, h)
            units = net.units(cases.z)
            value, slope = error(net.sums(units))
            decayed = penalty * w
            gradient = net.gradient(cases.z, units, slope) + decayed
            return value + 0.5 * float(decayed @ w), gradient

        start = rng.normal(size=len(penalty)) / np.sqrt(m + 1)
        return Net.of(descend(loss, start, self.epochs), h)
