"""How a text is laid out as a table: comment lines, separator, decimal sign.

The `csv` module parses; here is decided what it is told. Each is given, or found out:

- Lines that begin with `#` above the header are comments, and then such lines below are,
  too. If there is one such line and it may as well be the header, an error asks.
- Of comma, semicolon, tab and bar, the separator is the one that cuts the most of the
  first rows into as many cells as the header, and then into the most cells.
- The decimal sign is a comma where columns hold numbers as `1,5` and none as `1.5`. If all
  have three digits behind their commas, as `1,234`, commas separate thousands where others
  have points, or more commas than one; else an error asks.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from omnitree.data.reading.cells import MISSING, MISSING_AMONG_NUMBERS, THOUSANDS
from omnitree.data.reading.errors import InputError

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
NAMES = {name: sign for sign, name in SEPARATORS.items()} | {"space": " ", "\\t": "\t"}
SAMPLE_ROWS = 200
SAMPLE_SIZE = 1 << 20
COMMENT = "#"

_WHOLE = re.compile(r"[+-]?\d+")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_WITH_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class FileFormat:
    """What is known of a file; None is found out from its contents.

    Attributes
    ----------
    sep : str, optional
        The sign between cells, or its name: comma, semicolon, tab, pipe, space.
    decimal : {".", ","}, optional
    encoding : str, optional
        As Python names it: utf-8, latin-1, utf-16.
    comment : str, optional
        Lines that begin with it are left out; "" if there are none.
    sheet : str, optional
        Of an Excel file: a name, or a number from 1; the first if not given.
    missing : tuple of str
        Texts that mean missing in any column.
    forgiving : bool
        Whether cells that are no numbers are missing in columns of numbers, by the rules
        of `omnitree.data.reading.cells`.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    comment: str | None = None
    sheet: str | None = None
    missing: tuple[str, ...] = MISSING
    forgiving: bool = True

    def __post_init__(self) -> None:
        if self.sep is not None:
            sign = NAMES.get(self.sep, self.sep)
            if len(sign) != 1 or sign in '"\r\n':
                raise InputError(
                    f"--sep is one sign, or one of {', '.join(NAMES)}; not {sign!r}"
                )
            object.__setattr__(self, "sep", sign)
        if self.decimal not in (None, ".", ","):
            raise InputError(f"--decimal is . or , and not {self.decimal!r}")

    def refuse(self, path: Path, kind: str, *options: str) -> None:
        """Refuse options that say nothing about a kind of file."""
        for name in options:
            if getattr(self, name) != getattr(FileFormat, name):
                raise InputError(f"{path} is {kind}: --{name} is not for such files")

    def with_missing(self, tokens: tuple[str, ...]) -> FileFormat:
        """The same, with more texts that mean missing."""
        return replace(self, missing=(*self.missing, *tokens))


@dataclass(frozen=True)
class Layout:
    """A text without its comments, and the signs that cut it into cells."""

    text: str
    separator: str
    decimal: str = "."
    line_numbers: tuple[int, ...] | None = None  # in the file, if comments are gone

    def rows(self, width: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of each row; blank lines are rows in one-column tables."""
        reader = _reader(self.text, self.separator, strict=True)
        for row in reader:
            width = width or len(row)
            if row or width == 1:
                line = reader.line_num
                if self.line_numbers is not None:
                    line = self.line_numbers[line - 1]
                yield line, row or [""]


def lay_out(path: Path, text: str, suffix: str, given: FileFormat) -> Layout:
    """Find out what is not given."""
    text = text.lstrip("\r\n") if given.comment != "" else text
    text, lines = _without_comments(path, text, given)
    separator = given.sep or _separator(path, text, suffix)
    decimal = given.decimal or _decimal(path, text, separator, given)
    return Layout(text, separator, decimal, lines)


def _reader(text: str, separator: str, strict: bool = False):
    return csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=separator != " ",
        strict=strict,
    )


def _first_rows(text: str, separator: str) -> list[list[str]]:
    """Some whole rows; none where the text cannot be cut this way."""
    try:
        rows = list(islice(_reader(text[:SAMPLE_SIZE], separator), SAMPLE_ROWS))
    except csv.Error:
        return []
    if len(text) > SAMPLE_SIZE and 1 < len(rows) < SAMPLE_ROWS:
        rows.pop()  # cut off
    return [row for row in rows if row]


# -- comments -------------------------------------------------------------------------


def _without_comments(
    path: Path, text: str, given: FileFormat
) -> tuple[str, tuple[int, ...] | None]:
    """The text without comment lines, and the numbers of the lines that stay."""
    sign = given.comment
    if sign is None:
        sign = COMMENT if text.startswith(COMMENT) else ""
        if sign and _may_be_header(path, text, given):
            sign = ""
    if not sign:
        return text, None
    kept, numbers, quotes = [], [], 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        # A line inside of a quoted cell is no comment, whatever it begins with.
        if quotes % 2 == 0 and line.startswith(sign):
            continue
        quotes += line.count('"')
        kept.append(line)
        numbers.append(number)
    return "".join(kept), tuple(numbers)


def _may_be_header(path: Path, text: str, given: FileFormat) -> bool:
    """Whether the first line, which begins with `#`, is the header.

    It is if it has as many cells as the second line and that has a number, which a header
    seldom has; if that has none either, nobody can tell.
    """
    for separator in [given.sep] if given.sep else SEPARATORS:
        rows = _first_rows(text, separator)
        if len(rows) < 2:
            continue
        first, second = rows[:2]
        if len(first) == len(second) > 1 and not second[0].startswith(COMMENT):
            if any(_is_number(cell) for cell in second):
                return True
            raise InputError(
                f"{path} begins with {COMMENT!r}: give --comment '#' if that line is a "
                "comment, --comment '' if it is the header"
            )
    return False


def _is_number(cell: str) -> bool:
    cell = cell.strip()
    forms = (_WHOLE, _WITH_COMMA, _WITH_POINT, THOUSANDS)
    return any(form.fullmatch(cell) for form in forms)


# -- separator and decimal sign -------------------------------------------------------


def _separator(path: Path, text: str, suffix: str) -> str:
    if suffix in (".tsv", ".tab"):
        return "\t"
    scores = {}
    for sign in SEPARATORS:
        rows = _first_rows(text, sign)
        width = len(rows[0]) if rows else 0
        if width > 1:
            fitting = sum(len(row) == width for row in rows) / len(rows)
            scores[sign] = (fitting, width)
    if not scores:
        return ","
    best = max(scores.values())
    signs = [sign for sign, score in scores.items() if score == best]
    if len(signs) > 1:
        names = " or ".join(SEPARATORS[sign] for sign in signs)
        raise InputError(f"{path} may be separated by {names}: give --sep")
    return signs[0]


def _decimal(path: Path, text: str, separator: str, given: FileFormat) -> str:
    """The decimal sign, by the columns that hold numbers and nothing else."""
    header, *rows = [*_first_rows(text, separator), []][: SAMPLE_ROWS + 1]
    rows = [row for row in rows if len(row) == len(header)]
    with_comma: dict[str, list[str]] = {}
    with_point: dict[str, list[str]] = {}
    none = {*given.missing, *MISSING_AMONG_NUMBERS}
    for at, name in enumerate(header):
        known = [cell for row in rows if (cell := row[at].strip()) not in none]
        if sum(_is_number(cell) for cell in known) < 0.9 * len(known):
            continue
        commas = [cell for cell in known if _WITH_COMMA.fullmatch(cell)]
        points = [
            cell
            for cell in known
            if _WITH_POINT.fullmatch(cell)
            or (THOUSANDS.fullmatch(cell) and cell not in commas)
        ]
        for found, hits in ((with_comma, commas), (with_point, points)):
            if hits:
                found[name] = hits
    if not with_comma:
        return "."
    name, cells = next(iter(with_comma.items()))
    thousands = all(
        THOUSANDS.fullmatch(c) for hits in with_comma.values() for c in hits
    )
    if not with_point:
        if not thousands:
            return ","
        raise InputError(
            f"{path} has numbers as {cells[0]} in {name!r}: give --decimal , if that is "
            f"{cells[0].replace(',', '.')}, --decimal . if it is {cells[0].replace(',', '')}"
        )
    if thousands:
        return "."
    other, points = next(iter(with_point.items()))
    raise InputError(
        f"{path} has numbers as {cells[0]} in {name!r} and as {points[0]} in {other!r}: "
        "give --decimal , or --decimal . (the others are then text)"
    )
