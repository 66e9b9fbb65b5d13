"""Pruning of tests (MTP) against basic pruning (BTP): Brodley & Utgoff's section 6.4.

The paper finds the same trees on all data sets but hepatitis. Here every reading of its
section 5 is run on the same folds (trees of SBE; RLS for two classes, thermal machines for
more): what feature goes in a step is judged by held-out rows or by training rows, and a test
with fewer features that errs as often on the held-out rows takes the place of the longer one
or does not. A line tells in what share of the folds trees differ from those of basic
pruning, how many features fewer a test has, and what that does to the accuracy.

    python benchmarks/mtp_variants.py --data FOLDER -o benchmarks/results/mtp_variants.md
"""

from __future__ import annotations

import argparse
import platform
from pathlib import Path

import numpy as np

import omnitree
from omnitree import presets
from omnitree.lab.data import Dataset, from_folder
from omnitree.lab.protocols import Division, RepeatedFolds
from omnitree.lab.tables import TextTable
from omnitree.refinement import FeatureElimination
from omnitree.tree.tree import Tree

SETS = ("bupa", "breast", "cleveland", "hepatitis", "glass")
MACHINES = ("glass",)
READINGS = {
    "by held-out rows": {"judge": "held_out"},
    "by held-out rows, ties go": {"judge": "held_out", "ties": True},
    "by training rows": {"judge": "training"},
    "by training rows, ties go": {"judge": "training", "ties": True},
}


def columns(tree: Tree) -> float:
    """Mean number of columns of the linear tests."""
    tests = [tree.split(i) for i in np.flatnonzero(tree.n_children)]
    sizes = [len(t.columns) for t in tests if hasattr(t, "columns")]
    return float(np.mean(sizes)) if sizes else 0.0


def fitted(data: Dataset, part: Division, seed: int, **changes) -> tuple[Tree, float]:
    """The tree grown and pruned on parts of the rows, and its accuracy on the others."""
    X, y = data.X, data.y
    known = part.prune[np.isin(y[part.prune], y[part.train])]
    clf = presets.make("bu95", selection="sbe", random_state=seed, **changes)
    held_out = X.iloc[known], y[known]
    clf.fit(X.iloc[part.train], y[part.train], prune_set=held_out)
    right = clf.predict(X.iloc[part.test]) == y[part.test]
    return clf.tree_, 100 * float(right.mean())


def compared(data: Dataset, runs: int) -> list[tuple[str, ...]]:
    """A line for each reading."""
    found: dict[str, list[tuple[bool, float, float]]] = {name: [] for name in READINGS}
    way = {"coefficients": "thermal" if data.name in MACHINES else "rls"}
    for i, part in enumerate(RepeatedFolds(4, runs, prune=True).divide(data, 0)):
        seed = int(np.random.SeedSequence([0, i]).generate_state(1)[0])
        basic, accuracy = fitted(data, part, seed, **way)
        for name, options in READINGS.items():
            shorter = FeatureElimination(**way, needed=True, **options)
            tree, own = fitted(data, part, seed, refinement=shorter, **way)
            changed = tree.to_dict()["nodes"] != basic.to_dict()["nodes"]
            found[name].append(
                (changed, columns(tree) - columns(basic), own - accuracy)
            )
    out = []
    for name, rows in found.items():
        changed, fewer, better = np.mean(rows, axis=0)
        error = np.std([row[2] for row in rows], ddof=1) / np.sqrt(len(rows))
        out.append(
            (
                *(data.name, name, str(len(rows)), f"{100 * changed:.0f} %"),
                *(f"{fewer:+.2f}", f"{better:+.2f} ± {error:.2f}"),
            )
        )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("-o", "--out", type=Path)
    asked = parser.parse_args()
    rows = []
    for name in SETS:
        rows += compared(from_folder(name, asked.data), asked.runs)
    titles = (
        *("data set", "what feature goes", "folds", "trees that differ"),
        *("features a test", "accuracy, MTP less BTP"),
    )
    table = TextTable("Pruning of tests", titles, tuple(rows), "", 2)
    about = f"omnitree {omnitree.__version__}, Python {platform.python_version()}."
    text = f"# Pruning of tests\n\n{__doc__}\n{about}\n\n{table.markdown()}\n"
    if asked.out is None:
        print(text)
    else:
        asked.out.write_text(text)


if __name__ == "__main__":
    main()
