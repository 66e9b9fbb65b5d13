"""The exchange method (Guo & Gelfand 1992; LDT05, section 3.2): local search by moves."""

from __future__ import annotations

import numpy as np

from omnitree.grouping.base import Discriminant, Grouping, Groups, nearest_start


class Exchange(Grouping):
    """Move the class whose move helps most to the other group, as long as one helps.

    Starts from the two classes whose means are furthest apart, each joined by the classes
    nearest to it. All moves of a step are evaluated at once; a group never becomes empty.
    """

    def search(self, discriminant: Discriminant) -> Groups | None:
        present = discriminant.rows.present
        left = nearest_start(discriminant.rows)
        found = discriminant.exchange(left)
        if found is not None:
            return found
        best = discriminant.merits(left[None])[0]
        while True:
            trial = np.repeat(left[None], len(present), axis=0)
            trial[np.arange(len(present)), present] ^= True
            size = trial[:, present].sum(axis=1)
            trial = trial[(size > 0) & (size < len(present))]
            merits = discriminant.merits(trial)
            top = int(merits.argmax())
            if not merits[top] > best + 1e-12:
                return left
            left, best = trial[top], merits[top]
