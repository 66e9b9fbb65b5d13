"""Why a thermal unit differs from Statistics::LTU's: the rule, the scaling, the end.

One unit (a tree stopped at the root) on the two-class data sets and 5x2 folds of the
originals, trained by

- `thermal`: the rule and end of Brodley & Utgoff (1995), on columns with deviation 1;
- `thermal, no epsilon`, and `thermal, to the end`: without BU95's epsilon, or its early end;
- `thermal, range`: the same as the first on columns scaled to [-0.5, 0.5];
- `Frean`: that program's rule, corrections r exp(-|g| / T) (1 + floor(|g| / Y'Y)), T and r
  falling linearly from 1 to 0 in 100 passes; on columns with deviation 1;
- `Frean, range`: the same on columns scaled to [-0.5, 0.5], as the originals ran it.

    python benchmarks/thermal_variants.py --shared FOLDER \
        -o benchmarks/results/thermal_variants.md
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from machines import UNITS, unit_error
from page import versions
from tables.folder import read

from omnitree.parts.coefficients import Cases, Coefficients, Machine, Thermal


class Frean(Coefficients):
    """The thermal rule of Statistics::LTU, after Frean (1990)."""

    n_classes = 2
    random = True

    def __init__(self, passes=100):
        self.passes = passes

    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        order = rng.permutation(len(cases.y))
        x = np.column_stack([np.ones(len(order)), cases.z])[order]
        sign = 2.0 * cases.y[order] - 1
        length2 = (x * x).sum(axis=1)
        w = np.zeros(x.shape[1])
        for step in range(self.passes):
            heat = 1 - step / self.passes
            for row, target, size in zip(x, sign, length2, strict=True):
                g = float(row @ w)
                if (g >= 0) == (target > 0):
                    continue
                c = heat * np.exp(-abs(g) / heat) * (1 + int(abs(g) / size))
                w += target * c * row
        return Machine(w[None, 1:], w[:1])


class InRange(Coefficients):
    """Another learner on columns scaled to [-0.5, 0.5]."""

    n_classes = 2
    random = True

    def __init__(self, learner):
        self.learner = learner

    def train(self, cases: Cases, rng: np.random.Generator) -> Machine:
        low, high = cases.z.min(axis=0), cases.z.max(axis=0)
        middle, width = (low + high) / 2, high - low
        scaled = replace(cases, z=np.ascontiguousarray((cases.z - middle) / width))
        found = self.learner.train(scaled, rng)
        weights = found.weights / width
        return Machine(weights, found.bias - weights @ middle)


VARIANTS = {
    "thermal": Thermal(),
    "thermal, no epsilon": Thermal(epsilon=0.0),
    "thermal, to the end": Thermal(alpha=0.0),
    "thermal, range": InRange(Thermal()),
    "Frean": Frean(),
    "Frean, range": InRange(Frean()),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    folds = pd.read_csv(args.shared / "references" / "originals_folds.csv")
    theirs = folds[folds.method == UNITS["thermal"]]
    original, ours = {}, {}
    for name, part in theirs.groupby("dataset"):
        X, y = read(args.shared / "data", str(name))
        original[name] = part.error_pct.mean()
        for title, learner in VARIANTS.items():
            for seed in range(args.seeds):
                ours[name, title, seed] = unit_error(X, y, learner, seed).mean()
        print(name, flush=True)
    table = pd.Series(ours).groupby(level=[0, 1]).mean().unstack()[list(VARIANTS)]
    table.insert(0, "original", pd.Series(original))
    of_seeds = pd.Series(ours).groupby(level=[1, 2]).mean().groupby(level=0)
    table.loc["**mean**"] = table.mean()
    table.loc["sd of seeds"] = of_seeds.std(ddof=1)
    table.loc["smallest"] = of_seeds.min()
    head = [
        "# Thermal units, variants",
        f"\n`python benchmarks/thermal_variants.py --shared FOLDER`, "
        f"{versions('numpy')}. Error in percent, mean of 5x2 folds and "
        f"{args.seeds} seeds; then how far the means of single seeds go. The original was "
        "run once.\n",
        f"| data set | {' | '.join(table.columns)} |",
        "|---" * (len(table.columns) + 1) + "|",
    ]
    body = [
        f"| {name} | {' | '.join('' if np.isnan(v) else f'{v:.2f}' for v in row)} |"
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    text = "\n".join([*head, *body])
    print(text)
    if args.output:
        args.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
