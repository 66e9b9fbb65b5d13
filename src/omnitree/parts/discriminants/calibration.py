"""What scores are multiplied by to become log odds, as held-out rows advise.

Scores of one test, to choose penalties (`softmax_folds.py`) and for the models of leaves
(`learners/trial.py`); or of several that are added (`refinement/tree_sums.py`,
`refinement/sums_of_tests.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from omnitree._core.linear import softmax as kernel
from omnitree.growing.clock import check_time
from omnitree.growing.node_columns import Floats

# The least and the largest scale.
SCALES = np.exp(-3.0), np.exp(0.7)
# Steps after which nothing changes any more, even if every one halves the range.
STEPS = 60
# Share of the scale by which a last step may move it: the next would move it by the square.
CLOSE = 1e-5
# Log loss that the last step of several numbers may save.
FLAT = 1e-8
# Log loss, of all rows together, that it costs if scores that are added are multiplied by 1
# more or less than without any rows.
APART = 10.0


def calibrated(scores: Floats, y: NDArray, weight: Floats) -> float:
    """The scale of scores (n, k) with the least log loss.

    It counts as one more row that it should be near 1. The loss is convex in the scale:
    Newton's steps; where one would leave the range, its end, and then halves of it.

    Examples
    --------
    >>> import math
    >>> scores, y = np.array([[2.0, 0.0]] * 400), np.repeat([0, 1], [300, 100])
    >>> round(calibrated(scores, y, np.ones(400)), 2), round(math.log(3) / 2, 2)
    (0.55, 0.55)
    """
    mix = _Mix.of((scores - scores.max(axis=1, keepdims=True))[None], y, weight)
    low, high = SCALES
    scale, ends = 1.0, {low, high}  # that were not tried
    for _ in range(STEPS):
        far = np.log(scale)
        slope = mix.at(np.array([scale])).slope[0] + far / (scale * len(y))
        bend = mix.bend[0, 0] + (1 - far) / (scale**2 * len(y))
        low, high = (low, scale) if slope > 0 else (scale, high)
        new = scale - slope / bend if bend > 0 else np.nan
        if low == high:
            break
        if abs(new - scale) <= CLOSE * scale:
            return float(min(max(new, SCALES[0]), SCALES[1]))
        if not low < new < high:
            end = low if slope > 0 else high
            new = end if end in ends else (low + high) / 2
            ends.discard(end)
        scale = float(new)
    return scale


def calibrated_loss(scores: Floats, y: NDArray, weight: Floats) -> float:
    """Sum of the log losses of rows with scores (n, k), once these are calibrated."""
    scale = np.array([calibrated(scores, y, weight)])
    return float(weight.sum() * _Mix.of(scores[None], y, weight).at(scale).loss)


def best_parts(scores: Floats, y: NDArray, weight: Floats, near: Floats) -> Floats:
    """What scores (m, n, k) are multiplied by, to be likeliest when they are added.

    No number is negative, and with few rows they stay close to `near`. Newton's steps
    among the numbers that are not held at 0, as long as one makes the loss smaller.

    Examples
    --------
    >>> right, y = np.array([[1.0, 0.0], [0.0, 1.0]] * 50), np.tile([0, 1], 50)
    >>> both, near = np.stack([right, -right]), np.array([1.0, 0.0])
    >>> best_parts(both, y, np.ones(100), near).round(1)
    array([1.7, 0. ])
    """
    apart = APART / len(y)
    mix = _Mix.of(scores, y, weight)

    def loss(parts: Floats) -> float:
        check_time()
        far = parts - near
        return mix.at(parts).loss + apart * float(far @ far)

    parts, lost = near, loss(near)
    steep = 2 * apart * np.eye(len(near))
    for _ in range(STEPS):
        slope = mix.slope + 2 * apart * (parts - near)
        bend, free = mix.bend + steep, (parts > 0) | (slope < 0)
        if free.all():
            way = -_solved(bend, slope)
        elif free.any():
            way = np.zeros(len(parts))
            way[free] = -_solved(bend[np.ix_(free, free)], slope[free])
        else:
            return parts
        new, left = np.maximum(parts + way, 0.0), STEPS
        if -(way @ slope) <= FLAT:
            return new
        while (now := loss(new)) >= lost and left:
            way, left = way / 2, left - 1
            new = np.maximum(parts + way, 0.0)
        if now >= lost:
            return parts
        parts, lost = new, now
    return parts


def added(
    scores: Floats, y: NDArray, weight: Floats, near: Floats, fold: NDArray
) -> tuple[Floats, Floats]:
    """The best parts of scores (m, n, k), and the sum (n, k) of all.

    In the sum, those of a row are multiplied by what is best for the rows of other folds.
    """
    parts = best_parts(scores, y, weight, near)
    out = np.empty(scores.shape[1:])
    for k in np.unique(fold):
        held, rest = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        others = best_parts(scores[:, rest], y[rest], weight[rest], near)
        out[held] = np.einsum("m,mnk->nk", others, scores[:, held])
    return parts, out


def _solved(a: Floats, b: Floats) -> Floats:
    """The solution of a few equations.

    `a` is positive definite: the bend of a convex loss, and `APART` on its diagonal.
    """
    return lapack.dposv(a, b)[1]


@dataclass
class _Mix:
    """The mean log loss of scores that are added, and its derivatives where asked last."""

    scores: Floats  # (m, k, n)
    y: NDArray[np.int32]
    share: Floats  # (n,): of each row in the mean
    slope: Floats  # (m,)
    bend: Floats  # (m, m)
    loss: float = np.nan

    @classmethod
    def of(cls, scores: Floats, y: NDArray, weight: Floats) -> _Mix:
        """Of scores (m, n, k)."""
        m, codes = len(scores), np.ascontiguousarray(y, dtype=np.int32)
        share = weight / weight.sum()
        scores = np.ascontiguousarray(np.moveaxis(scores, 2, 1))
        return cls(scores, codes, share, np.empty(m), np.empty((m, m)))

    def at(self, parts: Floats) -> _Mix:
        """With the loss and the derivatives where scores are multiplied by `parts`."""
        self.loss = kernel.mixed(
            self.scores, self.y, self.share, parts, self.slope, self.bend
        )
        return self
