"""Dates in text, and their parts, by the standard library alone.

Text is a date if it is written in one of these forms, with or without a time after it:

- ``2012-01-31``, ``2012/01/31`` (ISO 8601, also with ``T``, fractions and a zone);
- ``31.01.2012``;
- ``31 Jan 2012``, ``31-Jan-2012``, ``Jan 31, 2012``, also with whole month names;
- ``1/31/2012`` and ``31/1/2012``, also with hyphens, where the column tells days from
  months because some day is above 12;

or if it is a time of the day, ``14:30`` or ``14:30:59``. Used by `data.encoding.dates`;
exports to Python take the code of this module along, so it imports nothing else.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

WEEKDAYS = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)
_NO_DATE = (("year", "1970"), ("month", "1"), ("day", "1"))
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH = (
    "(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
    "aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?)? ?(?:z|utc|[+-]\d{2}(?::?\d{2})?)?"
)
_YEAR, _DAY, _MARK = r"(?P<year>\d{4})", r"(?P<day>\d{1,2})", "(?P<mark>[-/])"
_NUMBER = r"(?P<month>\d{1,2})"
_FLAGS = re.IGNORECASE | re.ASCII
# Only here a column has to tell which number is the day.
YEAR_LAST, *_CLEAR = (
    re.compile(rf"\s*{date}(?:(?:t|,? +){_TIME})?\s*", _FLAGS)
    for date in (
        rf"{_NUMBER}{_MARK}{_DAY}(?P=mark){_YEAR}",
        rf"{_YEAR}{_MARK}{_NUMBER}(?P=mark){_DAY}",
        rf"{_DAY}\.{_NUMBER}\.{_YEAR}",
        rf"{_DAY}[ -]{_MONTH}\.?,?[ -]{_YEAR}",
        rf"{_MONTH}\.? {_DAY},? {_YEAR}",
    )
)
_USUAL = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d)?", re.ASCII)
_CLOCK = re.compile(rf"\s*{_TIME}\s*", _FLAGS)
_FORMS = (*_CLEAR, YEAR_LAST, _CLOCK)


def read_date(text: str, day_first: bool) -> datetime.datetime | None:
    """The date and time that text names, without its zone; None if it names none.

    Examples
    --------
    >>> read_date("Jan 2, 1970 2:30 pm", day_first=False)
    datetime.datetime(1970, 1, 2, 14, 30)
    """
    if _USUAL.fullmatch(text):
        try:  # saves the time of looking for other forms
            return datetime.datetime.fromisoformat(text)
        except ValueError:
            return None
    found = next(filter(None, (form.fullmatch(text) for form in _FORMS)), None)
    if found is None:
        return None
    cell = found.groupdict()
    year, month, day = (cell.get(name, default) for name, default in _NO_DATE)
    if day_first and found.re is YEAR_LAST:
        month, day = day, month
    number = (
        int(month) if month.isdigit() else 1 + _MONTHS.index(month[:3].lower()) // 3
    )
    hour = int(cell["hour"] or 0)
    if cell["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (cell["half"] in "pP")
    minute, second = int(cell["minute"] or 0), int(cell["second"] or 0)
    rest = int((cell["part"] or "0").ljust(6, "0")[:6])
    try:
        return datetime.datetime(
            int(year), number, int(day), hour, minute, second, rest
        )
    except ValueError:
        return None


def date_part(cell: Any, part: str, start: str | None, day_first: bool) -> Any:
    """A part of the date in a cell, as `data.date_part` names them; None if missing.

    Examples
    --------
    >>> date_part("1970-01-02", "weekday", None, False)
    'Friday'
    >>> date_part(datetime.date(1970, 1, 2), "days", "1969-12-31", False)
    2
    """
    if hasattr(cell, "start_time"):  # a period of pandas
        cell = cell.start_time
    if hasattr(cell, "astype"):  # numpy's datetime64
        cell = cell.astype("datetime64[us]").item()
    if isinstance(cell, str):
        cell = read_date(cell, day_first)
    if cell is None or cell != cell:
        return None
    if isinstance(cell, datetime.time):
        cell = datetime.datetime.combine(datetime.date(1970, 1, 1), cell)
    if not isinstance(cell, datetime.datetime):
        cell = datetime.datetime.combine(cell, datetime.time())
    cell = cell.replace(tzinfo=None)  # what the clock on the wall showed
    if part == "weekday":
        return WEEKDAYS[cell.weekday()]
    if part == "hour":
        midnight = cell.replace(hour=0, minute=0, second=0, microsecond=0)
        return (cell - midnight) / datetime.timedelta(hours=1)
    if part == "days" and start is not None:
        return (cell.date() - datetime.date.fromisoformat(start)).days
    return getattr(cell, part)
