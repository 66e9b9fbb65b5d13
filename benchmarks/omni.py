"""The front door beside other single trees, fold by fold.

Numeric data sets of a folder (`--shared`, with `data/`), 5x2 folds
(`StratifiedKFold(2, shuffle=True, random_state=0..4)` in file order), gaps filled with
training medians for all but omnitree. Results go to a CSV file, one line a fold, and what is
there is not run again; so methods that need another environment (linear-tree wants an older
scikit-learn) can be run from it. Rivals are not dependencies of omnitree: those that cannot
be imported are left out, and the report says so.

    python benchmarks/omni.py --shared ../shared --store omni.csv --methods omni,cart
    python benchmarks/omni.py --store omni.csv --report benchmarks/results/omni.md

How the defaults of `omni` were found is told in `benchmarks/results/README.md`.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

FIELDS = ["dataset", "method", "repeat", "fold", "error", "leaves", "params", "seconds"]


class PrunedCart:
    """scikit-learn's tree with the ccp_alpha of its path that cross-validates best."""

    def fit(self, X, y):
        tree = DecisionTreeClassifier(random_state=0)
        alphas = np.unique(tree.cost_complexity_pruning_path(X, y).ccp_alphas)
        if len(alphas) > 50:
            alphas = alphas[np.linspace(0, len(alphas) - 1, 50).astype(int)]
        search = GridSearchCV(tree, {"ccp_alpha": np.maximum(alphas, 0)}, cv=5)
        self.tree = search.fit(X, y).best_estimator_
        return self

    def predict(self, X):
        return self.tree.predict(X)

    def size(self) -> tuple[int, int]:
        leaves = self.tree.get_n_leaves()
        return leaves, leaves + 2 * (self.tree.tree_.node_count - leaves)


def omnitree_preset(name: str, **changes: Any) -> Callable[[], Any]:
    def make():
        from omnitree import presets

        return presets.make(name, random_state=0, **changes)

    return make


def stree():
    from stree import Stree

    return Stree(random_state=0)


def oblique():
    from obliquetree import Classifier

    return Classifier(use_oblique=True, random_state=0)


def linear_tree():
    from lineartree import LinearTreeClassifier
    from sklearn.linear_model import RidgeClassifier

    return LinearTreeClassifier(RidgeClassifier())


def neural(name: str) -> Callable[[], Any]:
    def make():
        import neural_trees

        return getattr(neural_trees, name)()

    return make


METHODS: dict[str, Callable[[], Any]] = {
    "omni": omnitree_preset("omni"),
    "lmt": omnitree_preset("lmt"),
    "ft": omnitree_preset("ft"),
    "cart": omnitree_preset("cart"),
    "c4.5": omnitree_preset("c4.5"),
    "ldt": omnitree_preset("ldt"),
    "cruise": omnitree_preset("cruise"),
    "qtree": omnitree_preset("qtree"),
    "omni-cv": omnitree_preset("omni-cv"),
    "sklearn CART": PrunedCart,
    "STree": stree,
    "obliquetree": oblique,
    "linear-tree": linear_tree,
    "neural-trees omnivariate": neural("OmnivariateDecisionTree"),
    "neural-trees multivariate": neural("MultivariateDecisionTree"),
    "LDA": LinearDiscriminantAnalysis,
    "logistic": lambda: make_pipeline(
        StandardScaler(), LogisticRegressionCV(max_iter=1000)
    ),
}


def size(model: Any) -> tuple[float, float]:
    """Leaves and parameters; NaN where a library does not tell."""
    if hasattr(model, "tree_") and hasattr(model.tree_, "n_parameters"):
        return model.tree_.n_leaves, model.tree_.n_parameters
    if isinstance(model, PrunedCart):
        return model.size()
    if type(model).__name__ == "Stree":
        nodes = list(model)
        inner = [n for n in nodes if not n.is_leaf()]
        params = sum(n._clf.coef_.size + n._clf.intercept_.size for n in inner)
        return len(nodes) - len(inner), params + len(nodes) - len(inner)
    return np.nan, np.nan


def read(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """One data set, classes as codes."""
    frame = pd.read_csv(folder / f"{name}.csv", dtype={"class": str})
    y = np.unique(frame["class"], return_inverse=True)[1]
    return frame.drop(columns=["class", "split"], errors="ignore"), y


def run(args: argparse.Namespace) -> None:
    """Every fold that is not in the store yet."""
    folder = args.shared / "data"
    about = json.loads((folder / "datasets.json").read_text())
    names = [n for n, d in about.items() if not d["symbolic"]]
    names.sort(key=lambda n: about[n]["rows"] * about[n]["features"])
    if args.datasets:
        names = args.datasets.split(",")
    known = set()
    if args.store.exists():
        table = pd.read_csv(args.store)
        known = set(
            zip(table.dataset, table.method, table.repeat, table.fold, strict=True)
        )
    new = not args.store.exists()
    with args.store.open("a", newline="") as file:
        out = csv.DictWriter(file, FIELDS)
        if new:
            out.writeheader()
        for name in names:
            X, y = read(folder, name)
            for method in args.methods.split(","):
                spent = 0.0
                for repeat in range(5):
                    parts = StratifiedKFold(2, shuffle=True, random_state=repeat)
                    for fold, (train, test) in enumerate(parts.split(X, y)):
                        if (name, method, repeat, fold) in known:
                            continue
                        if spent > args.patience:
                            continue
                        a, b = X.iloc[train], X.iloc[test]
                        model = METHODS[method]()
                        if not hasattr(model, "missing"):
                            fill = SimpleImputer(strategy="median").fit(a)
                            a, b = fill.transform(a), fill.transform(b)
                        begin = time.process_time()
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            model.fit(a, y[train])
                        seconds = time.process_time() - begin
                        spent += seconds
                        wrong = np.mean(model.predict(b) != y[test])
                        leaves, params = size(model)
                        values = [name, method, repeat, fold, 100 * wrong]
                        values += [leaves, params, seconds]
                        out.writerow(dict(zip(FIELDS, values, strict=True)))
                        file.flush()
                print(name, method, f"{spent:.1f} s", flush=True)


def report(args: argparse.Namespace) -> None:
    """Means over the data sets that all methods have, ranks, and a diagram."""
    from omnitree.experiments.plots import critical_difference_diagram
    from omnitree.experiments.ranks import friedman, holm, mean_ranks

    table = pd.read_csv(args.store)
    counts = table.groupby(["dataset", "method"]).size().unstack()
    full = counts.fillna(0) == 10
    methods = [m for m in METHODS if m in full and full[m].sum() >= 0.7 * len(full)]
    sets = full.index[full[methods].all(axis=1)]
    part = table[table.dataset.isin(sets) & table.method.isin(methods)]
    error = part.groupby(["dataset", "method"]).error.mean().unstack()[methods]
    ranks = mean_ranks(error.to_numpy())
    test = friedman(error.to_numpy())
    own = methods.index("omni")
    adjusted = holm(error.to_numpy(), own)
    cost = part.groupby(["dataset", "method"])[["leaves", "params", "seconds"]].mean()
    means = cost.groupby("method").mean()
    slow = cost.seconds.unstack()
    ratio = (slow["omni"] / slow["sklearn CART"]).max() if "sklearn CART" in slow else 0
    lines = [
        "# The front door beside other single trees",
        f"\n{len(sets)} numeric data sets, 5x2 folds, one thread. Made by "
        "`benchmarks/omni.py`, which says how. Error in percent; leaves, parameters and CPU "
        "seconds of a fit: means over the data sets.\n",
        f"Friedman's test: chi-square {test.chi_square:.1f}, p {test.p:.2g}. Holm's p is "
        "that of the difference to `omni`. Slowest fit of `omni` against scikit-learn's "
        f"CART with cross-validated pruning: {ratio:.1f} times.\n",
        "| method | error | mean rank | Holm's p | leaves | parameters | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for i in np.argsort(ranks):
        m = methods[i]
        p = f"{adjusted[i]:.3f}" if i != own else ""
        leaves, params, seconds = means.loc[m]
        lines.append(
            f"| {m} | {error[m].mean():.2f} | {ranks[i]:.2f} | {p} | {leaves:.1f} "
            f"| {params:.0f} | {seconds:.3f} |"
        )
    lines += ["\n| data set | " + " | ".join(methods) + " |"]
    lines += ["|---" * (len(methods) + 1) + "|"]
    for name, row in error.iterrows():
        lines.append(f"| {name} | " + " | ".join(f"{v:.1f}" for v in row) + " |")
    absent = sorted(set(METHODS) - set(methods))
    if absent:
        lines.append(f"\nNot run, or not to the end: {', '.join(absent)}.")
    args.report.write_text("\n".join(lines) + "\n")
    picture = args.report.with_suffix(".svg")
    picture.write_text(critical_difference_diagram(error.to_numpy(), methods))
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--datasets")
    parser.add_argument(
        "--patience", type=float, default=600, help="seconds a method may take on a set"
    )
    parser.add_argument("--report", type=Path)
    args = parser.parse_args()
    if args.report:
        report(args)
    else:
        run(args)


if __name__ == "__main__":
    main()
