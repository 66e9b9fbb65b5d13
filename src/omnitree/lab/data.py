"""Data sets by name, and what an experiment needs to know about them.

A name is looked up among the built-in data sets, scikit-learn's and the generators, then as
`NAME.csv` in a folder (`--data`, else $OMNITREE_DATA; the last column is `class`, a column
`split` of train and test is not a feature, and empty cells are missing), then at OpenML. A
path is read as the user's own table. Options follow a colon: `led:irrelevant=17:rows=500`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from omnitree.data.reading import FileFormat, InputError, is_numeric, read_table
from omnitree.data.reading.contents import inner_suffix
from omnitree.growing.part import unknown
from omnitree.lab import built_in, openml, specs
from omnitree.lab.generators import GENERATORS

SCIKIT_LEARN = ("breast_cancer", "digits", "iris", "wine")
VARIABLE = "OMNITREE_DATA"
# Files of a folder of data sets hold what they say: only empty cells are missing.
PLAIN = FileFormat(",", ".", "utf-8", comment="", missing=("",), forgiving=False)


@dataclass(frozen=True)
class Dataset:
    """A table with labels."""

    name: str
    X: pd.DataFrame
    y: np.ndarray  # of str
    split: np.ndarray | None = (
        None  # "train" or "test", if a division comes with the data
    )
    source: str = ""  # where it is from, in words

    @cached_property
    def digest(self) -> str:
        """A hash of everything in the table: names, cells, labels, division."""
        hashed = sha256()
        for name in self.X.columns:
            column = self.X[name]
            hashed.update(f"\x1e{name}\x1f".encode())
            if pd.api.types.is_numeric_dtype(column.dtype):
                numbers = column.to_numpy(np.float64, na_value=np.nan) + 0.0
                hashed.update(numbers.tobytes())
            else:
                cells = ["\x00" if pd.isna(cell) else str(cell) for cell in column]
                hashed.update("\x1f".join(cells).encode())
        for labels in (self.y, self.split):
            hashed.update(b"\x1e")
            if labels is not None:
                hashed.update("\x1f".join(map(str, labels)).encode())
        return hashed.hexdigest()

    @cached_property
    def classes(self) -> np.ndarray:
        """The labels, sorted."""
        return np.unique(self.y)


def load(
    name: str,
    folder: Path | None = None,
    target: str | None = None,
    format: FileFormat | None = None,
) -> Dataset:
    """Find a data set by name or path.

    `folder` is where `NAME.csv` is looked for, by default $OMNITREE_DATA. For a path,
    `target` is the column with the class (by default `class`, else the last one) and
    `format` says how the file is written.

    >>> load("led:rows=20:irrelevant=3").X.shape
    (20, 10)
    """
    if is_path(name):
        return from_file(Path(name), target, format)
    base, options = specs.parse(name)
    if base in GENERATORS:
        return generate(base, **options)
    if base in built_in.ABOUT and not options:
        return Dataset(base, *built_in.features_and_target(base), source="built in")
    if base in SCIKIT_LEARN and not options:
        return from_scikit_learn(base)
    folder = data_folder(folder)
    if folder is not None and not options and (folder / f"{base}.csv").exists():
        return from_folder(base, folder)
    if base == "openml":
        return from_openml(**_options_of(from_openml, base, options))
    here = unknown("data set", name, names(folder))
    if options:
        raise InputError(here)
    try:
        return from_openml(base)
    except InputError as error:
        raise InputError(f"{here} And at OpenML: {error}") from None


def names(folder: Path | None = None) -> list[str]:
    """Names that `load` knows without asking a server."""
    found = [*built_in.ABOUT, *SCIKIT_LEARN, *GENERATORS]
    folder = data_folder(folder)
    if folder is not None:
        found += sorted(p.stem for p in folder.glob("*.csv") if p.stem not in found)
    return found


def data_folder(folder: Path | None = None) -> Path | None:
    """The folder of data sets: the one given, else that of $OMNITREE_DATA, if any."""
    if folder is None and os.environ.get(VARIABLE):
        folder = Path(os.environ[VARIABLE])
    if folder is not None and not folder.is_dir():
        raise InputError(f"there is no folder {folder} with data sets")
    return folder


def generate(name: str, **options: Any) -> Dataset:
    """A synthetic data set."""
    make = GENERATORS[name]
    try:
        X, y = make(**_options_of(make, name, options))
    except (ValueError, TypeError) as error:
        raise InputError(f"{name}: {error}") from None
    return Dataset(specs.show(name, options), X, y, source="generated")


def from_folder(name: str, folder: Path) -> Dataset:
    """`NAME.csv` of a folder of data sets."""
    path = folder / f"{name}.csv"
    X, y, _ = read_table(path, format=PLAIN).features_and_target("class")
    split = X.pop("split").to_numpy(str) if "split" in X else None
    return Dataset(name, X, y, split, source=path.name)


def from_file(
    path: Path, target: str | None = None, format: FileFormat | None = None
) -> Dataset:
    """A table of the user's."""
    table = read_table(path, format=format, untouched=[target or "class"])
    if target is None:
        target = "class" if "class" in table.header else table.header[-1]
    X, y, _ = table.features_and_target(target)
    if is_numeric(y):
        raise InputError(
            f"{target!r} holds numbers; experiments compare trees for classes only"
        )
    return Dataset(path.stem, X, y, source=f"{path}, {target!r} the class")


def from_openml(name: str, version: int = 1, target: str | None = None) -> Dataset:
    """A data set of OpenML, fetched once and checked from then on."""
    X, y = openml.fetch(str(name), version, target)
    found = Dataset(str(name), X, y, source=f"OpenML, version {version}")
    openml.check(str(name), version, found.digest)
    return found


def from_scikit_learn(name: str) -> Dataset:
    """A data set that comes with scikit-learn."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    labels = np.asarray(bunch.target_names)[bunch.target].astype(str)
    return Dataset(name, bunch.data, labels, source="scikit-learn")


def _options_of(make: Callable, name: str, options: dict[str, Any]) -> dict[str, Any]:
    known = list(inspect.signature(make).parameters)
    for option in options:
        if option not in known:
            raise InputError(unknown(f"option of {name}", option, known))
    return options


def is_path(name: str) -> bool:
    """Whether a data set is a file, not a name."""
    suffixes = (".csv", ".tsv", ".tab", ".txt", ".arff", ".parquet", ".pq", ".xlsx")
    return inner_suffix(Path(name)) in suffixes or os.sep in name
