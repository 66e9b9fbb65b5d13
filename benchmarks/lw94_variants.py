"""What Liu & White (1994) may have done: readings of their paper, tried on many data sets.

Experiment III under random selection and under H_T, with other ends of pruning and other
ways to draw attributes, beside the published figures:

- pruning: chi-square probability below 0.1 (the paper), 0.05 or 0.01, with Yates's
  correction, or of the G statistic;
- draws: anew for each data set; one sequence of random numbers that starts again with each
  data set; without repeating an attribute on a path.

Then table 3's counts (deviation between data sets) and table 4's accuracy under the first
two ways to draw, table 4 also with branchings of one run and answers of another.

    python benchmarks/lw94_variants.py -o benchmarks/results/lw94_variants.md
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from page import versions
from scipy.stats import chi2

from omnitree._core.univariate.paths import grow_paths
from omnitree.lab.data import Dataset, generate
from omnitree.lab.papers.base import published

LEVELS = range(1, 7)
CASES = 100
NOISE = (1, 5, 10, 20, 40, 80)
SEQUENCES = range(20)


def data_sets(experiment: int, noise: int, n: int) -> list[Dataset]:
    """Other data sets than those of the reproduction."""
    first = 10**8 + 10**6 * experiment + 10**4 * noise
    return [
        generate("lw94", experiment=experiment, noise=noise, seed=first + i)
        for i in range(n)
    ]


def _own(run: int, n: int) -> list[int]:
    """A seed for each data set of a run."""
    return [10**6 * (run + 1) + i for i in range(n)]


class Grown:
    """Unpruned leave-one-out paths of several data sets."""

    def __init__(self, sets: list[Dataset], seeds: list[int], random: bool):
        self.y = [data.y.astype(np.int32) for data in sets]
        self.steps = [
            grow_paths(np.asfortranarray(data.X.to_numpy()), y, 2, seed, random)
            for data, y, seed in zip(sets, self.y, seeds, strict=True)
        ]

    def pruned(self, probability) -> tuple[np.ndarray, list[list[list[int]]]]:
        """Right answers (data sets, cases), and attributes on each path.

        `probability` maps tables (steps, branches, classes) to what must be below 0.1.
        """
        right, paths = np.zeros((len(self.y), CASES)), []
        for i, (y, steps) in enumerate(zip(self.y, self.steps, strict=True)):
            keep = probability(steps["counts"]) < 0.1
            paths.append([])
            for case in range(CASES):
                begin, end = steps["start"][case : case + 2]
                while end > begin and not keep[end - 1]:
                    end -= 1
                counts = np.bincount(np.delete(y, case), minlength=2)
                if end > begin:
                    counts = steps["counts"][end - 1][steps["branch"][end - 1]]
                right[i, case] = counts.argmax() == y[case]
                paths[-1].append(steps["feature"][begin:end].tolist())
        return right, paths


def chi_square(counts: np.ndarray, correction: float = 0.0) -> np.ndarray:
    """Chance of the table if branch and class had no relation."""
    n = counts.sum(axis=(1, 2), keepdims=True)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=2, keepdims=True) / n
    apart = np.maximum(abs(counts - expected) - correction, 0)
    return chi2.sf((apart**2 / expected).sum(axis=(1, 2)), 1)


def g_statistic(counts: np.ndarray) -> np.ndarray:
    """The same of the likelihood ratio."""
    n = counts.sum(axis=(1, 2), keepdims=True)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=2, keepdims=True) / n
    ratio = np.where(counts > 0, counts / expected, 1.0)
    return chi2.sf(2 * (counts * np.log(ratio)).sum(axis=(1, 2)), 1)


PRUNINGS = {
    "chi-square 0.1 (the paper)": chi_square,
    "chi-square 0.05": lambda c: 2 * chi_square(c),
    "chi-square 0.01": lambda c: 10 * chi_square(c),
    "Yates 0.1": lambda c: chi_square(c, 0.5),
    "G 0.1": g_statistic,
}


def figures(right: np.ndarray, paths: list[list[list[int]]]) -> list[float]:
    """Accuracy, path length, mean importance by position, deviation of that at the root."""
    flat = [path for cases in paths for path in cases]
    out = [100 * right.mean(), float(np.mean([len(path) for path in flat]))]
    for at in LEVELS:
        out.append(np.mean([path[at - 1] + 1 for path in flat if len(path) >= at]))
    return [*out, float(np.std([path[0] + 1 for path in flat if path]))]


def line(label: str, values) -> str:
    """A line of the table of experiment III."""
    digits = (2, 3, *(2 for _ in LEVELS), 3)
    cells = [f"{v:.{d}f}" for v, d in zip(values, digits, strict=True)]
    return f"| {label} | {' | '.join(cells)} |"


def experiment3(n: int) -> list[str]:
    sets = data_sets(3, 0, n)
    own = _own(-1, n)
    out = []
    for method, random in (("random", True), ("H_T", False)):
        out += [
            f"\n## Experiment III, {method}\n",
            "| variant | accuracy | length | 1 | 2 | 3 | 4 | 5 | 6 | sd at 1 |",
            "|---" * 10 + "|",
        ]
        level = published("liuwhite1994_table6")
        level = level[level.method == method]
        text = published("liuwhite1994_prose_exp2_exp3")
        text = text[(text.experiment == "III") & (text.method == method)]
        mean = text[text.statistic == "mean"].value.tolist()
        out.append(line("published", [*mean, *level["mean"], level["std"].iloc[0]]))
        grown = Grown(sets, own, random)
        for title, rule in PRUNINGS.items():
            out.append(line(title, figures(*grown.pruned(rule))))
        if random:
            found = [
                figures(*Grown(sets[:100], [seed] * 100, True).pruned(chi_square))
                for seed in SEQUENCES
            ]
            found_anew = [
                figures(*Grown(sets[:100], _own(seed, 100), True).pruned(chi_square))
                for seed in SEQUENCES
            ]
            for title, values in (
                ("drawn anew", found_anew),
                ("one sequence", found),
            ):
                title += f", 100 data sets, {len(values)} runs"
                out.append(line(f"{title}: mean", np.mean(values, axis=0)))
                sd = np.std(values, axis=0, ddof=1)
                out.append(line(f"{title}: deviation between runs", sd))
            once = figures(*_unrepeated(sets[:100]))
            out.append(line("no attribute twice on a path, 100 data sets", once))
    return out


def _unrepeated(sets: list[Dataset]) -> tuple[np.ndarray, list[list[list[int]]]]:
    """Paths of a fresh random order of the attributes a case, grown from one column each."""
    rng = np.random.default_rng(0)
    right, paths = np.zeros((len(sets), CASES)), []
    for i, data in enumerate(sets):
        X, y = data.X.to_numpy(), data.y.astype(np.int32)
        paths.append([])
        for case in range(CASES):
            rows = np.delete(np.arange(CASES), case)
            features, tables, here = [], [], []
            for f in rng.permutation(X.shape[1]):
                if len(set(y[rows])) == 1:
                    break
                cut = _best_cut(X[rows, f], y[rows])
                low = X[rows, f] <= cut
                tables.append(
                    [np.bincount(y[rows[s]], minlength=2) for s in (low, ~low)]
                )
                rows = rows[low == (X[case, f] <= cut)]
                features.append(int(f))
                here.append(int(X[case, f] > cut))
            keep = chi_square(np.array(tables, dtype=float)) < 0.1
            end = int(np.flatnonzero(keep)[-1]) + 1 if keep.any() else 0
            counts = np.bincount(np.delete(y, case), minlength=2)
            if end:
                counts = tables[end - 1][here[end - 1]]
            right[i, case] = counts.argmax() == y[case]
            paths[-1].append(features[:end])
    return right, paths


def _best_cut(x: np.ndarray, y: np.ndarray) -> float:
    """Midpoint with the most transmitted information."""
    order = np.argsort(x)
    x, y = x[order], y[order]
    low = np.column_stack([np.cumsum(1 - y), np.cumsum(y)])[:-1]
    table = np.stack([low, low[-1] + np.eye(2, dtype=int)[y[-1]] - low], axis=1)
    share = table / table.sum(axis=2, keepdims=True)
    bits = -(table * np.log(np.where(table > 0, share, 1))).sum(axis=(1, 2))
    at = int(bits.argmin())
    return float((x[at] + x[at + 1]) / 2)


def experiment1(n: int) -> list[str]:
    out = [
        "\n## Experiment I, random selection: tables 3 and 4\n",
        "| noise | draws | cases with the signal at the root | deviation between runs "
        "| deviation between data sets | accuracy | of those cases, same paths "
        "| other run's paths |",
        "|---" * 8 + "|",
    ]
    table1 = published("liuwhite1994_table1").query("method == 'random'")
    table3 = published("liuwhite1994_table3")
    table4 = published("liuwhite1994_table4").query("method == 'random'")
    for k, noise in enumerate(NOISE):
        count, all_, part = table3.iloc[k], table1.iloc[k], table4.iloc[k]
        out.append(
            f"| {noise} | published | {count['mean']:.2f} | | {count['std']:.2f} "
            f"| {all_['mean']:.2f} | {part['mean']:.2f} | {part['mean']:.2f} |"
        )
        sets = data_sets(1, noise, n)
        for title in ("anew", "one sequence"):
            right, root = [], []
            for seed in SEQUENCES:
                seeds = _own(seed, n) if title == "anew" else [seed] * n
                answers, paths = Grown(sets, seeds, True).pruned(chi_square)
                right.append(answers)
                root.append([[p[:1] == [0] for p in cases] for cases in paths])
            hit, at_root = np.array(right), np.array(root)
            counts = at_root.sum(axis=2)
            within = counts.std(axis=1, ddof=1)
            other = np.roll(at_root, 1, axis=0)
            out.append(
                f"| {noise} | {title} | {counts.mean():.2f} "
                f"| {counts.mean(axis=1).std(ddof=1):.2f} | {within.mean():.2f} "
                f"({within.min():.2f} to {within.max():.2f}) | {100 * hit.mean():.2f} "
                f"| {100 * hit[at_root].mean():.2f} | {100 * hit[other].mean():.2f} |"
            )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, default=400, help="data sets per condition")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    head = [
        "# Liu & White (1994): readings tried",
        f"\n`python benchmarks/lw94_variants.py -n {args.n}`, "
        f"{versions('numpy')}. {args.n} data sets where no number is given.",
    ]
    text = "\n".join([*head, *experiment3(args.n), *experiment1(min(args.n, 100))])
    print(text)
    if args.output:
        args.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
