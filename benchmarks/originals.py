"""Our presets beside the original programs, fold by fold.

Reads data sets and the originals' results from a folder (`--shared`, with `data/` and
`references/originals_folds.csv`), runs the presets on the same 5x2 folds
(`StratifiedKFold(2, shuffle=True, random_state=0..4)` in file order) and prints error and
size beside the original's. Presets that draw rows at random are run with several seeds and
averaged; the spread over seeds shows how much of a difference is luck.

    python benchmarks/originals.py --shared ../shared -o benchmarks/results/originals.md
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from page import versions
from sklearn.model_selection import StratifiedKFold
from tables.folder import read

from omnitree import presets
from omnitree.growing.stopping import Stopping
from omnitree.learners import Univariate
from omnitree.pruning import CostComplexity

# rpart was run with minsplit 4; SimpleCart keeps two rows a leaf and has five folds.
RPART = {"stopping": Stopping(min_rows=4)}
SIMPLE = {
    "learner": Univariate(min_branch=2),
    "pruning": CostComplexity(folds=5),
}
ISELL = {"rule": "multitest", "order": "top_down"}
# Our preset, its changes, the original, and how many seeds are averaged.
PAIRS = {
    "c4.5": ("c4.5", {}, "C4.5-R8", 1),
    "c4.5 -s": ("c4.5", {"subsets": True}, "C4.5-R8-subset", 1),
    "c4.5 -g": ("c4.5", {"merit": "gain"}, "C4.5-R8-gain", 1),
    "c4.5 unpruned": ("c4.5", {"pruning": None}, "C4.5-R8-unpruned", 1),
    "cart 0 SE": ("cart", {"se": 0.0, **RPART}, "rpart-0SE", 5),
    "cart as it comes": ("cart", {}, "rpart-0SE", 3),
    "cart 1 SE": ("cart", {"se": 1.0, **RPART}, "rpart-1SE", 5),
    "cart 5-fold": ("cart", SIMPLE, "SimpleCart", 5),
    "rp-c4.5": ("rp-c4.5", {}, "J48-R", 5),
    "ldt": ("ldt", {}, "ISELL-LDTm", 3),
    "ldt-u2": ("ldt-u2", {}, "ISELL-LDTu", 1),
    "ldt-u2 multiway": ("ldt-u2", {"categories": "multiway"}, "ISELL-LDTu", 1),
    "lin": ("lin", {}, "ISELL-LDTm", 3),
    "uni": ("uni", {}, "ISELL-UNI", 1),
    "qua": ("qua", {}, "ISELL-QUA", 1),
    "omni-aic": ("omni-aic", {}, "ISELL-OMNI-AIC", 1),
    "omni-bic": ("omni-bic", {}, "ISELL-OMNI-BIC", 1),
    "omni-bic subtree": ("omni-bic", {"rows": "subtree"}, "ISELL-OMNI-BIC", 1),
    "omni-cv": ("omni-cv", {}, "ISELL-OMNI-CV", 1),
    "omni-cv as ISELL": ("omni-cv", ISELL, "ISELL-OMNI-CV", 1),
    "oc1": ("oc1", {}, "OC1", 3),
    "oc1 unpruned": ("oc1", {"pruning": None}, "OC1-unpruned", 1),
    "omni": ("omni", {}, "LMT", 1),
    "cart-lc": ("cart-lc", {}, "CART-LC", 1),
    "lmt": ("lmt", {}, "LMT", 3),
    "ft": ("ft", {}, "FT", 1),
    "ft inner": ("ft", {"where": "inner"}, "FTInner", 1),
    "ft leaves": ("ft", {"where": "leaves"}, "FTLeaves", 1),
}


def run(folder: Path, name: str, pair: str, seeds: int | None) -> list[dict]:
    """All folds and seeds of one preset on one data set."""
    preset, changes, _, usual = PAIRS[pair]
    seeds = seeds or usual
    X, y = read(folder, name)
    rows = []
    for repeat in range(5):
        folds = StratifiedKFold(2, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(folds.split(X, y)):
            for seed in range(seeds):
                clf = presets.make(preset, random_state=seed, **changes)
                begin = time.process_time()
                clf.fit(X.iloc[train], y.iloc[train])
                seconds = time.process_time() - begin
                rows.append(
                    {
                        "dataset": name,
                        "pair": pair,
                        "repeat": repeat,
                        "fold": fold,
                        "seed": seed,
                        "error": 100 * (1 - clf.score(X.iloc[test], y.iloc[test])),
                        "leaves": clf.tree_.n_leaves,
                        "size": clf.tree_.n_nodes,
                        "seconds": seconds,
                    }
                )
    return rows


def compare(ours: pd.DataFrame, theirs: pd.DataFrame, pair: str) -> str:
    """One Markdown table: a data set a line, and the means."""
    original = PAIRS[pair][2]
    mine = ours[ours.pair == pair]
    other = theirs[theirs.method == original]
    lines = [
        f"\n## `{pair}` against {original}\n",
        "| data set | error | original | difference | leaves | original | sd of seeds "
        "| fit ms | original |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    table = []
    for name, part in mine.groupby("dataset", sort=False):
        ref = other[other.dataset == name]
        by_fold = part.groupby(["repeat", "fold"])[
            ["error", "leaves", "seconds"]
        ].mean()
        ref = ref.set_index(["repeat", "fold"])
        columns = ["error_pct", "leaves", "fit_cpu_s"]
        both = by_fold.join(ref[columns], rsuffix="_ref", how="inner")
        if both.empty:
            continue
        seeds = part.groupby("seed").error.mean()
        spread = seeds.std() if len(seeds) > 1 else 0.0
        m = both.mean()
        ms = 1000 * both[["seconds", "fit_cpu_s"]].median()
        table.append((name, m.error, m.error_pct, m.leaves, m.leaves_ref, *ms, spread))
        lines.append(
            f"| {name} | {m.error:.2f} | {m.error_pct:.2f} | {m.error - m.error_pct:+.2f} "
            f"| {m.leaves:.1f} | {m.leaves_ref:.1f} | {spread:.2f} "
            f"| {ms.seconds:.1f} | {ms.fit_cpu_s:.1f} |"
        )
    columns = np.array([r[1:7] for r in table]).T
    error, ref_error, leaves, ref_leaves, ms, ref_ms = columns
    apart = error - ref_error
    far = [f"{table[i][0]} {apart[i]:+.2f}" for i in np.flatnonzero(abs(apart) > 1.5)]
    lines.append(
        f"| **mean** | **{error.mean():.2f}** | **{ref_error.mean():.2f}** "
        f"| **{apart.mean():+.2f}** | **{leaves.mean():.1f}** "
        f"| **{np.nanmean(ref_leaves):.1f}** | | **{ms.mean():.1f}** "
        f"| **{np.nanmean(ref_ms):.1f}** |"
    )
    lines.append(f"\nFurther off than 1.5 points: {', '.join(far) or 'none'}.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--datasets", default="")
    parser.add_argument("--seeds", type=int, help="instead of the pair's own number")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    data = args.shared / "data"
    if not data.is_dir():
        raise SystemExit(f"no data: the folder {data} is missing")
    names = args.datasets.split(",") if args.datasets else []
    names = names or list(json.loads((data / "datasets.json").read_text()))
    pairs = args.pairs.split(",")
    theirs = pd.read_csv(args.shared / "references" / "originals_folds.csv")
    have = {m: set(part.dataset) for m, part in theirs.groupby("method")}
    jobs = [
        delayed(run)(data, name, pair, args.seeds)
        for pair in pairs
        for name in names
        if name in have[PAIRS[pair][2]]
    ]
    rows = [r for part in Parallel(n_jobs=args.n_jobs)(jobs) for r in part]
    ours = pd.DataFrame(rows)
    extra = f" --datasets {args.datasets}" if args.datasets else ""
    extra += f" --seeds {args.seeds}" if args.seeds else ""
    text = [
        "# Our presets and the original programs, same folds",
        f"\n`python benchmarks/originals.py --pairs {args.pairs!r}{extra}`, "
        f"{versions('scikit-learn', 'numpy')}. Error in percent, mean of "
        "5x2 folds; leaves as the programs count them.",
    ]
    text += [compare(ours, theirs, pair) for pair in pairs]
    print("\n".join(text))
    if args.output:
        args.output.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
