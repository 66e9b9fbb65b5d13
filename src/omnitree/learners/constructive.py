"""The constructive learner: discriminants become features, and the best feature is cut.

At a node the classes with more rows than columns give discriminant functions; each becomes
a feature, beside the original ones and those that the nodes above constructed. C4.5's
search finds the best test on one of them all. A test on a constructed feature is a linear
or quadratic split with the weights, and the filling of missing values, of the node that
made it. Used by the presets ltree, qtree and lgtree; `best_cut` also by the functional
learner.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.growing.clock import TimeUp, cells_of_test
from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node, Rules
from omnitree.growing.sample import Sample
from omnitree.growing.stopping import Limits
from omnitree.learners.analytic import varying
from omnitree.learners.univariate import Univariate
from omnitree.parts.discriminants import DISCRIMINANTS
from omnitree.tree.splits import AxisSplit, Constructed, Split


class Constructive(SplitLearner):
    """Cut an original feature, or one constructed here or above.

    Parameters
    ----------
    discriminants : str or Discriminants, default="lda"
        Functions that become features: of each class against the average of all.
    merit, categories, min_branch, release8
        Of the search, as for `Univariate`; the defaults are C4.5's.
    """

    discriminants: Any = "lda"
    merit: Any = "gain_ratio"
    categories: Any = "multiway"
    min_branch: int = 2
    release8: bool = True

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Best test on one feature, with the features constructed for the nodes below."""
        try:
            constructed = self._construct(node)
        except TimeUp:  # there may still be time to cut a feature that is there
            constructed = ()
        above = [made for made in node.inherited if isinstance(made, Constructed)]
        split = best_cut(self, node, (*above, *constructed), rng)
        return split and replace(split, constructed=constructed)

    def _construct(self, node: Node) -> tuple[Constructed, ...]:
        discriminants = DISCRIMINANTS.resolve(self.discriminants)
        rows = node.linear
        n_columns = int(np.count_nonzero(varying(rows)))
        classes = np.flatnonzero(rows.class_weight > n_columns)
        if len(classes) < 2 or not n_columns:
            return ()
        n_terms = (
            n_columns if discriminants.linear else n_columns * (n_columns + 3) // 2
        )
        node.rules.limits.check_time_after(cells_of_test(len(node.rows), n_terms))
        functions = discriminants.fit(rows.of_classes(classes))
        return functions.contrasts(rows.class_weight[classes]).features(rows)


def best_cut(
    learner: Any,
    node: Node,
    features: tuple[Constructed, ...],
    rng: np.random.Generator,
) -> Split | None:
    """Best test on an original or a constructed feature.

    The search has the learner's merit, categories, min_branch and release8.
    """
    search = Univariate(
        learner.merit,
        learner.categories,
        min_branch=learner.min_branch,
        release8=learner.release8,
    )
    split = search.fit(_extended(node, features), rng)
    if split is None:
        return None
    own = node.sample.table.n_features
    if isinstance(split, AxisSplit) and split.feature >= own:
        split = features[split.feature - own].cut(split.threshold, split.merit)
    kept = tuple(s for s in split.surrogates if s.feature < own)  # type: ignore[attr-defined]
    return replace(split, surrogates=kept)


def _extended(node: Node, features: tuple[Constructed, ...]) -> Node:
    """A root with the node's rows and more features, to be split once."""
    table, rules = node.sample.table, node.rules
    kinds = [(f.kind, f.categories) for f in table.schema.features]
    schema = _unnamed(*kinds, *[("numeric", None)] * len(features))
    values = [table.values[node.rows], *(f.values[:, None] for f in features)]
    part = Sample(Table(np.hstack(values), schema), node.target, node.weight)
    return Node.root(part, Rules(rules.missing, Limits(max_depth=1), rules.seed))


@lru_cache(maxsize=128)
def _unnamed(*kinds: tuple[Any, Any]) -> Schema:
    """Features of these kinds and categories; most nodes of a tree have the same."""
    named = (Feature(f"x{j}", *kind) for j, kind in enumerate(kinds))
    return Schema(tuple(named), named=False)
