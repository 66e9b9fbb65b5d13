"""Price of a merit written in NumPy, in fits with its compiled twin.

Each compiled merit is compared with a copy of its NumPy form that has no twin, so that the
search hands tables of counts to Python, those of all cuts of a node in one call. Both grow
the same tree. CPU time, one thread, best of several. Goal: at most 3 times as slow. Gini
and entropy are shown without a goal: complete numbers have a search of their own for them,
which no table of counts leaves. Collecting the counts in another way would not help: NumPy
takes 53 ms just to score 480,000 cuts by Gini, about as many as a tree on 2,000 rows and 20
columns looks at, and the compiled search finds the whole tree in 3 ms. The script exits
with 1 if the goal is missed.

    python benchmarks/own_merit.py -o benchmarks/results/own_merit.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from page import versions
from threadpoolctl import threadpool_limits
from univariate import cpu

from omnitree import TreeClassifier
from omnitree.learners import Univariate
from omnitree.parts.merit import CUSTOM, MERITS

GOAL = 3.0
SIZES = ((500, 10, 3), (2_000, 20, 4), (20_000, 20, 2), (20_000, 20, 4))
PRESORTED = ("gini", "entropy")
NAMES = ("twoing", "ordered_twoing", "chi_square", "kolmogorov_smirnov", *PRESORTED)


def make_data(n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns; the class is that of the largest of the first ones, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X[:, :k] + rng.normal(size=(n, k))).argmax(axis=1)


def measure(name: str, size: tuple[int, int, int], repeats: int) -> tuple[str, float]:
    """One line of the table, and the ratio."""
    X, y = make_data(*size)
    own = type("Own", (MERITS[name],), {"code": CUSTOM})()
    trees = [TreeClassifier(Univariate(merit)) for merit in (name, own)]
    times = [cpu(repeats, tree.fit, X, y) for tree in trees]
    first, second = (np.sort(tree.tree_.index) for tree in trees)
    assert np.array_equal(first, second)  # growers number nodes in their own order
    ratio = times[1] / times[0]
    line = (
        f"| {name} | {size[0]:,} | {size[1]} | {size[2]} | {trees[0].tree_.n_nodes:,} | "
        f"{1000 * times[0]:.0f} ms | {1000 * times[1]:.0f} ms | {ratio:.1f} |"
    )
    return line, ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    text = [
        "# The price of a merit written in NumPy",
        f"\n`python benchmarks/own_merit.py`, "
        f"{versions('numpy')}, one thread, CPU time.\n",
        "| merit | rows | columns | classes | nodes | compiled | NumPy | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    ratios = []
    with threadpool_limits(1):
        for name in NAMES:
            for size in SIZES:
                line, ratio = measure(name, size, args.repeats)
                print(line, flush=True)
                text.append(line)
                if name not in PRESORTED:
                    ratios.append(ratio)
    met = np.mean(np.array(ratios) <= GOAL)
    text.append(
        f"\nGoal, a ratio of {GOAL:g}: met in {met:.0%} of the lines with a goal."
    )
    print(text[-1])
    if args.output:
        args.output.write_text("\n".join(text) + "\n")
    sys.exit(0 if met == 1 else 1)


if __name__ == "__main__":
    main()
