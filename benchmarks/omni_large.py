"""The default classifier on large tables: CPU seconds, held-out error and size.

Two tables of 50 standard normal features and three classes. In "curves" each class has a sum
of a sine, a product, a step and a square of features of its own, with noise; in "boxes" the
class depends on the sides of five thresholds together, and of one row in seven it is drawn
anew. On the first curves should win; on the second they only cost time. 20,000 further rows
are the test set.

    python benchmarks/omni_large.py --rows 20000 -o benchmarks/results/omni_large.md
    python benchmarks/omni_large.py --rows 1000000 --tables curves --methods omni
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from omnitree import presets

FEATURES, CLASSES, TESTED = 50, 3, 20_000


def curves(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, FEATURES))
    sums = np.empty((n, CLASSES))
    for c in range(CLASSES):
        sine, a, b, step, square = (X[:, 3 * i + c] for i in range(5))
        sums[:, c] = np.sin(2 * sine) + a * b + (step > 0.5) + 0.5 * square**2
    return X, (sums + 0.5 * rng.gumbel(size=sums.shape)).argmax(axis=1)


def boxes(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, FEATURES))
    sides = X[:, :5] > [0.0, 0.0, 0.3, -0.2, 0.0]
    y = rng.integers(CLASSES, size=32)[sides @ (1 << np.arange(5))]
    anew = rng.random(n) < 0.15
    y[anew] = rng.integers(CLASSES, size=anew.sum())
    return X, y


TABLES = {"curves": curves, "boxes": boxes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--methods", default="omni-1,omni")
    parser.add_argument("-o", "--output", type=Path, help="file to add the lines to")
    args = parser.parse_args()
    for name in args.tables.split(","):
        X, y = TABLES[name](args.rows + TESTED, np.random.default_rng(0))
        train, test = slice(args.rows), slice(args.rows, None)
        for method in args.methods.split(","):
            clf, begin = presets.make(method, random_state=0), time.process_time()
            with threadpool_limits(1):
                clf.fit(X[train], y[train])
            seconds = time.process_time() - begin
            error = 100 * np.mean(clf.predict(X[test]) != y[test])
            tree = clf.tree_
            line = (
                f"| {name} | {args.rows:,} | {method} | {seconds:.1f} | {error:.1f} | "
                f"{tree.n_leaves} | {tree.n_parameters} |"
            )
            print(line, flush=True)
            if args.output:
                with args.output.open("a") as out:
                    out.write(line + "\n")


if __name__ == "__main__":
    main()
