"""OmniTreeClassifier beside single trees, a forest and boosting, on all data sets.

All data sets of a folder (`--shared`, with `data/`), 5x2 folds
(`StratifiedKFold(2, shuffle=True, random_state=0..4)` in file order). omnitree, LightGBM and
EBM get the frame as it is; for the others categories become columns of zeros and ones, and
missing numbers training medians. One thread. Every fit is a line of a file, `--store`; what
is there is not run again, so methods that need another environment write a file of their
own. Weka's LMT and FT are read from `references/originals_folds.csv` of the folder, where
all ten folds are there.

    python benchmarks/omni_against.py --shared ../shared --store ours.jsonl
    python -m venv rivals && rivals/bin/pip install lightgbm pandas stree mufs interpret-core
    rivals/bin/python benchmarks/omni_against.py --shared ../shared --store rivals.jsonl \
        --methods "random forest,LightGBM,STree"
    python -m venv older && older/bin/pip install linear-tree "scikit-learn<1.6" pandas
    older/bin/python benchmarks/omni_against.py --shared ../shared --store older.jsonl \
        --methods linear-tree
    python benchmarks/omni_against.py --shared ../shared \
        --store ours.jsonl rivals.jsonl older.jsonl \
        --report benchmarks/results/omni_against.md

Methods that do not have all folds of a data set (because a fit took longer than `--limit`
CPU seconds, or failed) are compared with `omni` on the others, in a table of their own.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from omni import linear_tree, omnitree_preset, size, stree
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

OURS = ("omni", "omni-1", "cart", "lmt")
THEIRS = ("LMT", "FT")  # of Weka, from the folder
REFERENCES = {name: f"{name} (Weka)" for name in THEIRS}
CLIP = 1e-6
MEASURES = ("error", "log loss", "leaves", "terms", "seconds")


def light_gbm():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, n_jobs=1, random_state=0, verbose=-1)


def ebm():
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0)


PLAIN = {
    "random forest": lambda: RandomForestClassifier(100, random_state=0),
    "STree": stree,
    "linear-tree": linear_tree,
}
NATIVE = {"LightGBM": light_gbm, "EBM": ebm}
METHODS = (*OURS, *PLAIN, *NATIVE)


class TooLong(Exception):
    """A fit has taken its time."""


def read(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """One data set; columns that are not numbers are categories."""
    path = folder / f"{name}.csv"
    frame = pd.read_csv(
        path, keep_default_na=False, na_values=[""], dtype={"class": str}
    )
    X = frame.drop(columns=["class", "split"], errors="ignore")
    text = X.columns[[not pd.api.types.is_numeric_dtype(X[c]) for c in X]]
    return X.astype(dict.fromkeys(text, "category")), frame["class"].to_numpy()


def prepared(X: pd.DataFrame) -> Any:
    """Categories as columns of zeros and ones, medians for missing numbers."""
    numbers = make_column_selector(dtype_include="number")
    others = make_column_selector(dtype_exclude="number")
    missing = SimpleImputer(strategy="constant", fill_value="?")
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (SimpleImputer(strategy="median", keep_empty_features=True), numbers),
        (make_pipeline(missing, encoder), others),
    ).fit(X)


def one_fold(method: str, a, b, y_a, y_b) -> dict[str, float]:
    """What one fit costs, and what it says of the other half."""
    if method in PLAIN:
        as_objects = [
            x.astype(dict.fromkeys(x.select_dtypes("category"), object)) for x in (a, b)
        ]
        encoder = prepared(as_objects[0])
        a, b = (encoder.transform(x) for x in as_objects)
        model = PLAIN[method]()
    else:
        model = NATIVE[method]() if method in NATIVE else omnitree_preset(method)()
    begin = time.process_time()
    model.fit(a, y_a)
    seconds = time.process_time() - begin
    answer, loss = model.predict(b), np.nan
    if hasattr(model, "predict_proba"):
        own = (model.predict_proba(b) * (y_b[:, None] == model.classes_)).sum(axis=1)
        loss = -np.log(np.clip(own, CLIP, 1 - CLIP)).mean()
    leaves, terms = size(model, a) if method not in NATIVE else (np.nan, np.nan)
    if method == "random forest":
        leaves, terms = sum(t.get_n_leaves() for t in model.estimators_), np.nan
    elif method == "LightGBM":
        leaves = sum(t["num_leaves"] for t in model.booster_.dump_model()["tree_info"])
    numbers = (100 * np.mean(answer != y_b), loss, leaves, terms, seconds)
    return dict(zip(MEASURES, map(float, numbers), strict=True))


def run(args: argparse.Namespace) -> None:
    """Every fold that is not in the store yet; sets where a fold failed are left."""
    warnings.simplefilter("ignore")
    (store,) = args.store
    folder = args.shared / "data"
    names = sorted(path.stem for path in folder.glob("*.csv"))
    names.sort(key=lambda name: (folder / f"{name}.csv").stat().st_size)
    if args.datasets:
        names = args.datasets.split(",")

    def stop(*_):
        raise TooLong

    signal.signal(signal.SIGVTALRM, stop)
    known = {(r["set"], r["method"], r["seed"], r["half"]) for r in recorded([store])}
    for name in names:
        X, y = read(folder, name)
        for method in args.methods.split(","):
            for seed, half in np.ndindex(5, 2):
                key = {"set": name, "method": method, "seed": seed, "half": half}
                if tuple(key.values()) in known:
                    continue
                parts = StratifiedKFold(2, shuffle=True, random_state=seed)
                a, b = list(parts.split(X, y))[half]
                signal.setitimer(signal.ITIMER_VIRTUAL, args.limit)
                try:
                    with threadpool_limits(1):
                        found = one_fold(method, X.iloc[a], X.iloc[b], y[a], y[b])
                except Exception as problem:  # of a library, or its time is up
                    found = {"problem": f"{type(problem).__name__}: {problem}"[:200]}
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
                with store.open("a") as out:
                    out.write(json.dumps(key | found) + "\n")
                if "problem" in found:
                    break


def recorded(stores: list[Path]) -> list[dict]:
    lines = [x.read_text().splitlines() for x in stores if x.exists()]
    return [json.loads(line) for some in lines for line in some]


def originals(path: Path) -> pd.DataFrame:
    """Weka's trees on the same folds."""
    found = pd.read_csv(path)
    found = found[found["method"].isin(THEIRS)]
    return pd.DataFrame(
        {
            "set": found["dataset"],
            "method": found["method"].map(REFERENCES),
            "seed": found["repeat"],
            "half": found["fold"],
            "error": found["error_pct"],
            "leaves": found["leaves"],
            "seconds": found["fit_cpu_s"],
        }
    )


def ranked(means: pd.DataFrame, sets: list[str], methods: list[str]) -> list[str]:
    """A table of means and ranks over some data sets, best rank first."""
    from omnitree.lab.ranks import friedman, holm, mean_ranks

    error = means["error"].unstack()[methods].loc[sets]
    ranks, test = mean_ranks(error.to_numpy()), friedman(error.to_numpy())
    own = methods.index("omni")
    adjusted = holm(error.to_numpy(), own)
    lines = [
        f"{len(sets)} data sets, {len(methods)} methods. Friedman's test: chi-square "
        f"{test.chi_square:.1f}, p {test.p:.2g}. Holm's p is that of the difference to "
        "`omni`.",
        "",
        "| method | error | mean rank | Holm's p | log loss | leaves | terms | seconds |",
        "|---" * 8 + "|",
    ]
    for i in np.argsort(ranks, kind="stable"):
        own_means = means.xs(methods[i], level="method").loc[sets].mean(skipna=False)
        p = "" if i == own else f"{adjusted[i]:.3f}"
        cells = [
            "–" if np.isnan(own_means[measure]) else f"{own_means[measure]:.{digits}f}"
            for measure, digits in zip(MEASURES[1:], (3, 1, 0, 3), strict=True)
        ]
        mean = f"{own_means['error']:.2f} | {ranks[i]:.2f} | {p}"
        lines.append(f"| {methods[i]} | {mean} | {' | '.join(cells)} |")
    return [*lines, ""]


def report(args: argparse.Namespace) -> None:
    """Means over data sets and ranks: all methods with all sets, then the others."""
    found = pd.DataFrame(recorded(args.store))
    failed = pd.DataFrame()
    if "problem" in found:
        failed = found[found["problem"].notna()]
    theirs = args.shared / "references" / "originals_folds.csv"
    table = pd.concat([found[found["error"].notna()], originals(theirs)])
    by = table.groupby(["set", "method"])
    full = by["error"].size().unstack(fill_value=0) >= 10
    full = full[full["omni"]]
    means = by[list(MEASURES)].mean()
    order = [m for m in (*METHODS, *REFERENCES.values()) if m in full]
    everywhere = [m for m in order if full[m].all()]
    lines = [
        "# OmniTreeClassifier beside other methods",
        "",
        "Made by `benchmarks/omni_against.py`, which says how; 5x2 folds, one thread. Error "
        "in percent; log loss with probabilities of at least 1e-6; leaves (of ensembles: of "
        "all trees), terms and CPU seconds of a fit are means over the data sets.",
        "",
        *ranked(means, list(full.index), everywhere),
    ]
    numeric = [n for n in full.index if is_numeric(args.shared / "data", n)]
    lines += ["## Numeric data sets", "", *ranked(means, numeric, everywhere)]
    for method in (m for m in order if m not in everywhere):
        sets = list(full.index[full[method]])
        if len(sets) > 1:
            both = ["omni", "omni-1", method]
            lines += [f"## {method}", "", *ranked(means, sets, both)]
    lines += ["## Errors by data set", "", f"| data set | {' | '.join(order)} |"]
    lines.append("|---" * (len(order) + 1) + "|")
    for name in full.index:
        row = means["error"].unstack().loc[name]
        cells = (f"{row[m]:.2f}" if full.loc[name, m] else "–" for m in order)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if len(failed):
        lines += ["", "## Fits that did not end", ""]
        for name, own in failed.groupby("method"):
            told = "; ".join(f"{r['set']}: {r['problem']}" for _, r in own.iterrows())
            lines.append(f"- {name}: {told}")
    args.report.write_text("\n".join(lines) + "\n", encoding="utf-8")


def is_numeric(folder: Path, name: str) -> bool:
    return not len(read(folder, name)[0].select_dtypes("category").columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--store", type=Path, nargs="+", required=True)
    parser.add_argument("--methods", default=",".join(OURS))
    parser.add_argument("--datasets")
    parser.add_argument("--limit", type=float, default=120, help="CPU seconds of a fit")
    parser.add_argument("--report", type=Path)
    args = parser.parse_args()
    if args.report:
        report(args)
    else:
        run(args)


if __name__ == "__main__":
    main()
