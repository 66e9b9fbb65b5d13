"""What all pictures share: the late import of matplotlib, legends and text."""

from __future__ import annotations

from typing import Any

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


def legend(ax: Any, names: list[str], shades: list[Any], **options: Any) -> None:
    """A legend of coloured squares."""
    from matplotlib.patches import Patch

    handles = [
        Patch(color=c, label=plain(n)) for n, c in zip(names, shades, strict=True)
    ]
    ax.legend(handles=handles, frameon=False, **options)


def stacked(ax: Any, at: Any, width: Any, counts: Any, shades: list[Any], **look: Any):
    """Bars, one class on the other: counts (classes, bars)."""
    base = 0.0 * counts[0]
    for shade, row in zip(shades, counts, strict=True):
        ax.bar(at, row, width, base, color=shade, **look)
        base += row


def whole_ticks(ax: Any, x: Any) -> None:
    """No ticks between whole numbers, such as years, if `x` has nothing else."""
    if (x % 1 == 0).all():
        ax.xaxis.get_major_locator().set_params(integer=True)


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
