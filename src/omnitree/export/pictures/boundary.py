"""The answers of a tree over two features, with the rows on top."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.export.palette import class_colours
from omnitree.export.pictures.canvas import axes, legend, plain
from omnitree.export.sample import ShownRows


def boundary_grid(
    tree: dict[str, Any], sample: ShownRows, pair: tuple[int, int], resolution: int
) -> NDArray[np.float64]:
    """Rows to ask for, (points, points, features): two features vary, the others rest.

    Numbers rest at their median, categories at the most frequent one; a feature without
    any value stays missing.
    """
    rest = [
        _usual(column, feature["kind"])
        for column, feature in zip(
            sample.values.T, tree["schema"]["features"], strict=True
        )
    ]
    grid = np.empty((resolution, resolution, len(rest)))
    grid[:] = rest
    sides = [_side(sample.values[:, j], resolution) for j in pair]
    grid[..., pair[0]] = sides[0][None, :]
    grid[..., pair[1]] = sides[1][:, None]
    return grid


def _usual(column: NDArray[np.float64], kind: str) -> float:
    known = column[~np.isnan(column)]
    if not len(known):
        return np.nan
    if kind == "numeric":
        return float(np.median(known))
    return float(np.bincount(known.astype(int)).argmax())


def _side(column: NDArray[np.float64], resolution: int) -> NDArray[np.float64]:
    known = column[~np.isnan(column)]
    if not len(known):
        raise ValueError("a feature to draw has no value in any row")
    low, high = float(known.min()), float(known.max())
    margin = (high - low) * 0.06 or max(abs(low), 1.0) * 0.5
    return np.linspace(low - margin, high + margin, resolution)


def plot_boundary(
    tree: dict[str, Any],
    sample: ShownRows,
    pair: tuple[int, int],
    grid: NDArray[np.float64],
    answer: NDArray[np.float64],
    best: NDArray[np.intp],
    *,
    ax: Any = None,
) -> Any:
    """Draw the answers on the grid: the colour is the class `best`, its depth the share.

    Numbers have a scale of colours beside the picture.
    """
    from matplotlib.colors import to_rgb

    ax = axes(ax, (6.0, 4.6))
    numeric = tree["task"] == "regression"
    points: Any = None  # their colours
    if numeric:
        shown, points = answer[..., 0], sample.target
        seen = shown if points is None else np.append(shown, points)
        scale = {"vmin": seen.min(), "vmax": seen.max(), "cmap": "viridis"}
    else:
        shades, scale = class_colours(answer.shape[-1]), {}
        top = np.take_along_axis(answer, best[..., None], axis=-1)
        rgb = np.array([to_rgb(c) for c in shades])[best]
        shown = 1 - (1 - rgb) * (0.08 + 0.42 * top)  # towards white as the share falls
        if sample.labels is not None:
            points = [shades[k] for k in sample.labels]
    x, y = grid[0, :, pair[0]], grid[:, 0, pair[1]]
    extent = (x[0], x[-1], y[0], y[-1])
    drawn = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
    image = ax.imshow(shown, extent=extent, **drawn, **scale)
    look: dict[str, Any] = {"s": 18, "edgecolors": "white", "linewidths": 0.6}
    look |= {"c": "#333333"} if points is None else {"c": points, **scale}
    ax.scatter(*sample.values[:, list(pair)].T, **look)
    ax.set_xlim(*extent[:2])
    ax.set_ylim(*extent[2:])
    names = [plain(f["name"]) for f in tree["schema"]["features"]]
    ax.set_xlabel(names[pair[0]])
    ax.set_ylabel(names[pair[1]])
    if numeric:
        ax.figure.colorbar(image, ax=ax)
    else:
        legend(ax, [str(c) for c in tree["classes"]], shades)
    return ax
