"""Fitting a tree to blocks of rows that do not fit into memory.

First a survey: columns, classes, ranges, a sample of the rows chosen by hashes of their
cells. The schema, bins and standardisation come from the sample. If it has all rows, since
few of them differ, the tree is grown in memory, each row with its number. Else trees grow
from sums over blocks (`growing.blocks.grower`), one that sees all rows and, if there is
something to decide about its size, one that sees nine tenths of them; the rest judges. What
looks at rows one by one, as the contest between tests does, looks at those of the sample
that were held out. Used by `BaseTree.fit`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.encoding.dates import part_values
from omnitree.data.schema import Schema
from omnitree.data.table import Table, table_of_columns
from omnitree.estimators.class_inputs import check_costs
from omnitree.estimators.gains import measured
from omnitree.estimators.parts import Parts
from omnitree.growing.blocks.block_sample import Blocks, BlockSample
from omnitree.growing.blocks.coder import LEVELS, Coder, class_codes, weight_unit
from omnitree.growing.blocks.engine import Engine, LocalEngine
from omnitree.growing.blocks.grower import BlockGrower
from omnitree.growing.blocks.machines import fitted_to_all_rows
from omnitree.growing.blocks.moments import Standard, StandardSample
from omnitree.growing.blocks.sizes import Sizes
from omnitree.growing.blocks.statistics import ALL, Bins, KeyRange
from omnitree.growing.blocks.survey import Survey, survey
from omnitree.growing.criterion import CRITERIA, SquaredError
from omnitree.growing.missing import Fractional
from omnitree.growing.progress import progress
from omnitree.growing.sample import Sample
from omnitree.growing.threads import threads
from omnitree.pruning import CostComplexity, Evidence, ReducedError
from omnitree.pruning.base import training_errors
from omnitree.pruning.cost_complexity import FoldTree, weakest_links
from omnitree.refinement import Contest
from omnitree.tree.tree import Tree

if TYPE_CHECKING:
    from omnitree.estimators.base import BaseTree

Floats = NDArray[np.float64]

SIZES = Sizes()
MOST_LEAVES = 500_000  # nodes with less than such a part of the rows are not divided
JUDGES = 300_000  # rows that choose the size of a tree, if there are so many
MOST_COPIES = 10  # of a row in a table that is held as different rows and numbers
ABLE = (
    "OmniTreeClassifier (omni), OmniTreeRegressor, TreeClassifier and TreeRegressor with "
    "the learner 'univariate', and the presets cart, id3, uni-gini, uni-gain-ratio, ldt "
    "and quest"
)


def fit_blocks(
    estimator: BaseTree, parts: Parts, engine: Engine, memory: int
) -> tuple[Tree, NDArray[Any]]:
    """The tree of a table that does not fit into memory, and its classes."""
    check_able(estimator, parts)
    sizes = SIZES.within(memory)
    return LargeFit(estimator, parts, engine, engine.source.n_rows, sizes).fit()


def refuse_rows(**given: Any) -> None:
    """Refuse what has to name rows one by one."""
    for name, rows in given.items():
        if rows is not None:
            raise ValueError(
                f"{name} needs data in memory: raise max_memory, if the data fits, or "
                f"leave {name} out"
            )


def check_able(estimator: BaseTree, parts: Parts) -> None:
    """Refuse, in one error, what cannot be grown from sums over blocks."""
    reasons = []
    learner, pruning, refinement = parts.learner, parts.pruning, parts.refinement
    if not estimator._fits_sample:
        if learner.grows_from is None:
            reasons.append(f"{learner.needs_rows()} has to see all rows")
        if estimator._task == "regression" and learner.grows_from == "moments":
            reasons.append("linear tests for numbers have to see all rows")
        if not parts.leaves.plain:
            reasons.append("models in leaves have to see all rows")
        if pruning is not None and type(pruning) not in (CostComplexity, ReducedError):
            reasons.append(f"{type(pruning).__name__} pruning has to see all rows")
        if refinement is not None and type(refinement) is not Contest:
            reasons.append(f"{type(refinement).__name__} has to see all rows")
        if parts.missing.fills:
            reasons.append("missing='filled' has to see all rows")
        criterion = getattr(estimator, "criterion", "squared_error")
        if type(CRITERIA.resolve(criterion)) is not SquaredError:
            reasons.append("the absolute error has to see all rows")
    if estimator.feature_costs is not None:
        reasons.append("feature_costs has to see all rows")
    if getattr(estimator, "altered_priors", False):
        reasons.append("altered_priors has to see all rows")
    if reasons:
        raise ValueError(
            f"This tree cannot be grown from data beyond memory: {'; '.join(reasons)}. "
            f"These can: {ABLE}. Or raise max_memory, if the data fits."
        )


@dataclass(eq=False)
class LargeFit:
    """One fit to blocks."""

    estimator: Any
    parts: Parts
    engine: Engine
    n_rows: int | None
    sizes: Sizes

    def fit(self) -> tuple[Tree, NDArray[Any]]:
        """The tree and its classes."""
        if self.surveyed.complete:
            return self._in_memory(), self.classes
        if self.estimator._fits_sample:
            sample = self.sample
            tree = self.estimator._grow_and_prune(self.parts, sample, None)
            return self.blocks.recounted(tree), self.classes
        self._check_missing()
        tree = self._grown()
        return tree, self.classes

    # -- what the survey says -------------------------------------------------------

    @cached_property
    def seed(self) -> int:
        return self.estimator._seed()

    @cached_property
    def surveyed(self) -> Survey:
        is_classes = self.estimator._task == "classification"
        with progress("survey", self.estimator.verbose):
            found = survey(
                self.engine, self.seed, is_classes, self.sizes, self.n_rows, self.pool
            )
        if is_classes and len(found.labels) < 2:
            (label,) = found.labels
            raise ValueError(
                f"y has one class ({label!r}); a classifier needs rows of two classes or "
                "more"
            )
        return found

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The labels, in order."""
        if self.estimator._task != "classification":
            return np.empty(0)
        labels = sorted(self.surveyed.labels)
        is_text = any(isinstance(label, str) for label in labels)
        return np.array(labels, dtype=object if is_text else None)

    @cached_property
    def class_weight(self) -> Floats | None:
        """What a row of each class counts; None: one."""
        if not len(self.classes) or self.estimator.class_weight is None:
            return None
        rows = [self.surveyed.labels[label][0] for label in self.classes.tolist()]
        return self.estimator._weights_of_classes(self.classes, np.array(rows))

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        sums = self.surveyed.labels
        if not len(self.classes):
            return float(sums[None][1])
        by_class = np.array([float(sums[c][1]) for c in self.classes.tolist()])
        weight = 1.0 if self.class_weight is None else self.class_weight
        return float((by_class * weight).sum())

    @cached_property
    def scale(self) -> float:
        """Weight of a unit, in the scale that the parts count in; see `scaled`."""
        mean = self.total / self.surveyed.n_rows
        if self.parts.resamples or mean < 1 - 1e-12:
            return self.coder.unit / mean
        return self.coder.unit

    @cached_property
    def table(self) -> Table:
        """The rows of the sample, with the schema that they teach."""
        drawn = self.surveyed.sample
        rows = drawn.rows
        weight = drawn.count.astype(np.float64)
        if rows.weight is not None:
            weight *= rows.weight
        y = self._codes(rows.y)
        level = _level_of_caller()
        return table_of_columns(rows.columns, rows.named, y, weight, stacklevel=level)

    def _codes(self, y: Any) -> NDArray[Any]:
        """Classes as codes, or numbers."""
        if not len(self.classes):
            return y.astype(np.float64)
        return class_codes(y, self.classes)

    @property
    def largest_weight(self) -> float:
        """Of a row."""
        largest = self.surveyed.largest_weight
        if self.class_weight is not None:
            largest *= float(self.class_weight.max())
        return largest

    @cached_property
    def coder(self) -> Coder:
        """How blocks become whole numbers."""
        found, schema = self.surveyed, self.table.schema
        whole = found.whole_weights
        if self.class_weight is not None:
            whole = whole and not (self.class_weight % 1).any()
        weighted = found.sample.rows.weight is not None or self.class_weight is not None
        unit = 1.0
        if weighted:
            unit = weight_unit(self.largest_weight, whole, found.n_rows)
        low, high = found.y_range
        criterion = None
        if not len(self.classes):
            criterion = CRITERIA.resolve(self.estimator.criterion)
        costs = None
        if len(self.classes):
            costs = check_costs(
                self.estimator.cost_matrix, tuple(self.classes.tolist())
            )
        return Coder(
            schema,
            self.seed,
            self.classes,
            self.class_weight,
            unit,
            weighted,
            centre=low + (high - low) / 2,
            step=(high - low) / LEVELS or 1.0,
            costs=costs,
            criterion=criterion,
            may_miss=bool(found.missing.any())
            or any(f.kind == "categorical" for f in schema.features),
        )

    @cached_property
    def sample(self) -> Sample:
        """The rows of the sample, with targets and weights."""
        drawn = self.surveyed.sample
        y = self._codes(drawn.rows.y)
        weight: Any = drawn.count * self.coder.unit
        if self.coder.weighted:
            given = np.ones(len(y)) if drawn.rows.weight is None else drawn.rows.weight
            if self.class_weight is not None:
                given = given * self.class_weight[y]
            weight = drawn.count * given
        weight = (weight * (self.scale / self.coder.unit)).astype(np.float64)
        return Sample(self.table, self.coder.target(y), weight)

    @property
    def blocks(self) -> Blocks:
        """All rows."""
        largest = self.largest_weight / self.coder.unit if self.coder.weighted else 1
        return Blocks(self.engine, self.coder, self.scale, largest=round(largest))

    def _check_missing(self) -> None:
        if isinstance(self.parts.missing, Fractional) and self.coder.may_miss:
            raise ValueError(
                "missing='fractional' divides rows, which sums over blocks cannot; take "
                f"'surrogate' or 'mean' for data beyond memory. These can: {ABLE}."
            )

    # -- growing --------------------------------------------------------------------

    def _in_memory(self) -> Tree:
        """The tree of a table of few different rows, each with its number."""
        drawn, sample = self.surveyed.sample, self.sample
        copies = np.minimum(drawn.count, MOST_COPIES)
        at = np.repeat(np.arange(len(drawn)), copies)
        sample = replace(sample, weight=sample.weight / copies).take(at)
        return self.estimator._grow_and_prune(self.parts, sample, None)

    @cached_property
    def folds(self) -> list[KeyRange]:
        """The rows that judge: folds of a cross-validation, as many as are needed.

        The contest looks at the rows of the sample, which are those of the first fold.
        """
        pruning, refinement = self.parts.pruning, self.parts.refinement
        if isinstance(refinement, Contest):
            n, used = refinement.folds, 1
        elif isinstance(pruning, CostComplexity) and pruning.alpha is None:
            n, used = pruning.folds, pruning.folds
        else:
            return []
        if not n:
            return []
        ends = [(k << 64) // n for k in range(n + 1)]
        needed = -(-JUDGES * n // self.surveyed.n_rows)
        return [
            KeyRange(a, b)
            for a, b in itertools.pairwise(ends[: 1 + min(used, max(needed, 1))])
        ]

    @cached_property
    def pool(self) -> Executor:
        """Threads of this process for what is done between passes."""
        if isinstance(self.engine, LocalEngine):
            return self.engine.pool
        return threads(self.estimator.n_jobs)

    @cached_property
    def grower(self) -> BlockGrower:
        estimator, sample = self.estimator, self.sample
        growth = estimator._growth(self.parts, sample, self.seed)
        total = self.total * self.scale / self.coder.unit
        limits = growth.rules.limits
        stopping = self.parts.stopping
        least = max(
            float(stopping.min_rows),
            float(stopping.min_share) * total,
            total / MOST_LEAVES,
        )
        rules = replace(growth.rules, limits=replace(limits, min_rows=least))
        return BlockGrower(
            self.engine,
            self.coder,
            replace(growth, rules=rules),
            self._bins(),
            self._standard(),
            self.scale,
            self.surveyed.n_rows,
            self.sizes,
            estimator.n_jobs,
            self.pool,
            estimator.verbose,
        )

    def _standard(self) -> Callable[[], Standard]:
        """How columns are standardised: found when someone asks for it, and once."""
        ranges, coder = self._ranges(), self.coder
        given = self.sample, *ranges, coder.weighted, coder.may_miss
        return cache(partial(Standard.of, *given, self.estimator.n_jobs))

    def _bins(self) -> Bins:
        """Where features are cut; one bin for each where nobody asks for histograms."""
        wanted = self.parts.learner.grows_from == "histograms"
        most = self.sizes.bins if wanted else 1
        count = self.surveyed.sample.count
        return make_bins(self.table, count, most, self.pool)

    def _ranges(self) -> tuple[Floats, Floats]:
        """Range of every feature over all rows; of parts of dates, about."""
        schema, found = self.table.schema, self.surveyed
        low = np.fmin.reduce(self.table.values, axis=0)
        high = np.fmax.reduce(self.table.values, axis=0)
        for j, feature in enumerate(schema.features):
            at = int(schema.position[j])
            if feature.part is not None:
                ends = np.array([found.low[at], found.high[at]])
                if np.isfinite(ends).all():
                    ends = part_values(ends, feature.part)
            elif feature.kind == "numeric":
                ends = np.array([found.low[at], found.high[at]])
            else:
                continue
            low[j] = np.fmin(low[j], np.fmin.reduce(ends))
            high[j] = np.fmax(high[j], np.fmax.reduce(ends))
        return np.nan_to_num(low), np.nan_to_num(high)

    def _grown(self) -> Tree:
        parts, share = self.parts, self.parts.needs_share
        apart = KeyRange(end=int(share * 2**64))
        # The whole tree, and one without each fold; or one without the rows held out.
        without = [replace(fold, inside=False) for fold in self.folds]
        seen = [ALL, *without] if not share else [replace(apart, inside=False)]
        tree, *others = self.grower.grow(seen)
        sample = StandardSample.of(self.sample, self.grower.standard)
        growth, n_jobs = self.grower.growth, self.estimator.n_jobs
        evidence = Evidence(sample, None, growth, self.seed, n_jobs)
        if share:
            held_out, _ = self._judges(sample, apart)
            evidence = replace(evidence, held_out=held_out)
        elif others:
            folds = [
                self._fold(*pair, sample)
                for pair in zip(others, self.folds, strict=True)
            ]
            evidence = replace(evidence, folds=folds)
        if parts.pruning is not None:
            tree = parts.pruning.prune(tree, evidence)
        if parts.refinement is not None:
            tree = parts.refinement.refine(tree, evidence).replace(costs=tree.costs)
            tree = fitted_to_all_rows(tree, self.blocks, sample)
            tree = self.blocks.recounted(tree)
        return measured(tree, sample, n_jobs)

    def _fold(self, tree: Tree, keys: KeyRange, sample: Sample) -> FoldTree:
        """A tree grown without a fold, and the rows of that one."""
        links = weakest_links(tree, training_errors(tree, sample))
        tested, rows = self._judges(sample, keys)
        return FoldTree(tree, links, float(tree.value[0].sum()), tested, rows)

    def _judges(self, sample: Sample, keys: KeyRange) -> tuple[BlockSample, NDArray]:
        """Rows that judge, and where those in memory are in the sample.

        If the sample has none of them, others show how weights are spread.
        """
        rows = np.flatnonzero(keys.has(self.surveyed.sample.rows.key))
        own = sample.take(rows) if len(rows) else sample
        total = self.total * self.scale / self.coder.unit * keys.share
        blocks = replace(self.blocks, keys=keys)
        return BlockSample(own.table, own.target, own.weight, None, blocks, total), rows


def _level_of_caller() -> int:
    """`stacklevel`, for what the caller of this calls, of the line that began the fit."""
    frame, place, outermost = sys._getframe(1), 0, 0
    inside = str(Path(__file__).parents[1])
    above: FrameType | None = frame
    while above is not None:
        if above.f_code.co_filename.startswith(inside):
            outermost = place
        above, place = above.f_back, place + 1
    return outermost + 3


def make_bins(
    table: Table, count: NDArray[np.int64], most: int, pool: Executor
) -> Bins:
    """Where features are cut: between values of a sample, about equal numbers apart."""
    schema: Schema = table.schema
    numeric = [most > 1 and not f.is_categorical for f in schema.features]
    more_than_once = count if (count > 1).any() else None

    def found(j: int) -> tuple[Floats, NDArray[np.bool_]]:
        return _edges(table.values[:, j], more_than_once, most if numeric[j] else 1)

    every = pool.map(found, range(len(numeric)))
    edges, several = map(list, zip(*every, strict=True))
    return Bins(edges, schema.n_categories, several)


def _edges(
    cells: Floats, count: NDArray[np.int64] | None, most: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Edges of the bins of a feature, and which bins hold several values.

    `count` says how often each cell occurs; None: once.
    """
    n = len(cells) - np.count_nonzero(np.isnan(cells))
    if most == 1 or not n:
        return np.empty(0), np.zeros(1, dtype=bool)
    # Missing values come last.
    order = None if count is None else np.argsort(cells)[:n]
    values = np.sort(cells)[:n] if order is None else cells[order]
    last = np.flatnonzero(np.append(values[1:] > values[:-1], True))
    place = np.arange(len(last) - 1)  # among different values: those below an edge
    if len(last) > most:
        if count is None:
            up_to, total = last, n
        else:
            up_to = np.cumsum(count[order])[last] - 1
            total = int(up_to[-1]) + 1
        wanted = np.ceil(total * np.arange(1, most) / most).astype(np.int64) - 1
        place = np.unique(np.minimum(np.searchsorted(up_to, wanted), len(last) - 2))
    below, above = values[last[place]], values[last[place + 1]]
    middle = below + (above - below) / 2
    middle = np.where(middle < above, middle, below)
    return middle, np.diff([0, *(place + 1), len(last)]) > 1
