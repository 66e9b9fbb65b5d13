"""The data sets of a folder of CSV files, as `originals.py` and others read them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from omnitree.lab.data import from_folder
from tables import Loaded


def read(folder: Path, name: str) -> Loaded:
    """One data set, without its split column."""
    data = from_folder(name, folder)
    return data.X, pd.Series(data.y)
