"""Importance of the features, divided by the level of the tree that earns it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.export.pictures.canvas import axes, plain, shortened
from omnitree.tree.importance import node_importances

# Levels with a colour of their own, and the room of the legend, by the longest bar.
MOST_LEVELS = 6
LEGEND_SHARE = 0.42


def importance_by_level(tree: dict[str, Any]) -> NDArray[np.float64]:
    """Share of each feature at each level in what the tree explains.

    Parameters
    ----------
    tree : dict
        As `Tree.to_dict` gives it.

    Returns
    -------
    float64 array (levels, features)
        Its sum over the levels is `Tree.feature_importances`.
    """
    nodes = tree["nodes"]
    level = np.zeros(len(nodes), dtype=int)
    for node in nodes[1:]:
        level[node["id"]] = level[node["parent"]] + 1
    found = node_importances(tree)
    used = [level[i] for i, amounts in enumerate(found) if amounts]
    depth = max(int(level.max()), 1, 1 + max(used, default=0))
    out = np.zeros((depth, len(tree["schema"]["features"])))
    for i, amounts in enumerate(found):
        for feature, amount in amounts:
            out[level[i], feature] += amount
    total = out.sum()
    return out / total if total > 0 else out


def plot_importance(tree: dict[str, Any], *, ax: Any = None, max_features: int) -> Any:
    """Draw a bar per feature, its parts the levels; see `Showing.plot_importance`."""
    by_level = importance_by_level(tree)
    total = by_level.sum(axis=0)
    order = np.argsort(-total, kind="stable")[:max_features]
    order = order[total[order] > 0][::-1]  # the most important on top
    ax = axes(ax, (6.8, max(0.9 + 0.36 * len(order), 1.8)))
    import matplotlib

    # Deep levels count little and would make a long legend: the last has all of them.
    if len(by_level) > MOST_LEVELS:
        rest = by_level[MOST_LEVELS - 1 :].sum(axis=0)
        by_level = np.vstack([by_level[: MOST_LEVELS - 1], rest])
        last = f"level {MOST_LEVELS - 1} and below"
    else:
        last = f"level {len(by_level) - 1}"
    shades = matplotlib.colormaps["viridis"](np.linspace(0.12, 0.92, len(by_level)))
    names = [f["name"] for f in tree["schema"]["features"]]
    left = np.zeros(len(order))
    for depth, row in enumerate(by_level):
        if not row[order].any():
            continue
        label = last if depth == len(by_level) - 1 else f"level {depth}"
        place = np.arange(len(order))
        ax.barh(place, row[order], 0.7, left, color=shades[depth], label=label)
        left += row[order]
    ax.set_yticks(
        np.arange(len(order)), [plain(shortened(names[j], 40)) for j in order]
    )
    what = "loss" if tree["task"] == "regression" else "Gini impurity"
    ax.set_xlabel(f"share of the decrease in {what}")
    ax.spines[["top", "right"]].set_visible(False)
    if len(ax.containers) > 1:
        # Beside the bars: the axis goes on behind the longest, and the legend is there.
        ax.set_xlim(0, left.max() * (1 + LEGEND_SHARE))
        ticks = [t for t in ax.get_xticks() if t <= left.max() * 1.001]
        ax.set_xticks(ticks)
        ax.legend(frameon=False, loc="center right", borderaxespad=0)
    return ax
