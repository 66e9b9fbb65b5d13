"""The tables of "Linear discriminant trees" (Yildiz & Alpaydin 2005), ours beside theirs.

Five runs of two folds on the paper's 20 data sets; post-pruned trees hold out a fifth of the
training rows. Reads the data and the published figures from a folder (`--shared`, with
`data/` and `papers/tables/`). `monks` is monks1, `horse` the set with 26 features; the
paper does not say which folds it used, so figures agree within sampling error at best. A
cell is `worse` where ours is more than two published deviations below the published mean.

    python benchmarks/ldt05.py --shared ../shared -o benchmarks/results/ldt05.md
"""

from __future__ import annotations

import argparse
import platform
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from joblib import Parallel, delayed
from originals import read
from sklearn.model_selection import StratifiedKFold

import omnitree
from omnitree import presets

PRE = {"pruning": None, "stopping": "pre_pruning"}
LDT = ("ldt", {})
# Table number: the file of accuracies, the file of sizes, what sizes count, and the
# preset with its changes for each published method (or variant of LDT).
TABLES = {
    "3, 4": (
        "03_accuracy",
        "04_treesize",
        "nodes",
        {
            "LDTu(1)": ("ldt-u1", {}),
            "LDTu(2)": ("ldt-u2", {}),
            "QUEST": ("quest-u", {}),
        },
    ),
    "6, 7": (
        "06_accuracy",
        "07_treesize",
        "nodes",
        {"selection": ("ldt", {"grouping": "selection"}), "exchange": LDT},
    ),
    "9, 10": (
        "09_accuracy",
        "10_treesize",
        "nodes",
        {"eps=0.90": ("ldt", {"epsilon": 0.9}), "eps=0.99": LDT},
    ),
    "12, 13": (
        "12_accuracy",
        "13_treesize",
        "nodes",
        {"pre-pruning": ("ldt", PRE), "post-pruning": LDT},
    ),
    "15, 16": (
        "15_accuracy",
        "16_treesize",
        "nodes",
        {"analytical": LDT, "exhaustive": ("ldt", {"threshold": "exhaustive"})},
    ),
    "20, 21": (
        "20_accuracy",
        "21_complexity",
        "parameters",
        {"QUEST": ("quest", {}), "LDT": LDT},
    ),
}


def published(folder: Path, name: str) -> pd.DataFrame:
    """Mean and deviation by data set and method, or variant of LDT where there is one."""
    path = folder / "papers" / "tables" / f"yildiz2005_table{name}.csv"
    frame = pd.read_csv(path, comment="#")
    frame["column"] = frame.variant.where(frame.method == "LDTm", frame.method)
    return frame.set_index(["dataset", "column"])[["mean", "std"]]


def run(folder: Path, name: str, preset: str, changes: dict) -> dict[str, list[float]]:
    """Accuracy, nodes and parameters of the ten folds."""
    X, y = read(folder / "data", "monks1" if name == "monks" else name)
    out: dict[str, list[float]] = {"accuracy": [], "nodes": [], "parameters": []}
    for repeat in range(5):
        folds = StratifiedKFold(2, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, y):
            clf = presets.make(preset, random_state=repeat, **changes)
            clf.fit(X.iloc[train], y.iloc[train])
            out["accuracy"].append(100 * clf.score(X.iloc[test], y.iloc[test]))
            out["nodes"].append(clf.tree_.n_nodes)
            out["parameters"].append(clf.tree_.n_parameters)
    return out


def key(method: tuple[str, dict]) -> str:
    return f"{method[0]} {sorted(method[1].items())}"


def table(number: str, shared: Path, results: dict) -> tuple[list[str], list[str]]:
    """Markdown lines of one pair of tables, and the cells that are worse."""
    accuracy_file, size_file, unit, methods = TABLES[number]
    accuracy, size = published(shared, accuracy_file), published(shared, size_file)
    names = list(dict.fromkeys(d for d, _ in accuracy.index))
    head = "".join(f" {m}: ours | paper | {unit} | paper |" for m in methods)
    lines = [
        f"\n## Tables {number}\n",
        f"| data set |{head}",
        "|---" * head.count("|") + "|---|",
    ]
    worse, sums = [], {m: [] for m in methods}
    for name in names:
        line = f"| {name} |"
        for m, method in methods.items():
            ours = results[name, key(method)]
            mean, got = np.mean(ours["accuracy"]), accuracy.loc[(name, m)]
            big, count = size.loc[(name, m)], np.mean(ours[unit])
            below = mean < got["mean"] - 2 * got["std"]
            if below:
                wanted = f"{got['mean']:.1f} ± {got['std']:.1f}"
                worse.append(f"{m} on {name}: {mean:.1f}, published {wanted}")
            mark = " **worse**" if below else ""
            line += (
                f" {mean:.1f} ± {np.std(ours['accuracy'], ddof=1):.1f}{mark} "
                f"| {got['mean']:.1f} ± {got['std']:.1f} | {count:.1f} | {big['mean']:.1f} |"
            )
            sums[m].append((mean, got["mean"], count, big["mean"]))
        lines.append(line)
    means = "".join(
        f" **{a:.1f}** | **{b:.1f}** | **{c:.1f}** | **{d:.1f}** |"
        for a, b, c, d in (np.mean(sums[m], axis=0) for m in methods)
    )
    lines.append(f"| **mean** |{means}")
    return lines, worse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--tables", default=";".join(TABLES))
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    if not (args.shared / "papers" / "tables").is_dir():
        raise SystemExit(f"no published tables in {args.shared / 'papers' / 'tables'}")
    numbers = args.tables.split(";")
    jobs = {}
    for number in numbers:
        names = dict.fromkeys(
            d for d, _ in published(args.shared, TABLES[number][0]).index
        )
        for method in TABLES[number][3].values():
            jobs.update({(name, key(method)): (name, *method) for name in names})
    done = Parallel(n_jobs=args.n_jobs)(
        delayed(run)(args.shared, *j) for j in jobs.values()
    )
    results = dict(zip(jobs, done, strict=True))
    text = [
        "# Tables of Yildiz & Alpaydin (2005), ours beside the published figures",
        f"\n`python benchmarks/ldt05.py --tables {args.tables!r}`, omnitree "
        f"{omnitree.__version__}, scikit-learn {sklearn.__version__}, NumPy "
        f"{np.__version__}, Python {platform.python_version()}. Accuracy in percent, mean ± "
        "deviation of 5x2 folds.",
    ]
    all_worse = []
    for number in numbers:
        lines, worse = table(number, args.shared, results)
        text += lines
        all_worse += worse
    unique = list(
        dict.fromkeys(
            w.split(" on ", 1)[1] + f" ({w.split(' on ')[0]})" for w in all_worse
        )
    )
    text.append(
        f"\nMore than two published deviations below: {'; '.join(unique) or 'none'}."
    )
    print("\n".join(text))
    if args.output:
        args.output.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
