"""What all pictures share: the late import of matplotlib, and the colours of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

# The explorer's palette (explorer/model.js): told apart by most colour-blind readers.
PALETTE = (
    "#4a7fb5",
    "#e08a4a",
    "#3f9b78",
    "#b0558f",
    "#c9ad3a",
    "#55b7d0",
    "#c25b62",
    "#8a72bf",
    "#8f7a5c",
    "#7da63c",
)
QUIET = "#566474"


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """The given Axes, or those of a new figure of this size in inches."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'pictures need matplotlib: pip install "omnitree[plot]"'
        ) from error
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def colours(n: int) -> list[Any]:
    """A colour for each of `n` classes."""
    if n <= len(PALETTE):
        return list(PALETTE[:n])
    import matplotlib

    return list(matplotlib.colormaps["hsv"](np.arange(n) / n))


def legend(ax: Any, names: list[str], shades: list[Any], **options: Any) -> None:
    """A legend of coloured squares."""
    from matplotlib.patches import Patch

    handles = [
        Patch(color=c, label=plain(n)) for n, c in zip(names, shades, strict=True)
    ]
    ax.legend(handles=handles, frameon=False, **options)


def plain(text: Any) -> str:
    """Text that matplotlib shows as it is, dollar signs and underscores included.

    Examples
    --------
    >>> print(plain("cost in $ or $US"), plain("_hidden"))
    cost in \\$ or \\$US ​_hidden
    """
    text = str(text).replace("$", r"\$")
    # A label that begins with "_" would be left out of legends.
    return "\u200b" + text if text.startswith("_") else text


def shortened(text: str, length: int) -> str:
    """The text, cut with an ellipsis.

    Examples
    --------
    >>> shortened("petal length", 8)
    'petal l…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"
