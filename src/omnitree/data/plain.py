"""What comes from files that nobody checked: fields of plain data, and text to show.

`fields` is used by all that `to_dict` and `from_dict` describe columns, `one_line` wherever
names, categories and labels are shown, `safe_cell` where they are written to CSV files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

# What begins a formula in a spreadsheet, in full-width characters too.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")


def fields(
    data: object, what: str, keys: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """The mapping itself, once it is known to hold these keys and no others."""
    if not isinstance(data, Mapping):
        raise ValueError(f"A {what} must be a mapping, not a {type(data).__name__}.")
    for key in keys:
        if key not in data:
            raise ValueError(f"A {what} lacks its {key!r}.")
    for key in data:
        if key not in keys + optional:
            raise ValueError(f"A {what} has no field {key!r}.")
    return cast("Mapping[str, Any]", data)


def one_line(text: object) -> str:
    r"""Text of any kind as one line of printable characters.

    What would move the cursor, ring the bell or turn the reading direction is escaped.

    Examples
    --------
    >>> one_line("red\x1b[31m\n"), one_line("grün")
    ('red\\x1b[31m\\n', 'grün')
    """
    line = str(text)
    if line.isprintable():
        return line
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in line
    )


def safe_cell(cell: str) -> str:
    """A cell of a CSV file that no spreadsheet runs: formulas get an apostrophe.

    Examples
    --------
    >>> [safe_cell(cell) for cell in ("=1+1", "-1.5", "@SUM(A1)", "red")]
    ["'=1+1", '-1.5', "'@SUM(A1)", 'red']
    """
    runs = cell.startswith(FORMULA) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if runs else cell
