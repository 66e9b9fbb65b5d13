"""The smallest change of a few features that changes the answer.

Every leaf of another class is a target. In a region of intervals and sets of categories the
nearest row is found directly; where linear tests and machines bound the region too, by a
linear programme in the numbers, whose answer changes few of them. Regions of other tests
are approached feature by feature (`steps.py`), and single features are tried besides. Of
very deep trees, only leaves are looked at whose tests the row nearly passes. A number is
never moved beyond the values of the training rows, where the tree knows them.
Changes are counted in units of the columns' deviations (of the range of a feature's
thresholds where the tree has none), a category or a missing value as one unit. A change is
an answer only after the tree itself has predicted another class for it. Where the tree
answers a number, a leaf that reaches a goal (`goals.py`) takes the place of another class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from omnitree.explain.goals import Goal
from omnitree.explain.steps import by_steps
from omnitree.export.model import Model, NodeTest, category_text
from omnitree.export.numbers import number
from omnitree.export.region import BranchPath, Region
from omnitree.export.region import regions as regions_of
from omnitree.tree.expression import Column

Predict = Callable[[list[list[float]]], list[int]]
# Steps of the search over one number, in units of its deviation.
STEPS = [s * 2.0**k for k in range(-6, 4) for s in (-1, 1)]
# Tests on several features in all linear programmes of a search.
MOST_BOUNDS = 10_000


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
        if not isinstance(after, float):  # missing, or a category beside this number
            return text
        if (float(text) - after) * (before - after) > 0:
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
    search = _Search(model, row, label, predict)
    if regions is None:
        regions = list(_regions(model, label))
    regions = [search.within(region) for region in regions]
    priced = []
    for other in (*search.by_leaf(regions, max_changes), *search.by_feature()):
        changed = [j for j in range(len(row)) if not _same(row[j], other[j])]
        infinite = any(math.isinf(other[j]) for j in changed)
        if 0 < len(changed) <= max_changes and not infinite:
            priced.append((search.cost(other, changed), len(changed), changed, other))
    priced.sort(key=lambda p: p[:3])
    answers = predict([p[3] for p in priced]) if priced else []
    for (*_, changed, other), answer in zip(priced, answers, strict=True):
        if answer != label:
            other = search.rounded(search.nearest(other, changed), changed)
            other = search.flags_whole(other, changed)
            changes = []
            for j in changed:
                before, after = cell(model, j, row[j]), cell(model, j, other[j])
                changes.append(Change(model.features[j]["name"], before, after))
            answer = predict([other])[0]
            named = model.classes[answer] if model.classes else answer
            return Counterfactual(named, changes, search.cost(other, changed), other)
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
    for node in model.inner:
        test = model.tests(node)[0].data
        if "feature" in test and "threshold" in test:
            cuts.setdefault(test["feature"], []).append(test["threshold"])
    for j, found in cuts.items():
        if not scale[j]:
            scale[j] = (max(found) - min(found)) or abs(found[0])
    return [s or 1.0 for s in scale]


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _is_linear(bound: tuple[NodeTest, int]) -> bool:
    """Whether a test is one of weighted columns."""
    data = bound[0].data
    return "weights" in data and not {"terms", "knots"} & set(data)


def _regions(model: Model, label: int) -> Iterator[Region]:
    """Regions with an answer other than `label`.

    A leaf with a model has one for each class that its model can prefer.
    """
    for leaf, region in regions_of(model):
        test = model.model(leaf)
        if test is None:
            if model.labels[leaf] != label:
                yield region
            continue
        for k in range(len(model.classes)):
            if k != label:
                yield replace(region, others=region.others.then(test, k))


@dataclass(frozen=True)
class _Search:
    """For rows near `row` that are predicted another class than `label`."""

    model: Model
    row: list[float]
    label: int
    predict: Predict

    @cached_property
    def scale(self) -> list[float]:
        """The unit of each feature."""
        return scales(self.model)

    @cached_property
    def limits(self) -> dict[int, tuple[float, float]]:
        """Ends of the numbers: of the training rows, or the row's own if it is beyond."""
        known = enumerate(self.model.tree.get("ranges", ()))
        return {
            j: (min(ends[0], at), max(ends[1], at))
            for j, ends in known
            if ends and not math.isnan(at := self.row[j])
        }

    def within(self, region: Region) -> Region:
        """The region as far as the limits reach."""
        intervals = dict(region.intervals)
        for j, (low, high) in self.limits.items():
            least, most = intervals.get(j, (-math.inf, math.inf))
            low = math.nextafter(low, -math.inf)  # which an interval leaves out
            intervals[j] = max(low, least), min(high, most)
        return replace(region, intervals=intervals)

    def _limited(self, j: int, value: float) -> float:
        low, high = self.limits.get(j, (-math.inf, math.inf))
        return min(max(value, low), high)

    def cost(self, other: list[float], changed: list[int]) -> float:
        """Sum of the changes in their units; a category or a missing value counts 1."""
        total = 0.0
        for j in changed:
            step = abs(other[j] - self.row[j]) / self.scale[j]
            total += 1.0 if self.model.is_categorical(j) or math.isnan(step) else step
        return total

    def by_leaf(
        self, regions: Sequence[Region], max_changes: int
    ) -> Iterator[list[float]]:
        """The nearest row of each region, or one that is near."""
        others = []
        some_missing = any(map(math.isnan, self.row))
        for region in self._near(regions):
            if region.is_empty:
                continue
            for keep_missing in (True, False) if some_missing else (True,):
                near: Any = self._into(region, keep_missing)
                if not all(map(_is_linear, region.others)):
                    others.append((near, region))
                    break
                if region.others:
                    near = self._programme(near, region)
                if near is not None:
                    yield near
        yield from by_steps(self.model, others, self.scale, max_changes)

    def _near(self, regions: Sequence[Region]) -> Sequence[Region]:
        """Regions, or of many long ones those with the fewest tests that the row fails."""
        room = MOST_BOUNDS
        if sum(len(region.others) for region in regions) <= room:
            return regions
        failed: dict[BranchPath, int] = {}
        for region in regions:
            new = []
            for path in region.others.upwards():
                if path in failed:
                    break
                new.append(path)
            for path in reversed(new):
                test, branch = path.bound or (None, 0)
                fails = test is None or self.model.branch(test, self.row) != branch
                failed[path] = failed.get(path.above or path, 0) + fails
        kept: list[Region] = []
        for region in sorted(regions, key=lambda r: failed.get(r.others, 0)):
            room -= len(region.others)
            if room < 0 and kept:
                break
            kept.append(region)
        return kept

    def by_feature(self) -> Iterator[list[float]]:
        """Rows with one feature changed: any category, some steps of a number."""
        for j in self.model.used:
            if self.model.has_codes(j):
                tries = [float(c) for c in range(len(self.model.categories(j)))]
            else:
                steps = (self.row[j] + self.scale[j] * step for step in STEPS)
                tries = sorted({self._limited(j, value) for value in steps})
            for value in tries:
                if value != self.row[j] and not math.isnan(value):
                    yield self._with(j, value)

    def _with(self, j: int, value: float) -> list[float]:
        return [*self.row[:j], value, *self.row[j + 1 :]]

    def _into(self, region: Region, keep_missing: bool) -> list[float]:
        """The row, moved into the intervals and sets of a region.

        A missing value may stay where missing values pass or, if `keep_missing`, where other
        tests decide.
        """
        row, near = self.row, list(self.row)
        for j, passes in region.missing.items():
            missing = math.isnan(row[j])
            if missing and (passes or (passes is None and keep_missing)):
                continue
            if j in region.categories:
                codes = region.categories[j]
                if missing:
                    near[j] = float(codes[0])
                elif row[j] not in codes:
                    near[j] = float(min(codes, key=lambda code: abs(code - row[j])))
                continue
            low, high = region.intervals[j]
            if missing or row[j] > high:
                near[j] = high if math.isfinite(high) else math.nextafter(low, math.inf)
            elif row[j] <= low:
                near[j] = math.nextafter(low, math.inf)
        return near

    def _programme(self, row: list[float], region: Region) -> list[float] | None:
        """The nearest row under linear tests as well; None if there is none.

        Minimises the sum of |change| / scale over the numbers; categories and missing values
        stay.
        """
        from omnitree.export.programme import RANGE, solved

        model, scale = self.model, self.scale
        numbers = [j for j in range(len(row)) if not model.has_codes(j)]
        free = [j for j in numbers if not math.isnan(row[j])]
        place = {j: i for i, j in enumerate(free)}
        above, limit = [], []
        for test, branch in region.others:
            lines = []  # coefficients and constant of what must be at most 0
            if not test.is_machine:
                sign = 1.0 if branch == 0 else -1.0
                weights = [sign * w for w in test.data["weights"]]
                lines.append((weights, -sign * test.data["threshold"]))
            else:
                own, bias = test.data["weights"][branch], test.data["bias"]
                for k, other in enumerate(test.data["weights"]):
                    if k != branch:
                        less = [o - w for o, w in zip(other, own, strict=True)]
                        lines.append((less, bias[k] - bias[branch]))
            for weights, constant in lines:
                line = np.zeros(len(free))
                size = abs(constant)
                for w, c, fill in zip(weights, test.columns, test.fill, strict=True):
                    feature = model.columns[c].feature
                    if feature in place:
                        line[place[feature]] += w
                    constant += w * model.column_value(Column(c, fill), row)
                    size += (
                        abs(w * row[feature]) if not math.isnan(row[feature]) else 0.0
                    )
                above.append(line)
                limit.append(-constant - 1e-9 * (1.0 + size))
        unit = np.array([scale[j] for j in free])
        bounds = []
        for side in (1, -1):
            for j in free:
                low, high = region.intervals.get(j, (-math.inf, math.inf))
                room = ((high - row[j]) if side > 0 else (row[j] - low)) / scale[j]
                bounds.append((0.0, max(room, 0.0) if math.isfinite(room) else None))
        if not free:
            return row if all(v >= 0 for v in limit) else None
        with np.errstate(over="ignore"):
            lines_ = np.array(above) * unit  # changes are counted in units
        size = np.abs(lines_)
        # What is never worth a move.
        lines_[size < size.max(axis=1, keepdims=True) / RANGE] = 0.0
        answer = solved(
            np.ones(2 * len(free)),
            np.hstack([lines_, -lines_]),
            np.array(limit),
            bounds,
        )
        if answer is None:
            return None
        move = answer.x[: len(free)] - answer.x[len(free) :]
        near = list(row)
        for j, step in zip(free, move, strict=True):
            if abs(step) > 1e-12:
                near[j] = row[j] + float(step) * scale[j]
        return near

    def nearest(self, other: list[float], changed: list[int]) -> list[float]:
        """A single changed number, moved back as far as the class stays another."""
        j = changed[0]
        same, far = self.row[j], other[j]
        if len(changed) != 1 or self.model.has_codes(j) or math.isnan(same):
            return other
        for _ in range(60):
            middle = same + (far - same) / 2
            if math.isinf(middle):  # the ends of the range of numbers
                middle = same / 2 + far / 2
            if middle in (same, far):
                break
            if self.predict([self._with(j, middle)])[0] == self.label:
                same = middle
            else:
                far = middle
        return self._with(j, far)

    def flags_whole(self, other: list[float], changed: list[int]) -> list[float]:
        """The row with numbers that are 0 or 1 changed wholly, if that is as good.

        Such are numbers from 0 to 1 that the row has an end of: flags, almost always. Where
        the ends are not known, the change must lie between.
        """
        whole = list(other)
        for j in changed:
            flag = self.row[j] in (0.0, 1.0) and 0.0 <= other[j] <= 1.0
            if flag and self.limits.get(j, (0.0, 1.0)) == (0.0, 1.0):
                whole[j] = 1.0 - self.row[j]
        return whole if self.predict([whole])[0] != self.label else other

    def rounded(self, other: list[float], changed: list[int]) -> list[float]:
        """The change with as few digits as still give another class.

        With as many decimals as the number that is changed, where that takes it not much
        further: years stay whole. Else with four digits, or more.
        """
        row, numbers = self.row, [j for j in changed if not self.model.has_codes(j)]
        exact = {j: Decimal(other[j]) for j in numbers}
        units = [
            {j: Decimal(1).scaleb(exact[j].adjusted() - digits + 1) for j in numbers}
            for digits in range(4, 17)
        ]
        own = {j: known for j in numbers if (known := self._unit(j, other[j]))}
        tries = []
        for unit, filling in product(
            [units[0] | own, *units], (ROUND_CEILING, ROUND_FLOOR)
        ):
            near = list(other)
            for j in numbers:
                away = ROUND_CEILING if other[j] > row[j] else ROUND_FLOOR
                rounding = filling if math.isnan(row[j]) else away
                near[j] = float(exact[j].quantize(unit[j], rounding))
                if near[j] != self._limited(j, near[j]) or math.isinf(near[j]):
                    back = ROUND_FLOOR if rounding == ROUND_CEILING else ROUND_CEILING
                    near[j] = float(exact[j].quantize(unit[j], back))
            tries.append(near)
        answers = zip(tries, self.predict(tries), strict=True)
        return next((near for near, answer in answers if answer != self.label), other)

    def _unit(self, j: int, value: float) -> Decimal | None:
        """The last decimal that a feature's numbers have, if `value` need not have more.

        Known are that of the row and the ends of the training rows.
        """
        ends = self.limits.get(j, ())
        known = {self.row[j], *ends}
        if not all(map(math.isfinite, known)):
            return None
        places = [Decimal(repr(v)).normalize().as_tuple().exponent for v in known]
        last = min(0, *map(int, places))
        unit = 10.0**last
        many = ends[1] - ends[0] >= 10 * unit if ends else self.scale[j] >= unit
        if not many and abs(value - self.row[j]) < 10 * unit:
            return None
        return Decimal(1).scaleb(last) if unit > 1e-3 * abs(value) else None
