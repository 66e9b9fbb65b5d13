"""Readings of LMDT's elimination (Utgoff & Brodley 1991, table 3), on its tasks and others.

The paper keeps the smallest machine that "a t-test" does not call worse than "the best
linear machine saved". Variants of that test: against the machine saved before or against
the best one (`against`), paired by rows (the preset's way with the saved one), as one
sample (its way with the best), or as two; and of what surrounds it: how often a machine
is trained (`tries`), and pruning with Quinlan's standard error, without it (the preset),
and none. Two tables: the tasks of the paper, with seeds that `omnitree reproduce lmdt91`
does not use, and random halves of 18 data sets.

    python benchmarks/lmdt_variants.py --shared FOLDER \
        -o benchmarks/results/lmdt_variants.md
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from page import versions
from scipy.special import stdtrit
from sklearn.model_selection import StratifiedKFold

from omnitree import presets
from omnitree.lab.data import from_folder, generate
from omnitree.lab.fitting import describe_nodes
from omnitree.parts.feature_selection import LMDTElimination
from omnitree.pruning import Pessimistic

SETS = [
    *(
        "iris",
        "wine",
        "glass",
        "bupa",
        "hepatitis",
        "breast",
        "pima",
        "balance",
        "ecoli",
    ),
    *(
        "vote",
        "ionosphere",
        "dermatology",
        "zoo",
        "vowel",
        "car",
        "tictactoe",
        "monks2",
    ),
    "soybean",
]
FIRST = 500  # seed


class TwoSamples(LMDTElimination):
    """The test of two samples, whatever the machine is held against."""

    def worse(self, trial, other, trials):
        n = float(trials.cases.weight.sum())
        spread = sum(t.accuracy * (1 - t.accuracy) for t in (trial, other)) / (n - 1)
        critical = stdtrit(2 * (n - 1), 1 - self.alpha)
        return other.accuracy - trial.accuracy > np.sqrt(spread) * critical


class Paired(LMDTElimination):
    """The test paired by rows, whatever the machine is held against."""

    def worse(self, trial, other, trials):
        return LMDTElimination(self.delta, self.alpha).worse(trial, other, trials)


VARIANTS: dict[str, tuple[LMDTElimination | None, dict[str, Any]]] = {
    "saved, paired": (None, {}),
    "saved, paired, one s.e.": (None, {"pruning": Pessimistic(se=1)}),
    "saved, paired, unpruned": (None, {"pruning": None}),
    "saved, paired, one try": (None, {"tries": 1}),
    "saved, two samples": (TwoSamples(), {}),
    "saved, two samples, one s.e.": (TwoSamples(), {"pruning": Pessimistic(se=1)}),
    "best, one sample": (None, {"against": "best"}),
    "best, one sample, one s.e.": (
        None,
        {"against": "best", "pruning": Pessimistic(se=1)},
    ),
    "best, one sample, one try": (None, {"against": "best", "tries": 1}),
    "best, two samples": (TwoSamples(against="best"), {}),
    "best, paired": (Paired(against="best"), {}),
}
MEASURES = ("machines", "variables", "in the tree", "training", "test", "parameters")


def make(name: str, seed: int) -> Any:
    selection, options = VARIANTS[name]
    clf = presets.make("lmdt", random_state=seed, **options)
    if selection is not None:
        clf.set_params(learner__selection=selection)
    return clf


def measures(clf: Any, X, y, a, b) -> list[float]:
    clf.fit(X.iloc[a], y[a])
    used = [set(node[4]) for node in describe_nodes(clf.tree_)]
    return [
        len(used),
        np.mean([len(u) for u in used]) if used else 0.0,
        len(set().union(*used)),
        100 * clf.score(X.iloc[a], y[a]),
        100 * clf.score(X.iloc[b], y[b]),
        clf.tree_.n_parameters,
    ]


def tasks(folder: Path, runs: int) -> Iterator[tuple[str, int, Any]]:
    """Task, seed, and the table with its training and test rows."""
    dnf, soybean = generate("dnf"), from_folder("soybean15", folder)
    segment, chess = from_folder("segment", folder), from_folder("chess", folder)
    parts = [np.flatnonzero(soybean.split == part) for part in ("train", "test")]
    for seed in range(FIRST, FIRST + runs):
        led = generate("led", rows=5300, seed=seed)
        yield "dnf", seed, (dnf.X, dnf.y, np.arange(32), np.arange(32))
        yield "soybean", seed, (soybean.X, soybean.y, *parts)
        yield "led", seed, (led.X, led.y, np.arange(300), np.arange(300, 5300))
        yield (
            "segment",
            seed,
            (segment.X, segment.y, np.arange(210), np.arange(210, 2310)),
        )
        if seed < FIRST + runs // 4:
            yield "chess", seed, (chess.X, chess.y, *[np.arange(len(chess.y))] * 2)


def halves(folder: Path, repeats: int) -> Iterator[Any]:
    for name in SETS:
        data = from_folder(name, folder)
        for seed in range(100, 100 + repeats):
            parts = StratifiedKFold(2, shuffle=True, random_state=seed)
            for a, b in parts.split(data.X, data.y):
                yield data.X, data.y, a, b


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    folder = args.shared / "data"
    text = [
        "# Readings of LMDT's elimination and pruning",
        f"\n`python benchmarks/lmdt_variants.py --runs {args.runs} --repeats "
        f"{args.repeats}`, {versions()}. Accuracies in percent; the deviation is that of "
        "the test accuracy between seeds.\n",
        f"| task | t-test | {' | '.join(MEASURES[:5])} | deviation |",
        "|---|---|---|---|---|---|---|---|",
    ]
    found: dict[tuple[str, str], list[list[float]]] = {}
    for task, seed, table in tasks(folder, args.runs):
        for name in VARIANTS:
            row = measures(make(name, seed), *table)
            found.setdefault((task, name), []).append(row)
    for (task, name), rows in sorted(found.items(), key=lambda item: item[0][0]):
        mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
        shown = " | ".join(f"{v:.1f}" for v in mean[:5])
        text.append(f"| {task} | {name} | {shown} | {spread[4]:.1f} |")
    print("\n".join(text), flush=True)
    wide = [
        f"\nHalves of {len(SETS)} data sets, means:\n",
        f"| t-test | {' | '.join(MEASURES)} |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in VARIANTS:
        rows = [
            measures(make(name, 0), *table) for table in halves(folder, args.repeats)
        ]
        shown = " | ".join(f"{v:.1f}" for v in np.mean(rows, axis=0))
        wide.append(f"| {name} | {shown} |")
    print("\n".join(wide))
    if args.output:
        args.output.write_text("\n".join(text + wide) + "\n")


if __name__ == "__main__":
    main()
