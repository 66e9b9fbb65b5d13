"""Dates and times: how text is read, and the parts of moments."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnitree.data.date_part import DatePart
from omnitree.data.date_text import WEEKDAYS
from omnitree.data.encoding.dates import (
    DAY,
    HOUR,
    learn_text,
    moment,
    moments_of_array,
    part_values,
    parts_of,
)

EPOCH = datetime.datetime(1970, 1, 1)


def naive(then: datetime.datetime, part: DatePart) -> float:
    """A part by the standard library."""
    if part.part == "days":
        start = datetime.date.fromisoformat(part.start or "")
        return (then.date() - start).days
    return {
        "year": then.year,
        "month": then.month,
        "weekday": then.weekday(),
        "hour": (then - datetime.datetime.combine(then, datetime.time()))
        / datetime.timedelta(hours=1),
    }[part.part]


times = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 12, 31))


@given(st.lists(times, min_size=1, max_size=5))
def test_parts_are_those_of_the_standard_library(thens):
    moments = moments_of_array(np.array(thens, dtype="datetime64[us]"))
    for part in (
        *(DatePart("t", name) for name in ("year", "month", "weekday", "hour")),
        DatePart("t", "days", "1999-12-31"),
    ):
        expected = [naive(then, part) for then in thens]
        np.testing.assert_allclose(part_values(moments, part), expected, rtol=1e-12)
    assert np.isnan(part_values(np.array([np.nan]), DatePart("t", "month"))).all()


@given(times)
def test_text_in_every_form_is_the_same_moment(then):
    then = then.replace(microsecond=0)
    expected = (then - EPOCH) / datetime.timedelta(microseconds=1)
    assert moment(then.isoformat()) == expected
    assert moment(str(then) + "+02:00") == expected  # as the clock on the wall shows
    year = f"{then.year:04}"
    for text in (
        f"{year}/{then:%m/%d %H:%M:%S}",
        f"{then:%d.%m.}{year} {then:%H:%M:%S}",
        f"{then:%d %B} {year} {then:%I:%M:%S %p}",
        f"{then:%d-%b}-{year} {then:%H:%M:%S}",
        f"{then:%b %d}, {year}, {then:%H:%M:%S}",
        f"{then:%m/%d/}{year} {then:%H:%M:%S}",
    ):
        assert moment(text) == expected, text
    assert moment(f"{then:%d-%m-}{year} {then:%H:%M:%S}", day_first=True) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2012",
        "2012-01",
        "2009-10-",
        "2012-02-30",
        "2012-1/3",
        "12-01-31",
        "20120131",
        "1.2.3",
        "25:00",
        "13:00 pm",
        "May 2012",
        "Braund, Mr. Owen Harris",
        "٢٠١٢-٠١-٣١",
    ],
)
def test_other_text_is_no_date(text):
    assert np.isnan(moment(text))


def test_times_of_the_day():
    assert moment("14:30") == 14.5 * HOUR
    assert moment("12:15 am") == 0.25 * HOUR
    assert moment("1:00:00.25 PM") == 13 * HOUR + 250_000


def test_slashes_are_read_as_the_column_tells():
    def learn(*words):
        return learn_text(words, np.ones(len(words), dtype=np.int64))

    moments, day_first = learn("13/1/1970", "1/2/1970")
    assert day_first
    np.testing.assert_array_equal(moments / DAY, [12, 31])
    moments, day_first = learn("1/13/1970", "1/2/1970")
    assert not day_first
    np.testing.assert_array_equal(moments / DAY, [12, 1])
    assert learn("1/2/1970", "3/4/1970") is None  # nothing tells
    assert learn("13/1/1970", "1/13/1970") is None  # both at once


def test_a_few_cells_may_be_no_dates():
    words = ["1970-01-01", "1970-01-02", "unknown"]
    moments, _ = learn_text(words, np.array([50, 46, 4]))
    np.testing.assert_array_equal(moments / DAY, [0, 1, np.nan])
    assert learn_text(words, np.array([50, 44, 6])) is None


def test_only_parts_that_vary():
    def parts(*texts):
        moments = np.array([moment(text) for text in texts])
        return [part.part for part in parts_of("t", moments, day_first=False)]

    assert parts("2012-01-01", "2013-01-06") == ["year", "days"]  # both Sundays
    assert parts("2012-01-01", "2012-03-01") == ["month", "weekday", "days"]
    assert parts("2012-01-01 10:00", "2012-01-01 11:00") == ["hour"]
    assert parts("2012-01-01", "2012-01-01") == ["days"]
    assert (
        parts_of("t", np.array([3.0 * DAY]), day_first=False)[0].start == "1970-01-04"
    )


def test_weekdays_begin_on_monday():
    monday = moment("2024-01-01")
    values = part_values(np.array([monday]), DatePart("t", "weekday"))
    assert WEEKDAYS[int(values[0])] == "Monday"
