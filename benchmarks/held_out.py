"""What a tree of `omni` says of its own errors, and what new rows say.

`omni` is fitted to random rows of the larger data sets. The tree tells two errors of rows
that were held out inside the fit: that of the candidate at the root, by which it was chosen
(`chosen for a held-out error of`), and that of all leaves together (`held out: ... right`,
where no row has a say in what is chosen for it), with its interval. All other rows have the
truth: the interval should hold it in 95 % of the trees. The same for single leaves to which
at least a hundred of the other rows come.

    python benchmarks/held_out.py --shared FOLDER -o benchmarks/results/held_out.md
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from tables.folder import read
from threadpoolctl import threadpool_limits

from omnitree import presets

SETS = ("car", "chess", "mushroom", "optdigits", "pendigits", "segment")
SETS = (*SETS, "waveform", "waveform40", "yeast")
SIZES = (100, 300)
FEWEST = 100  # new rows of a leaf
LINES = ("the candidate at the root", "all leaves together", "single leaves")
TEXT = """# What a tree says of its own errors

`omni`, fitted to {samples} random samples of each of {sets} data sets; the truth is the
error of all their other rows. Made by `benchmarks/held_out.py`, which says what is told.

    python benchmarks/held_out.py --shared FOLDER -o benchmarks/results/held_out.md

{table}
"""


def measure(X: pd.DataFrame, y: pd.Series, n: int, seed: int) -> list[tuple]:
    """Of all that is told: the error, the truth, and whether the interval holds it."""
    train, test = train_test_split(np.arange(len(y)), train_size=n, random_state=seed)
    clf = presets.make("omni", random_state=0).fit(X.iloc[train], y.iloc[train])
    tree, right = clf.tree_, clf.predict(X.iloc[test]) == y.iloc[test].to_numpy()
    if tree.reliability is None:
        return []
    found = []
    chosen = [c for c in (tree.candidates or [()])[0] if c.chosen]
    if chosen and chosen[0].criterion == "error":
        found.append((LINES[0], chosen[0].score, 1 - right.mean(), np.nan))
    found.append((LINES[1], *told(tree.reliability[0], right)))
    leaf = clf.apply(X.iloc[test])
    for at in np.unique(leaf):
        own = right[leaf == at]
        if len(own) >= FEWEST and not np.isnan(tree.reliability[at, 0]):
            found.append((LINES[2], *told(tree.reliability[at], own)))
    return found


def told(reliability: np.ndarray, right: np.ndarray) -> tuple[float, float, float]:
    """The error that is told, the truth, and whether the interval holds that."""
    share, low, high = reliability
    truth = right.mean()
    return 1 - share, 1 - truth, float(low <= truth <= high)


def report(found: pd.DataFrame) -> str:
    lines = [
        "| rows | error of | number | told | truth | interval holds it |",
        "|---|---|---|---|---|---|",
    ]
    for (n, what), own in found.groupby(["rows", "of"], sort=False):
        means = f"{100 * own['told'].mean():.1f} % | {100 * own['truth'].mean():.1f} %"
        held = own["held"].mean()
        share = "–" if np.isnan(held) else f"{held:.2f}"
        lines.append(f"| {n} | {what} | {len(own)} | {means} | {share} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = [read(given.shared / "data", name) for name in SETS]
    with threadpool_limits(1):
        found = [
            (n, *row)
            for n in SIZES
            for X, y in tables
            for seed in range(given.samples)
            for row in measure(X, y, n, seed)
        ]
    table = report(pd.DataFrame(found, columns=["rows", "of", "told", "truth", "held"]))
    text = TEXT.format(samples=given.samples, sets=len(SETS), table=table)
    if given.output:
        given.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
