"""Thermal training against scikit-learn's Perceptron; single units against the originals.

Speed: instances presented a second, one thread, CPU time, best of several. The goals, 6
times scikit-learn's speed for ten classes and 3 times for two, are for training itself; the
column "whole" counts the preparation of the rows too (sorted, repeated by weight, shuffled),
which is done once a training, whatever its number of passes; that is small here, and still
smaller with the default end of training.

Units: one linear threshold unit (a tree stopped at the root) on two-class data sets, beside
Statistics::LTU's RLS and thermal units on the same 5x2 folds. Needs a folder with `data/`
and `references/originals_folds.csv`; goal: on average within a point of its errors.

    python benchmarks/machines.py --shared ../shared -o benchmarks/results/machines.md

The script exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from page import finish, versions
from sklearn.linear_model import Perceptron
from sklearn.model_selection import StratifiedKFold
from tables.folder import read

from omnitree import TreeClassifier
from omnitree._core.linear import machine as kernel
from omnitree.learners import Grouped
from omnitree.parts.coefficients import (
    Cases,
    Coefficients,
    LMDTThermal,
    Pocket,
    Thermal,
)
from omnitree.parts.coefficients.cases import instances
from omnitree.parts.coefficients.thermal import BETA, start_weights

GOALS = {10: 6.0, 2: 3.0}
N_ROWS = 20_000
UNITS = {"rls": "LTU-RLS", "thermal": "LTU-TACR"}


def make_cases(n_classes: int, d: int, seed: int = 0) -> Cases:
    """Overlapping Gaussian classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=N_ROWS).astype(np.int32)
    z = 0.6 * rng.normal(size=(n_classes, d))[y] + rng.normal(size=(N_ROWS, d))
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    columns, classes = np.arange(d), np.arange(n_classes)
    return Cases(z, y, np.ones(N_ROWS), columns, classes, np.zeros(d), np.ones(d))


def thermal(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
    """Passes over the rows; the number presented. A late end gives more passes to time."""
    t = Thermal(alpha=0.003)
    return kernel.thermal(x, y, w, BETA, t.a, t.b, t.epsilon, t.alpha, 0.0, 0.0)


def lmdt(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
    """Rows drawn at random; the number presented."""
    t = LMDTThermal()
    end = (0.0, t.least, t.certainty)
    return kernel.thermal(x, y, w, BETA, t.a, t.b, t.epsilon, *end, 1)


def pocket(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
    """The pocket algorithm for ten passes; the number of rows drawn."""
    return kernel.pocket(x, y, w, Pocket().epsilon, False, 10 * len(y), 1)


def perceptron(z: np.ndarray, y: np.ndarray) -> int:
    """Ten epochs of scikit-learn's Perceptron, over the rows as they lie, like ours."""
    Perceptron(tol=None, max_iter=10, shuffle=False).fit(z, y)
    return 10 * len(y)


def seconds(repeats: int, work, *args) -> tuple[float, int]:
    """Least CPU time of several runs, and what `work` says: rows presented."""
    best, presented = np.inf, 0
    for _ in range(repeats):
        start = time.process_time()
        presented = work(*args)
        best = min(best, time.process_time() - start)
    return best, presented


def speeds(cases: Cases) -> dict[str, float]:
    """Million rows presented a second."""
    x, y = instances(cases, np.random.default_rng(0))
    out = {}
    for work in (thermal, lmdt, pocket):
        spent, presented = seconds(
            5, lambda work=work: work(x, y, start_weights(cases))
        )
        out[work.__name__] = presented / spent / 1e6
        if work is thermal:
            prepared, _ = seconds(
                5, lambda: len(instances(cases, np.random.default_rng(0)))
            )
            out["whole"] = presented / (spent + prepared) / 1e6
            out["passes"] = presented / len(y)
    spent, presented = seconds(5, perceptron, cases.z, cases.y)
    return out | {"perceptron": presented / spent / 1e6}


def bench_speed() -> tuple[list[str], list[str]]:
    lines = [
        "| classes | columns | thermal, million rows/s | Perceptron | ratio | goal | passes "
        "| whole | LMDT's draws | pocket |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    missed = []
    for k, goal in GOALS.items():
        for d in (10, 50):
            s = speeds(make_cases(k, d))
            ratio = s["thermal"] / s["perceptron"]
            lines.append(
                f"| {k} | {d} | {s['thermal']:.1f} | {s['perceptron']:.2f} | {ratio:.1f} "
                f"| {goal:.0f} | {s['passes']:.0f} | {s['whole']:.1f} | {s['lmdt']:.1f} "
                f"| {s['pocket']:.1f} |"
            )
            print(lines[-1], flush=True)
            if ratio < goal:
                missed.append(f"{k} classes, {d} columns: {ratio:.1f} of {goal:.0f}")
    return lines, missed


def unit_error(
    X: pd.DataFrame, y: pd.Series, coefficients: str | Coefficients, seed: int = 0
) -> pd.Series:
    """Error of one unit on each of the 5x2 folds, in percent."""
    errors = {}
    for repeat in range(5):
        folds = StratifiedKFold(2, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(folds.split(X, y)):
            clf = TreeClassifier(
                learner=Grouped(coefficients),
                max_depth=1,
                random_state=5 * seed + repeat,
            ).fit(X.iloc[train], y.iloc[train])
            errors[repeat, fold] = 100 * (1 - clf.score(X.iloc[test], y.iloc[test]))
    return pd.Series(errors)


def bench_units(shared: Path) -> tuple[list[str], list[str]]:
    folds = pd.read_csv(shared / "references" / "originals_folds.csv")
    lines = [
        "| data set | unit | error | original | difference | sd of the fold differences |",
        "|---|---|---|---|---|---|",
    ]
    missed = []
    for coefficients, method in UNITS.items():
        theirs = folds[folds.method == method]
        apart = []
        for name, part in theirs.groupby("dataset"):
            X, y = read(shared / "data", str(name))
            ours = unit_error(X, y, coefficients)
            other = part.set_index(["repeat", "fold"]).error_pct
            difference = ours - other
            apart.append(difference.mean())
            lines.append(
                f"| {name} | {coefficients} | {ours.mean():.2f} | {other.mean():.2f} "
                f"| {difference.mean():+.2f} | {difference.std():.2f} |"
            )
            print(lines[-1], flush=True)
        mean = float(np.mean(apart))
        lines.append(f"| **mean** | {coefficients} | | | **{mean:+.2f}** | |")
        if abs(mean) > 1:
            missed.append(f"unit {coefficients}: {mean:+.2f} points from {method}")
    return lines, missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path, help="folder of data and references")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    parts = [bench_speed()]
    if args.shared is None:
        print("units: left out, needs --shared FOLDER")
    else:
        parts.append(bench_units(args.shared))
    missed = [m for _, part in parts for m in part]
    extra = "" if args.shared is None else " --shared FOLDER"
    head = [
        "# Linear machines: thermal training and single units",
        f"`python benchmarks/machines.py{extra}`, {versions('scikit-learn', 'numpy')}. "
        f"{N_ROWS} rows, one thread, CPU time.",
    ]
    finish([*head, *("\n".join(lines) for lines, _ in parts)], missed, args.output)


if __name__ == "__main__":
    main()
