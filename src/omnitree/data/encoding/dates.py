"""Dates and times: from cells to microseconds, and from those to parts people can read.

A moment is the number of microseconds from 1970-01-01 to what the clock on the wall shows;
time zones are dropped, not converted. NaN is missing. Which text is
a date is in `omnitree.data.date_text`. Used by `omnitree.data.encoding.columns`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from omnitree.data.date_part import PARTS, DatePart
from omnitree.data.date_text import YEAR_LAST, read_date

FloatArray = NDArray[np.float64]

# Text is a column of dates if at least this share of its cells are.
DATE_SHARE = 0.95
# A look at so many words tells most columns of other text.
SAMPLE = 50
HOUR = 3_600_000_000
DAY = 24 * HOUR

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def moment(text: str, *, day_first: bool = False) -> float:
    """The moment that text names; NaN if it names none.

    Examples
    --------
    >>> moment("1970-01-02") == moment("2.1.1970") == moment("Jan 2, 1970") == DAY
    True
    >>> moment("1970-01-01T14:30") / HOUR
    14.5
    >>> moment("2/1/1970", day_first=True) / DAY, moment("2/1/1970") / DAY
    (1.0, 31.0)
    >>> moment("31st of May")
    nan
    """
    then = read_date(text, day_first)
    return np.nan if then is None else float((then - _EPOCH) // _MICROSECOND)


def moments_of_text(words: Iterable[str], *, day_first: bool) -> FloatArray:
    """The moments that words name."""
    return np.array([moment(word, day_first=day_first) for word in words])


def learn_text(
    words: Sequence[str], counts: NDArray[np.int64]
) -> tuple[FloatArray, bool] | None:
    """The moments of words in which nearly all cells are dates, and whether days come first.

    `counts` says how many cells hold each of the words, which are all different. None if the
    words are no dates, or if nothing tells their days from months.

    Examples
    --------
    >>> learn_text(["1/1/1970", "1/31/1970"], np.array([1, 1]))[0] / DAY
    array([ 0., 30.])
    >>> learn_text(["1/2/1970", "3/4/1970"], np.array([1, 1])) is None
    True
    """
    few = words[:: max(1, len(words) // SAMPLE)]
    if np.isnan(moments_of_text(few, day_first=False)).mean() > 0.5 and (
        np.isnan(moments_of_text(few, day_first=True)).mean() > 0.5
    ):
        return None
    numbers = [m for m in map(YEAR_LAST.fullmatch, words) if m is not None]
    day_first = any(int(m["month"]) > 12 for m in numbers)
    if numbers and day_first == any(int(m["day"]) > 12 for m in numbers):
        return None
    moments = moments_of_text(words, day_first=day_first)
    if counts[~np.isnan(moments)].sum() < DATE_SHARE * counts.sum():
        return None
    return moments, day_first


def moments_of_array(cells: NDArray[np.datetime64]) -> FloatArray:
    """The moments of an array of datetime64."""
    exact = cells.astype("datetime64[us]")
    return np.where(np.isnat(exact), np.nan, exact.astype(np.int64).astype(np.float64))


def parts_of(column: str, moments: FloatArray, *, day_first: bool) -> list[DatePart]:
    """The parts of dates that vary in training; the days if none does.

    Examples
    --------
    >>> [p.part for p in parts_of("t", np.array([0, 3.5]) * DAY, day_first=False)]
    ['weekday', 'hour', 'days']
    """
    present = moments[~np.isnan(moments)]
    start = str(np.datetime64(int(present.min() // DAY), "D"))
    every = [
        DatePart(column, name, start if name == "days" else None, day_first)
        for name in PARTS
    ]
    return [part for part in every if np.ptp(part_values(present, part))] or every[-1:]


def part_values(moments: FloatArray, part: DatePart) -> FloatArray:
    """A part of each moment; NaN stays.

    Examples
    --------
    >>> part_values(np.array([np.nan, 2.5 * DAY]), DatePart("t", "hour"))
    array([nan, 12.])
    """
    days = np.floor(moments / DAY)
    if part.part == "hour":
        return (moments - days * DAY) / HOUR
    if part.part == "weekday":
        return (days + 3.0) % 7.0  # 1970 began on a Thursday
    if part.part == "days":
        return days - float(np.datetime64(part.start, "D").astype(np.int64))
    known = ~np.isnan(days)
    # The start of a missing date is of no account.
    dates = np.where(known, days, 0.0).astype(np.int64).view("datetime64[D]")
    months = dates.astype("datetime64[M]").astype(np.int64)
    values = months // 12 + 1970 if part.part == "year" else months % 12 + 1
    return np.where(known, values.astype(np.float64), np.nan)
