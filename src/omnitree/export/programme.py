"""Small linear programmes, in numbers that the solver can work with.

HiGHS ends with an error, and writes to the terminal, where coefficients and bounds differ by
ten orders of magnitude or more. Here every row is divided by its largest coefficient. Limits
and bounds that are out of all proportion then are left out, and coefficients make the
programme one that is not tried. Used by rules of machines and by counterfactuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

# How far numbers of a programme may be apart.
RANGE = 1e8

Bounds = Sequence[tuple[float | None, float | None]]


def solved(
    costs: NDArray[np.float64],
    rows: NDArray[np.float64],
    limits: NDArray[np.float64],
    bounds: Bounds,
) -> Any | None:
    """The smallest costs @ x with rows @ x <= limits, as `linprog` has it.

    None if there is no solution, no smallest one, or none that can be found. The largest of
    the costs should be near one.

    Examples
    --------
    >>> import numpy as np
    >>> solved(np.ones(2), -np.eye(2), np.array([-1.0, -2.0]), [(0, None)] * 2).fun
    3.0
    >>> solved(np.ones(1), -np.eye(1), np.array([-1e300]), [(0, None)])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(rows).max(axis=1, initial=0.0)
        size[size == 0] = 1.0
        rows, limits = rows / size[:, None], limits / size
    if not all(np.isfinite(part).all() for part in (costs, rows, limits)):
        return None
    binding = limits < RANGE
    rows, limits = rows[binding], limits[binding]
    given = np.abs(np.concatenate([costs, rows.ravel()]))
    if (given[given > 0] < 1 / RANGE).any() or (limits < -RANGE).any():
        return None
    found = linprog(
        costs,
        A_ub=rows,
        b_ub=limits,
        bounds=[tuple(_near(end) for end in pair) for pair in bounds],
        method="highs",
    )
    return found if found.success else None


def _near(end: float | None) -> float | None:
    """A bound, or None if it is too far away to be one."""
    return None if end is None or abs(end) > RANGE else end
