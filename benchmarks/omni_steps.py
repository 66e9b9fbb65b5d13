"""What each step of the default classifier costs and brings.

`omni-1` is the default as it was before. "+ curves" lets softmax tests of curves compete,
"+ blocks" those of curves and products together, "+ growth" trees on top of them and sums,
"+ steps" curves that jump, "+ cases" likeness to cases, all with one deal of the rows to
folds; "+ deals" (that is `omni`) lets several decide together where the choice is close.
"all weights" is `omni` without making tests sparse. The 35 data sets, sorted by name, are
halved: A has the first, third and so on, B the others. Choices are made on random halves of
the data sets with seeds from 1000 on; the folds with seeds 0 to 4, on which
`omni_against.py` reports, are not looked at. The best step on A is reported on B, and the
other way round. "KEEL" are the tables of `tables/keel.py` to choose on, named `keel/...`.

    python benchmarks/omni_steps.py --shared FOLDER --seeds 1000
    python benchmarks/omni_steps.py --shared FOLDER --table
    python benchmarks/omni_steps.py --shared FOLDER --steps "omni-1,+ steps" --store FILE
    python benchmarks/omni_steps.py --shared FOLDER --sets A,KEEL
    python benchmarks/omni_steps.py --shared FOLDER --seeds 1000,1001 --store FILE \
        --steps "omni-1,+ steps" --settings "{'se': 2.0};{'repeats': 1}"

`--settings` compares `omni` with other settings of its `Contest`. Every fit is a line of
`results/omni_steps.jsonl`, or of another file; a run goes on where the last one ended. The
table, `results/omni_steps.md`, has means over the data sets of error in percent, log loss,
Brier score, leaves, parameters and CPU seconds of a fit.
"""

from __future__ import annotations

import argparse
import ast
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rivals import losses
from sklearn.model_selection import StratifiedKFold
from tables import keel
from tables.folder import read
from threadpoolctl import threadpool_limits

from omnitree import presets
from omnitree.estimators.classifier import TreeClassifier
from omnitree.learners import Softmax, Steps
from omnitree.refinement import Contest
from omnitree.refinement.contest import WITHOUT_CASES

RESULTS = Path(__file__).parent / "results" / "omni_steps.jsonl"
NO_STEPS = tuple(r for r in WITHOUT_CASES if not isinstance(r, Steps))
NO_BLOCKS = tuple(
    r for r in NO_STEPS if not (isinstance(r, Softmax) and r.expansion == "blocks")
)
STEPS: dict[str, dict | None] = {
    "omni-1": None,
    "+ curves": {"rivals": NO_BLOCKS, "grows": False, "repeats": 1},
    "+ blocks": {"rivals": NO_STEPS, "grows": False, "repeats": 1},
    "+ growth": {"rivals": NO_STEPS, "repeats": 1},
    "+ steps": {"rivals": WITHOUT_CASES, "repeats": 1},
    "+ cases": {"repeats": 1},
    "+ deals": {},
    "all weights": {"sparse": False},
}
KEEL = "keel/"
COLUMNS = ("error", "log loss", "Brier score", "leaves", "parameters", "seconds")


def classifier(step: str) -> TreeClassifier:
    settings = STEPS[step]
    if settings is None:
        return presets.make("omni-1", random_state=0)
    return presets.make("omni", random_state=0, refinement=Contest(**settings))


def groups(folder: Path) -> dict[str, list[str]]:
    """The names of the data sets, by group."""
    every = sorted(path.stem for path in folder.glob("*.csv"))
    new = [KEEL + name for name in keel.DEVELOPMENT]
    return {"A": every[::2], "B": every[1::2], "KEEL": new}


def fits(folder: Path, name: str, step: str, seed: int) -> Iterator[dict]:
    """Both halves of one data set."""
    own = name.removeprefix(KEEL)
    X, y = read(folder, name) if own == name else keel.load(own)
    halves = StratifiedKFold(2, shuffle=True, random_state=seed)
    for half, (a, b) in enumerate(halves.split(X, y)):
        clf, begin = classifier(step), time.process_time()
        clf.fit(X.iloc[a], y.iloc[a])
        seconds = time.process_time() - begin
        truth, proba = y.iloc[b].to_numpy(), clf.predict_proba(X.iloc[b])
        error = 100 * np.mean(clf.classes_[proba.argmax(axis=1)] != truth)
        sizes = (clf.tree_.n_leaves, clf.tree_.n_parameters)
        numbers = (error, *losses(truth, proba, clf.classes_), *sizes, seconds)
        found = dict(zip(COLUMNS, map(float, numbers), strict=True))
        yield {"set": name, "step": step, "seed": seed, "half": half, **found}


def run(
    folder: Path, seeds: list[int], sets: list[str], steps: list[str], store: Path
) -> None:
    """All fits that are not there yet."""
    warnings.simplefilter("ignore")
    made = {(r["set"], r["step"], r["seed"]) for r in recorded(store)}
    for seed in seeds:
        for name in sets:
            for step in steps:
                if (name, step, seed) not in made:
                    with threadpool_limits(1):
                        rows = list(fits(folder, name, step, seed))
                    with store.open("a") as out:
                        out.writelines(json.dumps(row) + "\n" for row in rows)


def recorded(store: Path) -> list[dict]:
    if not store.exists():
        return []
    return [json.loads(line) for line in store.read_text().splitlines()]


def means(rows: list[dict], sets: list[str]) -> dict[str, np.ndarray]:
    """Of each step, over the data sets that all steps have."""
    of = {
        step: {
            name: np.mean([[r[c] for c in COLUMNS] for r in own], axis=0)
            for name in sets
            if (own := [r for r in rows if (r["set"], r["step"]) == (name, step)])
        }
        for step in dict.fromkeys(r["step"] for r in rows)
    }
    common = [name for name in sets if all(name in found for found in of.values())]
    return {
        step: np.mean([found[name] for name in common], axis=0)
        for step, found in of.items()
        if common
    }


def table(sets_of: dict[str, list[str]], store: Path) -> str:
    rows = recorded(store)
    lines, best = [], {}
    for half, sets in sets_of.items():
        found = means(rows, sets)
        if not found:
            continue
        n = len({r["set"] for r in rows} & set(sets))
        looks = sorted({r["seed"] for r in rows if r["set"] in sets})
        lines += [f"## {half}: {n} data sets, halves with seeds {looks}", ""]
        lines += [
            f"| step | {' | '.join(COLUMNS)} | times omni-1 |",
            "|---" * 8 + "|",
        ]
        for step, m in found.items():
            ratio = m[-1] / found["omni-1"][-1]
            cells = "{:.2f} | {:.3f} | {:.3f} | {:.1f} | {:.0f} | {:.2f}".format(*m)
            lines.append(f"| {step} | {cells} | {ratio:.2f} |")
        best[half] = min(found, key=lambda step: found[step][0])
        lines.append("")
    for half, other in (("A", "B"), ("B", "A")):
        if half in best and other in best:
            error = means(rows, sets_of[other])[best[half]][0]
            before = means(rows, sets_of[other])["omni-1"][0]
            lines.append(
                f"Chosen on {half}: {best[half]}; on {other} it has {error:.2f} % "
                f"(omni-1 {before:.2f} %)."
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--seeds", default="1000")
    parser.add_argument("--sets", default="A,B", help="of A, B, KEEL")
    parser.add_argument("--datasets", default="", help="only these")
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument(
        "--settings", default="", help="of the contest; dicts, ';' between"
    )
    parser.add_argument("--store", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    folder = args.shared / "data"
    sets_of = groups(folder)
    if not args.table:
        chosen = [name for group in args.sets.split(",") for name in sets_of[group]]
        chosen = args.datasets.split(",") if args.datasets else chosen
        seeds = [int(s) for s in args.seeds.split(",")]
        steps = args.steps.split(",")
        for text in filter(None, args.settings.split(";")):
            STEPS[text] = ast.literal_eval(text)
            steps.append(text)
        run(folder, seeds, chosen, steps, args.store)
    print(table(sets_of, args.store))


if __name__ == "__main__":
    main()
