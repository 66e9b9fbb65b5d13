"""OmniTreeClassifier beside other single trees, fold by fold.

Numeric data sets of a folder (`--shared`, with `data/`), 5x2 folds
(`StratifiedKFold(2, shuffle=True, random_state=0..4)` in file order), missing values filled
with training medians for all but omnitree. Every fit has a process of its own and is given
up after `--limit` CPU seconds. Results go to a CSV file, one line a fold, and what is there
is not run again; so methods that need another environment write a file of their own, and
the report reads all files it is given. Rivals are not dependencies of omnitree: this script
imports omnitree only where a preset is asked for, and runs in any environment.

    python benchmarks/omni.py --shared ../shared --store omni.csv --methods presets
    python -m venv rivals && rivals/bin/pip install obliquetree stree mufs
    rivals/bin/pip install --no-deps neural-trees
    rivals/bin/python benchmarks/omni.py --shared ../shared --store rivals.csv \
        --methods "STree,obliquetree,neural-trees omnivariate,neural-trees multivariate"
    python -m venv older && older/bin/pip install linear-tree "scikit-learn<1.6" pandas
    older/bin/python benchmarks/omni.py --shared ../shared --store older.csv \
        --methods linear-tree
    python benchmarks/omni.py --store omni.csv rivals.csv older.csv \
        --report benchmarks/results/omni.md

How the defaults of `omni` were found is described in `benchmarks/results/README.md`.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable
from operator import itemgetter
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


PRESETS = [
    *(
        "omni",
        "lmt",
        "ft",
        "cart",
        "c4.5",
        "id3",
        "rp-c4.5",
        "uni-gini",
        "uni-gain-ratio",
    ),
    *(
        "random-attribute",
        "ldt-u1",
        "ldt-u2",
        "quest-u",
        "bu95",
        "cart-lc",
        "lmdt",
        "oc1",
    ),
    *(
        "id-lp",
        "id-mlp",
        "ldt",
        "quest",
        "fact",
        "cruise",
        "friedman",
        "ltree",
        "qtree",
    ),
    *("lgtree", "uni", "lin", "qua", "omni-aic", "omni-bic", "omni-cv", "hybrid-5x2f"),
]
METHODS: dict[str, Callable[[], Any]] = {
    **{name: omnitree_preset(name) for name in PRESETS},
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


def size(model: Any, X: Any) -> tuple[float, float]:
    """Leaves and parameters; NaN where a library does not tell.

    Of trees that only tell where rows fall, the leaves are those that training rows reach.
    """
    if hasattr(model, "tree_") and hasattr(model.tree_, "n_parameters"):
        return model.tree_.n_leaves, model.tree_.n_parameters
    if isinstance(model, PrunedCart):
        return model.size()
    if type(model).__name__ == "Stree":
        nodes = list(model)
        inner = [n for n in nodes if not n.is_leaf()]
        params = sum(n._clf.coef_.size + n._clf.intercept_.size for n in inner)
        return len(nodes) - len(inner), params + len(nodes) - len(inner)
    if hasattr(model, "apply"):
        return len(np.unique(model.apply(X))), np.nan
    return np.nan, np.nan


def read(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """One data set, classes as codes."""
    frame = pd.read_csv(folder / f"{name}.csv", dtype={"class": str})
    y = np.unique(frame["class"], return_inverse=True)[1]
    return frame.drop(columns=["class", "split"], errors="ignore"), y


def one_fold(method: str, a, b, y_a, y_b) -> list[float]:
    """Error in percent, leaves, parameters, CPU seconds."""
    model = METHODS[method]()
    if not hasattr(model, "missing"):
        fill = SimpleImputer(strategy="median").fit(a)
        a, b = fill.transform(a), fill.transform(b)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(a, y_a)
    seconds = time.process_time() - begin
    return [100 * float(np.mean(model.predict(b) != y_b)), *size(model, a), seconds]


def within(limit: int, *job: Any) -> list[float]:
    """`one_fold` in a process of its own; an error of NaN if it fails or takes too long."""
    here, there = multiprocessing.Pipe(duplex=False)

    def work():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        there.send(one_fold(*job))

    process = multiprocessing.get_context("fork").Process(target=work, daemon=True)
    process.start()
    there.close()  # so that a child that dies ends the wait
    try:
        found = here.recv()
    except EOFError:
        found = [np.nan] * 4
    process.join()
    if process.exitcode and process.exitcode < 0:  # ended by the system
        found[-1] = limit
    return found


def run(args: argparse.Namespace) -> None:
    """Every fold that is not in the store yet; sets where a fold failed are left."""
    (store,) = args.store
    folder = args.shared / "data"
    about = json.loads((folder / "datasets.json").read_text())
    names = [n for n, d in about.items() if not d["categorical"]]
    names.sort(key=lambda n: about[n]["rows"] * about[n]["features"])
    if args.datasets:
        names = args.datasets.split(",")
    methods = PRESETS if args.methods == "presets" else args.methods.split(",")
    for method in methods:
        METHODS[method]()  # imports what it needs before the processes part
    known: dict[tuple, float] = {}
    new = not store.exists()
    if not new:
        for row in pd.read_csv(store).itertuples():
            known[row.dataset, row.method, row.repeat, row.fold] = row.error
    with store.open("a", newline="") as file:
        out = csv.writer(file)
        if new:
            out.writerow(FIELDS)
        for name in names:
            X, y = read(folder, name)
            for method in methods:
                begin = time.monotonic()
                for repeat, fold in np.ndindex(5, 2):
                    key = (name, method, repeat, fold)
                    if key not in known:
                        parts = StratifiedKFold(2, shuffle=True, random_state=repeat)
                        a, b = list(parts.split(X, y))[fold]
                        found = within(
                            args.limit, method, X.iloc[a], X.iloc[b], y[a], y[b]
                        )
                        known[key] = found[0]
                        out.writerow([*key, *found])
                        file.flush()
                    if np.isnan(known[key]):
                        break
                print(name, method, f"{time.monotonic() - begin:.1f} s", flush=True)


def common(table: pd.DataFrame, all_sets: bool = False) -> tuple[list[str], list[str]]:
    """Data sets and methods, as many as possible, with all ten folds of every pair.

    With `all_sets` only the methods that have all data sets of `omni` and scikit-learn.
    """
    full = table.dropna(subset="error").groupby(["dataset", "method"]).size() == 10
    full = full.unstack(fill_value=False)
    full = full[[m for m in METHODS if m in full]]
    full = full[full["omni"] & full["sklearn CART"]]

    def worth(least: int) -> tuple[int, list[str], list[str]]:
        methods = full.columns[full.sum() >= least]
        sets = full.index[full[methods].all(axis=1)]
        return len(sets) * len(methods), list(sets), list(methods)

    if all_sets:
        return worth(len(full))[1:]
    return max((worth(least) for least in range(1, len(full) + 1)), key=itemgetter(0))[
        1:
    ]


def ranked(table: pd.DataFrame, sets: list[str], methods: list[str]) -> tuple:
    """Lines of a table of means and ranks, errors (sets, methods), best method first."""
    from omnitree.lab.ranks import friedman, holm, mean_ranks

    part = table[table.dataset.isin(sets) & table.method.isin(methods)]
    error = part.groupby(["dataset", "method"]).error.mean().unstack()[methods]
    ranks = mean_ranks(error.to_numpy())
    test = friedman(error.to_numpy())
    own = methods.index("omni")
    adjusted = holm(error.to_numpy(), own)
    cost = part.groupby(["dataset", "method"])[["leaves", "params", "seconds"]].mean()
    means = cost.groupby("method").mean()
    lines = [
        f"\n{len(sets)} data sets, {len(methods)} methods. Friedman's test: chi-square "
        f"{test.chi_square:.1f}, p {test.p:.2g}. Holm's p is that of the difference to "
        "`omni`.\n",
        "| method | error | mean rank | Holm's p | leaves | parameters | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    order = np.argsort(ranks, kind="stable")
    for i in order:
        m = methods[i]
        p = f"{adjusted[i]:.3f}" if i != own else ""
        leaves, params, seconds = means.loc[m]
        lines.append(
            f"| {m} | {error[m].mean():.2f} | {ranks[i]:.2f} | {p} | {leaves:.1f} "
            f"| {params:.0f} | {seconds:.3f} |"
        )
    return lines, error.iloc[:, order]


def report(args: argparse.Namespace) -> None:
    """Means over data sets, ranks, and a diagram."""
    from omnitree.lab.plots import critical_difference_diagram

    keys = ["dataset", "method", "repeat", "fold"]
    table = pd.concat([pd.read_csv(store) for store in args.store])
    table = table.drop_duplicates(keys)
    slow = table.groupby(["dataset", "method"]).seconds.mean().unstack()
    ratio = slow["omni"] / slow["sklearn CART"]
    sets, methods = common(table)
    some, error = ranked(table, sets, methods)
    lines = [
        "# OmniTreeClassifier beside other single trees",
        "\nNumeric data sets, 5x2 folds, one thread. Made by `benchmarks/omni.py`, which "
        "says how. Error in percent; leaves, parameters and CPU seconds of a fit are means "
        "over the data sets. Slowest fit of `omni` against scikit-learn's CART with "
        f"cross-validated pruning: {ratio.max():.1f} times ({ratio.idxmax()}).",
        "\n## As many methods as possible",
        *some,
    ]
    every = common(table, all_sets=True)
    if every != (sets, methods):
        lines += ["\n## As many data sets as possible", *ranked(table, *every)[0]]
    lines += _elsewhere(table, every[0], methods, args.limit)
    lines += ["\n## Errors"]
    for first in range(0, len(methods), 12):
        block = error.columns[first : first + 12]
        block = [*["omni"] * ("omni" not in block), *block]
        lines += ["\n| data set | " + " | ".join(block) + " |"]
        lines += ["|---" * (len(block) + 1) + "|"]
        for name, row in error[block].iterrows():
            lines.append(f"| {name} | " + " | ".join(f"{v:.1f}" for v in row) + " |")
    args.report.write_text("\n".join(lines) + "\n")
    picture = args.report.with_suffix(".svg")
    picture.write_text(
        critical_difference_diagram(error.to_numpy(), list(error.columns))
    )
    print("\n".join(lines))


def _elsewhere(table: pd.DataFrame, sets, methods, limit: int) -> list[str]:
    """What the ranks leave out: other data sets, and methods that lack some of these."""
    full = table.dropna(subset="error").groupby(["dataset", "method"]).error
    error = full.mean()[full.size() == 10].unstack()
    late = (
        table[table.error.isna()]
        .groupby(["dataset", "method"])
        .seconds.first()
        .unstack()
    )
    lines = [
        "\nLeft out of the ranks, because some folds are missing (given up after "
        f"{limit} CPU seconds, failed, or not run); errors on the sets both have:\n",
        "| method | sets | its error | `omni` | given up | failed |",
        "|---|---|---|---|---|---|",
    ]
    for m in [m for m in METHODS if m in error and m not in methods]:
        both = error[["omni", m]].dropna()
        gone = late[m].reindex(late.index) if m in late else pd.Series(dtype=float)
        tried = table[(table.method == m) & table.error.isna()].dataset.unique()
        slow = [n for n in tried if not np.isnan(gone.get(n, np.nan))]
        bad = [n for n in tried if n not in slow]
        own, other = both["omni"].mean(), both[m].mean()
        lines.append(
            f"| {m} | {len(both)} | {other:.2f} | {own:.2f} | {', '.join(slow)} "
            f"| {', '.join(bad)} |"
        )
    others = error.drop(index=sets).dropna(how="all", axis=1)
    if len(others):
        lines += ["\nOther data sets, as far as they were run:\n"]
        shown = [m for m in METHODS if m in others]
        for name, row in others[shown].iterrows():
            known = ", ".join(
                f"{m} {v:.1f}" for m, v in row.dropna().sort_values().items()
            )
            lines.append(f"- {name}: {known}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path)
    parser.add_argument("--store", type=Path, required=True, nargs="+")
    parser.add_argument(
        "--methods", default=",".join(METHODS), help='names with commas, or "presets"'
    )
    parser.add_argument("--datasets")
    parser.add_argument(
        "--limit", type=int, default=30, help="CPU seconds a fit may take"
    )
    parser.add_argument("--report", type=Path)
    args = parser.parse_args()
    if args.report:
        report(args)
    else:
        run(args)


if __name__ == "__main__":
    main()
