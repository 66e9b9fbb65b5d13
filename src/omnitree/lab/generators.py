"""Synthetic data sets with seeds, most with a known best possible error.

Each generator takes a number of rows, options and a seed and returns features and labels;
the same seed gives the same rows. `GENERATORS` feeds the registry of data sets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from omnitree.growing.part import number

Sample = tuple[pd.DataFrame, np.ndarray]

# The seven segments of the digits 0 to 9, as Breiman et al. (1984) number them: top, upper
# left, upper right, middle, lower left, lower right, bottom.
SEGMENTS = np.array(
    [
        [on == "1" for on in digit]
        for digit in [
            "1110111",
            "0010010",
            "1011101",
            "1011011",
            "0111010",
            "1101011",
            "1101111",
            "1010010",
            "1111111",
            "1111011",
        ]
    ]
)


def _frame(X: np.ndarray, *names: str) -> pd.DataFrame:
    """A table whose last columns, behind `names`, are called by a stem and a number."""
    *first, stem = names
    rest = [f"{stem}{j + 1}" for j in range(X.shape[1] - len(first))]
    return pd.DataFrame(X, columns=[*first, *rest])


def led(
    rows: int = 1000, noise: float = 0.1, irrelevant: int = 0, seed: int = 0
) -> Sample:
    """LED digits (Breiman et al. 1984): seven segments, each inverted by chance.

    `noise` is the chance of an inverted segment; at 0.1 the best possible error is 26 %.
    `irrelevant` features more are on or off at random (17 in the UCI's LED-24).

    >>> X, y = led(rows=5, irrelevant=2)
    >>> X.shape, X.columns[-1]
    ((5, 9), 'irrelevant2')
    """
    number("noise", noise, 0, 1)
    rng = np.random.default_rng(seed)
    digit = rng.integers(10, size=rows)
    segment = SEGMENTS[digit] ^ (rng.random((rows, 7)) < noise)
    other = rng.random((rows, irrelevant)) < 0.5
    names = [f"segment{j + 1}" for j in range(7)]
    X = np.hstack([segment, other])
    return _frame(X, *names, "irrelevant"), digit.astype(str)


def led_bayes_error(noise: float = 0.1) -> float:
    """Best possible error on `led`, summed over all 128 displays.

    >>> round(led_bayes_error(0.1), 2)
    0.26
    """
    displays = (np.arange(128)[:, None] >> np.arange(7)) & 1
    wrong = (displays[:, None, :] != SEGMENTS[None, :, :]).sum(axis=2)
    chance = noise**wrong * (1 - noise) ** (7 - wrong) / 10
    return float(1 - chance.max(axis=1).sum())


def waveform(rows: int = 5000, features: int = 21, seed: int = 0) -> Sample:
    """Waveforms (Breiman et al. 1984): random mixtures of two of three triangles.

    Of 40 features the last 19 are pure noise. The best possible error is about 14 %.

    >>> waveform(rows=4, features=40)[0].shape
    (4, 40)
    """
    if features not in (21, 40):
        raise ValueError(f"waveform has 21 or 40 features, not {features!r}")
    rng = np.random.default_rng(seed)
    at = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(at - np.array([[11], [7], [15]])), 0)
    label = rng.integers(3, size=rows)
    first, second = waves[[0, 0, 1]], waves[[1, 2, 2]]
    u = rng.random((rows, 1))
    X = rng.normal(size=(rows, features))
    X[:, :21] += u * first[label] + (1 - u) * second[label]
    return _frame(X, "x"), label.astype(str)


def dnf(
    rows: int = 0, irrelevant: int = 0, noise: float = 0.0, seed: int = 0
) -> Sample:
    """The Boolean function ab or c(not d)e (Pagallo 1989; Utgoff & Brodley 1991).

    Without a number of rows each of the 32 combinations is there once, which allows for
    no `irrelevant`, random features. `noise` is the chance of a wrong label.

    >>> X, y = dnf()
    >>> len(y), int((y == "true").sum())
    (32, 11)
    """
    number("noise", noise, 0, 1)
    rng = np.random.default_rng(seed)
    if rows == 0:
        if irrelevant:
            raise ValueError("dnf with irrelevant features needs a number of rows")
        X = ((np.arange(32)[:, None] >> np.arange(5)) & 1).astype(bool)
    else:
        X = rng.random((rows, 5 + irrelevant)) < 0.5
    a, b, c, d, e = X[:, :5].T
    label = ((a & b) | (c & ~d & e)) ^ (rng.random(len(X)) < noise)
    return _frame(X, *"abcde", "irrelevant"), np.where(label, "true", "false")


def l_problem(rows: int = 500, noise: float = 0.0, seed: int = 0) -> Sample:
    """An L in the unit square: class `L` where x or y is below 1/4, else `rest`.

    Two tests on one feature each solve it, no single straight line does: the least that
    a linear node has to leave to univariate ones. `noise` is the chance of a wrong label.

    >>> X, y = l_problem(rows=4, seed=1)
    >>> X.shape, sorted(set(y.tolist()))
    ((4, 2), ['L', 'rest'])
    """
    number("noise", noise, 0, 1)
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 2))
    inside = (X < 0.25).any(axis=1) ^ (rng.random(rows) < noise)
    return pd.DataFrame(X, columns=["x", "y"]), np.where(inside, "L", "rest")


def lw94(experiment: int = 1, noise: int = 1, rows: int = 100, seed: int = 0) -> Sample:
    """The three designs of Liu & White (1994): normal attributes shifted by class.

    Experiment 1 has a signal of strength 2 and `noise` attributes without any, 2 has
    eleven attributes of strength 1, 3 has ten of strengths 0.2, 0.4, ..., 2. Half of the
    rows are of each class.

    >>> X, y = lw94(3)
    >>> X.shape, int((y == "1").sum())
    ((100, 10), 50)
    """
    strengths: dict[int, Sequence[float]] = {
        1: [2.0, *[0.0] * int(noise)],
        2: [1.0] * 11,
        3: [0.2 * k for k in range(1, 11)],
    }
    if experiment not in strengths:
        raise ValueError(f"experiment must be 1, 2 or 3, not {experiment!r}")
    strength = np.array(strengths[experiment])
    rng = np.random.default_rng(seed)
    label = np.arange(rows) % 2
    X = rng.normal(size=(rows, len(strength))) + label[:, None] * strength
    return _frame(X, "a"), label.astype(str)


def gaussians(
    rows: int = 1000,
    classes: int = 2,
    features: int = 2,
    distance: float = 2.0,
    seed: int = 0,
) -> Sample:
    """Spherical normal classes of equal size whose means are equally far apart.

    The `distance` between any two means is in standard deviations; the best possible
    error is `gaussian_bayes_error`. There is at most one class more than features.
    """
    if not 2 <= classes <= features + 1:
        raise ValueError(
            f"gaussians has 2 to features + 1 classes, not {classes} in {features}"
        )
    rng = np.random.default_rng(seed)
    label = np.arange(rows) % classes
    mean = np.zeros((classes, features))
    mean[:, : classes - 1] = _simplex(classes) * number("distance", distance)
    X = rng.normal(size=(rows, features)) + mean[label]
    return _frame(X, "x"), label.astype(str)


def gaussian_bayes_error(classes: int = 2, distance: float = 2.0) -> float:
    """Best possible error on `gaussians`, by integration over the winning margin.

    >>> round(gaussian_bayes_error(2, 2.0), 4)  # one normal tail beyond half the distance
    0.1587
    """
    # With means s e_k (s = distance / sqrt 2) row k wins if its coordinate is the largest.
    s = distance / np.sqrt(2)
    z = np.linspace(-10, 10, 20001)
    right = stats.norm.pdf(z) * stats.norm.cdf(z + s) ** (classes - 1)
    return float(1 - np.trapezoid(right, z))


def _simplex(n: int) -> np.ndarray:
    """n points of n - 1 coordinates, all at distance one from each other."""
    centred = np.eye(n) / np.sqrt(2) - 1 / (n * np.sqrt(2))
    _, _, axes = np.linalg.svd(centred)
    return centred @ axes[: n - 1].T


GENERATORS: dict[str, Callable[..., Sample]] = {
    "led": led,
    "waveform": waveform,
    "dnf": dnf,
    "l-problem": l_problem,
    "lw94": lw94,
    "gaussians": gaussians,
}
