"""Digests of fitted trees: what a change inside the package must leave as it is.

Every preset and both default estimators are fitted to ten data sets with classes, three
with numbers, most of them with missing values and categories; every registered part is in
some further tree on one of them; then come pairs of missing-value policy and pruning,
weights, groups, costs, constraints and limits. A configuration has three digests:

- tree: structure, tests, surrogates, counts and answers of all nodes;
- details: merits, importances and the candidates that a node remembers;
- answers: `predict_proba` or `predict` of the whole table.

Numbers are rounded to nine digits of the largest number beside them, so that sums in
another order do not matter. A fit that is refused has the type of the error as its digest.

    python benchmarks/digests.py --check                  # compare with the recorded ones
    python benchmarks/digests.py --check --only 'cart/*'  # some of them
    python benchmarks/digests.py --accept "prune_set is used" --only '*/prune_set/*'
    python benchmarks/digests.py --write                  # record anew

`--check` exits with 1 if a digest differs. `--accept` records what differs or is new among
the chosen configurations in `results/digests_changed.json`, each with the reason; from then
on those count. `--timings` shows the CPU seconds of each fit beside the recorded ones.
Digests depend on the BLAS and the processor: compare them on the machine that recorded them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from digest_configurations import NUMBERS, Configuration, configurations
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "benchmarks" / "results" / "digests.json"
CHANGED = RECORDED.with_name("digests_changed.json")
DIGESTS = ("tree", "details", "answers")

# -- fitting and hashing --------------------------------------------------------------


@cache
def table(folder: Path, data: str, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    # A third table of horses: what became of them, three classes.
    file, target = ("horse22", "outcome") if data == "outcome" else (data, "class")
    if data in NUMBERS:
        file, target = f"regression/{data}", "y"
    frame = pd.read_csv(folder / f"{file}.csv", dtype={"class": str})
    frame = frame.drop(columns="split", errors="ignore").dropna(subset=target)
    if data == "ames":  # of its 79 columns every fourth: the others take minutes
        frame = frame.iloc[:, 3::4]
    if len(frame) > n:
        frame = frame.sample(n, random_state=0)
    return frame.drop(columns=target), frame[target].to_numpy()


def fit_options(names: tuple[str, ...], X: pd.DataFrame, y: np.ndarray) -> dict:
    rng = np.random.default_rng(0)
    every = {
        "sample_weight": rng.choice([0.0, 0.5, 1.0, 2.0, 3.0], len(y)),
        "groups": rng.integers(len(y) // 3, size=len(y)),
        "prune_set": (X.iloc[::3], y[::3]),
    }
    return {name: every[name] for name in names}


def entry(configuration: Configuration, folder: Path) -> dict[str, Any]:
    """The digests of a configuration, with size, score and CPU seconds for the reader."""
    X, y = table(folder, configuration.data, configuration.rows)
    begin = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            model = configuration.build()
            model.fit(X, y, **fit_options(configuration.fit, X, y))
        except Exception as error:
            return dict.fromkeys(DIGESTS, type(error).__name__)
        cpu = time.process_time() - begin
        answer = getattr(model, "predict_proba", model.predict)(X)
        score = model.score(X, y)
    tree = model.tree_.to_dict()
    nodes = tree["nodes"]
    whole = ("task", "classes", "costs", "shrinkage")
    by_node = ("parent", "kind", "value", "constant", "loss", "model", "children")
    by_node += ("missing", "test", "surrogates")
    details = ("merit", "importance", "model_importance", "candidates")
    digests = {
        "tree": [*map(tree.get, whole), *([n.get(k) for n in nodes] for k in by_node)],
        "details": [[n.get(k) for n in nodes] for k in details],
        "answers": np.ravel(answer).tolist(),
    }
    out: dict[str, Any] = {key: digest(value) for key, value in digests.items()}
    return out | {"nodes": len(nodes), "score": round(score, 4), "cpu": round(cpu, 3)}


def digest(value: Any) -> str:
    text = json.dumps(canonical(value), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def canonical(value: Any) -> Any:
    """Plain data with numbers rounded; those of a list by the largest of them."""
    if isinstance(value, dict):
        return {key: canonical(v) for key, v in value.items()}
    if is_number(value):
        return rounded([value])[0]
    if not isinstance(value, list | tuple):
        return value
    numbers = iter(rounded([v for v in value if is_number(v)]))
    return [next(numbers) if is_number(v) else canonical(v) for v in value]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def rounded(values: list[float]) -> list[float]:
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    if largest < 1e-12:
        return [v if math.isnan(v) else 0.0 for v in values]
    # Six digits of it say how long it is, lest noise decides between 0.999... and 1.
    decimals = 8 - math.floor(math.log10(float(f"{largest:.6g}")))
    return [round(float(v), decimals) + 0.0 for v in values]


# -- recording and comparing ----------------------------------------------------------


def read(path: Path) -> dict[str, dict[str, Any]]:
    return json.loads(path.read_text()) if path.exists() else {}


def write(path: Path, entries: dict[str, dict[str, Any]]) -> None:
    lines = [f"{json.dumps(k)}: {json.dumps(entries[k])}" for k in sorted(entries)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def compare(expected: dict, found: dict) -> list[str]:
    """Names whose digests differ; those that were never recorded count as equal."""
    print("| configuration | differs in | nodes | score |\n|---|---|---|---|")
    names = []
    for name, old in sorted(expected.items()):
        new = found.get(name, {})
        parts = [key for key in DIGESTS if old.get(key) != new.get(key)]
        if parts:
            names.append(name)
            told = "gone" if not new else ", ".join(parts)
            sizes = [
                f"{old.get(k, '-')} -> {new.get(k, '-')}" for k in ("nodes", "score")
            ]
            print(f"| {name} | {told} | {' | '.join(sizes)} |")
    unknown = sorted(set(found) - set(expected))
    print(f"\n{len(names)} of {len(expected)} differ, {len(unknown)} not recorded")
    return names


def timings(expected: dict, found: dict) -> None:
    """CPU seconds by kind of configuration, recorded and now."""
    sums: dict[str, np.ndarray] = {}
    for name in sorted(set(expected) & set(found)):
        group = "/".join(name.split("/")[:2])
        pair = [entries[name].get("cpu", 0.0) for entries in (expected, found)]
        for key in (group, "all"):
            sums[key] = sums.get(key, 0.0) + np.array(pair)
    print("\n| configurations | recorded | now | ratio |\n|---|---|---|---|")
    for key, (old, new) in sorted(sums.items(), key=lambda item: item[0] == "all"):
        print(f"| {key} | {old:.2f} | {new:.2f} | {new / max(old, 1e-3):.2f} |")


def find_shared() -> Path:
    """`shared` beside the repository, or beside one of the folders it lies in."""
    folders = [parent / "shared" for parent in ROOT.parents]
    return next((f for f in folders if (f / "data").is_dir()), folders[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    what.add_argument("--accept", metavar="REASON")
    parser.add_argument(
        "--only", default="*", metavar="PATTERN", help="names, as files"
    )
    parser.add_argument("--shared", type=Path, default=find_shared())
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timings", action="store_true")
    args = parser.parse_args()

    chosen = [c for c in configurations() if fnmatchcase(c.name, args.only)]
    folder = args.shared / "data"
    if not chosen:
        parser.error(f"no configuration is called {args.only!r}")
    if not folder.is_dir():
        parser.error(f"{folder} is missing; give the folder of data/ by --shared")
    with ProcessPoolExecutor(args.jobs) as pool:
        entries = pool.map(partial(entry, folder=folder), chosen)
        found = {c.name: e for c, e in zip(chosen, entries, strict=True)}
    recorded, changed = read(RECORDED), read(CHANGED)
    if args.write:
        others = {k: v for k, v in recorded.items() if not fnmatchcase(k, args.only)}
        write(RECORDED, others | found)
        return 0
    expected = {
        k: v for k, v in (recorded | changed).items() if fnmatchcase(k, args.only)
    }
    names = compare(expected, found)
    if args.timings:
        timings({k: recorded.get(k, {}) for k in expected}, found)
    if args.accept:
        names += sorted(set(found) - set(expected))
        new = {name: {"reason": args.accept} | found.get(name, {}) for name in names}
        write(CHANGED, changed | new)
        return 0
    return int(bool(names))


if __name__ == "__main__":
    sys.exit(main())
