"""Recursive least squares (Brodley & Utgoff 1995, 3.1).

Without forgetting, the recursion from W0 = 0 and P0 = v I ends after c passes where
(c X'X + I/v) w = c X't: least squares with a ridge of 1/(c v). That is what is computed,
unless the recursion itself is asked for. Used by the preset bu95 for two classes.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from omnitree._core.linear import machine as kernel
from omnitree.growing.part import number
from omnitree.growing.threads import one_thread
from omnitree.parts.coefficients.base import Coefficients
from omnitree.parts.coefficients.cases import Cases, Floats, Machine


class RLS(Coefficients):
    """Least squares on the targets -1 and +1, for two classes.

    Parameters
    ----------
    passes : int, default=3
        How often each row is seen.
    variance : float, default=1e6
        Diagonal of P0, the error variance of the initial weights (Young 1984).
    sequential : bool, default=False
        Run the recursion row by row instead of solving for its end. The result is the same
        up to the recursion's rounding.
    """

    passes: int = 3
    variance: float = 1e6
    sequential: bool = False

    n_classes = 2

    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        """Weights for all columns of `cases`."""
        passes = int(number("passes", self.passes, least=1))
        if self.sequential:
            w = kernel.rls(
                with_constant(cases.z),
                signs(cases),
                cases.weight,
                passes,
                number("variance", self.variance),
            )
        else:
            with one_thread():
                w = solve_positive(*self.normal_equations(cases))
        return Machine(w[None, 1:], w[:1])

    def normal_equations(self, cases: Cases) -> tuple[Floats, Floats]:
        """A and b of A w = b; the constant comes first, then the columns of `cases`."""
        x = with_constant(cases.z)
        weighted = (x * cases.weight[:, None]).T
        return self.penalised(weighted @ x, weighted @ signs(cases))

    def penalised(self, A: Floats, b: Floats) -> tuple[Floats, Floats]:
        """The equations that the passes end at, from those of plain least squares."""
        passes = int(number("passes", self.passes, least=1))
        variance = number("variance", self.variance, least=np.finfo(float).tiny)
        return passes * A + np.eye(len(A)) / variance, passes * b


def with_constant(z: Floats) -> Floats:
    """The columns with a first one of ones."""
    return np.column_stack([np.ones(len(z)), z])


def signs(cases: Cases) -> Floats:
    """Target -1 for the first class, +1 for the second."""
    return np.where(cases.y == 1, 1.0, -1.0)


def solve_positive(A: Floats, b: Floats) -> Floats:
    """The solution of A w = b for a positive definite A.

    Where A is singular to rounding (weights so large that the ridge is lost beside them),
    the shortest solution.
    """
    try:
        factor = linalg.cho_factor(A)
        least = np.diag(factor[0]).min() ** 2
        if least > 10 * len(A) * np.finfo(float).eps * np.diag(A).max():
            return linalg.cho_solve(factor, b)
    except linalg.LinAlgError:
        pass
    return np.asarray(linalg.pinvh(A) @ b, dtype=np.float64)
