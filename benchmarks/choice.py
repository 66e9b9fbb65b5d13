"""Price of choosing by 5x2 cross-validation, in fits of the same learner at the same node.

Gaussian classes in 50 columns with a common covariance; one node with all rows. The ten
half-sample fits and tests of a candidate (`trial_losses`) are compared with one fit of the
node, both from scratch: as they are (from the moments of cells), and as ten fits of their
own. CPU time, one thread, best of several. Goal: Fisher's discriminant within 3 fits at
10,000 rows and more. The last column is that of the whole choice for a node judged by a
sample of 20,000 rows (`max_rows`). The script exits with 1 if the goal is missed.

    python benchmarks/choice.py -o benchmarks/results/choice.md
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from discriminant import make_data
from page import versions
from threadpoolctl import threadpool_limits
from univariate import cpu

from omnitree.data.table import learn_table
from omnitree.growing.missing import Mean
from omnitree.growing.node import Node, Rules
from omnitree.growing.node_folds import NodeFolds, sample
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget
from omnitree.learners import Analytic, Grouped, Linear, SplitLearner
from omnitree.parts.direction import Fisher

GOAL = 3.0
CANDIDATES: dict[str, tuple[SplitLearner, int]] = {
    "fisher": (Linear(), 50),
    "fisher, components": (Linear(direction=Fisher("always")), 50),
    "rls": (Grouped("rls"), 50),
    "quadratic": (Linear(direction=Fisher("always"), expansion="quadratic"), 15),
    "analytic": (Analytic(), 50),
}


def root_of(n: int, n_classes: int, n_columns: int) -> Node:
    """Rows of the benchmark of discriminant trees, with some of its classes and columns."""
    X, y = make_data(n, 0.6)
    table = learn_table(X[:, :n_columns])
    target = ClassTarget((y % n_classes).astype(np.int32), np.arange(n_classes))
    sample, rules = Sample(table, target, np.ones(n)), Rules(Mean())
    sample.columns("linear")  # what a tree makes once is no part of a node's price
    sample.columns("quadratic")
    sample.row_hash(rules.seed)
    return Node.root(sample, rules)


def measure(name: str, n: int, n_classes: int, repeats: int) -> tuple[str, float]:
    """One line of the table, and the price in fits."""
    learner, n_columns = CANDIDATES[name]
    root = root_of(n, n_classes, n_columns)

    def fit() -> None:
        learner.fit(replace(root), np.random.default_rng(0))

    def choose(most: int = n, each: bool = False) -> None:
        rng = np.random.default_rng(0)
        node = replace(root)  # without what others have made of it
        folds = NodeFolds.five_by_two(sample(node, most, rng), rng)
        if each:
            SplitLearner.trial_losses(learner, folds, rng)
        else:
            learner.trial_losses(folds, rng)

    one = cpu(repeats, fit)
    whole = cpu(repeats, choose) / one
    apart = cpu(1, choose, n, True) / one
    some = cpu(repeats, choose, 20_000) / one
    line = (
        f"| {name} | {n:,} | {n_columns} | {n_classes} | {1000 * one:.1f} ms | "
        f"{whole:.1f} | {apart:.1f} | {some:.1f} |"
    )
    return line, whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", default="10000,30000,100000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    text = [
        "# The price of a choice by 5x2 cross-validation",
        f"\n`python benchmarks/choice.py --rows {args.rows}`, "
        f"{versions('numpy')}, one thread, CPU time. Prices in fits of the node.\n",
        "| candidate | rows | columns | classes | one fit | price | ten fits | sampled |",
        "|---|---|---|---|---|---|---|---|",
    ]
    prices = []
    with threadpool_limits(1):
        for name in CANDIDATES:
            for n in map(int, args.rows.split(",")):
                for n_classes in (2, 10):
                    line, price = measure(name, n, n_classes, args.repeats)
                    print(line, flush=True)
                    text.append(line)
                    if name == "fisher":
                        prices.append(price)
    met = np.mean(np.array(prices) <= GOAL)
    text.append(f"\nGoal, {GOAL:g} fits for Fisher: met in {met:.0%} of its lines.")
    print(text[-1])
    if args.output:
        args.output.write_text("\n".join(text) + "\n")
    sys.exit(0 if met == 1 else 1)


if __name__ == "__main__":
    main()
