"""What pruning costs: presets against an unpruned univariate tree, in one run.

Two tables of 100,000 rows and two classes: 20 numbers, and a mixed one of eight numbers and
four categorical columns (3, 12, 50 and 200 categories) with one cell in twenty missing.
CPU time of whole fits in one thread, the least of several. The unit is `cart` with
``pruning=None`` on the same table: the same validation, the same search for tests at full
depth, nothing else. It is also the unit of `c4.5`, which grows by another merit and stops
earlier: what a user pays who asks for C4.5 instead of a bare tree.

Goals: `cart` at most 12 units (itself and ten folds of nine tenths each are 10), `c4.5` at
most 3, `omni` at most 1.5 times `cart` and its machines. The time of the machines is that of
the contests in the same fit: sampling rows for the trials of linear and quadratic tests,
these trials, and the thinning of the winner.

    python benchmarks/pruned_trees.py -o benchmarks/results/pruned_trees.md

The script exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from page import finish, versions
from threadpoolctl import threadpool_limits

from omnitree import presets
from omnitree.refinement import Contest

CART, C45, OMNI = 12.0, 3.0, 1.5


def labels(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Two classes of equal size by a score, one label in ten at random."""
    y = (score > np.median(score)).astype(int)
    noisy = rng.random(len(y)) < 0.1
    y[noisy] = rng.integers(2, size=noisy.sum())
    return y


def numbers(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + (X[:, 4] > 0.5)
    return X, labels(score, rng)


def mixed(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8))
    frame = pd.DataFrame(X, columns=[f"number{j}" for j in range(8)])
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3])
    for many in (3, 12, 50, 200):
        code = rng.integers(many, size=n)
        score = score + 0.5 * rng.standard_normal(many)[code]
        names = np.array([f"category {i}" for i in range(many)], dtype=object)
        frame[f"of {many}"] = names[code]
    y = labels(score, rng)
    for column in frame:
        frame.loc[rng.random(n) < 0.05, column] = None
    return frame, y


TABLES = {"numbers": numbers, "mixed": mixed}


class Machines:
    """CPU time of the contests of tests over many columns, while it is entered."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> Machines:
        compete = self.compete = Contest._compete

        def timed(*args):
            start = time.process_time()
            try:
                return compete(*args)
            finally:
                self.seconds += time.process_time() - start

        Contest._compete = timed
        return self

    def __exit__(self, *error) -> None:
        Contest._compete = self.compete


def fit(preset: str, X, y, **changes) -> tuple[float, float, int]:
    """CPU seconds of a fit, those of machines in it, and leaves."""
    clf = presets.make(preset, random_state=0, **changes)
    with Machines() as machines:
        start = time.process_time()
        clf.fit(X, y)
        return time.process_time() - start, machines.seconds, clf.tree_.n_leaves


def bench(name: str, n: int, repeats: int) -> tuple[list[str], list[str]]:
    X, y = TABLES[name](n)
    runs = {
        "unpruned": ("cart", {"pruning": None}),
        "cart": ("cart", {}),
        "c4.5": ("c4.5", {}),
        "omni": ("omni", {}),
    }
    # By turns, so that a busy hour of the machine slows all of them down.
    found = {key: [] for key in runs}
    for _ in range(repeats):
        for key, (preset, changes) in runs.items():
            found[key].append(fit(preset, X, y, **changes))
    best = {key: min(times) for key, times in found.items()}
    unit, cart = best["unpruned"][0], best["cart"][0]
    lines, missed = [], []
    for key, (seconds, machines, leaves) in best.items():
        goal = {"unpruned": np.inf, "cart": CART * unit, "c4.5": C45 * unit}.get(
            key, OMNI * cart + machines
        )
        told = "" if np.isinf(goal) else f"{goal / unit:.1f}"
        lines.append(
            f"| {name} | {key} | {seconds:.2f} | {machines:.2f} | {seconds / unit:.1f} | "
            f"{told} | {leaves} |"
        )
        print(lines[-1], flush=True)
        if seconds > goal:
            missed.append(f"{key}, {name}: {seconds / unit:.1f} of {goal / unit:.1f}")
    return lines, missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, help="file for the tables")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--tables", default=",".join(TABLES), help=",".join(TABLES))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    command = "python benchmarks/pruned_trees.py"
    for option in ("rows", "repeats", "tables"):
        if getattr(args, option) != parser.get_default(option):
            command += f" --{option} {getattr(args, option)}"
    text = [
        "# What pruning costs",
        "",
        f"`{command}`, {versions('numpy')}. {args.rows:,} rows, one thread, CPU "
        "seconds; a unit is an unpruned tree on the same table.",
        "",
        "| table | preset | seconds | of these machines | units | goal | leaves |",
        "|---|---|---|---|---|---|---|",
    ]
    missed = []
    with threadpool_limits(1):
        for name in args.tables.split(","):
            lines, short = bench(name, args.rows, args.repeats)
            text += lines
            missed += short
    finish(["\n".join(text)], missed, args.output)


if __name__ == "__main__":
    main()
