"""Scores of several models as further features of the default classifier.

A linear, a curved and a quadratic softmax model are fitted to one half of each data set.
Their scores, of each row by the model that did not see it, become columns beside the
features, and `omni` is fitted to both; the other half gets the scores of the models
fitted to all rows of the first. Beside it, `omni` as it is, and the sum of the three
models' scores. On half A of the data sets and the tables of KEEL to choose on
(`omni_steps.py`), with seeds from 1000 on.

    python benchmarks/omni_scores.py --shared ../shared --seeds 1000,1001 \
        -o benchmarks/results/omni_scores.md
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from omni_steps import KEEL, groups
from sklearn.model_selection import StratifiedKFold
from tables import keel
from tables.folder import read
from threadpoolctl import threadpool_limits

from omnitree import presets
from omnitree.growing.node import Node
from omnitree.learners import Softmax
from omnitree.refinement import Contest
from omnitree.tree.leaf_models import LeafModels

MODELS = (
    Softmax(),
    Softmax("curves", max_columns=500, max_weights=4000),
    Softmax("quadratic", max_columns=500),
)
SETS = (
    *("glass", "bupa", "wine", "keel/sonar", "keel/saheart", "ecoli", "hepatitis"),
    *("balance", "iris", "zoo", "horse22", "vote", "cylinder", "keel/vehicle"),
    *("segment", "keel/phoneme"),
)
COLUMNS = ("omni", "with scores", "sum of scores")
found: list = []  # what the models say of the last table that was fitted


class Watched(Contest):
    """The contest, which also fits the models to all rows."""

    def refine(self, tree, evidence):
        train = evidence.train
        node = Node(
            train, evidence.growth.rules, np.arange(len(train)), train.weight.copy()
        )
        trials = [m.trial(node) for m in MODELS if m.is_richer(node)]
        found[:] = [t for t in trials if t is not None and t.tested.all()]
        return super().refine(tree, evidence)


def scores(trial, table) -> np.ndarray:
    """What a model says of new rows: centred logarithms of its probabilities."""
    p = np.empty((table.n_rows, trial.rows.n_classes))
    rows, first = np.arange(table.n_rows), np.zeros(table.n_rows, dtype=np.int32)
    LeafModels.of([trial.replacement.model]).answer(table, rows, first, p)
    s = np.log(np.maximum(p, 1e-12))[:, trial.rows.present]
    return s - s.mean(axis=1, keepdims=True)


def with_columns(frame: pd.DataFrame, of_models: list[np.ndarray]) -> pd.DataFrame:
    """The features, and the scores of each model; of two classes one of them."""
    new = [s[:, : 1 if s.shape[1] == 2 else None] for s in of_models]
    names = [f"model {i}, {j}" for i, s in enumerate(new) for j in range(s.shape[1])]
    return frame.assign(**dict(zip(names, np.hstack(new).T, strict=True)))


def errors(X: pd.DataFrame, y: pd.Series, a: np.ndarray, b: np.ndarray) -> list[float]:
    """Of the three classifiers, in percent, fitted to the rows a and tested on b."""
    plain = presets.make("omni", random_state=0, refinement=Watched())
    plain.fit(X.iloc[a], y.iloc[a])
    trials = list(found)
    own = [t.scale * (t.scores - t.scores.mean(axis=1, keepdims=True)) for t in trials]
    table = plain._encode(X.iloc[b])
    new = [scores(t, table) for t in trials]
    stacked = presets.make("omni", random_state=0)
    stacked.fit(with_columns(X.iloc[a], own), y.iloc[a])
    present = plain.classes_[trials[0].rows.present]
    answers = (
        plain.predict(X.iloc[b]),
        stacked.predict(with_columns(X.iloc[b], new)),
        present[sum(new).argmax(axis=1)],
    )
    return [100 * float(np.mean(answer != y.iloc[b])) for answer in answers]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--seeds", default="1000,1001")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = args.shared / "data"
    known = {name for sets in groups(folder).values() for name in sets}
    lines = [f"| data set | {' | '.join(COLUMNS)} |", "|---" * 4 + "|"]
    means = []
    for name in (n for n in SETS if n in known):
        own = name.removeprefix(KEEL)
        X, y = read(folder, name) if own == name else keel.load(own)
        with threadpool_limits(1):
            runs = [
                errors(X, y, a, b)
                for seed in map(int, args.seeds.split(","))
                for a, b in StratifiedKFold(2, shuffle=True, random_state=seed).split(
                    X, y
                )
            ]
        means.append(np.mean(runs, axis=0))
        lines.append(f"| {name} | {' | '.join(f'{v:.2f}' for v in means[-1])} |")
        print(lines[-1], flush=True)
    mean = np.mean(means, axis=0)
    lines.append(f"| mean | {' | '.join(f'{v:.2f}' for v in mean)} |")
    text = "\n".join(lines) + "\n"
    if args.output:
        head = "# Scores of several models as features\n\nMade by "
        head += "`benchmarks/omni_scores.py`, which says how; "
        head += f"seeds {args.seeds}. Errors in percent.\n\n"
        args.output.write_text(head + text, encoding="utf-8")
    print(lines[-1])


if __name__ == "__main__":
    main()
