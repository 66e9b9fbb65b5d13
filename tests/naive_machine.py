"""Obvious, slow versions of the training of linear machines.

Always one weight vector a class, also for two classes; every length is computed anew.
"""

from __future__ import annotations

import math

import numpy as np


def splitmix_rows(seed: int, n: int):
    """The rows that the kernel draws, one after the other."""
    mask = 2**64 - 1
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        z ^= z >> 31
        yield (z >> 32) * n >> 32


def magnitude(W):
    return sum(np.linalg.norm(w) for w in W)


def answer(W, row):
    return int(np.argmax(W @ row))


class Thermal:
    """The state of thermal training; `present` shows it one row."""

    def __init__(self, n_classes, d, a, b, epsilon):
        self.W = np.zeros((n_classes, d))
        self.a, self.b, self.epsilon = a, b, epsilon
        self.beta, self.largest = 2.0, 0.0
        self.rose = False
        self.ratio = math.inf  # of the latest correction to the largest magnitude

    def present(self, row, i):
        """Whether the row changes the weights."""
        j = answer(self.W, row)
        if j == i:
            return False
        k = (self.W[j] - self.W[i]) @ row / (2 * row @ row) + self.epsilon
        if k >= self.beta:
            return False
        c = self.beta**2 / (self.beta + k)
        before = magnitude(self.W)
        self.W[i] += c * row
        self.W[j] -= c * row
        after = magnitude(self.W)
        same = math.isclose(before, after, rel_tol=1e-12)
        if same or (after < before and self.rose):
            self.beta = self.a * self.beta - self.b
        self.rose = after > before and not same
        self.largest = max(self.largest, after)
        self.ratio = 2 * c * np.linalg.norm(row) / self.largest
        return True


def thermal_passes(x, y, n_classes, a, b, epsilon, alpha):
    """Weights, and the number of rows presented."""
    t = Thermal(n_classes, x.shape[1], a, b, epsilon)
    calm = seen = 0
    while True:
        changed = False
        for row, i in zip(x, y, strict=True):
            moved = t.present(row, i)
            changed |= moved
            # A row that changes nothing is a correction of size 0.
            calm = calm + 1 if (t.ratio if moved else 0) < alpha else 0
            seen += 1
        if not changed or t.beta < 0 or calm >= 2 * (x.shape[1] - 1):
            return t.W, seen


def thermal_draws(x, y, n_classes, a, b, epsilon, least, certainty, seed):
    t = Thermal(n_classes, x.shape[1], a, b, epsilon)
    run = seen = 0
    rows = splitmix_rows(seed, len(x))
    while t.beta >= least and (1 - 1 / len(x)) ** run > 1 - certainty:
        i = next(rows)
        run = 0 if t.present(x[i], y[i]) else run + 1
        seen += 1
    return t.W, seen


def pocket(x, y, n_classes, epsilon, ratchet, most, seed):
    """The pocket, and the number of rows drawn."""

    def n_right(W):
        return sum(answer(W, row) == i for row, i in zip(x, y, strict=True))

    W = np.zeros((n_classes, x.shape[1]))
    kept, longest, run, seen = W.copy(), 0, 0, 0
    for r in splitmix_rows(seed, len(x)):
        if seen == most:
            break
        seen += 1
        row, i, j = x[r], y[r], answer(W, x[r])
        if i != j:
            c = (W[j] - W[i]) @ row / (2 * row @ row) + epsilon
            W[i] += c * row
            W[j] -= c * row
            run = 0
            continue
        run += 1
        if run % len(x) == 0 and n_right(W) == len(x):
            return W, seen
        better = n_right(W) > n_right(kept) or np.array_equal(W, kept)
        if run > longest and (better or not ratchet):
            kept, longest = W.copy(), run
    return kept, seen


def descent(x, y, w, orders, rate, cooling, momentum, squared):
    """Weights of a sigmoid unit after the epoch with fewest errors."""
    step, kept, fewest = np.zeros_like(w), w, math.inf
    for order in orders:
        for i in order:
            p = 1 / (1 + math.exp(-w @ x[i]))
            slope = p * (1 - p) if squared else 2
            new = rate * (y[i] - p) * slope * x[i]
            w, step = w + new + momentum * step, new
        rate *= cooling
        wrong = sum((w @ row > 0) != (i == 1) for row, i in zip(x, y, strict=True))
        if wrong < fewest:
            kept, fewest = w, wrong
    return kept
