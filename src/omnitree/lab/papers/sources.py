"""Where the data sets of a paper come from: a folder, scikit-learn, else OpenML.

`needed` reads the names off the published tables, `survey` says of each where it was found,
and `load` loads it; `as_numbers` and `as_categories` code it as a paper did. Only those of
OpenML's tables are taken that are known to be what the papers used, and a fetched table must
have the expected rows, features and classes. What is found nowhere is left out, and the
other cells are run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from omnitree.data.reading import InputError
from omnitree.lab import openml
from omnitree.lab.data import (
    Dataset,
    data_folder,
    from_folder,
    from_openml,
    from_scikit_learn,
)
from omnitree.lab.papers import base

# Name of the file: OpenML's name, version, rows, features and classes. Its later versions of
# some have the classes joined into two.
OPENML = {
    "balance": ("balance-scale", 1, 625, 4, 3),
    "breast": ("breast-w", 1, 699, 9, 2),
    "car": ("car", 1, 1728, 6, 4),
    "chess": ("kr-vs-kp", 1, 3196, 36, 2),
    "ecoli": ("ecoli", 1, 336, 7, 8),
    "glass": ("glass", 1, 214, 9, 6),
    "hepatitis": ("hepatitis", 1, 155, 19, 2),
    "ionosphere": ("ionosphere", 1, 351, 34, 2),
    "mushroom": ("mushroom", 1, 8124, 22, 2),
    "pima": ("diabetes", 1, 768, 8, 2),
    "segment": ("segment", 1, 2310, 19, 7),
    "tictactoe": ("tic-tac-toe", 1, 958, 9, 2),
    "vote": ("vote", 1, 435, 16, 2),
    "yeast": ("yeast", 1, 1484, 8, 10),
}
FILES = {
    "bu95": "brodley1995",
    "ldt05": "yildiz2005",
    "lmdt91": "lmdt1991",
    "omni": "omnivariate",
}
# UCI's tables; two rows of scikit-learn's iris each differ from UCI's in a cell or two.
SCIKIT_LEARN = ("iris", "wine")
# The repository's codes of the MONK's problems; no value is in two features with two codes.
MONKS = {
    value: code
    for values in (
        ("round", "square", "octagon"),
        ("sword", "balloon", "flag"),
        ("red", "yellow", "green", "blue"),
        ("yes", "no"),
    )
    for code, value in enumerate(values, 1)
}
GENERATED = ("dnf", "led")  # drawn by the papers' modules themselves
# Published names that a paper's files have otherwise.
RENAMED = {"lmdt91": {"soybean": "soybean15"}}


@dataclass(frozen=True)
class DataSearch:
    """The data sets of a paper by where they were found."""

    generated: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    in_folder: tuple[str, ...] = ()
    fetched: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    offline: bool = False  # OpenML was asked and did not answer
    refused: tuple[str, ...] = ()  # what OpenML gave that is not what was used

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be run, though something is needed."""
        found = self.generated or self.installed or self.in_folder or self.fetched
        return bool(self.missing) and not found

    def lines(self) -> list[str]:
        """In words, for the terminal; nothing if all come from the folder."""
        if not (self.fetched or self.missing or self.installed):
            return []
        fetchable = tuple(name for name in self.missing if name in OPENML)
        places = {
            "Generated": self.generated,
            "From scikit-learn": self.installed,
            "In the folder": self.in_folder,
            f"From OpenML, kept in {openml.cache_folder()}": self.fetched,
            "On OpenML, which cannot be reached": fetchable * self.offline,
        }
        out = [
            f"{place}: {', '.join(names)}." for place, names in places.items() if names
        ]
        out += [f"{text}." for text in self.refused]
        if self.missing:
            named = ", ".join(f"{name}.csv" for name in self.missing)
            out.append(
                f"Left out: {', '.join(self.missing)}. To include them, put the files "
                f"{named} into a folder and name the folder in --data or $OMNITREE_DATA. "
                "Each file has a header, the class in the column `class`, and an empty "
                "cell for a missing value."
            )
        return out


def needed(paper: str, module: Any, wanted: Sequence[str], quick: bool) -> list[str]:
    """Names of the data sets that the wanted tables of a paper need.

    >>> from omnitree.lab.papers import find
    >>> needed("bu95", find("bu95"), ["5"], quick=True)
    ['bupa', 'hepatitis']
    """
    base.chosen(wanted, list(module.TABLES))
    if paper not in FILES:
        return []
    folder = files("omnitree.lab.papers").joinpath("tables")
    stems = [
        Path(file.name).stem
        for file in folder.iterdir()
        if file.name.startswith(FILES[paper]) and file.name.endswith(".csv")
    ]
    marks = [f"table{n}_" for n in wanted] + [f"table{n:0>2}_" for n in wanted]
    some = [stem for stem in stems if any(mark in f"{stem}_" for mark in marks)]
    names: set[str] = set()
    for stem in some or stems:
        frame = base.published(stem)
        if "dataset" in frame:
            names.update(frame["dataset"])
    if quick and hasattr(module, "QUICK"):
        names &= set(module.QUICK)
    other = RENAMED.get(paper, {}) | getattr(module, "DATA", {})
    return sorted(other.get(name, name) for name in names - {"ALL"})


def survey(names: Sequence[str], folder: Path | None = None) -> DataSearch:
    """Look for data sets in the folder, fetch those that OpenML has, list the rest."""
    folder = data_folder(folder)
    here = [n for n in names if folder is not None and (folder / f"{n}.csv").exists()]
    fetched, missing, refused, offline = [], [], [], False
    for name in names:
        if name in (*here, *GENERATED, *SCIKIT_LEARN):
            continue
        if name not in OPENML or offline:
            missing.append(name)
            continue
        try:
            _fetch(name)
            fetched.append(name)
        except InputError as error:
            # A server that does not answer is asked once only.
            offline = "cannot be reached" in str(error)
            refused += [] if offline else [str(error)]
            missing.append(name)
    return DataSearch(
        generated=tuple(name for name in names if name in GENERATED),
        installed=tuple(n for n in names if n in SCIKIT_LEARN and n not in here),
        in_folder=tuple(here),
        fetched=tuple(fetched),
        missing=tuple(missing),
        offline=offline,
        refused=tuple(refused),
    )


def load(name: str, folder: Path | None = None) -> Dataset:
    """A data set of the folder, else of scikit-learn or OpenML."""
    where = data_folder(folder)
    elsewhere = name in OPENML or name in SCIKIT_LEARN
    if where is not None and ((where / f"{name}.csv").exists() or not elsewhere):
        return from_folder(name, where)
    if name in SCIKIT_LEARN:
        return from_scikit_learn(name)
    if name in OPENML:
        return _fetch(name)
    raise InputError(
        f"{name} is neither built in nor on OpenML: name the folder that has "
        f"{name}.csv in --data or $OMNITREE_DATA"
    )


def as_numbers(data: Dataset) -> Dataset:
    """The MONK's problems with the repository's numbers for their values."""
    return replace(data, X=data.X.apply(lambda column: column.map(MONKS).astype(float)))


def as_categories(data: Dataset) -> Dataset:
    """Every number as a category of its own."""
    return replace(data, X=data.X.astype(str))


def _fetch(name: str) -> Dataset:
    """OpenML's table, if it is the expected one."""
    title, version, *expected = OPENML[name]
    found = from_openml(title, version)
    given = [*found.X.shape, len(found.classes)]
    if given != expected:
        rows, features, classes = (
            f"{has} instead of {should}" if has != should else f"{has}"
            for has, should in zip(given, expected, strict=True)
        )
        raise InputError(
            f"OpenML's {title!r}, version {version}, is not the table that the paper used: "
            f"{rows} rows, {features} features, {classes} classes"
        )
    return Dataset(name, found.X, found.y, source=found.source)
