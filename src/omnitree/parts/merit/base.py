"""What a merit is: a function of the statistics of branches, greater is better.

A merit never sees rows. It takes an array `counts[..., branch, class]` of weighted counts,
or of other statistics of a target (`growing/target.py`) in place of class counts, and
broadcasts over the leading axes, so all cuts of a feature are scored in one call, and a
new merit is five lines of NumPy with no compiler. The usual ones name their compiled twin
in `code` (`_core/merit.hpp`).
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omnitree.growing.part import Part

CUSTOM = 11  # the code under which the compiled search asks Python

Floats = NDArray[np.float64]


class Merit(Part):
    """A measure of how well a partition separates the classes."""

    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    code: ClassVar[int] = CUSTOM

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A merit derived from a compiled one has another score: its twin will not do.
        if "score" in vars(cls) and "code" not in vars(cls):
            cls.code = CUSTOM

    def __call__(self, counts: ArrayLike) -> Floats:
        """Merit of each table; 0 where a table is empty."""
        counts = np.asarray(counts, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = self.score(counts)
        return np.where(self.size(counts).sum(axis=-1) > 0, score, 0.0)

    def size(self, counts: Floats) -> Floats:
        """Weight of each branch."""
        return counts.sum(axis=-1)

    @abstractmethod
    def score(self, counts: Floats) -> Floats:
        """Merit of each table; divisions by zero are silent here."""


def ratio(a: Floats, b: Floats) -> Floats:
    """a / b, and 0 where b is 0."""
    shape = np.broadcast(a, b).shape
    # The layout of the first: compiled searches hand tables over in columns.
    out = np.zeros_like(a) if np.shape(a) == shape else np.zeros(shape)
    return np.divide(a, b, out=out, where=b > 0)


@cache
def _all_pairs(n: int) -> tuple[NDArray, NDArray]:
    """The lower and the upper of each pair of n branches."""
    lower, upper = np.triu_indices(n, k=1)
    return lower, upper


def pairs(counts: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Shares p of two branches and their class shares q, for each pair of branches."""
    size = counts.sum(axis=-1)
    p = size / size.sum(axis=-1, keepdims=True)
    q = ratio(counts, size[..., None])
    a, b = _all_pairs(counts.shape[-2])
    return p[..., a], p[..., b], q[..., a, :], q[..., b, :]
