"""Speed of the oblique search: one coefficient step, in nanoseconds a row.

A climb of 50 coefficients drawn at random (OC1's R-50, without jumps) is timed, less a climb
of none, and divided by 50 and by the rows: ratios, the best value of the coefficient, and,
where it helps, the move of the rows and a new count. Beside it NumPy's sort of as many
ratios, the least a plain version needs. One thread, CPU time, best of several. Goal: 15 ns a
row and coefficient from 1e5 rows on.

    python benchmarks/oblique.py -o benchmarks/results/oblique.md

The script exits with 1 if the goal is missed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from page import finish, versions
from univariate import cpu

from omnitree.learners.oblique import Slope
from omnitree.parts.merit import MERITS

N_COLUMNS = 10
STEPS = 50
GOAL, FROM = 15.0, 100_000
CASES = [(2, "twoing"), (5, "twoing"), (10, "twoing"), (2, "gini"), (5, "gain")]


def make_slope(n: int, n_classes: int, merit: str) -> Slope:
    """Gaussian columns; classes are slices of a sum of them, one label in ten random."""
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((N_COLUMNS, n))
    score = rng.standard_normal(N_COLUMNS) @ columns
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.searchsorted(edges, score).astype(np.int32)
    noisy = rng.random(n) < 0.1
    y[noisy] = rng.integers(n_classes, size=noisy.sum())
    return Slope(columns, y, np.ones(n), n_classes, MERITS.resolve(merit))


def climb(slope: Slope, picks: int) -> None:
    start = np.append(np.ones(N_COLUMNS), 0.1)
    slope.climb(start, [0.0], order=2, picks=picks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", default="1000,10000,100000,1000000")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    lines = [
        "| rows | classes | merit | ns a row and step | goal | NumPy's sort alone, ns |",
        "|---|---|---|---|---|---|",
    ]
    missed = []
    for n in (int(r) for r in args.rows.split(",")):
        repeats = 3 if n >= 1_000_000 else 7
        ratios = np.random.default_rng(1).standard_cauchy(n)
        sort = cpu(repeats, np.argsort, ratios) / n * 1e9
        for k, merit in CASES:
            slope = make_slope(n, k, merit)
            whole = cpu(repeats, climb, slope, STEPS) - cpu(repeats, climb, slope, 0)
            step = whole / STEPS / n * 1e9
            goal = f"{GOAL:.0f}" if n >= FROM else ""
            lines.append(f"| {n} | {k} | {merit} | {step:.1f} | {goal} | {sort:.0f} |")
            print(lines[-1], flush=True)
            if n >= FROM and step > GOAL:
                missed.append(
                    f"{n} rows, {k} classes, {merit}: {step:.1f} of {GOAL:.0f}"
                )
    head = [
        "# Coefficient steps of the oblique search",
        f"`python benchmarks/oblique.py --rows {args.rows}`, {versions('numpy')}. "
        f"{N_COLUMNS} columns, one thread, CPU time.",
    ]
    finish([*head, "\n".join(lines)], missed, args.output)


if __name__ == "__main__":
    main()
