"""Speed of this commit beside that of another one, in one run.

Two processes, one with each commit, do the same piece of work by turns: fits of every preset
and of the default estimators on real and made tables, predictions, words and exports. The
figure is the ratio of the least CPU times; a machine with other work to do slows both down.
The other commit needs an environment of its own, in which it is installed.

    git worktree add ../old COMMIT        # then `make test` there, for its environment
    python benchmarks/two_commits.py --other ../old/.venv/bin/python --shared FOLDER \\
        -o benchmarks/results/two_commits.md

The script exits with 1 if the sum of a group takes more than 5 % longer than at the other
commit. Groups are sums because the least times of a few milliseconds differ by more than
that between two runs of the same code.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

GOAL = 1.05
SETS = ("breast", "car", "cleveland", "glass", "horse22", "segment", "vowel")
NUMBERS = ("auto", "concrete")
LARGE = ("cart", "c4.5", "id3", "uni-gini", "ldt", "ldt-u1", "quest", "lin")
# Both must do the same work: `omni` has since become `omni-1`.
RENAMED = {"omni": "omni-1"}
SLOW = {"bu95", "id-mlp", "oc1", "cart-lc", "id-lp", "omni-cv", "qua"}  # fewer tables

WORKER = r"""
import json, sys, time, warnings
import numpy as np, pandas as pd
from threadpoolctl import threadpool_limits
from omnitree import TreeRegressor, presets
warnings.simplefilter("ignore")
known, fitted = {}, {}

def table(folder, name):
    if name not in known:
        if name.startswith("made"):
            rng = np.random.default_rng(0)
            X = rng.normal(size=(20_000, 20))
            y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X)) > 0).astype(int)
            known[name] = X, y + (X[:, 3] > 1)
        else:
            frame = pd.read_csv(f"{folder}/{name}.csv", dtype={"class": str})
            frame = frame.drop(columns="split", errors="ignore")
            target = "y" if "y" in frame else "class"
            known[name] = frame.drop(columns=target), frame[target].to_numpy()
    return known[name]

def work(folder, what, name, data):
    X, y = table(folder, data)
    if what == "fit":
        if name == "TreeRegressor":
            model = TreeRegressor(pruning="cost_complexity", random_state=0)
        else:
            model = presets.make(name, random_state=0)
        start = time.process_time()
        model.fit(X, y)
        taken = time.process_time() - start
        fitted[name, data] = model
        return taken
    if (name, data) not in fitted:
        work(folder, "fit", name, data)
    model = fitted[name, data]
    calls = {
        "predict": lambda: model.predict_proba(X),
        "one row": lambda: [model.predict(X[i : i + 1]) for i in range(200)],
        "describe": lambda: model.describe(),
        "export": lambda: [model.export(f) for f in ("python", "sql", "c", "rules", "json")],
    }
    start = time.process_time()
    calls[what]()
    return time.process_time() - start

with threadpool_limits(1):
    for line in sys.stdin:
        print(json.dumps(work(*json.loads(line))), flush=True)
"""


def pieces(presets: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """What is done: group, kind of work, estimator, data set."""
    for name in presets:
        for data in SETS[:3] if name in SLOW else SETS:
            yield f"fit, {name}", "fit", name, data
    for name in LARGE:
        yield "fit, 20,000 x 20", "fit", name, "made"
    for data in NUMBERS:
        yield "fit, TreeRegressor", "fit", "TreeRegressor", f"regression/{data}"
    for name in LARGE:
        yield "predict, 20,000 x 20", "predict", name, "made"
    for name in ("cart", "ldt"):
        yield "one row of an array", "one row", name, "made"
    for name in ("cart", "c4.5", "ldt", "lmt", "omni", "lmdt"):
        for data in SETS:
            yield "predict, data frames", "predict", name, data
            yield "describe", "describe", name, data
            yield "exports", "export", name, data


class Side:
    """A process with one of the two commits."""

    def __init__(self, python: str, shared: Path, renamed: dict[str, str]):
        self.folder, self.renamed = str(shared / "data"), renamed
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [python, "-c", WORKER], stdin=pipe, stdout=pipe, text=True
        )

    def seconds(self, what: str, name: str, data: str) -> float:
        piece = [self.folder, what, self.renamed.get(name, name), data]
        print(json.dumps(piece), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def best(sides: list[Side], piece: tuple[str, str, str], repeats: int) -> list[float]:
    """Least seconds of both sides; pieces of more than two seconds are done twice."""
    found: list[list[float]] = [[], []]
    for k in range(repeats):
        for side in (0, 1) if k % 2 else (1, 0):
            found[side].append(sides[side].seconds(*piece))
        if k >= 1 and min(map(min, found)) > 2:
            break
    return [min(times) for times in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--other", required=True, metavar="PYTHON")
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument(
        "--only", nargs="+", default=[""], help="groups that contain one of these"
    )
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    names = "from omnitree import presets; print(*presets.names())"
    run = subprocess.run(
        [args.other, "-c", names], text=True, check=True, capture_output=True
    )
    sides = [
        Side(args.other, args.shared, {}),
        Side(sys.executable, args.shared, RENAMED),
    ]
    sums: dict[str, list[float]] = {}
    for group, *piece in pieces(run.stdout.split()):
        if any(part in group for part in args.only):
            pair = best(sides, tuple(piece), args.repeats)
            sums.setdefault(group, [0.0, 0.0])
            sums[group] = [a + b for a, b in zip(sums[group], pair, strict=True)]
            print(*piece, *(f"{1e3 * t:.1f}" for t in pair), file=sys.stderr)
    missed = [g for g, (old, new) in sums.items() if new > GOAL * old]
    lines = [
        "# Speed beside another commit",
        "",
        f"    python {' '.join(sys.argv)}",
        "",
    ]
    lines += [
        "Least CPU times of each piece of work, added up by group, in milliseconds.",
        "",
    ]
    lines += ["| work | other commit | this one | ratio |", "|---|---|---|---|"]
    total = [sum(times) for times in zip(*sums.values(), strict=True)]
    for group, (old, new) in [*sums.items(), ("all", total)]:
        lines.append(
            f"| {group} | {1e3 * old:.1f} | {1e3 * new:.1f} | {new / old:.2f} |"
        )
    lines += ["", f"More than {GOAL}: {', '.join(missed) or 'none'}."]
    text = "\n".join(lines) + "\n"
    print(text)
    if args.output:
        args.output.write_text(text)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
