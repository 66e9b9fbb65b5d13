"""Colours of classes, the same in the explorer and in every picture.

The first six are Okabe and Ito's. The others were added one by one, each as far as possible
from all before it, where the distance of two colours is the least of four: as most people
see them, and with protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes,
2009). The first 16 are as far apart as Okabe and Ito's own (0.076 in OKLab), all 20 at least
0.062, and each can be seen on the light and on the dark page. Beyond 20 no set of colours
can be told apart; the pictures name the classes as well.
"""

from __future__ import annotations

import colorsys

PALETTE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#6a2d24",
    "#064180",
    "#bacfaf",
    "#7c5762",
    "#a170eb",
    "#54dcf2",
    "#904016",
    "#92b87e",
    "#e6c465",
    "#4c3a55",
    "#374cbe",
    "#b93c8c",
    "#cda8bc",
    "#a06347",
)


def class_colours(n: int) -> list[str]:
    """A colour for each of `n` classes, as `#rrggbb`.

    Examples
    --------
    >>> class_colours(2)
    ['#0072b2', '#e69f00']
    """
    return [*PALETTE[:n], *(_more(k) for k in range(len(PALETTE), n))]


def _more(k: int) -> str:
    """Hues by the golden angle, lighter and darker in turn."""
    shade = colorsys.hls_to_rgb(k * 0.381966 % 1, (0.42, 0.62)[k % 2], 0.55)
    return "#" + "".join(f"{round(255 * v):02x}" for v in shade)
