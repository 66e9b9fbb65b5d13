"""Parts of a date that trees can use: its year, month, weekday, hour, and days since.

A `DatePart` says what a feature takes from a column of dates and times. It is plain data
and part of the schema (`omnitree.data.schema`); `omnitree.data.encoding.dates` computes it.
"""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from omnitree.data.date_text import WEEKDAYS
from omnitree.data.plain import fields

PartName: TypeAlias = Literal["year", "month", "weekday", "hour", "days"]

PARTS: tuple[PartName, ...] = ("year", "month", "weekday", "hour", "days")


@dataclass(frozen=True)
class DatePart:
    """What a feature takes from a column of dates and times.

    Parameters
    ----------
    column : str
        The user's column.
    part : {"year", "month", "weekday", "hour", "days"}
        The month is a number from 1; the hour counts from midnight, with minutes and
        seconds as its fraction; days are whole days since `start`.
    start : str or None
        For "days": the first day in training, as ``2012-01-31``.
    day_first : bool
        How text such as 01/02/2012 is read.

    Examples
    --------
    >>> part = DatePart("sold", "days", "2012-01-31")
    >>> part.layout[0], part.meaning
    ('sold: days since 2012-01-31', 'number of whole days from 2012-01-31 to sold')
    """

    column: str
    part: PartName
    start: str | None = None
    day_first: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise ValueError(f"A part of a date has no column {self.column!r}.")
        if self.part not in PARTS:
            raise ValueError(
                f"{self.part!r} is no part of a date; these are: {', '.join(PARTS)}."
            )
        if not isinstance(self.day_first, bool):
            raise ValueError(
                f"day_first must be True or False, not {self.day_first!r}."
            )
        if self.part != "days":
            if self.start is not None:
                raise ValueError(f"The {self.part} of a date has no start.")
        elif not isinstance(self.start, str) or not _is_day(self.start):
            raise ValueError(
                f"The start of days must be a date such as 2012-01-31, not {self.start!r}."
            )

    @property
    def layout(
        self,
    ) -> tuple[str, Literal["numeric", "ordered"], tuple[str, ...] | None]:
        """Name, kind and categories of the feature."""
        if self.part == "weekday":
            return f"{self.column}: weekday", "ordered", WEEKDAYS
        since = f" since {self.start}" if self.part == "days" else ""
        return f"{self.column}: {self.part}{since}", "numeric", None

    @property
    def meaning(self) -> str:
        """How to compute the feature, in words."""
        return {
            "year": f"year of {self.column}",
            "month": f"month of {self.column}, 1 to 12",
            "weekday": f"day of the week of {self.column}, Monday to Sunday",
            "hour": f"number of hours since midnight of {self.column}, with a fraction",
            "days": f"number of whole days from {self.start} to {self.column}",
        }[self.part]

    def to_dict(self) -> dict[str, Any]:
        """The part in plain JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: object) -> DatePart:
        """Check and rebuild what `to_dict` gave; ValueError says what is wrong."""
        return cls(**fields(data, "part of a date", tuple(cls.__annotations__)))


def _is_day(text: str) -> bool:
    """Whether text is a date such as 2012-01-31."""
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
