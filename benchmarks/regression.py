"""Regression trees against scikit-learn's pruned CART, on five data sets.

Diabetes, make_friedman1 to 3 and data that are linear in pieces; repeated cross-validation
on the same folds. CART is `DecisionTreeRegressor` with `ccp_alpha` chosen by inner
cross-validation (GridSearchCV over at most 30 prices of its own pruning path, one standard
choice). Reported: root mean squared error on the outer test folds relative to that of the
mean, leaves, and seconds of a fit. Then the time of whole univariate trees, unpruned.

    python benchmarks/regression.py > benchmarks/results/regression.md
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.tree import DecisionTreeRegressor

from omnitree import OmniTreeRegressor, TreeRegressor
from omnitree.growing.stopping import Stopping
from omnitree.lab.statistics import corrected_t
from omnitree.learners import Omnivariate, Univariate
from omnitree.pruning import CostComplexity

ROWS = 500


def piecewise(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Linear in four pieces: two cuts of single features and one of a sum."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 8))
    y = np.where(X[:, 0] + X[:, 1] > 0.2, 4 * X[:, 2] - 2 * X[:, 3], 1 + 3 * X[:, 4])
    y = y + np.where(X[:, 5] > 0.3, 2 * X[:, 0], -X[:, 6])
    return X, y + 0.5 * rng.normal(size=n)


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {
        "diabetes": load_diabetes(return_X_y=True),
        "friedman1": make_friedman1(ROWS, noise=1.0, random_state=1),
        "friedman2": make_friedman2(ROWS, noise=125.0, random_state=1),
        "friedman3": make_friedman3(ROWS, noise=0.1, random_state=1),
        "piecewise linear": piecewise(ROWS, 1),
    }


class PrunedCart:
    """scikit-learn's CART with the price of a leaf chosen by cross-validation."""

    def __init__(self, seed: int):
        self.seed = seed

    def fit(self, X, y):
        tree = DecisionTreeRegressor(random_state=self.seed)
        alphas = tree.cost_complexity_pruning_path(X, y).ccp_alphas
        alphas = np.unique(np.maximum(alphas, 0.0))
        some = np.unique(np.linspace(0, len(alphas) - 1, 30).astype(int))
        folds = KFold(5, shuffle=True, random_state=self.seed)
        search = GridSearchCV(
            tree,
            {"ccp_alpha": alphas[some]},
            cv=folds,
            scoring="neg_mean_squared_error",
        )
        self.best_ = search.fit(X, y).best_estimator_
        return self

    def predict(self, X):
        return self.best_.predict(X)

    @property
    def n_leaves(self) -> int:
        return self.best_.get_n_leaves()


def methods(seed: int) -> dict:
    small = {"stopping": Stopping(min_rows=10), "random_state": seed}
    ridge = {"stopping": Stopping(min_rows=20), "leaves": "ridge", "random_state": seed}
    five = CostComplexity(folds=5)
    kinds = ("univariate", "sparse", "linear")
    return {
        "CART, pruned (scikit-learn)": PrunedCart(seed),
        "OmniTreeRegressor": OmniTreeRegressor(random_state=seed),
        "univariate, constant": TreeRegressor(pruning=five, **small),
        "omnivariate by BIC, constant": TreeRegressor(
            Omnivariate(kinds, "bic", min_branch=5), pruning=five, **small
        ),
        "univariate, ridge, BIC pruning": TreeRegressor(
            Univariate(min_branch=10), pruning="information", **ridge
        ),
    }


def compare(repeats: int, folds: int) -> None:
    names = list(methods(0))
    print("| data set | method | RMSE / sd | leaves | fit s | p against CART |")
    print("|---|---|---|---|---|---|")
    won = fewer = 0
    for data, (X, y) in data_sets().items():
        found: dict[str, list] = {name: [] for name in names}
        for repeat in range(repeats):
            for train, test in KFold(folds, shuffle=True, random_state=repeat).split(X):
                spread = np.sqrt(np.mean((y[test] - y[train].mean()) ** 2))
                for name, method in methods(repeat).items():
                    start = time.perf_counter()
                    model = method.fit(X[train], y[train])
                    seconds = time.perf_counter() - start
                    error = np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2))
                    leaves = getattr(model, "n_leaves", None) or model.tree_.n_leaves
                    found[name].append((error / spread, leaves, seconds))
        first = np.array(found[names[0]])
        for name in names:
            table = np.array(found[name])
            error, leaves, seconds = table.mean(axis=0)
            p = ""
            if name != names[0]:
                share = 1 / (folds - 1)
                p = f"{corrected_t(table[:, 0], first[:, 0], share).p:.4f}"
            print(
                f"| {data if name == names[0] else ''} | {name} | {error:.3f} ± "
                f"{table[:, 0].std(ddof=1):.3f} | {leaves:.1f} | {seconds:.2f} | {p} |",
                flush=True,
            )
        ours = np.array(found["OmniTreeRegressor"]).mean(axis=0)
        won += ours[0] < first[:, 0].mean()
        fewer += ours[1] < first[:, 1].mean()
    print(
        f"\nOmniTreeRegressor has the lower error on {won} of {len(data_sets())} data "
        f"sets and fewer leaves on {fewer}."
    )


def speed() -> None:
    print("\n| rows | features | TreeRegressor s | DecisionTreeRegressor s | leaves |")
    print("|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for n, d in ((500, 10), (5_000, 10), (50_000, 10), (200_000, 20)):
        X = rng.normal(size=(n, d))
        y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=n)
        times = []
        for model in (TreeRegressor(), DecisionTreeRegressor(random_state=0)):
            runs = []
            for _ in range(3 if n < 100_000 else 1):
                start = time.perf_counter()
                model.fit(X, y)
                runs.append(time.perf_counter() - start)
            times.append(min(runs))
        print(
            f"| {n} | {d} | {times[0]:.4f} | {times[1]:.4f} | {model.get_n_leaves()} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--folds", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"# Regression trees\n\n{given.repeats} x {given.folds}-fold cross-validation.\n"
    )
    compare(given.repeats, given.folds)
    speed()
