"""OmniTreeRegressor beside Cubist and others on real tables with a numeric target.

The tables and what the others reach on them, fold by fold, are in `regression/` of the
folder with the papers' data (its README says how they were run): two-fold
cross-validation, `KFold(2, shuffle=True, random_state=repeat)`. Errors are root mean
squared errors in deviations of the test half. Times are ratios to Cubist's: a random forest
is fitted on one fold in the same run, and tells how much slower or faster this machine is
than the one of the references.

The goals, whose failure is the exit status: a smaller geometric mean of the errors and a
better mean rank than Cubist with one committee, and at most 2.5 times its CPU time.

    python benchmarks/regression_tables.py -o benchmarks/results/regression_tables.md

Explainable boosting machines (interpret-core, of the extra `bench`) are not among the
references. They take longer than all others; this fits them to some folds and keeps what it
finds for the table of the next run:

    python benchmarks/regression_tables.py --ebm --tables auto hitters --repeats 0

For choices, other folds than those of the references, on some of the tables:

    python benchmarks/regression_tables.py --seeds 1000 1001 --tables hitters wage
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import gmean, rankdata
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from omnitree import OmniTreeRegressor

OURS, RIVAL, UNIT, EBM = "omnitree", "cubist1", "forest", "ebm"
EBM_RESULTS = Path(__file__).parent / "results" / "regression_ebm.csv"
MOST_TIME = 2.5


def load(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with its categories declared, and its target."""
    columns = json.loads((folder / "datasets.json").read_text())[name]["categorical"]
    frame = pd.read_csv(folder / f"{name}.csv")
    y = frame.pop("y").to_numpy(dtype=float)
    return frame.astype(dict.fromkeys(columns, "category")), y


def cpu_seconds(model, X: pd.DataFrame, y: np.ndarray) -> float:
    """Of a fit."""
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def boosted(seed: int):
    """An explainable boosting machine with its own defaults, in one process."""
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(random_state=seed, n_jobs=1)


def run(folder: Path, name: str, repeat: int, fold: int, method: str = OURS) -> dict:
    """One fit, judged on the other half."""
    X, y = load(folder, name)
    folds = KFold(2, shuffle=True, random_state=repeat).split(X)
    train, test = list(folds)[fold]
    model = OmniTreeRegressor(random_state=0) if method == OURS else boosted(0)
    cpu = cpu_seconds(model, X.iloc[train], y[train])
    rest = model.predict(X.iloc[test]) - y[test]
    return {
        "set": name,
        "method": method,
        "repeat": repeat,
        "fold": fold,
        "rrmse": np.sqrt(np.mean(rest**2)) / y[test].std(),
        "size": model.tree_.n_leaves if method == OURS else len(model.term_names_),
        "params": model.tree_.n_parameters if method == OURS else np.nan,
        "cpu": cpu,
    }


def keep(rows: list[dict]) -> None:
    """Add fits of boosting machines to those that are kept."""
    known = [pd.read_csv(EBM_RESULTS)] if EBM_RESULTS.exists() else []
    table = pd.concat([*known, pd.DataFrame(rows).drop(columns="params").round(4)])
    keys = ["set", "repeat", "fold"]
    table = table.drop_duplicates(keys, keep="last").sort_values(keys)
    table.to_csv(EBM_RESULTS, index=False)


def beside_boosting(found: pd.DataFrame) -> list[str]:
    """Both methods on the folds that boosting machines were fitted to."""
    if not EBM_RESULTS.exists():
        return []
    keys = ["set", "repeat", "fold"]
    both = pd.read_csv(EBM_RESULTS).merge(found, on=keys, suffixes=(" of EBM", ""))
    if not len(both):
        return []
    values = ["rrmse", "rrmse of EBM", "cpu", "cpu of EBM"]
    table = both.groupby("set")[values].mean()
    table.insert(0, "folds", both.groupby("set").size())
    means = gmean(table[["rrmse", "rrmse of EBM"]], axis=0)
    words = f"Geometric means: {means[0]:.3f}, of EBM {means[1]:.3f}."
    head = (
        "Beside explainable boosting machines, on the folds that these were fitted to:"
    )
    return [head, "", *fenced(table.round(3)), "", words, ""]


def slowness(folder: Path, references: pd.DataFrame) -> float:
    """CPU seconds here of a forest on a fold, in those of the references."""
    name = "saratoga"
    X, y = load(folder, name)
    train, _ = next(KFold(2, shuffle=True, random_state=0).split(X))
    kinds = X.dtypes == "category"
    encoder = make_column_transformer(
        (SimpleImputer(), list(X.columns[~kinds])),
        (OneHotEncoder(handle_unknown="ignore"), list(X.columns[kinds])),
    )
    forest = make_pipeline(encoder, RandomForestRegressor(100, random_state=0))
    here = min(cpu_seconds(forest, X.iloc[train], y[train]) for _ in range(3))
    of_forest = references.query("set == @name and method == @UNIT")
    return here / float(of_forest["cpu"].mean())


def fenced(table: pd.DataFrame) -> list[str]:
    """A table as it is printed."""
    return ["```", table.to_string(na_rep=""), "```"]


def report(found: pd.DataFrame, references: pd.DataFrame, slower: float) -> list[str]:
    """Tables of errors, sizes and times; the last line says which goals are missed."""
    keys = ["set", "repeat", "fold"]
    same = references.merge(found[keys], on=keys)
    everything = pd.concat([same, found])
    errors = everything.pivot_table(index="set", columns="method", values="rrmse")
    lines = ["Errors (root mean squared error / deviation of the target):", ""]
    lines += [*fenced(errors.round(3)), ""]
    everywhere = errors.dropna(axis=1)
    means = pd.DataFrame(
        {
            "geometric mean": gmean(everywhere, axis=0),
            "mean rank": rankdata(everywhere, axis=1).mean(axis=0),
        },
        index=everywhere.columns,
    ).sort_values("geometric mean")
    lines += [*fenced(means.round(3)), ""]
    by_set = everything.pivot_table(
        index="set", columns="method", values=["size", "params", "cpu"]
    )
    times = by_set["cpu"][OURS] / slower / by_set["cpu"][RIVAL]
    sizes = pd.DataFrame(
        {
            "leaves": by_set["size"][OURS],
            f"rules of {RIVAL}": by_set["size"][RIVAL],
            "parameters": by_set["params"][OURS],
            f"of {RIVAL}": by_set["params"][RIVAL],
            "CPU seconds": by_set["cpu"][OURS],
            f"times {RIVAL}": times,
        }
    )
    lines += [*fenced(sizes.round(2)), ""]
    lines += beside_boosting(found)
    missed = [
        name
        for name in ("geometric mean", "mean rank")
        if not means.loc[OURS, name] < means.loc[RIVAL, name]
    ]
    slow = ", ".join(times.index[times > MOST_TIME])
    missed += [f"time on {slow}"] if slow else []
    return [*lines, f"Missed: {', '.join(missed) or 'nothing'}."]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--seeds", nargs="+", type=int, help="folds for choices")
    parser.add_argument("--repeats", nargs="+", type=int, help="of the references")
    parser.add_argument("--ebm", action="store_true", help="fit boosting machines")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    folder = args.shared / "data" / "regression"
    if not folder.is_dir():
        parser.error(f"{folder} is missing; give the folder of data/ by --shared")
    references = pd.read_csv(folder / "references.csv")
    of_rival = references[references["method"] == RIVAL]
    names = args.tables or sorted(of_rival["set"].unique())
    jobs = [
        (name, repeat, fold)
        for name in names
        for repeat, fold in (
            [(seed, f) for seed in args.seeds for f in (0, 1)]
            if args.seeds
            else of_rival.loc[of_rival["set"] == name, ["repeat", "fold"]].to_numpy()
        )
    ]
    if args.repeats:
        jobs = [job for job in jobs if job[1] in args.repeats]
    rows = []
    for name, repeat, fold in jobs:
        method = EBM if args.ebm else OURS
        rows.append(run(folder, name, int(repeat), int(fold), method))
        if args.ebm:
            keep(rows)
        print(" ".join(f"{v:.4g}" if isinstance(v, float) else str(v)
                       for v in rows[-1].values()), file=sys.stderr)  # fmt: skip
    found = pd.DataFrame(rows)
    if args.ebm:
        return
    if args.seeds:
        print(found.groupby("set")[["rrmse", "size", "params", "cpu"]].mean().round(4))
        return
    lines = report(found, references, slowness(folder, references))
    command = "python benchmarks/regression_tables.py " + " ".join(sys.argv[1:])
    text = "\n".join(["# Regression on real tables", "", f"`{command}`", "", *lines])
    (args.output.write_text(text + "\n") if args.output else print(text))
    if not lines[-1].endswith("nothing."):
        sys.exit(1)


if __name__ == "__main__":
    main()
