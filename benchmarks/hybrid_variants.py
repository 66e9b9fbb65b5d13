"""Where the hybrid tree of Yildiz & Alpaydin (2005) is multivariate: one thing otherwise.

Nodes of both kinds a tree (table 19) on five data sets. Done otherwise: pruning from the
root down, as by the authors' program; principal components at every node, as it takes
them, instead of at those with a singular scatter; the two kinds compared by how often a row
goes to the side of its class, instead of by the errors of the two branches as leaves.

    python benchmarks/hybrid_variants.py --data DIR -o benchmarks/results/hybrid_variants.md
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from page import of_papers, versions

from omnitree.growing.node_folds import NodeFolds
from omnitree.lab.papers import ldt05
from omnitree.lab.papers.base import Lab, published
from omnitree.lab.papers.results import Study
from omnitree.lab.protocols import RepeatedFolds
from omnitree.lab.store import Store
from omnitree.lab.tables import TextTable
from omnitree.learners import Analytic, Linear, Omnivariate
from omnitree.parts.choice import CombinedF
from omnitree.pruning import ReducedError

KEY = ("LDT-hybrid", None)
SETS = ("breast", "bupa", "car", "dermatology", "ecoli")


class BySides:
    """A learner that is tried by the sides of the classes."""

    def trial_losses(self, folds: NodeFolds, rng: np.random.Generator) -> np.ndarray:
        node, losses = folds.node, np.full(len(folds), 0.5)
        for d, own in enumerate(rng.spawn(len(folds))):
            part = folds.part(d)
            split = None if part.target.is_pure else self.fit(part, own)
            if split is None:
                continue
            places = [node.rows[at] for at in folds.parts[d]]
            learned, tried = (split.route(node.sample.table, p) for p in places)
            counts = np.zeros((2, node.target.n_classes))
            np.add.at(counts, (learned, node.y[folds.training(d)]), 1)
            side = counts.argmax(axis=0)
            losses[d] = np.mean(side[node.y[folds.testing(d)]] != tried)
        return losses


class AnalyticBySides(BySides, Analytic):
    """Univariate tests."""


class LinearBySides(BySides, Linear):
    """Linear tests."""


def hybrid(univariate: Analytic, linear: Linear) -> dict[str, Omnivariate]:
    """The learner of the hybrid tree with these candidates."""
    return {"learner": Omnivariate((univariate, linear), CombinedF())}


UNIVARIATE = ("exchange", "unequal_variance")
WAYS = {
    "as run": {},
    "from the root down": {"pruning": ReducedError(0.2, "top_down")},
    "components at every node": hybrid(
        Analytic(*UNIVARIATE), Linear("exchange", ldt05.ALWAYS)
    ),
    "by the sides of classes": hybrid(
        AnalyticBySides(*UNIVARIATE), LinearBySides("exchange", ldt05.WITHIN)
    ),
}


def main() -> None:
    given = of_papers(__doc__)
    lab, rows = Lab(Store(given.store), given.data), []
    printed = published("yildiz2005_table19_nodes").set_index(["dataset", "variant"])
    for name in SETS:
        theirs = printed.loc[name]["mean"]
        line = [f"{theirs[kind]:.1f}" for kind in ("univariate", "multivariate")]
        line = [" + ".join(line)]
        for options in WAYS.values():
            method = ldt05.METHODS[KEY]
            method = replace(method, options=method.options | options)
            study = Study(
                *(lab, RepeatedFolds(2, 5), {KEY: method}),
                *(ldt05.DATA, (name,), ldt05.CODED),
            )
            many = ldt05._hybrid(study)["multivariate"]
            line.append(f"{(~many).sum() / 10:.1f} + {many.sum() / 10:.1f}")
        rows.append((name, *line))
        print(*rows[-1], sep=" | ", flush=True)
    header = ("data set", "published", *WAYS)
    text = [
        f"# The hybrid tree of LDT05\n\n{__doc__}\n{versions()}.",
        TextTable("Univariate + multivariate nodes", header, tuple(rows)).markdown(),
    ]
    if given.output:
        given.output.write_text("\n\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
