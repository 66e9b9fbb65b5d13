"""Speed of linear discriminant trees, in one run on one thread.

Ten Gaussian classes in 50 columns with a common covariance. The whole fit of `ldt` without
pruning is compared with one product `X.T @ X` per level of the tree (a level counts by the
share of the rows it holds), with one fit of scikit-learn's LinearDiscriminantAnalysis (svd),
and with its DecisionTreeClassifier. Prediction, with 100 linear nodes at most, is compared
with scikit-learn's prediction by an axis-parallel tree with as many leaves. CPU time, best
of several. Goals: 3 products a level; not slower than LinearDiscriminantAnalysis; 20 times
DecisionTreeClassifier; predict as fast. The script exits with 1 if a goal is missed.

    python benchmarks/discriminant.py -o benchmarks/results/discriminant.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from page import versions
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits
from univariate import cpu

from omnitree import presets

N_CLASSES, N_COLUMNS = 10, 50


def make_data(n: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian classes whose means are `apart` times a standard normal draw."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(N_COLUMNS, N_COLUMNS)) / 7
    y = rng.integers(N_CLASSES, size=n)
    means = apart * rng.normal(size=(N_CLASSES, N_COLUMNS))
    noise = rng.normal(size=(n, N_COLUMNS)) @ mixing
    return means[y] + noise + 0.3 * rng.normal(size=(n, N_COLUMNS)), y


def measure(n: int, apart: float) -> tuple[str, list[bool]]:
    """One line of the table, and which goals are met."""
    X, y = make_data(n, apart)
    product = cpu(15, lambda: X.T @ X)
    clf = presets.make("ldt", pruning=None, random_state=0)
    fit = cpu(15, clf.fit, X, y)
    lda = cpu(2, LinearDiscriminantAnalysis().fit, X, y)
    axis = DecisionTreeClassifier(random_state=0)
    tree_time = cpu(1, axis.fit, X, y)
    inner = clf.tree_.kind > 0
    levels = clf.tree_.value[inner].sum() / n
    small = presets.make("ldt", pruning=None, max_leaves=101, random_state=0).fit(X, y)
    leaves = small.tree_.n_leaves
    as_large = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y)
    predict = cpu(9, as_large.predict, X) / cpu(9, small.predict, X)
    per_level = fit / product / levels
    goals = [per_level <= 3, fit <= lda, tree_time >= 20 * fit, predict >= 1]
    line = (
        f"| {n:,} | {apart} | {clf.tree_.n_leaves} | {levels:.1f} | {fit:.2f} s "
        f"| {per_level:.1f} | {lda / fit:.2f} | {tree_time / fit:.1f} | {predict:.2f} |"
    )
    return line, goals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--apart", default="0.4,0.5,0.6,1.0")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    text = [
        "# Linear discriminant trees: speed",
        f"\n`python benchmarks/discriminant.py --rows {args.rows} --apart {args.apart}`, "
        f"{versions('scikit-learn', 'numpy')}, one thread, CPU time. "
        "Ratios: how many times faster than the reference.\n",
        "| rows | apart | leaves | levels | fit | products a level | LDA | DecisionTree "
        "| predict |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    met = []
    for apart in map(float, args.apart.split(",")):
        with threadpool_limits(1):
            line, goals = measure(args.rows, apart)
        text.append(line)
        met.append(goals)
    share = np.mean(met, axis=0)
    names = ("3 products a level", "LDA", "20 x DecisionTree", "predict")
    text += [""] + [
        f"- {g}: met in {s:.0%} of the lines" for g, s in zip(names, share, strict=True)
    ]
    print("\n".join(text))
    if args.output:
        args.output.write_text("\n".join(text) + "\n")
    sys.exit(0 if share.min() == 1 else 1)


if __name__ == "__main__":
    main()
