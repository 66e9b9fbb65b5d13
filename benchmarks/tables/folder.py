"""The data sets of a folder of CSV files, as `originals.py` and others read them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tables import Loaded


def read(folder: Path, name: str) -> Loaded:
    """One data set, without its split column."""
    frame = pd.read_csv(
        folder / f"{name}.csv",
        keep_default_na=False,
        na_values=[""],
        dtype={"class": str},
    )
    return frame.drop(columns=["class", "split"], errors="ignore"), frame["class"]
