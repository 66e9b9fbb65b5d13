"""Boosting of single cuts of binned columns, as obvious as it can be."""

from __future__ import annotations

import math

import numpy as np
from tests.naive_logitboost import probabilities


def side(rows, g, h, ridge) -> tuple[float, float]:
    """What some rows gain, and what they ask for."""
    slope, bend = sum(g[i] for i in rows), sum(h[i] for i in rows)
    gain = slope**2 / (bend + ridge)
    return gain, max(-4.0, min(4.0, slope / (bend + ridge)))


def best_cut(codes, sizes, missing, between, g, h, ridge):
    """The values of the bins of the best cut, and its column; None if there is none."""
    best, found = 0.0, None
    for j, (column, size) in enumerate(zip(codes, sizes, strict=True)):
        n_values = size - missing[j]
        gone = [i for i, b in enumerate(column) if b >= n_values]
        known = [i for i, b in enumerate(column) if b < n_values]
        own = bool(missing[j]) and math.isnan(between[j])
        for cut in range(n_values):
            low = [i for i in known if column[i] <= cut]
            high = [i for i in known if column[i] > cut]
            if not low or not known or cut not in column:
                continue
            if not high and not (own and gone):
                continue
            gain, below = side(low, g, h, ridge)
            more, above = side(high, g, h, ridge) if high else (0.0, below)
            gain += more
            last = below + between[j] * (above - below) if not own else 0.0
            if own:
                more, last = side(gone, g, h, ridge)
                gain += more
            if gain > best * (1 + 1e-10):
                values = [below if b <= cut else above for b in range(n_values)]
                best, found = gain, (j, values + [last] * int(missing[j]))
    return found


def boost(codes, sizes, missing, between, y, weight, sums, steps, rate, ridge):
    """Sums after some steps, the functions of each column, and how many steps there were."""
    n, k = sums.shape
    m = 1 if k == 2 else k
    first = np.concatenate([[0], np.cumsum(sizes)])
    curves = np.zeros((first[-1], m))
    for done in range(steps):
        p = [probabilities(row) for row in sums]
        cuts = []
        for c in range(m):
            own = 1 if k == 2 else c
            g = [weight[i] * ((y[i] == own) - p[i][own]) for i in range(n)]
            times = 1.0 if k == 2 else k / (k - 1)
            bends = [p[i][own] * (1 - p[i][own]) * times for i in range(n)]
            h = [w * max(b, 1e-6) for w, b in zip(weight, bends, strict=True)]
            cuts.append(best_cut(codes, sizes, missing, between, g, h, ridge))
        if all(cut is None for cut in cuts):
            return sums, curves, done
        sums = sums.copy()
        for c, cut in enumerate(cuts):
            if cut is None:
                continue
            j, values = cut
            curves[first[j] : first[j + 1], c] += rate * np.array(values)
            for i in range(n):
                step = rate * values[codes[j][i]]
                if k == 2:
                    sums[i] += np.array([-step / 2, step / 2])
                else:
                    sums[i, c] += step
    return sums, curves, steps
