"""The data sets that come with the package: real tables with categories and missing values.

The files, their origin and their licences are in `datasets/` and its README.md. `data.load`
knows them by name, and the demo and the examples in the documentation use them.
"""

from __future__ import annotations

from importlib.resources import files
from io import StringIO

import numpy as np
import pandas as pd

ABOUT = {
    "penguins": "three species of penguins; categories, missing values (CC0)",
    "thyroid": "hypothyroid patients; many missing values (UCI, CC BY 4.0)",
}


def table(name: str) -> pd.DataFrame:
    """The whole table, the target in its last column.

    >>> int(table("penguins").isna().sum().sum())
    19
    """
    path = files("omnitree.lab") / "datasets" / f"{name}.csv"
    return pd.read_csv(
        StringIO(path.read_text("utf-8")), keep_default_na=False, na_values=[""]
    )


def features_and_target(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and labels."""
    frame = table(name)
    labels = frame.pop(frame.columns[-1]).to_numpy(str)
    return frame, labels
