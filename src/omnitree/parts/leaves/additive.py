"""Leaves that answer by a sum of curves of single features, where a number is predicted.

The model of a leaf is linear in its columns and in those that curves are sums of
(`growing/curve_basis.py`), by ridge regression as in `ridge.py`. How much a curve may bend
is decided once for a tree, on all rows; whether a leaf has curves, lines or a constant is
decided leaf by leaf. All by the error on rows that are left out. Beyond the values that a
leaf has seen its curves stay constant; lines do so too, there or half a range further,
whichever suits rows that are left out. So no answer runs away. Used by `OmniTreeRegressor`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.clock import TimeUp, until
from omnitree.growing.node import Rules
from omnitree.growing.part import number
from omnitree.growing.sample import Sample
from omnitree.growing.standard_columns import StandardColumns
from omnitree.growing.threads import one_thread
from omnitree.parts.leaves.ridge import Floats, RidgeFit, RidgeLeaves
from omnitree.tree.leaf_models import LeafModel

# How far lines go on beyond the values of a leaf, in ranges of these values.
REACHES = (0.0, 0.5)


class AdditiveLeaves(RidgeLeaves):
    """Leaves predict by a sum of curves, or of lines, where it beats a constant.

    Only for the squared error.

    Parameters
    ----------
    bends : tuple of float
        How easily a curve bends: what its columns are multiplied by. One of them is chosen
        for a whole tree.
    min_rows : float, default=40
        Leaves of less weight, or of less than four rows for each number among the
        features, have lines only.
    penalties, search_penalty, cuts
        As for `RidgeLeaves`.

    Examples
    --------
    >>> import numpy as np
    >>> from omnitree import TreeRegressor
    >>> from omnitree.parts.leaves import AdditiveLeaves
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> reg = TreeRegressor(leaves=AdditiveLeaves(), max_depth=0)
    >>> bool(reg.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.98)
    True
    """

    bends: Any = (0.3, 1.0, 3.0)
    min_rows: float = 40

    def settled(self, sample: Sample, rules: Rules) -> AdditiveLeaves:
        """With the one bend that is best for all rows as one leaf."""
        if len(self.bends) < 2:
            return self
        rows = np.arange(len(sample))
        errors: dict[float, float] = {}
        for bend in sorted(self.bends):
            if errors and rules.limits.expired():
                break
            own = self._with_bend(bend)
            errors[bend] = np.inf
            with one_thread(), until(rules.limits.deadline), suppress(TimeUp):
                found = own.best_of(sample, rows, sample.weight, rules.seed)
                if found is not None:
                    errors[bend] = found.error
        return self._with_bend(min(errors, key=lambda bend: errors[bend]))

    def _with_bend(self, bend: float) -> AdditiveLeaves:
        own = copy(self)
        own.bends = (bend,)
        return own

    def forms(
        self, sample: Sample, rows: NDArray, weight: Floats
    ) -> Iterator[tuple[StandardColumns, Floats | float]]:
        yield from super().forms(sample, rows, weight)
        standard, schema = sample.standardised, sample.table.schema
        n_numbers = int((schema.linear_columns()[1] < 0).sum())
        if weight.sum() < max(number("min_rows", self.min_rows), 4 * n_numbers):
            return
        curved = standard.with_curves(schema, rows, weight)
        for bend in self.bends if curved.n_columns > standard.n_columns else ():
            scale = np.ones(curved.n_columns)
            scale[standard.n_columns :] = number("bends", bend)
            yield curved, scale

    def finished(self, model: LeafModel, found: RidgeFit) -> LeafModel:
        """The model with every line of a number kept to the values that the leaf has."""
        scaling, (weights,) = found.standard.scaling, model.weights
        low, high = (scaling.own(ends) for ends in self._limits(found))
        position = {int(column): j for j, column in enumerate(scaling.which)}
        lines, curves = [], []
        for column, fill, weight in zip(
            model.columns, model.fill, weights, strict=True
        ):
            j = position[column]
            if found.is_number[j] and low[j] < high[j]:
                ends = (float(low[j]), float(high[j]))
                values = (weight * ends[0], weight * ends[1], weight * fill)
                curves.append((column, ends, values))
            else:
                lines.append((column, fill, weight))
        known = zip(model.curve_columns, model.knots, *model.curve_values, strict=True)
        curves = sorted([*known, *curves])
        return LeafModel(
            tuple(column for column, *_ in lines),
            tuple(fill for _, fill, _ in lines),
            model.bias,
            (tuple(weight for *_, weight in lines),),
            model.link,
            (),
            tuple(column for column, *_ in curves),
            tuple(knots for _, knots, _ in curves),
            (tuple(values for *_, values in curves),) if curves else (),
        )

    def _limits(self, found: RidgeFit) -> tuple[Floats, Floats]:
        """Where the lines of the plain columns end, in deviations.

        Each row is answered as if it were not there: where it is the least or the largest
        of a column, by the limits of the others. The reach, in ranges of the column beyond
        its values, with the least error is taken.
        """
        p = found.standard.scaling.n_plain
        z, weights = (
            found.columns[:, :p],
            np.where(found.is_number, found.weights[:p], 0),
        )
        ordered = np.sort(z, axis=0)
        first, last = ordered[0], ordered[-1]
        second, before = ordered[min(1, len(z) - 1)], ordered[max(len(z) - 2, 0)]
        low, high = (
            np.where(z == first, second, first),
            np.where(z == last, before, last),
        )
        errors = []
        for reach in REACHES:
            beyond = reach * (high - low)
            kept = np.clip(z, low - beyond, high + beyond)
            errors.append(found.weight @ (found.left_out - (kept - z) @ weights) ** 2)
        beyond = REACHES[int(np.argmin(errors))] * (last - first)
        mean = found.mean[:p]
        return first - beyond + mean, last + beyond + mean
