"""Where the nodes of a picture go, and how large its text can be.

Coordinates are inches at full size: a picture that is drawn smaller has smaller text. A tree
is drawn from the top down as long as its text can be read, else from the left to the right,
a line a leaf; if even that is too small, its lower levels are left out. Used by `tree.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

# Full sizes of text in points, and the smallest size that can be read; in large axes text
# grows up to a limit.
TEXT, SMALL, LEAST = 8.0, 7.0, 5.0
MOST_GROWTH = 1.4
# Inches of a letter of small text, on average.
LETTER = 0.058
# From the top down: a box, the room around it, and a box with a picture in it.
WIDTH, HEIGHT, SPACE_X, SPACE_Y = 1.9, 0.62, 0.25, 0.7
PICTURE = 1.25
# From the left to the right: a line and its box, the narrowest and the widest column.
LINE, BOX, NARROW, WIDE, SIDE = 0.2, 0.17, 0.5, 2.2, 0.9
# The largest figure that is made unasked, and room for the legend and a note.
LARGEST = (16.0, 12.0)
FOOT = 0.45


@dataclass(frozen=True)
class Arrangement:
    """Places of the nodes that are drawn.

    Attributes
    ----------
    places : dict
        Middle of each node's box, by node.
    boxes : dict
        Width and height of each node's box, by node.
    size : tuple
        Width and height of all, in inches at full size.
    lines : bool
        Whether the tree goes from the left to the right.
    text : float
        Size of text in the axes, where 1 is full size.
    n_left_out : int
        Nodes that are not drawn because the picture has no room for them.
    """

    places: dict[int, tuple[float, float]]
    boxes: dict[int, tuple[float, float]]
    size: tuple[float, float]
    lines: bool
    text: float = 1.0
    n_left_out: int = 0


def levels(nodes: Sequence[dict[str, Any]], max_depth: int | None) -> dict[int, int]:
    """Level of every node down to a depth, in the order of a walk."""
    level: dict[int, int] = {}
    stack = [(0, 0)]
    while stack:
        at, depth = stack.pop()
        level[at] = depth
        if max_depth is None or depth < max_depth:
            below = reversed(nodes[at].get("children", ()))
            stack.extend((child, depth + 1) for child in below)
    return level


def arrange(
    nodes: Sequence[dict[str, Any]],
    max_depth: int | None,
    room: tuple[float, float] | None,
    height_of: Callable[[int], float],
    text_of: Callable[[int], tuple[str, str]],
    *,
    pictures: bool,
) -> Arrangement:
    """The layout for axes of so many inches, None: for a figure of its own.

    `height_of` gives the height of a node's box from the top down, `text_of` what is
    written in its line and what its branch is called. Pictures need the room that only
    boxes from the top down have.
    """
    everything = levels(nodes, max_depth)
    deepest = max(everything.values())
    space = room or LARGEST
    largest = MOST_GROWTH if room else 1.0
    for depth in range(deepest, -1, -1):
        level = {at: k for at, k in everything.items() if k <= depth}
        found = _from_the_top(nodes, level, height_of)
        text = _scale(found.size, space)
        if text * SMALL < LEAST and not pictures:
            found = _in_lines(nodes, level, text_of)
            text = _scale(found.size, space)
        # A depth that was asked for is drawn, however small.
        if text * SMALL >= LEAST or depth <= 1 or max_depth is not None:
            break
    return Arrangement(
        found.places,
        found.boxes,
        found.size,
        found.lines,
        min(text, largest),
        len(everything) - len(level),
    )


def _scale(size: tuple[float, float], room: tuple[float, float]) -> float:
    return min(room[0] / size[0], room[1] / size[1], MOST_GROWTH)


def _ends_apart(
    nodes: Sequence[dict[str, Any]], level: dict[int, int]
) -> dict[int, float]:
    """Ends at 0, 1, 2 and so on, each parent in the middle of its children."""
    at: dict[int, float] = {}
    for node in level:
        if not any(c in level for c in nodes[node].get("children", ())):
            at[node] = len(at)
    for node in reversed(level):
        if node not in at:
            below = nodes[node]["children"]
            at[node] = (at[below[0]] + at[below[-1]]) / 2
    return at


def _from_the_top(nodes, level: dict[int, int], height_of) -> Arrangement:
    place = _ends_apart(nodes, level)
    heights = [0.0] * (1 + max(level.values()))
    boxes = {}
    for node, depth in level.items():
        boxes[node] = (WIDTH, height_of(node))
        heights[depth] = max(heights[depth], boxes[node][1])
    middle, below = [], 0.1
    for height in heights:
        middle.append(below + height / 2)
        below += height + SPACE_Y
    step = WIDTH + SPACE_X
    places = {n: ((place[n] + 0.5) * step, middle[k]) for n, k in level.items()}
    n_ends = 1 + max(place.values())
    return Arrangement(
        places, boxes, (n_ends * step, below - SPACE_Y + FOOT + 0.1), lines=False
    )


def _in_lines(nodes, level: dict[int, int], text_of) -> Arrangement:
    place = _ends_apart(nodes, level)
    depth = max(level.values())
    inner = {n for n in level if any(c in level for c in nodes[n].get("children", ()))}
    width, side = [NARROW] * (depth + 1), [0.0] * (depth + 1)
    own = {}
    for node, k in level.items():
        line, branch = text_of(node)
        own[node] = min(max(NARROW, LETTER * len(line) + 0.12), WIDE)
        side[k] = min(max(side[k], LETTER * len(branch) + 0.2), SIDE)
        if node in inner:  # right of an end there is room: nothing else is in its line
            width[k] = max(width[k], own[node])
    left, edges = 0.1, []
    for k in range(depth + 1):
        left += side[k]
        edges.append(left)
        left += width[k]
    places, boxes = {}, {}
    for node, k in level.items():
        wide = width[k] if node in inner else own[node]
        places[node] = (edges[k] + wide / 2, (place[node] + 0.5) * LINE + 0.05)
        boxes[node] = (wide, BOX)
    right = max(x + boxes[node][0] / 2 for node, (x, _) in places.items())
    n_ends = 1 + max(place.values())
    return Arrangement(
        places, boxes, (right + 0.1, n_ends * LINE + FOOT + 0.1), lines=True
    )
