"""LogitBoost with regressions on single columns, as obvious as it can be."""

from __future__ import annotations

import math

import numpy as np


def probabilities(sums) -> list[float]:
    powers = [math.exp(s - max(sums)) for s in sums]
    return [p / sum(powers) for p in powers]


def regression(x, z, w, ridge=0.0) -> tuple[float, float, float] | None:
    """What a weighted regression of z on one column explains, its slope and intercept."""
    mean_x, mean_z = np.average(x, weights=w), np.average(z, weights=w)
    variance = float((w * (x - mean_x) ** 2).sum())
    if variance <= 1e-12 * float((w * x * x).sum()):
        return None
    steep = variance + ridge * float(w.sum())
    slope = float((w * (x - mean_x) * (z - mean_z)).sum()) / steep
    return slope * slope * steep, slope, mean_z - slope * mean_x


def step(x, y, weight, sums, ridge=0.0):
    """Per class the column, slope and intercept of one step; None if no class has any."""
    n, k = sums.shape
    p = np.array([probabilities(row) for row in sums])
    found, some = [], False
    for c in range(k):
        z, w = np.empty(n), np.empty(n)
        for i in range(n):
            if y[i] == c:
                z[i] = min(1 / p[i, c], 3.0)
                w[i] = weight[i] * (1 - p[i, c]) / z[i]
            else:
                z[i] = max(-1 / (1 - p[i, c]), -3.0)
                w[i] = weight[i] * -p[i, c] / z[i]
        best = (0.0, 0, 0.0, float(np.average(z, weights=w)) if w.sum() > 0 else 0.0)
        for j in range(x.shape[1]):
            one = regression(x[:, j], z, w, ridge) if w.sum() > 0 else None
            if one is not None and one[0] > best[0] * (1 + 1e-10):
                best, some = (one[0], j, one[1], one[2]), True
        found.append(best[1:])
    return found if some else None


def boost(x, y, weight, sums, steps, rate=1.0, ridge=0.0):
    """Sums, bias and weights after some steps, and how many there were."""
    k, p = sums.shape[1], x.shape[1]
    bias, weights = np.zeros(k), np.zeros((k, p))
    for done in range(steps):
        found = step(x, y, weight, sums, ridge)
        if found is None:
            return sums, bias, weights, done
        lines = np.zeros((k, p + 1))
        for c, (column, slope, intercept) in enumerate(found):
            lines[c, column] += slope
            lines[c, p] += intercept
        lines = rate * (lines - lines.mean(axis=0)) * (k - 1) / k
        weights, bias = weights + lines[:, :p], bias + lines[:, p]
        sums = sums + x @ lines[:, :p].T + lines[:, p]
    return sums, bias, weights, steps
