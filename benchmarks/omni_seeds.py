"""How much the kind of tree that `omni` chooses depends on its seed.

The seed deals the rows to the folds of all cross-validations and does nothing else. Each
data set is halved at random; `omni` is fitted to one half with several seeds and tested on
the other, then the other way round. Compared are one cross-validation of the candidates at
the root (``repeats=1``) and the default, which deals the rows
several times where the choice is close. Agreement: the share of pairs of seeds
whose trees have the same kind of root (of its test, and whether leaves have models), the
share of those with the same candidate there, dense and sparse forms taken together (sums of
one, two or three models are different candidates of one kind), and the share of the test
rows that both trees answer alike. By default the first, third and so on of the data sets in
the order of their names, without the large ones, which have one cross-validation only; the
halves are none of those of `omni.md`.

    python benchmarks/omni_seeds.py --shared FOLDER -o benchmarks/results/omni_seeds.md
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold
from tables.folder import read

import omnitree
from omnitree import presets
from omnitree.refinement import Contest

SETS = (
    *("balance", "bupa", "cylinder", "ecoli", "glass", "hepatitis", "horse22"),
    *("iris", "monks2", "soybean15", "vote", "wine", "zoo"),
)
CONTESTS = {"one": Contest(repeats=1), "several": Contest()}


def candidate(tree: omnitree.Tree) -> str:
    """The candidate that the root was chosen from; "leaf" for a single leaf."""
    if tree.n_leaves == 1:
        return "leaf"
    chosen = [c.learner for c in tree.split(0).candidates if c.chosen]
    return chosen[0].replace("sparse ", "") if chosen else "univariate subtree"


def kind(tree: omnitree.Tree) -> tuple[str, bool]:
    """The family of the root's test, and whether leaves have models."""
    family = "leaf" if tree.n_leaves == 1 else tree.split(0).family
    return family, tree.models is not None


def measure(folder: Path, name: str, contest: Contest, halves: int, seeds: int):
    """Agreements, mean error in percent, its deviation over the seeds, CPU seconds."""
    X, y = read(folder, name)
    agreements, errors, seconds = [], [], []
    for half in range(halves):
        folds = StratifiedKFold(2, shuffle=True, random_state=1000 + half)
        for train, test in folds.split(X, y):
            found, answers = [], []
            for seed in range(seeds):
                clf = presets.make("omni", random_state=seed, refinement=contest)
                start = time.process_time()
                clf.fit(X.iloc[train], y.iloc[train])
                seconds.append(time.process_time() - start)
                found.append((kind(clf.tree_), candidate(clf.tree_)))
                answers.append(clf.predict(X.iloc[test]))
            same = [
                (a[0] == b[0], a[1] == b[1], np.mean(one == other))
                for (a, one), (b, other) in combinations(
                    zip(found, answers, strict=True), 2
                )
            ]
            agreements.append(np.mean(same, axis=0))
            errors.append([100 * np.mean(own != y.iloc[test]) for own in answers])
    return (
        *np.mean(agreements, axis=0),
        np.mean(errors),
        np.std(errors, axis=1, ddof=1).mean(),
        np.mean(seconds),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("-o", "--output", type=Path, help="file for the table")
    parser.add_argument("--datasets", default=",".join(SETS))
    parser.add_argument("--halves", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=4)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    text = [
        "# Kinds of trees by seed",
        "",
        "Made by `benchmarks/omni_seeds.py`, which says how; "
        f"`--halves {args.halves} --seeds {args.seeds}`.",
        "",
        "| data set | deals | same kind | same candidate | same answers | error "
        "| its sd | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    found: dict[str, list] = {how: [] for how in CONTESTS}
    for name in args.datasets.split(","):
        for how, contest in CONTESTS.items():
            folder = args.shared / "data"
            got = measure(folder, name, contest, args.halves, args.seeds)
            found[how].append(got)
            text.append(line(name, how, got))
            print(text[-1], flush=True)
    for how, rows in found.items():
        text.append(line("mean", how, np.mean(rows, axis=0)))
        print(text[-1])
    if args.output:
        args.output.write_text("\n".join(text) + "\n")


def line(name: str, how: str, got) -> str:
    return f"| {name} | {how} | {' | '.join(f'{value:.2f}' for value in got)} |"


if __name__ == "__main__":
    main()
