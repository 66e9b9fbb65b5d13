"""The default classifier with other settings, on halves that are not the test folds.

How the defaults of `Contest` were compared: random halves of the data sets with seeds from
100 on (the tables in `omni.md` use 0 to 4), each setting on the same halves. Error, log
loss, leaves, parameters and CPU seconds, means over the data sets.

    python benchmarks/omni_halves.py --shared FOLDER --seeds 100,101 \
        --settings "{};{'sparse': None};{'sparse': 1.0}"
"""

from __future__ import annotations

import argparse
import ast
import time
from pathlib import Path

import numpy as np
from originals import read
from sklearn.model_selection import StratifiedKFold

from omnitree import presets
from omnitree.refinement import Contest

# All but the six largest and the monks problems.
SETS = [
    *("iris", "wine", "zoo", "glass", "bupa", "haberman", "hepatitis", "cleveland"),
    *(
        "breast",
        "pima",
        "balance",
        "ecoli",
        "vote",
        "ionosphere",
        "dermatology",
        "flare",
    ),
    *("tictactoe", "horse22", "horse", "cylinder", "car", "segment", "soybean"),
    *("soybean15", "vowel", "yeast"),
]


def one(settings: dict, folder: Path, name: str, seeds: list[int]) -> np.ndarray:
    """Error in percent, log loss, leaves, parameters, seconds: means over the halves."""
    X, y = read(folder, name)
    rows = []
    for seed in seeds:
        halves = StratifiedKFold(2, shuffle=True, random_state=seed)
        for a, b in halves.split(X, y):
            clf = presets.make("omni", random_state=0, refinement=Contest(**settings))
            begin = time.process_time()
            clf.fit(X.iloc[a], y.iloc[a])
            seconds = time.process_time() - begin
            truth, proba = y.iloc[b].to_numpy(), clf.predict_proba(X.iloc[b])
            error = 100 * np.mean(clf.predict(X.iloc[b]) != truth)
            own = (proba * (truth[:, None] == clf.classes_)).sum(axis=1)
            loss = -np.log(np.maximum(own, 1e-6)).mean()
            tree = clf.tree_
            rows.append([error, loss, tree.n_leaves, tree.n_parameters, seconds])
    return np.mean(rows, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--seeds", default="100,101")
    parser.add_argument("--datasets", default=",".join(SETS))
    parser.add_argument("--settings", default="{};{'sparse': None}")
    args = parser.parse_args()
    seeds = [int(s) for s in args.seeds.split(",")]
    print("| settings | error | log loss | leaves | parameters | seconds |")
    print("|---" * 6 + "|")
    for text in args.settings.split(";"):
        settings = ast.literal_eval(text)
        found = [
            one(settings, args.shared / "data", name, seeds)
            for name in args.datasets.split(",")
        ]
        error, loss, leaves, size, seconds = np.mean(found, axis=0)
        print(
            f"| {text} | {error:.2f} | {loss:.3f} | {leaves:.1f} | {size:.0f} | "
            f"{seconds:.3f} |"
        )


if __name__ == "__main__":
    main()
