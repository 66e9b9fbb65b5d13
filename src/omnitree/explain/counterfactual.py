"""The smallest change of a few features that changes the answer.

Every leaf of another class is a target. In a region of intervals and sets of categories the
nearest row is found directly; where linear tests and machines bound the region too, by a
linear programme in the numbers, whose answer changes few of them. Regions with other
tests, and changes of categories in linear tests, are met by trying single features. Changes
are counted in units of the columns' deviations (of the range of a feature's thresholds
where the tree has none), a category or a missing value as one unit. A change is an answer
only after the tree itself has predicted another class for it. Where the tree answers a
number, a leaf that reaches a goal (`goals.py`) takes the place of another class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import product
from typing import Any

import numpy as np

from omnitree.explain.goals import Goal
from omnitree.export.model import Model, category_text
from omnitree.export.region import Region, region_of
from omnitree.export.words import number

Predict = Callable[[list[list[float]]], list[int]]
# Steps of the search over one number, in units of its deviation.
STEPS = [s * 2.0**k for k in range(-6, 4) for s in (-1, 1)]


@dataclass(frozen=True)
class Change:
    """One feature, before and after; None is a missing value."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Counterfactual:
    """A changed row with another class, as the tree predicts it.

    Attributes
    ----------
    label
        The other class, or number.
    changes : list of Change
    cost : float
        Sum of the changes in units of deviation; a category counts 1.
    row : list of float
        The changed row, encoded.
    """

    label: Any
    changes: list[Change]
    cost: float
    row: list[float] = field(repr=False)

    def __str__(self) -> str:
        parts = [
            f"{c.name} = {_text(c.after)} (now {_before(c)})" for c in self.changes
        ]
        label = f"{self.label:.6g}" if type(self.label) is float else self.label
        return f"It would be {label} with {' and '.join(parts)}"


def _text(cell: Any) -> str:
    return "missing" if cell is None else category_text(cell)


def _before(change: Change) -> str:
    """What the row has, to six digits unless they put it past what it would need."""
    before, after = change.before, change.after
    if isinstance(before, float):
        text = number(before, 6)
        if after is None or (float(text) - after) * (before - after) > 0:
            return text
    return _text(before)


def reach(
    model: Model,
    row: list[float],
    goal: Goal,
    predict: Callable[[list[list[float]]], list[float]],
    max_changes: int,
) -> Counterfactual | None:
    """The cheapest verified change after which a number is as wanted, if any is found."""

    def reached(rows: list[list[float]]) -> list[int]:
        return [int(goal.reached(answer)) for answer in predict(rows)]

    regions = list(goal.regions(model))
    found = find_counterfactual(model, row, 0, reached, max_changes, regions)
    if found is None:
        return None
    return replace(found, label=float(predict([found.row])[0]))


def find_counterfactual(
    model: Model,
    row: list[float],
    label: int,
    predict: Predict,
    max_changes: int,
    regions: Sequence[Region] | None = None,
) -> Counterfactual | None:
    """The cheapest verified change of at most `max_changes` features, if any is found.

    `predict` gives the number of the class; another one than `label` is wanted. `regions`
    are where it may be found, by default those of the leaves of other classes.
    """
    scale = scales(model)
    if regions is None:
        regions = list(_regions(model, label))
    found = [*_by_leaf(model, row, regions, scale), *_by_feature(model, row, scale)]
    priced = []
    for other in found:
        changed = [j for j in range(len(row)) if not _same(row[j], other[j])]
        if 0 < len(changed) <= max_changes:
            cost = sum(_cost(model, j, row[j], other[j], scale[j]) for j in changed)
            priced.append((cost, len(changed), changed, other))
    priced.sort(key=lambda p: p[:3])
    answers = predict([p[3] for p in priced]) if priced else []
    for (cost, _, changed, other), answer in zip(priced, answers, strict=True):
        if answer != label:
            other = _nearest(model, row, other, changed, label, predict)
            other = _rounded(model, row, other, changed, label, predict)
            cost = sum(_cost(model, j, row[j], other[j], scale[j]) for j in changed)
            changes = [
                Change(
                    model.features[j]["name"],
                    cell(model, j, row[j]),
                    cell(model, j, other[j]),
                )
                for j in changed
            ]
            answer = predict([other])[0]
            named = model.classes[answer] if model.classes else answer
            return Counterfactual(named, changes, cost, other)
    return None


def cell(model: Model, feature: int, value: float) -> Any:
    """An encoded cell in the user's terms; None is a missing value."""
    if math.isnan(value):
        return None
    categories = model.features[feature]["categories"]
    return categories[int(value)] if categories else value


def scales(model: Model) -> list[float]:
    """The unit of each feature: its deviation, or the range of its thresholds."""
    scale = [0.0] * len(model.features)
    for column, deviation in zip(
        model.columns, model.tree.get("deviations", ()), strict=False
    ):
        scale[column.feature] = max(scale[column.feature], deviation)
    cuts: dict[int, list[float]] = {}
    for node in range(len(model.nodes)):
        test = {} if model.is_leaf(node) else model.tests(node)[0].data
        if "feature" in test and "threshold" in test:
            cuts.setdefault(test["feature"], []).append(test["threshold"])
    for j, found in cuts.items():
        if not scale[j]:
            scale[j] = (max(found) - min(found)) or abs(found[0])
    return [s or 1.0 for s in scale]


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _cost(model: Model, j: int, before: float, after: float, scale: float) -> float:
    if model.is_categorical(j) or math.isnan(before) or math.isnan(after):
        return 1.0
    return abs(after - before) / scale


# -- leaf by leaf -----------------------------------------------------------------------


def _by_leaf(
    model: Model, row: list[float], regions: Sequence[Region], scale: list[float]
) -> Iterator[list[float]]:
    """The nearest row of each region, as far as it is simple."""
    for region in regions:
        if region.is_empty:
            continue
        for keep_missing in (True, False):
            near: list[float] | None = _into(model, row, region, keep_missing)
            if region.others and near is not None:
                near = _programme(model, near, region, scale)
            if near is not None:
                yield near


def _regions(model: Model, label: int) -> Iterator[Region]:
    """Regions with an answer other than `label`.

    A leaf with a model has one for each class that its model can prefer.
    """
    for leaf in model.leaves:
        region, test = region_of(model, leaf), model.model(leaf)
        if test is None:
            if model.labels[leaf] != label:
                yield region
            continue
        for k in range(len(model.classes)):
            if k != label:
                yield replace(region, others=[*region.others, (test, k)])


def _into(
    model: Model, row: list[float], region: Region, keep_missing: bool
) -> list[float]:
    """The row, moved into the intervals and sets of a region.

    A missing value may stay where missing values pass or, if `keep_missing`, where other
    tests decide.
    """
    near = list(row)
    for j, passes in region.missing.items():
        missing = math.isnan(row[j])
        if missing and (passes or (passes is None and keep_missing)):
            continue
        if j in region.categories:
            codes = region.categories[j]
            if missing or row[j] not in codes:
                wanted = (
                    codes[0] if missing else min(codes, key=lambda c: abs(c - row[j]))
                )
                near[j] = float(wanted)
            continue
        low, high = region.intervals[j]
        if missing or row[j] > high:
            near[j] = high if math.isfinite(high) else math.nextafter(low, math.inf)
        elif row[j] <= low:
            near[j] = math.nextafter(low, math.inf)
    return near


def _programme(
    model: Model, row: list[float], region: Region, scale: list[float]
) -> list[float] | None:
    """The nearest row under linear tests as well; None if there is none.

    Minimises the sum of |change| / scale over the numbers; categories and missing values
    stay.
    """
    from scipy.optimize import linprog

    free = [
        j for j in range(len(row)) if not model.has_codes(j) and not math.isnan(row[j])
    ]
    place = {j: i for i, j in enumerate(free)}
    above, limit = [], []
    for test, branch in region.others:
        if "weights" not in test.data or "terms" in test.data:
            return None
        lines = []  # coefficients and constant of what must be at most 0
        if not test.is_machine:
            sign = 1.0 if branch == 0 else -1.0
            lines.append(
                (
                    [sign * w for w in test.data["weights"]],
                    -sign * test.data["threshold"],
                )
            )
        else:
            own, bias = test.data["weights"][branch], test.data["bias"]
            for k, other in enumerate(test.data["weights"]):
                if k != branch:
                    less = [o - w for o, w in zip(other, own, strict=True)]
                    lines.append((less, bias[k] - bias[branch]))
        for weights, constant in lines:
            line = np.zeros(len(free))
            size = abs(constant)
            for at, w in enumerate(weights):
                column = model.columns[test.columns[at]]
                value = row[column.feature]
                if column.feature in place:
                    line[place[column.feature]] += w
                    constant += w * value
                elif math.isnan(value):
                    constant += w * test.fill[at]
                elif column.category < 0:
                    constant += w * value
                else:
                    constant += w * (1.0 if int(value) == column.category else -1.0)
                size += abs(w * value) if not math.isnan(value) else 0.0
            above.append(line)
            limit.append(-constant - 1e-9 * (1.0 + size))
    unit = np.array([scale[j] for j in free])
    bounds = []
    for side in (1, -1):
        for j in free:
            low, high = region.intervals.get(j, (-math.inf, math.inf))
            room = (high - row[j]) if side > 0 else (row[j] - low)
            bounds.append((0.0, max(room, 0.0) if math.isfinite(room) else None))
    lines_ = np.array(above) if free else np.zeros((len(above), 0))
    if not free:
        return row if all(v >= 0 for v in limit) else None
    answer = linprog(
        np.concatenate([1 / unit, 1 / unit]),
        A_ub=np.hstack([lines_, -lines_]),
        b_ub=limit,
        bounds=bounds,
        method="highs",
    )
    if not answer.success:
        return None
    move = answer.x[: len(free)] - answer.x[len(free) :]
    near = list(row)
    for j, step in zip(free, move, strict=True):
        if abs(step) > 1e-12 * scale[j]:
            near[j] = row[j] + float(step)
    return near


# -- feature by feature -----------------------------------------------------------------


def _by_feature(
    model: Model, row: list[float], scale: list[float]
) -> Iterator[list[float]]:
    """Rows with one feature changed: any category, some steps of a number."""
    for j in model.used:
        if model.has_codes(j):
            tries = [float(c) for c in range(len(model.categories(j)))]
        elif math.isnan(row[j]):
            continue
        else:
            tries = [row[j] + scale[j] * step for step in STEPS]
        for value in tries:
            if value != row[j]:
                yield [*row[:j], value, *row[j + 1 :]]


def _nearest(
    model: Model,
    row: list[float],
    other: list[float],
    changed: list[int],
    label: int,
    predict: Predict,
) -> list[float]:
    """A single changed number, moved back as far as the class stays another."""
    j = changed[0]
    if len(changed) != 1 or model.has_codes(j) or math.isnan(row[j]):
        return other
    same, far = row[j], other[j]
    for _ in range(60):
        middle = same + (far - same) / 2
        if middle in (same, far):
            break
        if predict([[*row[:j], middle, *row[j + 1 :]]])[0] == label:
            same = middle
        else:
            far = middle
    return [*row[:j], far, *row[j + 1 :]]


def _rounded(
    model: Model,
    row: list[float],
    other: list[float],
    changed: list[int],
    label: int,
    predict: Predict,
) -> list[float]:
    """The change with as few digits as still give another class, from four on."""
    numbers = [j for j in changed if not model.has_codes(j)]
    tries = []
    for digits, filling in product(range(4, 17), (ROUND_CEILING, ROUND_FLOOR)):
        near = list(other)
        for j in numbers:
            away = ROUND_CEILING if other[j] > row[j] else ROUND_FLOOR
            exact = Decimal(other[j])
            unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
            rounding = filling if math.isnan(row[j]) else away
            near[j] = float(exact.quantize(unit, rounding))
        tries.append(near)
    answers = predict(tries)
    return next(
        (near for near, k in zip(tries, answers, strict=True) if k != label), other
    )
