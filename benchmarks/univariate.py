"""Speed and memory of univariate trees against scikit-learn, in one run.

One thread each, exact search, full depth, CPU time, best of several. Also checks that the
two trees differ in nothing but exact ties. Goals: fit 10, 15, 20 times scikit-learn's speed
at 1e4, 1e5, 1e6 rows x 50; predict twice its speed; at most 2.5 times the bytes of X on top
of X while fitting; one row predicted in 50 microseconds after validation; `import omnitree`
at most 0.15 s beyond importing scikit-learn.

    python benchmarks/univariate.py -o benchmarks/results/univariate.md

`--rows 10000,100000` leaves the million out, whose scikit-learn fits take minutes, and
`--parts memory,latency` leaves all fits of scikit-learn out. The script exits with 1 if a
goal is missed. Peak memory is read from /proc, so that part needs Linux; the time of the
import is that of an installed wheel, an editable install adds its look for changes.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from page import finish, versions
from sklearn.tree import DecisionTreeClassifier

from omnitree import TreeClassifier
from omnitree.data.table import encode
from omnitree.learners import Univariate

N_FEATURES = 50
FIT_GOALS = {10_000: 10.0, 100_000: 15.0, 1_000_000: 20.0}
CASES = [(2, "gini"), (5, "gini"), (2, "entropy")]


def make_data(n: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian features, classes from a few of them, one label in ten at random.

    Values are multiples of 2^-20, since scikit-learn works on float32.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, N_FEATURES))
    np.multiply(X, 2.0**20, out=X)
    np.rint(X, out=X)
    np.multiply(X, 2.0**-20, out=X)
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + (X[:, 4] > 0.5)
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.searchsorted(edges, score)
    noisy = rng.random(n) < 0.1
    y[noisy] = rng.integers(n_classes, size=noisy.sum())
    return X, y


def cpu(repeats: int, work, *args) -> float:
    """Least CPU time of several runs of `work(*args)`."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work(*args)
        best = min(best, time.process_time() - start)
    return best


def ours(merit: str) -> TreeClassifier:
    return TreeClassifier(learner=Univariate(merit=merit), missing="surrogate")


def theirs(merit: str) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(criterion=merit, random_state=0)


def impurity_drop(merit: str, parent: np.ndarray, left: np.ndarray) -> float:
    """Decrease of Gini impurity or entropy of a binary split, from class counts."""

    def impurity(n: np.ndarray) -> float:
        p = n[n > 0] / n.sum()
        return float(1 - (p**2).sum() if merit == "gini" else -(p * np.log(p)).sum())

    right, n = parent - left, parent.sum()
    inside = left.sum() * impurity(left) + right.sum() * impurity(right)
    return impurity(parent) - inside / n


def differences(merit: str, tree, sk) -> tuple[int, int, int]:
    """Nodes compared, exact ties decided otherwise, and real differences."""
    compared = ties = real = 0
    stack = [(0, 0)]
    while stack:
        a, b = stack.pop()
        compared += 1
        leaf = tree.kind[a] == 0
        if leaf or sk.children_left[b] < 0:
            real += leaf != (sk.children_left[b] < 0)
            continue
        split = tree.split(a)
        left = int(tree.first_child[a])
        sk_left = int(sk.children_left[b])
        same_cut = abs(split.threshold - sk.threshold[b]) < 1e-6
        if split.feature == sk.feature[b] and same_cut:
            stack += [(left, sk_left), (left + 1, int(sk.children_right[b]))]
            continue
        n = sk.weighted_n_node_samples
        drops = (
            impurity_drop(merit, tree.value[a], tree.value[left]),
            impurity_drop(merit, tree.value[a], sk.value[sk_left][0] * n[sk_left]),
        )
        if abs(drops[0] - drops[1]) < 1e-9:
            ties += 1
        else:
            real += 1
    return compared, ties, real


def bench_fit(rows: list[int]) -> tuple[list[str], list[str]]:
    lines = [
        "| rows | classes | merit | fit s | scikit-learn s | ratio | goal | predict ratio "
        "| nodes compared | exact ties | differences |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    missed = []
    for n in rows:
        for k, merit in CASES:
            X, y = make_data(n, k)
            a, b = ours(merit), theirs(merit)
            repeats = 3 if n < 1_000_000 else 1
            fit = cpu(max(repeats, 2), a.fit, X, y)
            sk_fit = cpu(repeats, b.fit, X, y)
            predict = cpu(5, a.predict, X)
            sk_predict = cpu(5, b.predict, X)
            compared, ties, real = differences(merit, a.tree_, b.tree_)
            ratio, speed = sk_fit / fit, sk_predict / predict
            goal = FIT_GOALS.get(n, 10.0)
            lines.append(
                f"| {n} | {k} | {merit} | {fit:.3f} | {sk_fit:.2f} | {ratio:.1f} | "
                f"{goal:.0f} | {speed:.1f} | {compared} | {ties} | {real} |"
            )
            print(lines[-1], flush=True)
            what = f"{n} rows, {k} classes, {merit}"
            if ratio < goal:
                missed.append(f"fit, {what}: {ratio:.1f} of {goal:.0f}")
            if speed < 2:
                missed.append(f"predict, {what}: {speed:.1f} of 2")
            if real:
                missed.append(f"{what}: {real} splits differ")
    return lines, missed


def peak_bytes() -> int:
    """Peak memory of this process; `getrusage` would count the parent's too."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status).group(1))


def memory_child(n: int) -> None:
    """Print the growth of the peak memory during a fit, in bytes of X."""
    X, y = make_data(n, 2)
    ours("gini").fit(X[:1000], y[:1000])  # load everything first
    before = peak_bytes()
    ours("gini").fit(X, y)
    print((peak_bytes() - before) / X.nbytes)


def bench_memory(rows: list[int]) -> tuple[list[str], list[str]]:
    lines = ["| rows | memory on top of X, in bytes of X | goal |", "|---|---|---|"]
    missed = []
    for n in rows:
        run = [sys.executable, __file__, "--memory-child", str(n)]
        grown = float(subprocess.run(run, capture_output=True, check=True).stdout)
        lines.append(f"| {n} | {grown:.2f} | 2.5 |")
        print(lines[-1], flush=True)
        if grown > 2.5:
            missed.append(f"memory, {n} rows: {grown:.2f} of 2.5")
    return lines, missed


def seconds_to_import(module: str) -> float:
    """Least time of an import statement in a fresh interpreter."""
    clock = "time.perf_counter()"
    code = f"import time; t = {clock}; {module}; print({clock} - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True).stdout)
        for _ in range(7)
    ]
    return min(runs)


def bench_latency() -> tuple[list[str], list[str]]:
    X, y = make_data(10_000, 2)
    clf = ours("gini").fit(X, y)
    row = X[:1]
    table = encode(row, clf.tree_.schema)
    runs = 5000

    def repeat(work) -> float:
        return cpu(5, lambda: [work() for _ in range(runs)]) / runs * 1e6

    after = repeat(lambda: clf.classes_.take(clf.tree_.predict_labels(table)))
    whole = repeat(lambda: clf.predict(row))
    # The names are loaded when first asked for, so ask for one.
    base = seconds_to_import("import sklearn.tree")
    extra = seconds_to_import("from omnitree import TreeClassifier, presets") - base
    lines = [
        "| latency | measured | goal |",
        "|---|---|---|",
        f"| predict one row, after validation | {after:.1f} microseconds | 50 |",
        f"| predict one row, all in all | {whole:.1f} microseconds | |",
        f"| import, beyond that of sklearn.tree | {extra:.3f} s | 0.15 |",
    ]
    print("\n".join(lines), flush=True)
    missed = []
    if after > 50:
        missed.append(f"latency: {after:.1f} of 50 microseconds")
    if extra > 0.15:
        missed.append(f"import: {extra:.3f} of 0.15 s")
    return lines, missed


PARTS = {
    "fit": bench_fit,
    "memory": bench_memory,
    "latency": lambda rows: bench_latency(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", default="10000,100000,1000000")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--memory-child", type=int)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    if args.memory_child:
        memory_child(args.memory_child)
        return
    rows = [int(r) for r in args.rows.split(",")]
    parts = [PARTS[name](rows) for name in args.parts.split(",")]
    missed = [m for _, part in parts for m in part]
    head = [
        "# Univariate trees against scikit-learn",
        f"`python benchmarks/univariate.py --rows {args.rows} --parts {args.parts}`, "
        f"{versions('scikit-learn', 'numpy')}. {N_FEATURES} features, one "
        "thread, CPU seconds; ratio: scikit-learn's time over ours.",
    ]
    finish([*head, *("\n".join(lines) for lines, _ in parts)], missed, args.output)


if __name__ == "__main__":
    main()
