"""The column to predict, as it is written: classes, or numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnitree.data.reading.errors import InputError

if TYPE_CHECKING:
    import numpy as np

# Whole numbers with more different values than this are no classes, unless one says so.
MOST_CLASSES = 30
# From more whole numbers than this on, that they are taken as classes is worth a word.
FEW_NUMBERS = 4


def is_numeric(y: np.ndarray) -> bool:
    """Whether labels as written are rather numbers to predict than classes.

    All are numbers, and some are fractional or there are more than `MOST_CLASSES`.
    """
    import numpy as np
    import pandas as pd

    numbers = pd.to_numeric(pd.Series(y), errors="coerce")
    if not np.isfinite(numbers.to_numpy(dtype=float)).all():
        return False
    return bool((numbers % 1 != 0).any() or numbers.nunique() > MOST_CLASSES)


def n_whole_numbers(y: np.ndarray) -> int:
    """How many different labels there are, if all are whole numbers; else 0.

    >>> n_whole_numbers(["0", "2", "2", "10"]), n_whole_numbers(["0", "1", "many"])
    (3, 0)
    """
    different = set(y)
    return len(different) if all(label.isdecimal() for label in different) else 0


def as_numbers(y: np.ndarray, target: str) -> np.ndarray:
    """Labels as written, as numbers."""
    import numpy as np
    import pandas as pd

    numbers = pd.to_numeric(pd.Series(y), errors="coerce").to_numpy(dtype=float)
    if not np.isfinite(numbers).all():
        odd = str(y[~np.isfinite(numbers)][0])
        raise InputError(
            f"column {target!r} contains {odd!r}; a regression target must be numeric"
        )
    return numbers
