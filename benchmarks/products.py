"""Products in the leaves of OmniTreeRegressor: what they bring, and how often by chance.

Friedman's three functions and a product beside a curve, with few rows and many: errors (root
mean squared, in deviations) on 4,000 new rows, with products and without, for which the two
functions of `parts/leaves/products.py` that the regressor calls are put out of action. Then
tables whose target is a sum of single features, or noise: how many get products.

    python benchmarks/products.py -o benchmarks/results/products.md
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

from omnitree import OmniTreeRegressor
from omnitree.estimators import regressor


def product(n: int, random_state: int):
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-2, 2, size=(n, 4))
    return X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=n)


FUNCTIONS = {
    "Friedman 1": partial(make_friedman1, noise=1),
    "Friedman 2": partial(make_friedman2, noise=120),
    "Friedman 3": partial(make_friedman3, noise=0.1),
    "product and curve": product,
}
SUMS = {
    "noise": lambda X, rng: rng.normal(size=len(X)),
    "line": lambda X, rng: X[:, 0] + X[:, 1] + rng.normal(size=len(X)),
    "heavy tails": lambda X, rng: X[:, 0] + X[:, 1] + rng.standard_t(3, size=len(X)),
    "sine": lambda X, rng: np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(size=len(X)),
}
SIZES = (120, 4), (300, 5), (1000, 5), (1000, 12)
TABLES = 60


def fitted(X, y, products: bool = True) -> OmniTreeRegressor:
    with ExitStack() as off:
        if not products:
            same = patch.object(regressor, "with_products", lambda tree, *_: tree)
            none = patch.object(regressor, "loss_of_one_leaf", lambda *_: None)
            off.enter_context(same)
            off.enter_context(none)
        return OmniTreeRegressor(random_state=0).fit(X, y)


def has_products(model: OmniTreeRegressor) -> bool:
    nodes = model.tree_.to_dict()["nodes"]
    return any("terms" in node.get("model", ()) for node in nodes)


def error(model: OmniTreeRegressor, X, y) -> float:
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)) / y.std())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, help="file for the tables")
    args = parser.parse_args()
    head = (
        "function | rows | tables | with products | error | without | leaves | without"
    )
    text = ["# Products in leaves for numbers", "", "Made by `benchmarks/products.py`,"]
    text += ["which says how.", "", f"| {head} |", "|---" * 8 + "|"]
    for name, make in FUNCTIONS.items():
        for n in (150, 500, 2000):
            seeds = range(10 if n < 2000 else 4)
            rows = []
            for seed in seeds:
                X, y = make(n, random_state=seed)
                new = make(4000, random_state=1000 + seed)
                with_, without = fitted(X, y), fitted(X, y, products=False)
                errors = error(with_, *new), error(without, *new)
                leaves = with_.tree_.n_leaves, without.tree_.n_leaves
                rows.append((has_products(with_), *errors, *leaves))
            found, a, b, p, q = np.mean(rows, axis=0)
            many = f"{found * len(seeds):.0f} | {a:.3f} | {b:.3f} | {p:.1f} | {q:.1f}"
            text.append(f"| {name} | {n:,} | {len(seeds)} | {many} |")
            print(text[-1], flush=True)
    text += ["", f"Of {TABLES} tables without any product get some:", ""]
    columns = " | ".join(f"{n:,} x {p}" for n, p in SIZES)
    text += [f"| target | {columns} |", "|---" * (1 + len(SIZES)) + "|"]
    for name, target in SUMS.items():
        counts = []
        for n, p in SIZES:
            rngs = map(np.random.default_rng, range(TABLES))
            tables = ((rng.normal(size=(n, p)), rng) for rng in rngs)
            counts.append(
                sum(has_products(fitted(X, target(X, rng))) for X, rng in tables)
            )
        text.append(f"| {name} | {' | '.join(map(str, counts))} |")
        print(text[-1], flush=True)
    if args.output:
        args.output.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
