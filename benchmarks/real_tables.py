"""omnitree beside other methods on real tables, as their owners keep them.

The tables ship with packages (`tables/__init__.py` lists them with their licences); larger
ones are sampled down to 5,000 rows. Every method is fitted on the same stratified folds.
omnitree gets the raw frame, with its identifiers, dates and missing values; the others get
identifiers left out and dates taken apart, see `tables/methods.py`.

Measured on the held-out rows of all folds: error, AUC (for several classes the mean of one
class against the rest), log loss (probabilities kept within 1e-6 of 0 and 1), Brier score
(sum over the classes), the calibration slope (below 1: too sure of itself; above 1: not
sure enough), leaves, and CPU seconds of a fit. With `class_weight="balanced"`: recall of
the rarest class, the mean of the recalls, and leaves.

The goals, whose failure is the exit status: `omni`'s AUC and log loss are at least those of
logistic regression on every table within noise, and ahead on average; balanced, its recall
and its leaves are as good as those of scikit-learn's pruned tree. Within noise means two
standard errors of the difference, paired over the folds and corrected for their common
training rows (Nadeau and Bengio).

    python benchmarks/real_tables.py -o benchmarks/results/real_tables.md
    python benchmarks/real_tables.py --tables default,weather --methods omni,logistic
    python benchmarks/real_tables.py --again logistic     # keep the others

Predictions are kept in `--cache`, a file per table, method and fold; what is there is not
fitted again, unless it is omnitree's and omnitree has changed. EBM takes longer than all
others together: `--without EBM`.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.metrics import recall_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from tables import TABLES, load
from tables.methods import METHODS, OURS, code_of_omnitree
from threadpoolctl import threadpool_limits

PLAIN = [name for name in METHODS if "balanced" not in name]
BALANCED = [name for name in METHODS if "balanced" in name]
RARE = 0.25  # tables whose rarest class is rarer are fitted with balanced weights too
CLIP = 1e-6


@dataclass(frozen=True)
class Job:
    """One fit: a table, a method, a fold."""

    table: str
    method: str
    fold: int
    folds: int
    rows: int

    def path(self, cache: Path) -> Path:
        method = self.method.replace(", ", "-").replace(" ", "_")
        if self.method.split(",")[0] in OURS:
            method = f"{method}-{code_of_omnitree()}"
        place = cache / f"{self.rows}rows-{self.folds}folds"
        return place / self.table.replace(" ", "_") / f"{method}.{self.fold}.npz"


@cache
def loaded(table: str, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    return load(table, rows)


def split(job: Job) -> tuple[np.ndarray, np.ndarray]:
    frame, labels = loaded(job.table, job.rows)
    folds = StratifiedKFold(job.folds, shuffle=True, random_state=0)
    return list(folds.split(frame, labels))[job.fold]


def run(job: Job, cache: Path) -> str | None:
    """Fit and predict, and keep the predictions; the error message if that fails."""
    warnings.simplefilter("ignore")
    frame, labels = loaded(job.table, job.rows)
    train, test = split(job)
    try:
        with threadpool_limits(1):
            start = time.process_time()
            model = METHODS[job.method](job.table).fit(frame.iloc[train], labels[train])
            seconds = time.process_time() - start
            proba = model.predict_proba(frame.iloc[test])
            answer = model.predict(frame.iloc[test]).astype(str)
    except Exception as error:
        return "".join(traceback.format_exception(error))
    path = job.path(cache)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path, proba=proba, answer=answer, leaves=model.n_leaves, seconds=seconds
    )
    return None


def calibration_slope(truth: np.ndarray, proba: np.ndarray) -> float:
    """Factor on the log odds, of every class against the rest, that fits best.

    A logistic regression of the truth on the log odds, without an intercept; a slope below
    1 says that the probabilities are too extreme.
    """
    odds = logit(np.clip(proba, CLIP, 1 - CLIP))
    if np.ptp(odds) < 1e-9:
        return np.nan

    def loss(slope: float) -> float:
        fitted = np.clip(expit(slope * odds), 1e-12, 1 - 1e-12)
        return -np.mean(np.where(truth, np.log(fitted), np.log1p(-fitted)))

    return minimize_scalar(loss, bounds=(0, 5), method="bounded").x


def area(truth: np.ndarray, proba: np.ndarray) -> float:
    """AUC of the last of two classes; of more, the mean of each against the rest."""
    columns = range(1, 2) if truth.shape[1] == 2 else range(truth.shape[1])
    return float(np.mean([roc_auc_score(truth[:, k], proba[:, k]) for k in columns]))


def scores(job: Job, cache: Path) -> dict[str, float] | None:
    """The measures of one fold, from the kept predictions."""
    path = job.path(cache)
    if not path.exists():
        return None
    kept = np.load(path)
    _, labels = loaded(job.table, job.rows)
    classes, shares = np.unique(labels, return_counts=True)
    labels = labels[split(job)[1]]
    truth = labels[:, None] == classes
    proba, answer = kept["proba"], kept["answer"]
    clipped = np.clip(proba, CLIP, 1 - CLIP)
    recalls = recall_score(labels, answer, labels=classes, average=None)
    return {
        "error": np.mean(answer != labels),
        "AUC": area(truth, proba),
        "log loss": -np.mean(np.log(clipped[truth])),
        "Brier": np.mean(((proba - truth) ** 2).sum(axis=1)),
        "slope": calibration_slope(truth, proba),
        "leaves": float(kept["leaves"]),
        "seconds": float(kept["seconds"]),
        "recall": recalls[shares.argmin()],
        "mean recall": recalls.mean(),
    }


def has_rare_class(table: str, rows: int) -> bool:
    shares = np.unique(loaded(table, rows)[1], return_counts=True)[1]
    return len(shares) == 2 and shares.min() / shares.sum() < RARE


def difference(found: pd.DataFrame, measure: str, ours: str, theirs: str, folds: int):
    """Mean difference over the folds of each table, and its standard error."""
    wide = found.pivot_table(index=["table", "fold"], columns="method", values=measure)
    if ours not in wide or theirs not in wide:
        return pd.DataFrame(columns=["mean", "error"])
    missing = (wide[ours] - wide[theirs]).dropna().groupby("table", sort=False)
    correction = np.sqrt(1 / folds + 1 / (folds - 1))
    return pd.DataFrame({"mean": missing.mean(), "error": missing.std() * correction})


def goals(found: pd.DataFrame, folds: int) -> list[tuple[str, bool]]:
    """What is asked for, and whether it is so, as far as the methods were run."""
    lines = []
    for measure, sign in (("AUC", 1), ("log loss", -1)):
        missing = difference(found, measure, "omni", "logistic", folds)
        if missing.empty:
            continue
        behind = missing[sign * missing["mean"] < -2 * missing["error"] - 1e-9]
        told = ", ".join(
            f"{table} {row['mean']:+.4f} (2 SE {2 * row['error']:.4f})"
            for table, row in behind.iterrows()
        )
        lines.append(
            (
                f"{measure} of omni at least that of logistic regression, within noise: "
                f"behind on {len(behind)} of {len(missing)} tables"
                + (f": {told}" if told else ""),
                behind.empty,
            )
        )
        mean = missing["mean"].mean()
        lines.append((f"{measure} on average: {mean:+.4f}", sign * mean > 0))
    return lines + _balanced_goals(found, folds)


def _balanced_goals(found: pd.DataFrame, folds: int) -> list[tuple[str, bool]]:
    missing = difference(found, "recall", *BALANCED, folds)
    if missing.empty:
        return []
    lines = []
    for measure in ("recall", "mean recall"):
        missing = difference(found, measure, *BALANCED, folds)
        behind = missing.index[missing["mean"] < -2 * missing["error"] - 1e-9]
        lines.append(
            (
                f"{measure} of omni, balanced, at least that of the pruned tree, within "
                f"noise: behind on {len(behind)} of {len(missing)} tables"
                + (f": {', '.join(behind)}" if len(behind) else ""),
                not len(behind),
            )
        )
    leaves = found[found["method"].isin(BALANCED)].groupby("method")["leaves"].mean()
    ours, theirs = leaves[BALANCED[0]], leaves[BALANCED[1]]
    told = f"leaves of omni, balanced: {ours:.1f}, of the pruned tree {theirs:.1f}"
    return [*lines, (told, ours <= theirs)]


def report(found: pd.DataFrame, folds: int, rows: int) -> str:
    tables = list(found["table"].unique())
    text = ["## Tables", ""]
    text += ["| table | rows | columns | rarest class | package | licence | what |"]
    text += ["|---|---|---|---|---|---|---|"]
    for table in tables:
        frame, labels = loaded(table, rows)
        source = TABLES[table]
        rarest = np.unique(labels, return_counts=True)[1].min() / len(labels)
        text.append(
            f"| {table} | {len(frame)} | {frame.shape[1]} | {rarest:.1%} | "
            f"{source.package} | {source.licence} | {source.about} |"
        )
    plain = found[~found["method"].isin(BALANCED)]
    shown = ["error", "AUC", "log loss", "Brier", "slope", "leaves", "seconds"]
    text += ["", "## Methods", "", f"| table | method | {' | '.join(shown)} |"]
    text += ["|---" * (len(shown) + 2) + "|"]
    means = plain.groupby(["table", "method"], sort=False)[shown].mean()
    text += [_line(*name, row) for name, row in means.iterrows()]
    everywhere = plain.groupby("method")["table"].nunique()
    common = everywhere.index[everywhere == everywhere.max()]
    over_all = means.groupby("method", sort=False).mean()
    text += [
        _line("mean", name, over_all.loc[name])
        for name in over_all.index
        if name in common
    ]
    weighted = found[found["method"].isin(BALANCED)]
    if len(weighted):
        shown = ["recall", "mean recall", "AUC", "error", "leaves", "seconds"]
        text += ["", '## With `class_weight="balanced"`', ""]
        text += [f"| table | method | {' | '.join(shown)} |"]
        text += ["|---" * (len(shown) + 2) + "|"]
        means = weighted.groupby(["table", "method"], sort=False)[shown].mean()
        text += [_line(*name, row) for name, row in means.iterrows()]
    text += ["", "## Goals", ""]
    text += [
        f"- {'met' if met else 'NOT MET'}: {told}" for told, met in goals(found, folds)
    ]
    return "\n".join(text) + "\n"


def _line(table: str, method: str, row: pd.Series) -> str:
    def told(name: str, value: float) -> str:
        if np.isnan(value):
            return "–"
        if name == "leaves":
            return f"{value:.1f}" if value else "–"
        return f"{value:.2f}" if name in ("seconds", "slope") else f"{value:.4f}"

    return f"| {table} | {method} | {' | '.join(told(*pair) for pair in row.items())} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", default=",".join(TABLES), help="names, by commas")
    parser.add_argument(
        "--methods",
        default=";".join(METHODS),
        help="names, by semicolons (or by commas, if none has a comma in it)",
    )
    parser.add_argument("--without", default="", help="methods to leave out")
    parser.add_argument("--again", default="", help="methods to fit though kept")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=5000, help="of larger tables")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=Path("build/real_tables"))
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()

    def names(text: str, known) -> list[str]:
        found = [name.strip() for name in text.split(";" if ";" in text else ",")]
        wrong = [name for name in found if name not in known]
        if wrong:
            parser.error(f"unknown: {', '.join(wrong)}; there are {', '.join(known)}")
        return found

    tables = names(given.tables, TABLES)
    without = names(given.without, METHODS) if given.without else []
    methods = [m for m in names(given.methods, METHODS) if m not in without]
    again = names(given.again, METHODS) if given.again else []
    jobs = [
        Job(table, method, fold, given.folds, given.rows)
        for table, method, fold in product(tables, methods, range(given.folds))
        if method in PLAIN or has_rare_class(table, given.rows)
    ]
    todo = [
        job for job in jobs if job.method in again or not job.path(given.cache).exists()
    ]
    failed = False
    with ProcessPoolExecutor(given.jobs) as pool:
        results = pool.map(run, todo, [given.cache] * len(todo))
        for job, problem in zip(todo, results, strict=True):
            if problem:
                failed = True
                print(f"{job} failed:\n{problem}", file=sys.stderr)
    found = [
        {"table": job.table, "method": job.method, "fold": job.fold, **row}
        for job in jobs
        if (row := scores(job, given.cache)) is not None
    ]
    table = pd.DataFrame(found)
    told = (
        f"# Real tables\n\n`python {' '.join(sys.argv)}`\n\n{given.folds} stratified "
        f"folds, means over them.\n\n{report(table, given.folds, given.rows)}"
    )
    if given.output:
        given.output.write_text(told, encoding="utf-8")
    print(told)
    return int(failed or not all(met for _, met in goals(table, given.folds)))


if __name__ == "__main__":
    sys.exit(main())
