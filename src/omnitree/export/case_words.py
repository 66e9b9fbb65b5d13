"""Likeness to cases in words: what a test or a model says of the rows that it keeps.

There may be hundreds of cases with a number for each column, so that sums tell how many
there are and how much they weigh; written in full, each case has a line of its own. Used by
`words.py` for sums, and where a tree is written over several lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omnitree.export.numbers import number

NOTE = (
    "likeness to a case: exp(-d), where d is the sum of ((x - x of the case) / width)^2"
)
# What words after a line's head, broken between them, begin with.
Line = tuple[str, list[str]]


def case_terms(holder: dict[str, Any], k: int, listed: bool) -> list[str]:
    """What cases add to a sum with a constant: each of them if `listed`, else how many.

    Examples
    --------
    >>> holder = {"case_weights": [[0.5, 0.0, 2.0], [0.0, -1.0, 0.0]]}
    >>> case_terms(holder, 0, listed=False)
    ['+ likeness to 2 cases, weighted 0.5 to 2']
    >>> case_terms(holder, 1, listed=True)
    ['- 1 likeness to case 2']
    """
    used = [(i, w) for i, w in enumerate(holder["case_weights"][k], 1) if w]
    if listed:
        return [
            f"{'-' if w < 0 else '+'} {number(abs(w))} likeness to case {i}"
            for i, w in used
        ]
    if not used:
        return []
    low, high = (number(f(w for _, w in used)) for f in (min, max))
    reach = low if low == high else f"{low} to {high}"
    return [f"+ likeness to {len(used)} case{'s' * (len(used) > 1)}, weighted {reach}"]


def case_lines(
    holder: dict[str, Any],
    names: Sequence[str],
    units: Sequence[float] | None,
    spread: Sequence[float],
    most: int | None,
) -> list[Line]:
    """The widths and, unless only so many words are to be shown, every case.

    `names` are those of the columns, `units` what they are measured in, by default 1, and
    `spread` their deviations, by which the widths that matter most come first. Columns
    that do not count are left out.
    """
    units = [1.0] * len(names) if units is None else [u or 1.0 for u in units]
    counts = [j for j, own in enumerate(holder["precision"]) if own > 0]
    width = {j: holder["precision"][j] ** -0.5 for j in counts}
    # Columns are often alike but for rounding, and then keep their order.
    order = sorted(counts, key=lambda j: float(f"{width[j] / (spread[j] or 1.0):.3g}"))
    lines = []
    if counts:
        words = [f"{names[j]} {number(width[j] / units[j])}" for j in order]
        lines.append(("widths: ", _listed(words, most)))
    if most is None:
        for i, case in enumerate(holder["cases"], 1):
            words = [f"{names[j]} = {number(case[j] / units[j])}" for j in counts]
            lines.append((f"case {i}: ", _listed(words or ["any row"], None)))
    return lines


def _listed(words: list[str], most: int | None) -> list[str]:
    """Words with commas between them, the first ones if they are many."""
    if most is not None and len(words) > most + most // 4:
        words = [*words[:most], f"... {len(words) - most} more"]
    return [*(f"{word}," for word in words[:-1]), words[-1]]
