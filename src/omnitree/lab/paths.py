"""Leave-one-out by dynamic path generation (White 1987; Liu & White 1994, 2.4).

To classify a row by a tree of all other rows, only the path that the row takes is needed.
It is grown node by node with the learner of any estimator, or all at once in compiled code
(`_core/paths`: one feature at a time, information gain, plain numbers), then pruned from
the bottom until a split is significant (pruning "significance", at its level), or not at
all. Unlike the pruning of a whole tree, what happens beside the path does not matter, as in
the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from omnitree._core.univariate.paths import grow_paths
from omnitree.data.table import Table, learn_table
from omnitree.estimators.classifier import TreeClassifier
from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node, Rules, make_children
from omnitree.growing.sample import Sample
from omnitree.growing.stopping import Limits
from omnitree.growing.target import ClassTarget
from omnitree.learners import Univariate
from omnitree.parts.merit import MERITS, Gain
from omnitree.pruning import PRUNINGS, Significance
from omnitree.pruning.significance import chi_square_probability
from omnitree.refinement import REFINEMENTS
from omnitree.tree.splits import AxisSplit


@dataclass(frozen=True)
class Path:
    """The way of one row through a tree that it was not part of."""

    features: tuple[int, ...]  # tested at each step; -1 for tests of several features
    counts: tuple[np.ndarray, ...]  # of the classes in the branches of each step
    end: np.ndarray  # class counts where the path ends

    @property
    def label(self) -> int:
        """Code of the class where the path ends, the first of equals."""
        return int(self.end.argmax())

    def pruned(self, level: float) -> Path:
        """The path up to and with its last significant test."""
        length = len(self.features)
        while length and chi_square_probability(self.counts[length - 1]) >= level:
            length -= 1
        if length == len(self.features):
            return self
        end = self.counts[length].sum(axis=0)
        return Path(self.features[:length], self.counts[:length], end)


def leave_one_out(
    estimator: TreeClassifier, X: pd.DataFrame, y: np.ndarray, seed: int
) -> list[Path]:
    """The path of every row through the tree of all others, pruned."""
    parts = estimator._resolved_parts()
    learner, pruning = parts.learner, parts.pruning
    for whole in (pruning, parts.refinement):
        if whole is None or isinstance(whole, Significance):
            continue
        known = {**PRUNINGS, **REFINEMENTS}
        name = next(n for n, part in known.items() if type(whole) is part)
        raise ValueError(
            f"a path cannot be pruned by {name!r}, which needs the whole tree: the "
            "protocol loo-path takes presets with the pruning 'significance' or none"
        )
    if getattr(learner, "collapse", False):
        raise ValueError(
            "a path cannot be collapsed as C4.5 does, which needs the whole tree: the "
            "protocol loo-path takes learners with collapse=False"
        )
    table = learn_table(X)
    classes, codes = np.unique(y, return_inverse=True)
    n = len(y)
    limits = Limits.of(
        parts.stopping,
        float(n - 1),
        estimator.max_depth,
        estimator.max_leaves,
        estimator.max_seconds,
    )
    sample = Sample(table, ClassTarget(codes.astype(np.int32), classes), np.ones(n))
    if is_plain(table, limits, learner):
        found = compiled(sample, learner, seed)
    else:
        rules = Rules(parts.missing, limits, seed)
        rows, weight = np.arange(n), np.ones(n - 1)
        found = [
            grow(Node(sample, rules, np.delete(rows, i), weight), learner, i)
            for i in range(n)
        ]
    return found if pruning is None else [path.pruned(pruning.level) for path in found]


def is_plain(table: Table, limits: Limits, learner: SplitLearner) -> bool:
    """Whether the compiled search finds the same tests."""
    return (
        type(learner) is Univariate
        and type(MERITS.resolve(learner.merit)) is Gain
        and learner.threshold == "midpoint"
        and not learner.release8
        and learner.min_branch <= 1
        and limits.min_rows <= 2
        and limits.max_depth < 0
        and limits.max_leaves is None
        and limits.deadline is None
        and not table.has_missing
        and not table.schema.n_categories.any()
    )


def compiled(sample: Sample, learner: Univariate, seed: int) -> list[Path]:
    """All paths at once; with random choice the draws differ from those of `grow`.

    They are one sequence that goes on from row to row, so that data sets with the same seed
    share it, though not the places where a path begins.
    """
    n, k, y = len(sample), sample.target.n_classes, sample.y
    state = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    x = np.asfortranarray(sample.table.values)
    steps = grow_paths(x, y, k, state, learner.choice == "random")
    whole = np.bincount(y, minlength=k).astype(float)
    out = []
    for i in range(n):
        at = slice(steps["start"][i], steps["start"][i + 1])
        counts = tuple(steps["counts"][at])
        end = whole - np.eye(k)[y[i]]
        if counts:
            end = counts[-1][steps["branch"][at.stop - 1]]
        out.append(Path(tuple(steps["feature"][at].tolist()), counts, end))
    return out


def grow(root: Node, learner: SplitLearner, row: int) -> Path:
    """The row's path below a node, asked of the learner node by node."""
    table, seed = root.sample.table, root.rules.seed
    one = Table(table.values[[row]], table.schema)
    node, features, counts = root, [], []
    while not node.stays_leaf():
        # The depth is in the key because NumPy takes [5, 3] and [5, 3, 0] as one seed.
        rng = np.random.default_rng([seed, row, node.depth, *node.path])
        split = learner.fit(node, rng)
        if split is None:
            break
        children = make_children(node, split)
        if sum(child.total > 0 for child in children) < 2:
            break
        branch = int(split.route(one, np.array([0]))[0])
        if branch < 0:  # missing: the branch for it; of divided rows, the largest
            largest = int(np.argmax([child.total for child in children]))
            branch = split.missing if split.missing >= 0 else largest
        if children[branch].total == 0:
            break
        features.append(split.feature if isinstance(split, AxisSplit) else -1)
        counts.append(np.stack([child.statistics for child in children]))
        node = children[branch]
    return Path(tuple(features), tuple(counts), node.statistics)
