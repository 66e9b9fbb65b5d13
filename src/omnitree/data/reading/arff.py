"""ARFF, Weka's format, as frames.

Numbers, categories, strings and dates (as text); names and cells may stand in quotes, with
backslashes before signs. Sparse rows, weights of rows and relational attributes are refused,
as is all that does not fit together, with the line. Used by `readers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from omnitree.data.reading.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# A token in quotes or without them, and the comma or the end after it.
CELL = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,'"]*?))\s*(,|$)"""
)
ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s'"{]+))\s*(.*)""",
    re.IGNORECASE,
)
ESCAPED = re.compile(r"\\(.)")
SIGNS = {"n": "\n", "r": "\r", "t": "\t"}
NUMBERS = ("numeric", "real", "integer")


def read_arff(path: Path, text: str) -> pd.DataFrame:
    """The table of a file that has been read as text."""
    import pandas as pd

    lines = enumerate(text.splitlines(), start=1)
    kinds = _attributes(path, lines)
    columns: list[list[float | str | None]] = [[] for _ in kinds]
    known = [None if isinstance(kind, str) else set(kind) for kind in kinds.values()]
    numbers = [kind in NUMBERS for kind in kinds.values()]
    for line, row in lines:
        if not row.strip() or row.lstrip().startswith("%"):
            continue
        cells = _cells(path, line, row)
        if len(cells) != len(columns):
            raise InputError(
                f"{path}, line {line}: {len(cells)} cells where there are "
                f"{len(columns)} attributes"
            )
        for j, (cell, quoted) in enumerate(cells):
            own = known[j]
            if cell == "?" and not quoted:
                columns[j].append(float("nan") if numbers[j] else None)
            elif numbers[j]:
                columns[j].append(_number(path, line, cell))
            elif own is not None and cell not in own:
                raise InputError(f"{path}, line {line}: {cell!r} is no category there")
            else:
                columns[j].append(cell)
    return pd.DataFrame(
        {
            name: pd.Series(column, dtype=float if is_number else object)
            for name, column, is_number in zip(kinds, columns, numbers, strict=True)
        }
    )


def _attributes(
    path: Path, lines: Iterator[tuple[int, str]]
) -> dict[str, str | list[str]]:
    """What each attribute is: a kind, or its categories; `lines` is then at the data."""
    kinds: dict[str, str | list[str]] = {}
    for line, row in lines:
        row = row.strip()
        word = row.split(maxsplit=1)[0].lower() if row else "%"
        if word == "@data":
            break
        if word == "@attribute":
            found = ATTRIBUTE.fullmatch(row)
            if found is None:
                raise InputError(f"{path}, line {line}: no attribute: {row[:60]!r}")
            name = _plain(*found.groups()[:3])
            if name in kinds:
                raise InputError(f"{path}: two columns are named {name!r}")
            kinds[name] = _kind(path, line, found[4])
        elif word != "@relation" and not word.startswith("%"):
            raise InputError(f"{path} is no ARFF file: line {line} is {row[:60]!r}")
    else:
        raise InputError(f"{path} is no ARFF file: it has no @data")
    if not kinds:
        raise InputError(f"{path} is no ARFF file: it has no @attribute")
    return kinds


def _kind(path: Path, line: int, text: str) -> str | list[str]:
    """A kind of attribute, or a list of categories."""
    if text.startswith("{"):
        if not text.endswith("}") or not text[1:-1].strip():
            raise InputError(
                f"{path}, line {line}: no list of categories: {text[:60]!r}"
            )
        return [cell for cell, _ in _cells(path, line, text[1:-1])]
    kind = text.split(maxsplit=1)[0].lower() if text else ""
    if kind not in (*NUMBERS, "string", "date"):
        raise InputError(
            f"{path}, line {line}: attributes can be numeric, lists of categories, "
            f"strings and dates, not {text[:60]!r}"
        )
    return kind


def _cells(path: Path, line: int, row: str) -> list[tuple[str, bool]]:
    """Cells of a row, and whether they stood in quotes."""
    if row.lstrip().startswith("{"):
        raise InputError(f"{path}, line {line}: sparse rows cannot be read")
    if "'" not in row and '"' not in row:
        return [(cell.strip(), False) for cell in row.split(",")]
    cells, at = [], 0
    while True:
        found = CELL.match(row, at)
        if found is None:
            raise InputError(
                f"{path}, line {line}: a quote has no end: {row[at:][:60]!r}"
            )
        cells.append((_plain(*found.groups()[:3]), found[3] is None))
        at = found.end()
        if not found[4]:
            return cells


def _plain(single: str | None, double: str | None, bare: str | None) -> str:
    """A token without its quotes and backslashes."""
    if bare is not None:
        return bare
    quoted = single if single is not None else double or ""
    return ESCAPED.sub(lambda found: SIGNS.get(found[1], found[1]), quoted)


def _number(path: Path, line: int, cell: str) -> float:
    try:
        if "_" in cell:  # Python reads 1_000, nobody else does
            raise ValueError
        return float(cell)
    except ValueError:
        raise InputError(f"{path}, line {line}: {cell[:60]!r} is no number") from None
