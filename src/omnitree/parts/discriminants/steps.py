"""Additive logistic regression by steps: functions of single columns that jump at cuts.

Each of many small steps adds, for every class, one cut of one column: low values get one
number, high values another (`_core/linear/steps.pyx`). All steps of a column together are a
function that is constant between its jumps, as are those of explainable boosting machines
(Lou, Caruana & Gehrke 2012). Cuts are between neighbouring values of a column, and from the
one to the other the function is a straight line, so it is a curve (`growing/curve_basis.py`)
like any other. Used by the learner `steps`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import steps as kernel
from omnitree.growing.clock import check_time, tick
from omnitree.growing.curve_basis import CurveBasis, quantiles
from omnitree.growing.scaling import Scaling

Floats = NDArray[np.float64]

# Of a column, beside that of missing values.
BINS = 32
# Steps of a stage.
STAGE = 10


@dataclass(frozen=True, eq=False)
class Binned:
    """Columns of some rows by the bins of their values.

    Attributes
    ----------
    columns : int array (p,)
        Which columns of a table these are.
    codes : uint8 array (p, n)
        The bin of each row; the last is that of missing values, where there are any.
    first : int array (p + 1,)
        Where the bins of a column begin among those of all.
    missing : uint8 array (p,)
        Whether values are missing.
    between : float array (p,)
        What a missing value counts as: how far on the way from the lower value to the
        higher one of a column that has two. NaN where it has a value of its own.
    ends : list of float arrays (2, bins)
        The least and the largest value in each bin of a column, without the missing ones.
    """

    columns: NDArray[np.intp]
    codes: NDArray[np.uint8]
    first: NDArray[np.int64]
    missing: NDArray[np.uint8]
    between: Floats
    ends: list[Floats]

    @classmethod
    def of(
        cls,
        z: Floats,
        is_number: NDArray[np.bool_],
        weight: Floats,
        scaling: Scaling,
    ) -> Binned:
        """For columns (n, p), NaN where missing; those of one value are left out.

        So are numbers whose cuts are too close in the table's units. Numbers have a value of
        their own where they are missing; categories, which have two values, the mean.
        """
        columns, codes, between, missing, ends = [], [], [], [], []
        for j in range(z.shape[1]):
            check_time()
            x = np.ascontiguousarray(z[:, j])
            gone = np.isnan(x)
            known, own_weight = (x[~gone], weight[~gone]) if gone.any() else (x, weight)
            tops = quantiles(known, own_weight, BINS + 1)
            if len(tops) < 2:
                continue
            code = np.searchsorted(tops[:-1], x, side="left")
            code[gone] = len(tops)
            # A bin begins with the least value above the largest of the bin before it.
            ascending = np.sort(known)
            begin = np.searchsorted(ascending, tops[:-1], side="right")
            least = ascending[np.concatenate([[0], begin])]
            if is_number[j] and not scaling.can_be_knots(j, np.union1d(least, tops)):
                continue
            columns.append(j)
            codes.append(code.astype(np.uint8))
            ends.append(np.stack([least, tops]))
            missing.append(gone.any())
            mean = own_weight @ known / own_weight.sum()
            share = (mean - tops[0]) / (tops[-1] - tops[0])
            between.append(np.nan if is_number[j] else share)
        size = [len(end[0]) + gone for end, gone in zip(ends, missing, strict=True)]
        return cls(
            np.array(columns, dtype=np.intp),
            np.array(codes, dtype=np.uint8).reshape(len(columns), len(z)),
            np.concatenate([[0], np.cumsum(size)]).astype(np.int64),
            np.array(missing, dtype=np.uint8),
            np.array(between, dtype=np.float64),
            ends,
        )

    @cached_property
    def n_bins(self) -> int:
        """Of all columns together."""
        return int(self.first[-1])

    def codes_of(self, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
        """The bins of some rows, (p, m)."""
        return np.ascontiguousarray(self.codes[:, rows])

    def is_line(self, i: int) -> bool:
        """Whether a function of a column is a straight line, as one of two values is."""
        own = len(self.ends[i][0]) == 2
        return bool(own and not (self.missing[i] and np.isnan(self.between[i])))

    def line(self, i: int, values: Floats) -> tuple[Floats, Floats]:
        """Slopes and intercepts (m,) of functions (bins, m) that are straight lines."""
        low, high = self.ends[i][1]
        slope = (values[1] - values[0]) / (high - low)
        return slope, values[0] - slope * low

    def curve(
        self, i: int, values: Floats, weight: Floats
    ) -> tuple[CurveBasis, Floats] | None:
        """Functions (bins, m) of a column as columns of mean 0, and their means (m,).

        None where they are constant.
        """
        if not np.ptp(values, axis=0).any():
            return None
        share = np.bincount(self.codes[i], weight, len(values)) / weight.sum()
        mean = share @ values
        least, largest = self.ends[i]
        known, gone = values[: len(least)], mean
        if self.missing[i]:
            gone = values[-1]
        jumps = np.flatnonzero((np.diff(known, axis=0) != 0).any(axis=1))
        # A line that is added to the curve goes on to both ends.
        ends = least[0], largest[-1]
        knots = np.unique([*ends, *largest[jumps], *least[jumps + 1]])
        at = known[np.searchsorted(largest[:-1], knots, side="left")]
        free = len(jumps) + int(self.missing[i])
        basis = CurveBasis(
            int(self.columns[i]),
            knots,
            np.vstack([at, gone]) - mean,
            np.ones(values.shape[1]),
            free,
        )
        return basis, mean


@dataclass(frozen=True)
class StepStage:
    """What some steps have added: functions (bins, m) of all columns, and biases (k,)."""

    binned: Binned
    functions: Floats
    bias: Floats

    def add_to(self, sums: Floats, codes: NDArray[np.uint8]) -> None:
        """Add it to the sums (n, k) of rows with such bins (p, n)."""
        kernel.add(codes, self.binned.first, self.functions, sums)
        sums += self.bias


def step_stages(
    binned: Binned,
    rows: NDArray[np.intp],
    y: NDArray[np.int32],
    weight: Floats,
    k: int,
    rate: float,
    ridge: float,
) -> Iterator[StepStage]:
    """Stages of `STAGE` steps each, learned from some rows; the first has class shares only.

    They end where no cut helps. Of two classes there is one function, half of which counts
    for the second and half against the first.

    Parameters
    ----------
    binned : Binned
    rows : int array (n,)
        The rows to learn from.
    y : int array (n,)
        Their classes, below `k`.
    weight : float array (n,)
    k : int
    rate : float
        What a step is multiplied by.
    ridge : float
        What is added to the bends of each side of a cut, if rows weigh 1 in the mean: the
        more it is, the less do small sides ask for.
    """
    codes = binned.codes_of(rows)
    share = np.bincount(y, weight, k) / weight.sum()
    bias = np.log((share * len(y) + 1.0) / (len(y) + k))
    bias -= bias.mean()
    sums = np.tile(bias, (len(y), 1))
    m = 1 if k == 2 else k
    yield StepStage(binned, np.zeros((binned.n_bins, m)), bias)
    while True:
        check_time(n_cells=codes.size)
        functions = np.zeros((binned.n_bins, m))
        made = kernel.boost(
            *(codes, binned.first, binned.missing, binned.between, y, weight, sums),
            *(STAGE, rate, ridge * weight.mean(), functions, tick),
        )
        check_time()
        if not made:
            return
        yield StepStage(binned, functions, np.zeros(k))
