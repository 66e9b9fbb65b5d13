"""What scores are multiplied by to become log odds, as held-out rows advise.

Used to choose penalties (`softmax_folds.py`) and for the models of leaves
(`learners/trial.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.node_columns import Floats

# The least and the largest scale.
SCALES = np.exp(-3.0), np.exp(0.7)
# Steps after which nothing changes any more, even if every one halves the range.
STEPS = 60
# Share of the scale by which a last step may move it.
CLOSE = 1e-9


def calibrated(scores: Floats, y: NDArray, weight: Floats) -> float:
    """The scale of scores (n, k) with the least log loss.

    It counts as one more row that it should be near 1. The loss is convex in the scale:
    Newton's steps, and halves of the range where one would leave it.

    Examples
    --------
    >>> import math
    >>> scores, y = np.array([[2.0, 0.0]] * 400), np.repeat([0, 1], [300, 100])
    >>> round(calibrated(scores, y, np.ones(400)), 2), round(math.log(3) / 2, 2)
    (0.55, 0.55)
    """
    share = weight / weight.sum()
    below = scores - scores.max(axis=1, keepdims=True)
    own = float(share @ np.take_along_axis(below, y[:, None], axis=1)[:, 0])
    low, high = SCALES
    scale = 1.0
    ones = np.ones(scores.shape[1])  # products add few columns up faster than sums do
    for _ in range(STEPS):
        odds = np.exp(scale * below)
        total = odds @ ones
        odds *= below
        mean = odds @ ones / total
        odds *= below
        square = odds @ ones / total
        far = np.log(scale)
        slope = float(share @ mean) - own + far / (scale * len(y))
        bend = float(share @ (square - mean**2)) + (1 - far) / (scale**2 * len(y))
        low, high = (low, scale) if slope > 0 else (scale, high)
        new = scale - slope / bend if bend > 0 else np.nan
        if not low < new < high:
            new = (low + high) / 2
        if abs(new - scale) <= CLOSE * scale:
            break
        scale = float(new)
    return scale


def calibrated_loss(scores: Floats, y: NDArray, weight: Floats) -> float:
    """Sum of the log losses of rows with scores (n, k), once these are calibrated."""
    z = calibrated(scores, y, weight) * scores
    z -= np.take_along_axis(z, y[:, None], axis=1)
    top = z.max(axis=1)
    return float(weight @ (top + np.log(np.exp(z - top[:, None]).sum(axis=1))))
