"""What a reader returns: a table, its cells parsed and as they were written."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from omnitree.data.reading.cells import MISSING, THOUSANDS, odd_cells
from omnitree.data.reading.errors import InputError
from omnitree.data.reading.layout import FileFormat, Layout
from omnitree.data.reading.targets import is_numeric

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# What pandas calls a first column without a name: the row labels that its `to_csv` and R's
# `write.csv` put there, which are no feature.
INDEX = "Unnamed: 0"
# Means missing to pandas, and is a class in many a table.
NONE = "None"


@dataclass(frozen=True)
class TableFile:
    """A table: its cells as they were written, and parsed."""

    path: Path
    header: list[str]
    frame: pd.DataFrame
    format: FileFormat
    layout: Layout | None = None  # of text

    @property
    def separator(self) -> str:
        """The sign between cells."""
        return self.layout.separator if self.layout else ","

    @property
    def decimal(self) -> str:
        """The sign before decimals."""
        return self.layout.decimal if self.layout else "."

    def rows(self) -> Iterator[list[str]]:
        """The cells of each row under the header, as they were written."""
        if self.layout is not None:
            rows = self.layout.rows(len(self.header))
            next(rows)
            return (row for _, row in rows)
        columns = [self._written(name) for name in self.header]
        return (list(row) for row in zip(*columns, strict=True))

    def _written(self, name: str) -> list[str]:
        column = self.frame[name]
        return [
            "" if missing else str(v)
            for v, missing in zip(column, column.isna(), strict=True)
        ]

    def check_column(self, name: str) -> None:
        """Refuse a name that no column has."""
        if name in self.header:
            return
        close = get_close_matches(name, self.header, n=1)
        hint = f", did you mean {close[0]!r}?" if close else "."
        raise InputError(
            f"{self.path} has no column {name!r}{hint} It has "
            f"{', '.join(own for own in self.header if own != INDEX)}."
            + ("" if len(self.header) > 1 else " Is --sep another sign?")
        )

    def features_and_target(self, target: str) -> tuple[pd.DataFrame, np.ndarray, int]:
        """Columns to learn from, labels as written, and rows left out for want of one."""
        import numpy as np

        self.check_column(target)
        if len(self.header) == 1:
            raise InputError(f"{self.path} has no column but the target")
        at = self.header.index(target)
        y = np.array([row[at].strip() for row in self.rows()], dtype=object)
        known = ~np.isin(y, list(self.format.missing))
        y = self._plain_numbers(y, known)
        known |= self._none_is_a_class(y, known, target)
        if not known.any():
            raise InputError(f"no row of {self.path} has a value in {target!r}")
        if self.format.forgiving:
            known &= ~self._no_numbers_to_predict(y, known, target)
        X = self.frame.drop(columns=[target])
        if X.columns[0] == INDEX:
            if X.shape[1] == 1:
                raise InputError(
                    f"{self.path}: the only column but the target has no name; name it"
                )
            X = X.drop(columns=[INDEX])
            warnings.warn(
                "the first column has no name, as row labels do; left out (name it if it "
                "is a feature)",
                UserWarning,
                stacklevel=2,
            )
        return (
            X[known].reset_index(drop=True),
            y[known].astype(str),
            int((~known).sum()),
        )

    def _none_is_a_class(
        self, y: np.ndarray, known: np.ndarray, target: str
    ) -> np.ndarray:
        """Rows labelled `None` beside words, unless --missing names it.

        Among features it is missing, as pandas has it, which loses nothing; here it would
        lose a class (None, Some, Marked).
        """
        import pandas as pd

        none = y == NONE
        named = self.format.missing.count(NONE) != MISSING.count(NONE)
        numbers = pd.to_numeric(pd.Series(y[known]), errors="coerce")
        if named or not none.any() or numbers.notna().any():
            return none & False
        warnings.warn(
            f"'None' in {target!r} is taken as a class; --missing None leaves such rows out",
            UserWarning,
            stacklevel=3,
        )
        return none

    def _plain_numbers(self, y: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Labels that are numbers with commas, as Python writes them."""
        import numpy as np
        import pandas as pd

        if not any("," in label for label in y):
            return y
        if self.decimal == ",":
            plain = [label.replace(",", ".") for label in y]
        else:
            plain = [
                label.replace(",", "") if THOUSANDS.fullmatch(label) else label
                for label in y
            ]
        labels = np.array(plain, dtype=object)
        numbers = pd.to_numeric(pd.Series(labels[known]), errors="coerce")
        return labels if 2 * numbers.notna().sum() > known.sum() else y

    def _no_numbers_to_predict(
        self, y: np.ndarray, known: np.ndarray, target: str
    ) -> np.ndarray:
        """The few rows whose label is no number, where all others are to be predicted."""
        import numpy as np
        import pandas as pd

        cells = pd.Series(y[known], name=target)
        found = odd_cells(cells)
        if found is None or not found.missing:
            return np.zeros(len(y), dtype=bool)
        other = np.isin(y, list(found.texts))
        if not is_numeric(y[known & ~other]):
            return np.zeros(len(y), dtype=bool)
        found.warn()
        return other
