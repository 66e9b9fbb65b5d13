"""Leaves that answer by a sum of curves of single features, where a number is predicted.

The model of a leaf is linear in its columns and in those that curves are sums of
(`growing/curve_basis.py`), by ridge regression as in `ridge.py`. How much a curve may bend
is decided once for a tree, on all rows; whether a leaf has curves, lines or a constant is
decided leaf by leaf. All by the error on rows that are left out. Beyond the values that a
leaf has seen its curves stay constant; lines do so too, there or half a range further,
whichever suits rows that are left out. So no answer runs away. While a tree grows, tests are
searched for what the curves of a node leave unexplained, and the models found on the way are
remembered for its leaves. Used by `OmniTreeRegressor`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.clock import TimeUp, until
from omnitree.growing.node import Node, Rules
from omnitree.growing.part import number, one_of
from omnitree.growing.sample import Sample
from omnitree.growing.standard_columns import StandardColumns
from omnitree.growing.threads import one_thread
from omnitree.parts.leaves.leaf_sums import BLOCK, Floats, LeafSums
from omnitree.parts.leaves.ridge import RidgeFit, RidgeLeaves
from omnitree.tree.curves import curve_at
from omnitree.tree.leaf_models import LeafModel

Knots = tuple[float, ...]

# How far lines go on beyond the values of a leaf, in ranges of these values.
REACHES = (0.0, 0.5)
# Where tests are searched, no residual is multiplied by more for its row having been seen.
INFLATION = 4.0


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
    knots : {"leaf", "table"}, default="leaf"
        Whether the knots of curves are quantiles of the rows of their leaf, or of the whole
        training table, which takes less time.
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
    knots: str = "leaf"

    def settled(self, sample: Sample, rules: Rules) -> AdditiveLeaves:
        """With the one bend that is best for all rows as one leaf."""
        if len(self.bends) < 2:
            return self
        rows = np.arange(len(sample))
        bends: list[float] = sorted(self.bends)
        fits: list[RidgeFit | None] = []
        with one_thread(), until(rules.limits.deadline), suppress(TimeUp):
            forms = list(self.forms(sample, rows, sample.weight))
            args = sample, rows, sample.weight, forms[-1][0], rules.seed
            scatter = LeafSums.of(*args)
            for form in forms:
                fits.append(RidgeFit.of(*form, scatter, self.penalties))
        errors = [np.inf if found is None else found.error for found in fits[1:]]
        at = int(np.argmin(errors)) if errors else 0
        own = self._with_bend(bends[at])
        if len(fits) > len(bends):  # all were tried: the best is that of the root
            best = RidgeFit.best((fits[0], fits[1 + at]))
            sample.known_fits[own._key(rows, sample.weight)] = (best,)
        return own

    def with_knots(self, knots: str) -> AdditiveLeaves:
        """The same with other knots."""
        own = copy(self)
        own.knots = knots
        return own

    def _with_bend(self, bend: float) -> AdditiveLeaves:
        own = copy(self)
        own.bends = (bend,)
        return own

    def forms(
        self, sample: Sample, rows: NDArray, weight: Floats
    ) -> Iterator[tuple[StandardColumns, Floats | None]]:
        yield from super().forms(sample, rows, weight)
        standard, schema = sample.standardised, sample.table.schema
        n_numbers = int((schema.linear_columns()[1] < 0).sum())
        if weight.sum() < max(number("min_rows", self.min_rows), 4 * n_numbers):
            return
        if one_of("knots", self.knots, ("leaf", "table")) == "table":
            curved = sample.curved
        else:
            some: Any = slice(None)
            if len(rows) > BLOCK:  # whose quantiles are nearly those of all
                some = np.argpartition(sample.row_hash(0)[rows], BLOCK)[:BLOCK]
            curved = standard.with_curves(schema, rows[some], weight[some])
        for bend in sorted(self.bends) if curved.n_columns > standard.n_columns else ():
            scale = np.ones(curved.n_columns)
            scale[standard.n_columns :] = number("bends", bend)
            yield curved, scale

    def unexplained(self, node: Node) -> Floats:
        """Residuals of the node's model, of each row while it is left out.

        A curve needs no tests: these are for what is no sum of curves.
        """
        sample, rest = node.sample, node.y - node.answer
        found = self.fitted(sample, node.rows, node.weight, node.rules.seed)
        key, loss = self._key(node.rows, node.weight), float(node.weight @ rest**2)
        sample.known_models[key] = self._known(found, loss)
        if found is None:
            return rest
        return found.residual * np.minimum(found.inflation, INFLATION)

    def finished(self, model: LeafModel, found: RidgeFit) -> LeafModel:
        """The model with every line of a number kept to the values that the leaf has."""
        scaling, (weights,) = found.standard.scaling, model.weights
        low, high = (scaling.own(ends) for ends in self._limits(found))
        position = {int(column): j for j, column in enumerate(scaling.which)}
        every = zip(model.curve_columns, model.knots, *model.curve_values, strict=True)
        curves = {column: (knots, values) for column, knots, values in every}
        terms, (bias,) = [], model.bias
        for (a, b), weight in zip(model.pairs, weights, strict=True):
            column, fill = model.columns[a], model.fill[a]
            j = position[column]
            if b < 0 and found.scatter.is_number[j] and low[j] < high[j]:
                ends = (float(low[j]), float(high[j]))
                # Around the mean, as all curves are: 0 for an average row.
                curves[column] = _with_line(curves.get(column), ends, weight, fill)
                bias += weight * fill
            else:
                terms.append((a, b, weight))
        used = sorted({at for a, b, _ in terms for at in (a, b) if at >= 0})
        place = {at: i for i, at in enumerate(used)} | {-1: -1}
        bent = sorted(curves)
        return LeafModel(
            tuple(model.columns[at] for at in used),
            tuple(model.fill[at] for at in used),
            (bias,),
            (tuple(weight for *_, weight in terms),),
            model.link,
            tuple((place[a], place[b]) for a, b, _ in terms) if model.terms else (),
            tuple(bent),
            tuple(curves[column][0] for column in bent),
            (tuple(curves[column][1] for column in bent),) if bent else (),
        )

    def _limits(self, found: RidgeFit) -> tuple[Floats, Floats]:
        """Where the lines of the plain columns end, in deviations.

        Each row is answered as if it were not there: where it is the least or the largest
        of a column, by the limits of the others. The reach, in ranges of the column beyond
        its values, with the least error is taken.
        """
        scatter, mean = found.scatter, found.mean
        at = np.flatnonzero(scatter.is_number)
        weights = found.weights[at]
        first, second, before, last = scatter.ends() - mean[at]
        z = scatter.columns[:, at] - mean[at]
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
        low, high = np.zeros((2, found.standard.scaling.n_plain))
        low[at], high[at] = first - beyond + mean[at], last + beyond + mean[at]
        return low, high


def _with_line(
    curve: tuple[Knots, Knots] | None,
    ends: tuple[float, float],
    weight: float,
    fill: float,
) -> tuple[Knots, Knots]:
    """Knots and values of a curve, if there is one, and of a line that is 0 at `fill`.

    The line ends there.
    """
    if curve is None:
        return ends, (weight * (ends[0] - fill), weight * (ends[1] - fill), 0.0)
    knots, line = curve
    inner = (knot for knot in knots if ends[0] < knot < ends[1])
    at = np.array([ends[0], *inner, ends[1]])
    values = curve_at(knots, line, at) + weight * (at - fill)
    return tuple(at.tolist()), (*values.tolist(), line[-1])
