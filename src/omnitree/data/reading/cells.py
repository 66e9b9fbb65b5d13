"""Cells that mean missing, and columns that are numbers but for a few cells.

Three rules, for CSV, its relatives and Excel:

- The texts that pandas takes as missing, and `?`, are missing in every column (`MISSING`);
  but for `None` among the words of a target (`tables.py`).
- A full stop or a hyphen alone is missing in a column whose other cells are numbers
  (`MISSING_AMONG_NUMBERS`); in other columns it is a category.
- Other texts are missing in a column of numbers if they are few (at most 5 % of its cells,
  at most five different ones) and the numbers are no codes (one is fractional, or there are
  more than ten different ones). Else the column holds categories.

Commas between thousands are taken out of the cells of numeric columns. Whatever is done is
said in a warning, and so is a column of categories most of whose cells are numbers. A model
knows which columns are numbers: there any text is missing, as long as half of the cells are
numbers.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# What pandas' `read_csv` takes, from version 2.0, and the `?` of the UCI repository.
MISSING = (
    *("", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan"),
    *("1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan"),
    "null",
)
MISSING_AMONG_NUMBERS = (".", "-")
# `1,234`, `1,234,567.5`: commas between thousands, where they are not the decimal sign.
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
FEW_CELLS = 0.05
FEW_TEXTS = 5
MOST_CODES = 10


@dataclass(frozen=True)
class OddCells:
    """The cells of one column that are no numbers."""

    name: str
    texts: tuple[str, ...]  # as they are written, the most frequent first
    # How many cells hold them, and how many hold anything.
    n_cells: int
    n_known: int
    missing: bool  # whether they are missing, the column being one of numbers
    thousands: str = ""  # a number of the column with commas between thousands, if any

    def warn(self) -> None:
        """Say what was done."""
        if self.missing and self.thousands:
            number = self.thousands.replace(",", "")
            text = f"column {self.name!r}: {self.thousands} is read as {number}"
            warnings.warn(text, UserWarning, stacklevel=2)
        if not self.texts:
            return
        shown = ", ".join(repr(text) for text in self.texts[:3])
        more = ", ..." if len(self.texts) > 3 else ""
        which = f"{self.n_cells} of {self.n_known} cells are no numbers ({shown}{more})"
        if self.missing:
            text = f"column {self.name!r}: {which}; they are taken as missing"
        else:
            text = (
                f"column {self.name!r} holds categories, since {which}; --missing TOKEN "
                "names texts that mean missing"
            )
        warnings.warn(text, UserWarning, stacklevel=2)


def odd_cells(
    cells: pd.Series, decimal: str = ".", numeric: bool = False
) -> OddCells | None:
    """Judge the cells of a column of text; None if there is nothing to say.

    The cells are as written, NaN where missing; `numeric` says that the column is known to
    hold numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = pd.Series([*(str(i) for i in range(1, 60)), "-", "-", "five"])
    >>> found = odd_cells(cells)
    >>> found.texts, found.n_cells, found.n_known, found.missing
    (('-', 'five'), 3, 62, True)
    >>> odd_cells(pd.Series(["red", "-", "1"])) is None
    True
    """
    import pandas as pd

    counts = cells.dropna().value_counts()
    if cells.dtype == object and any(isinstance(cell, bool) for cell in counts.index):
        return None
    texts = counts.index.to_series().astype(str).str.strip()
    with_thousands = texts.str.fullmatch(THOUSANDS) & (decimal == ".")
    plain = texts.mask(with_thousands, texts.str.replace(",", ""))
    if decimal == ",":
        has_point = texts.str.contains(".", regex=False)
        plain = texts.mask(~has_point, texts.str.replace(",", "."))
    numbers = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=float)
    number = pd.notna(numbers)
    other = ~number & ~texts.isin(MISSING_AMONG_NUMBERS).to_numpy()
    n_known, n_numbers = int(counts.sum()), int(counts[number].sum())
    if number.all() and not with_thousands.any():
        return None
    if other.any() and 2 * n_numbers < n_known:
        return None
    n_different = len(set(numbers[number]))
    if numeric:
        missing = True
    elif not other.any():
        missing = n_different > 1 or bool(number.all())
    else:
        codes = n_different <= MOST_CODES and bool((numbers[number] % 1 == 0).all())
        few = counts[other].sum() <= FEW_CELLS * n_known and other.sum() <= FEW_TEXTS
        missing = bool(few) and not codes
    if not n_numbers and not missing:
        return None
    return OddCells(
        str(cells.name),
        tuple(counts.index[~number].map(str)),
        n_known - n_numbers,
        n_known,
        missing,
        str(texts[with_thousands].iloc[0]) if with_thousands.any() else "",
    )
