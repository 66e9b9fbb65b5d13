"""Sums over blocks, the obvious way: Python's whole numbers, row by row."""

from __future__ import annotations

import math


def bin_of(value: float, edges: list[float]) -> int:
    """The first bin whose upper edge is not below a value."""
    return sum(edge < value for edge in edges)


def histograms(cells, slots, weight, statistics, edges, n_categories, n_slots):
    """A list by feature of {(slot, bin): sums}; the last bin has missing values."""
    found = []
    for j, cuts in enumerate(edges):
        last = n_categories[j] or len(cuts) + 1
        sums: dict[tuple[int, int], list[int]] = {}
        for row, slot, w, s in zip(cells, slots, weight, statistics, strict=True):
            if slot < 0 or slot >= n_slots:
                continue
            value = float(row[j])
            if math.isnan(value):
                at = last
            else:
                at = int(value) if n_categories[j] else bin_of(value, list(cuts))
            own = sums.setdefault((int(slot), at), [0] * len(s))
            for k, amount in enumerate(s):
                own[k] += int(w) * int(amount)
        found.append(sums)
    return found


def moments(columns, weight):
    """Weighted sums of the products of columns, filled with their weighted means."""
    p = len(columns[0])
    mean = []
    for j in range(p):
        present = [
            (w, r[j]) for w, r in zip(weight, columns, strict=True) if r[j] == r[j]
        ]
        total = sum(w for w, _ in present)
        mean.append(sum(w * x for w, x in present) / total if total else 0.0)
    filled = [
        [x if x == x else m for x, m in zip(r, mean, strict=True)] for r in columns
    ]
    second = [
        [
            sum(w * r[i] * r[j] for w, r in zip(weight, filled, strict=True))
            for j in range(p)
        ]
        for i in range(p)
    ]
    return filled, second


def on_grid(cells, feature, category, centre, step, half, rows, y, weight, n_classes):
    """Columns in steps (None: missing), and by class and column their sums and weights."""
    sums = [[0] * len(feature) for _ in range(n_classes)]
    present = [[0] * len(feature) for _ in range(n_classes)]
    whole = []
    for i in rows:
        line: list[int | None] = []
        for j, (f, c) in enumerate(zip(feature, category, strict=True)):
            value = float(cells[i][f])
            if math.isnan(value):
                line.append(None)
                continue
            if c >= 0:
                value = 1.0 if value == c else -1.0
            # Python's round takes ties to even numbers.
            steps = max(-half, min(half, round((value - centre[j]) / step[j])))
            line.append(int(steps))
            sums[y[i]][j] += int(weight[i]) * int(steps)
            present[y[i]][j] += int(weight[i])
        whole.append(line)
    return whole, sums, present
