"""Towards a region step by step: where its tests are no linear sums of numbers.

Curves, products and other functions have no linear programme. One feature after another is
changed, always the one that brings the row furthest, or furthest for its cost, until all
tests of the region hold; then the changes are taken back together as far as they go. Used
by `counterfactual.py`, which checks what is found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from omnitree.export.model import Model, NodeTest
from omnitree.export.region import Region
from omnitree.export.sample import cut_of, scores

Floats = NDArray[np.float64]
# Steps of a number that are tried, in units of its deviation; they are shortened later.
STEPS = [s * 2.0**k for k in range(-2, 4) for s in (-1, 1)]
# Regions that are approached, those that are nearest to being reached.
MOST_REGIONS = 3
# Changes are taken back in so many parts, the last of which is divided again.
PARTS, ROUNDS = 32, 4


def by_steps(
    model: Model,
    starts: Sequence[tuple[Sequence[float], Region]],
    scale: Sequence[float],
    max_changes: int,
) -> Iterator[list[float]]:
    """Rows of some regions, with at most so many changes of the row each begins with."""
    rows = [np.array(row, dtype=float) for row, _ in starts]
    near = [
        -_slack(model, region, row[None])[0]
        for row, (_, region) in zip(rows, starts, strict=True)
    ]
    for at in np.argsort(near, kind="stable")[:MOST_REGIONS]:
        yield from _into(model, rows[at], starts[at][1], scale, max_changes)


def _into(
    model: Model,
    start: Floats,
    region: Region,
    scale: Sequence[float],
    max_changes: int,
) -> Iterator[list[float]]:
    """Rows of a region near to `start`."""
    for thrifty in (True, False):
        now, changed = start.copy(), set[int]()
        slack = _slack(model, region, now[None])[0]
        while len(changed) < max_changes and slack <= 0:
            step = _best_step(model, now, region, scale, changed, thrifty)
            if step is None:
                break
            j, now[j], gain = step
            slack += gain
            changed.add(j)
        if changed and _slack(model, region, now[None])[0] > 0:
            yield _taken_back(model, start, now, changed, region).tolist()


def _best_step(
    model, now, region, scale, changed, thrifty
) -> tuple[int, float, float] | None:
    """The feature to change next, its new value and what that gains."""
    places, rows = [], [now]
    for j, value in _tries(model, now, region, scale):
        if j not in changed:
            places.append((j, value))
            rows.append(np.where(np.arange(len(now)) == j, value, now))
    if not places:
        return None
    before, *after = _slack(model, region, np.array(rows))
    gain = np.array(after) - before
    cost = np.array(
        [
            1.0 if model.has_codes(j) else abs(value - now[j]) / scale[j]
            for j, value in places
        ]
    )
    worth = gain / np.maximum(cost, 0.1) if thrifty else gain
    best = int(worth.argmax())
    return (*places[best], float(gain[best])) if gain[best] > 0 else None


def _tries(model, now, region, scale) -> Iterator[tuple[int, float]]:
    """Features of a region's tests and values to try: steps, knots, categories."""
    tests = [test for test, _ in region.others]
    for j in sorted({j for test in tests for j in model.features_of(test)}):
        if model.has_codes(j):
            known = region.categories.get(j, range(len(model.categories(j))))
            yield from ((j, float(code)) for code in known if code != now[j])
            continue
        if math.isnan(now[j]):
            continue
        low, high = region.intervals.get(j, (-math.inf, math.inf))
        values = [now[j] + scale[j] * step for step in STEPS]
        values += [knot for test in tests for knot in _knots(model, test, j)]
        yield from ((j, v) for v in values if low < v <= high and v != now[j])


def _knots(model: Model, test: NodeTest, feature: int) -> list[float]:
    """The knots of the curves of a feature in a test."""
    columns = test.data.get("curve_columns", ())
    pairs = zip(columns, test.data.get("knots", ()), strict=True)
    return [v for c, own in pairs if model.columns[c].feature == feature for v in own]


def _slack(model: Model, region: Region, rows: Floats) -> Floats:
    """By how much the tests of a region hold for each row, the least of all; > 0: all do."""
    least = np.full(len(rows), np.inf)
    for test, branch in region.others:
        values = scores(test, model.schema, rows)
        if test.is_machine:
            others = np.delete(values, branch, axis=1)
            own = values[:, branch] - others.max(axis=1, initial=-np.inf)
        else:
            own = (values[:, 0] - cut_of(test)) * (1 if branch else -1)
        least = np.minimum(least, own)
    return least


def _taken_back(model, start, end, changed, region) -> Floats:
    """The changed numbers moved back together as far as the tests hold."""
    numbers = [j for j in changed if not model.has_codes(j)]
    low, high = 0.0, 1.0
    for _ in range(ROUNDS if numbers else 0):
        parts = np.linspace(low, high, PARTS + 1)[:, None]
        rows = np.repeat(end[None], PARTS + 1, axis=0)
        rows[:, numbers] = start[numbers] + parts * (end - start)[numbers]
        fails = np.flatnonzero(~(_slack(model, region, rows[:-1]) > 0))
        first = int(fails[-1]) + 1 if len(fails) else 0  # all hold from there on
        low, high, end_ = parts[max(first - 1, 0), 0], parts[first, 0], rows[first]
    return end_ if numbers else end
