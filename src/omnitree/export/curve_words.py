"""Curves in words: the range of a feature and what it adds, not a formula.

A curve is told by its ends and by where it turns, as far as the turn is worth a word. Used
by sums in words (`words.py`), in one line or as a term of a longer sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from omnitree.export.encoded import encoded_columns
from omnitree.export.numbers import number

# A turn is told if the curve comes back from it by such a part of its whole range: the first
# of these that leaves few of them.
CLEAR_TURNS = (0.1, 0.2, 0.4)
MOST_TURNS = 2
DIGITS = 3
PLACE_DIGITS = range(4, 18)
# A curve that moves by less than such a part of its whole range where rows are is about what
# lies beyond them.
SEEN = 0.45
# What a knot differs from 0 by, as a part of all knots, that comes from rounding.
NO_PART = 1e-12


def curve_text(
    column: int,
    knots: Sequence[float],
    line: Sequence[float],
    features: list[dict[str, Any]],
    reach: Sequence[float] | None = None,
) -> str:
    """A curve as a range of its feature and what it adds there.

    `line` holds the values at the knots, then that of a missing cell, which is told where
    it is not 0. `reach` is the range of the training rows, if it is known: straight lines
    have knots beyond it.

    Examples
    --------
    >>> glucose = [{"name": "glucose", "kind": "numeric", "categories": None}]
    >>> curve_text(0, (80.0, 120.0, 180.0), (-1.2, 0.4, 2.1, 0.0), glucose)
    'glucose: from -1.2 at <= 80 to +2.1 at >= 180'
    >>> curve_text(0, (80.0, 120.0, 180.0), (-1.2, 2.1, 0.0, -0.3), glucose)
    'glucose: -1.2 at <= 80, +2.1 at 120, 0 at >= 180, -0.3 if missing'
    >>> curve_text(0, (80.0, 120.01, 120.04, 180.0), (-1.2, 2.1, -0.6, 0.0, 0.0), glucose)
    'glucose: -1.2 at <= 80, +2.1 at 120.01, -0.6 at 120.04, 0 at >= 180'
    >>> curve_text(0, (80.0, 85.0, 170.0, 180.0), (1.0, 0.0, 0.0, 1.0, 0.0), glucose)
    'glucose: +1 at <= 80, 0 from 85 to 170, +1 at >= 180'
    >>> curve_text(0, (0.0, 200.0), (-1.0, 1.0, 0.0), glucose, (50.0, 150.0))
    'glucose: from -0.5 at 50 to +0.5 at 150'
    >>> beyond = (60.0, 80.0, 170.0, 190.0), (1.0, 0.0, 0.0, 1.0, 0.0)
    >>> curve_text(0, *beyond, glucose, (79.0, 171.0))
    'glucose: +1 at <= 60, 0 from 80 to 170, +1 at >= 190'
    """
    feature = features[encoded_columns(features)[column].feature]
    values, signs = list(line[:-1]), ["<= ", ">= "]
    if reach is not None and (seen := _within(knots, values, reach)) is not None:
        signs[0] *= reach[0] <= knots[0]  # it goes on beyond the range
        signs[1] *= reach[1] >= knots[-1]
        knots, values = seen
    told = turns(values)
    if len(told) == 1:
        text = f"{_signed(values[0])} everywhere"
    else:
        span, last = knots[-1] - knots[0], {at: _end_of(values, at) for at in told}
        named = sorted({*last, *last.values()})
        places = _places([knots[at] for at in named], span, feature)
        place = dict(zip(named, places, strict=True))
        place[told[0]] = signs[0] + place[told[0]]
        place[told[-1]] = signs[1] + place[told[-1]]
        parts = [
            f"{_signed(values[at])} at {place[at]}"
            if at == end
            else f"{_signed(values[at])} from {place[at]} to {place[end]}"
            for at, end in last.items()
        ]
        two = len(parts) == 2
        text = f"from {parts[0]} to {parts[1]}" if two else ", ".join(parts)
    missing = f", {_signed(line[-1])} if missing" if line[-1] else ""
    return f"{feature['name']}: {text}{missing}"


def _within(
    knots: Sequence[float], values: Sequence[float], reach: Sequence[float]
) -> tuple[list[float], list[float]] | None:
    """Knots and values within a range; None if hardly anything of the curve lies there."""
    ends = np.clip(reach, knots[0], knots[-1]).tolist()
    at = [ends[0], *(knot for knot in knots if ends[0] < knot < ends[1]), ends[1]]
    seen = np.interp(at, knots, values).tolist()
    if max(seen) - min(seen) < SEEN * (max(values) - min(values)):
        return None
    return at, seen


def turns(values: Sequence[float]) -> list[int]:
    """Positions that tell a curve: its ends, and clear turns between; one if it is flat.

    >>> turns([0.0, 1.0, 0.98, 3.0, 1.0, 1.0]), turns([2.0, 2.0, 2.0])
    ([0, 3, 5], [0])
    """
    reach = max(values) - min(values)
    if not reach > 0:
        return [0]
    for clear in CLEAR_TURNS:
        found = _turns_by(values, clear * reach)
        if len(found) <= MOST_TURNS:
            break
    return [0, *found[:MOST_TURNS], len(values) - 1]


def _end_of(values: Sequence[float], at: int) -> int:
    """Where a curve leaves the value that it has at an inner position; else the position."""
    end = at
    while at > 0 and end + 2 < len(values) and values[end + 1] == values[at]:
        end += 1
    return end


def _turns_by(values: Sequence[float], least: float) -> list[int]:
    """Where a curve turns and comes back by more than `least`."""
    found = []
    way = high = low = 0  # up, down or not known yet; the ends of the way so far
    for at, value in enumerate(values):
        high = at if way >= 0 and value > values[high] else high
        low = at if way <= 0 and value < values[low] else low
        if way >= 0 and values[high] - value > least:
            found += [high] if way else []
            way, low = -1, at
        elif way <= 0 and value - values[low] > least:
            found += [low] if way else []
            way, high = 1, at
    return found


def curve_spread(line: Sequence[float]) -> float:
    """What a curve varies by among its knots, which lie at quantiles."""
    return float(np.std(line[:-1]))


def _signed(value: float) -> str:
    text = number(value, DIGITS)
    return f"+{text}" if value > 0 else text


def _places(knots: Sequence[float], span: float, feature: dict[str, Any]) -> list[str]:
    """Where knots are, with as many digits as tell them apart."""
    for digits in PLACE_DIGITS:
        places = [_place(knot, span, feature, digits) for knot in knots]
        if len(set(places)) == len(places):
            break
    return places


def _place(knot: float, span: float, feature: dict[str, Any], digits: int) -> str:
    """Where a knot is, 0 but for rounding is 0; the category of an ordered feature."""
    knot = 0.0 if abs(knot) < NO_PART * span else knot
    categories = feature["categories"] if feature["kind"] == "ordered" else ()
    if knot in range(len(categories)):
        return str(categories[int(knot)])
    return number(knot, digits)
