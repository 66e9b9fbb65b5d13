"""One row at a time: what `predict` costs for a frame of one row, in one run.

A table of numbers and one of mixed columns (numbers, whole numbers, booleans, words,
categories), as a pandas frame, a polars frame and a list. Beside each frame the same row
read the ordinary way, by columns, as frames of two rows and more are. Goal: less than a
millisecond for both libraries.

    python benchmarks/one_row.py -o benchmarks/results/one_row.md

The script exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
from page import finish, versions

from omnitree import OmniTreeClassifier

GOAL = 1.0


def mixed(rng: np.random.Generator, n: int = 600) -> pd.DataFrame:
    """Eighteen columns of every common type."""
    X = numbers(rng, n)
    X["whole"], X["flag"] = rng.integers(0, 9, n), rng.random(n) > 0.5
    for j in range(6):
        X[f"word{j}"] = rng.choice(list("abcdef"), n)
    X["size"] = pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"])
    X["object"] = X["word0"].astype(object)
    return X


def numbers(rng: np.random.Generator, n: int = 600) -> pd.DataFrame:
    """Eight columns of numbers."""
    return pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(8)})


def milliseconds(work, row, runs: int = 200) -> float:
    """Time of one call, best of seven rounds."""
    best = np.inf
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(runs):
            work(row)
        best = min(best, (time.perf_counter() - start) / runs)
    return 1e3 * float(best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    lines = [
        "| table | row | ms | by columns | ratio | `predict_proba` |",
        "|---|---|---|---|---|---|",
    ]
    missed = []
    for name, make in {"numbers": numbers, "mixed": mixed}.items():
        rng = np.random.default_rng(0)
        X = make(rng)
        y = X["x0"] + X["x1"] + rng.normal(size=len(X)) > 0
        clf = OmniTreeClassifier(random_state=0).fit(X, y)
        rows = {
            "pandas": X.iloc[[3]],
            "polars": pl.from_pandas(X)[3:4],
            "list": [X.iloc[3].tolist()],
        }
        for kind, row in rows.items():
            own = milliseconds(clf.predict, row)
            proba = milliseconds(clf.predict_proba, row)
            usual = "", ""
            if kind != "list":
                with patch("omnitree.data.table.encode_row", lambda X, schema: None):
                    by_columns = milliseconds(clf.predict, row, 30)
                usual = f"{by_columns:.2f}", f"{by_columns / own:.0f}"
                if max(own, proba) > GOAL:
                    missed.append(f"{name}, {kind}: {max(own, proba):.2f} ms")
            lines.append(
                f"| {name}, {X.shape[1]} columns | {kind} | {own:.3f} | {usual[0]} | "
                f"{usual[1]} | {proba:.3f} |"
            )
            print(lines[-1], flush=True)
    head = (
        "# One row at a time\n\n`python benchmarks/one_row.py`, "
        f"{versions('pandas', 'polars')}. Milliseconds of "
        "`OmniTreeClassifier.predict`, best of seven rounds; ratio: by columns over ours."
    )
    finish([head, "\n".join(lines)], missed, args.output)


if __name__ == "__main__":
    main()
