"""Analyses of variance: factorial, split-plot, and contrasts.

All sums of squares are unique ones (the "regression approach", type III): each source gets
what no other source explains, so that unbalanced designs need no special care; in balanced
ones they are the usual sums. `factorial` is statsmodels' (extra `lab`); a split-plot design
is not there, so `split_plot` computes it from orthonormal contrasts over the levels of the
inner factor. Used by the reproductions of LW94 (tables 2, 5, 7) and BU95 (6, 7, 15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import linalg, stats

from omnitree.lab.extras import need
from omnitree.lab.statistics import HypothesisTest, certain

COLUMNS = ["SS", "df", "MS", "F", "p"]


def factorial(y: ArrayLike, factors: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Analysis of variance of a full factorial design, one factor or several.

    `factors` have the level of each observation. The table has a row per source ("a", "b",
    "a*b", "error", "total").

    >>> table = factorial([1.0, 2, 3, 5, 6, 7], {"group": list("aaabbb")})
    >>> round(float(table.loc["group", "F"]), 3)
    24.0
    """
    smf = need("statsmodels.formula.api")
    anova_lm = need("statsmodels.stats.anova").anova_lm
    frame = pd.DataFrame({"y": np.asarray(y, dtype=float)})
    for i, levels in enumerate(factors.values()):
        frame[f"f{i}"] = np.asarray(levels).astype(str)
    terms = " * ".join(f"C(f{i}, Sum)" for i in range(len(factors)))
    model = smf.ols(f"y ~ {terms}", frame).fit()
    found = anova_lm(model, typ=3)
    names = {f"C(f{i}, Sum)": name for i, name in enumerate(factors)}
    table = pd.DataFrame(columns=COLUMNS, dtype=float)
    for term, row in found.iterrows():
        if term == "Intercept":
            continue
        source = "*".join(names.get(part, "error") for part in str(term).split(":"))
        ss, df = float(row["sum_sq"]), float(row["df"])
        table.loc[source] = [ss, df, ss / df, float(row["F"]), float(row["PR(>F)"])]
    return _with_total(table, frame["y"].to_numpy())


def split_plot(
    y: ArrayLike, between: ArrayLike, names: Sequence[str] = ("between", "within")
) -> pd.DataFrame:
    """Split-plot analysis of variance: every unit is measured at all inner levels.

    `y` is (units, levels): a unit is a data set, say, and a level a method; `between` is
    the group of each unit, and groups may differ in size. `names` are those of the outer
    and the inner factor.

    >>> y = np.array([[1.0, 3], [2, 5], [4, 4], [6, 7]])
    >>> table = split_plot(y, ["a", "a", "b", "b"], ("noise", "measure"))
    >>> list(table.index)
    ['noise', 'units', 'measure', 'noise*measure', 'error', 'total']
    """
    y = np.asarray(y, dtype=float)
    _, group = np.unique(np.asarray(between), return_inverse=True)
    n_units, levels = y.shape
    n_groups = int(group.max()) + 1
    free = n_units - n_groups
    if n_groups < 2 or levels < 2 or free < 1:
        raise ValueError(
            "a split-plot design needs two groups, two levels and more units than groups"
        )
    size = np.bincount(group)
    # Column 0: unit means times sqrt(levels). Others: contrasts between the levels.
    scores = y @ linalg.helmert(levels, full=True).T
    mean = np.stack([scores[group == g].mean(axis=0) for g in range(n_groups)])
    rest = ((scores - mean[group]) ** 2).sum(axis=0)
    overall = scores.mean(axis=0)
    spread = (size[:, None] * (mean - overall) ** 2).sum(axis=0)
    # The unweighted mean of the groups, squared over its variance factor.
    grand = mean.mean(axis=0) ** 2 / ((1 / size).sum() / n_groups**2)
    outer, inner = names
    table = pd.DataFrame(columns=COLUMNS, dtype=float)
    inside, apart = levels - 1, n_groups - 1
    units, error = (rest[0], free), (rest[1:].sum(), free * inside)
    for source, ss, df, against in (
        (outer, spread[0], apart, units),
        ("units", *units, None),
        (inner, grand[1:].sum(), inside, error),
        (f"{outer}*{inner}", spread[1:].sum(), apart * inside, error),
        ("error", *error, None),
    ):
        f = p = np.nan
        if against is not None:
            f = (ss / df) / (against[0] / against[1]) if against[0] > 0 else np.inf
            p = float(stats.f.sf(f, df, against[1]))
        table.loc[source] = [ss, df, ss / df, f, p]
    return _with_total(table, y.ravel())


def contrast(groups: Sequence[ArrayLike], weights: Sequence[float]) -> HypothesisTest:
    """A contrast between the means of groups, by the error of a one-way analysis.

    The weights add up to zero: (2, -1, -1) sets the first group against the others. The
    statistic is F with 1 and n - k degrees of freedom.

    >>> round(contrast([[1, 2, 3], [2, 3, 4], [7, 8, 9]], [-1, -1, 2]).statistic, 1)
    60.5
    """
    if len(groups) != len(weights) or abs(sum(weights)) > 1e-9 or not any(weights):
        raise ValueError("a contrast has a weight per group, and they add up to zero")
    arrays = [np.asarray(g, dtype=float) for g in groups]
    free = sum(len(a) for a in arrays) - len(arrays)
    if free < 1:
        raise ValueError("a contrast needs more scores than groups")
    error = sum(((a - a.mean()) ** 2).sum() for a in arrays) / free
    value = sum(w * a.mean() for w, a in zip(weights, arrays, strict=True))
    spread = error * sum(w * w / len(a) for w, a in zip(weights, arrays, strict=True))
    if spread == 0:
        return certain(abs(value))
    f = float(value**2 / spread)
    return HypothesisTest(f, float(stats.f.sf(f, 1, free)))


def _with_total(table: pd.DataFrame, y: np.ndarray) -> pd.DataFrame:
    total = float(((y - y.mean()) ** 2).sum())
    table.loc["total"] = [total, len(y) - 1, np.nan, np.nan, np.nan]
    return table
