"""What CART's linear combinations and OC1 share: rows to climb on, and the climb.

The columns are a table's in whatever units the learner likes; they are put in the order of
their best single cuts, so that the result does not depend on the order of features. The
work is done in `_core/oblique*.hpp`. Used by `oc1.py` and `cart_lc.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import oblique
from omnitree.parts.merit import CUSTOM, MERITS, Gain, GainRatio, Merit

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Slope:
    """Rows on which linear tests `w @ columns + b > 0` are searched."""

    columns: Floats  # (p, n), C-ordered: none of them constant
    y: NDArray[np.int32]  # (n,): classes from 0 to `n_classes` - 1
    weight: Floats  # (n,)
    n_classes: int
    merit: Merit

    @property
    def code(self) -> int:
        """Compiled code of the merit that places tests."""
        # As in a univariate search, a ratio is not fit to place a cut; the gain does it.
        return Gain.code if isinstance(self.merit, GainRatio) else self.merit.code

    def cut(self, values: Floats) -> tuple[float, float]:
        """The best bias for the test `values + bias > 0`, and its merit."""
        ones = np.ones(len(values))
        return oblique.best_step(
            values, ones, self.y, self.weight, self.n_classes, self.code
        )

    @cached_property
    def cuts(self) -> Floats:
        """Bias and merit of the best cut of each column, (p, 2)."""
        return np.array([self.cut(column) for column in self.columns]).reshape(-1, 2)

    def best_first(self) -> NDArray[np.intp]:
        """Columns by the merit of their best cuts, the best first."""
        return np.argsort(-self.cuts[:, 1], kind="stable")

    def take(self, columns: NDArray[np.intp]) -> Slope:
        """Only some of the columns, in this order."""
        some = np.ascontiguousarray(self.columns[columns])
        taken = replace(self, columns=some)
        if "cuts" in self.__dict__:
            taken.__dict__["cuts"] = self.cuts[columns]
        return taken

    def climb(self, w: Floats, gammas: Sequence[float], **options: Any):
        """Climb from `w` (weights, then the bias): where to, its merit, and whether both
        branches hold one class each."""
        w = np.array(w, dtype=np.float64)
        merit, pure = oblique.climb(
            self.columns,
            self.y,
            self.weight,
            self.n_classes,
            self.code,
            np.array(gammas, dtype=np.float64),
            CLIMB | options,
            w,
        )
        return w, merit, pure

    def score(self, w: Floats) -> float:
        """What the learner's own merit says of a test."""
        above = w[:-1] @ self.columns + w[-1] > 0
        table = np.zeros((2, self.n_classes))
        np.add.at(table, (above.astype(np.intp), self.y), self.weight)
        return float(self.merit(table))


# One plain climb: each coefficient in turn, while that helps.
CLIMB: dict[str, Any] = {
    "order": 0,
    "picks": 0,
    "jumps": 0,
    "stagnation": 0,
    "tolerance": 0.0,
    "epsilon": 0.0,
    "seed": 0,
}


def compiled_merit(merit: str | Merit) -> Merit:
    """A merit that the compiled search knows; an error that names them if it does not."""
    found = MERITS.resolve(merit, "classification")
    if found.code == CUSTOM:
        raise ValueError(
            f"an oblique search needs a compiled merit, not {found!r}. "
            "Choose one of: "
            f"{', '.join(name for name, cls in MERITS.items() if cls.code != CUSTOM)}."
        )
    return found


def is_better(merit: float, best: float) -> bool:
    """Better by more than rounding."""
    return merit > best + 1e-11 * (1 + abs(best))
