"""What a split learner is."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitree.data.schema import Schema
from omnitree.growing.clock import check_time
from omnitree.growing.constraints import Constraints
from omnitree.growing.dispatch import Search
from omnitree.growing.node import Node
from omnitree.growing.node_folds import NodeFolds
from omnitree.growing.part import Part
from omnitree.tree.splits import Split

if TYPE_CHECKING:
    from omnitree.growing.blocks.sum_node import FoundSplit, SumNode

Floats = NDArray[np.float64]


class SplitLearner(Part):
    """Finds one test for one node.

    A learner is a value: its constructor arguments are its whole state and `fit` returns
    what it found, so one learner serves every node of every tree in any thread. Where
    compiled code can find the same tests for a whole tree, `search` says what to look for.
    """

    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    # Options that serve one task only.
    options_of: ClassVar[dict[str, tuple[str, ...]]] = {}
    uses_costs = False  # whether it weighs what features cost
    # Whether `fit` draws random numbers: to seed a generator takes a tenth of the time of a
    # small node, so the grower gives none to learners that do not.
    draws = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Another `fit` finds other tests: compiled code must not stand in for it.
        if "fit" in vars(cls) and "search" not in vars(cls):
            cls.search = SplitLearner.search  # type: ignore[method-assign]
        if "fit" in vars(cls) and "grows_from" not in vars(cls):
            cls.grows_from = SplitLearner.grows_from  # type: ignore[method-assign]
        if "fit" in vars(cls) and "draws" not in vars(cls):
            cls.draws = True

    @property
    def label(self) -> str:
        """Its short name among other candidates."""
        return type(self).__name__.lower()

    def check_options(self, task: str) -> None:
        """Refuse options that do not serve a task and are not left at their defaults."""
        useless = {
            name: other
            for other, names in self.options_of.items()
            for name in names
            if other != task
        }
        for name, about in inspect.signature(type(self)).parameters.items():
            if name in useless and getattr(self, name) != about.default:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} of {type(self).__name__} is an option "
                    f"for {useless[name]}; leave it out for {task}"
                )

    @abstractmethod
    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """Return the best test for the rows of `node`, or None to leave it a leaf."""

    def constraints(self, schema: Schema) -> Constraints | None:
        """Rules that its tests keep, for a table of this schema."""
        return None

    def search(self, root: Node) -> Search | None:
        """What `fit` looks for below a root, if compiled code knows it (`dispatch.py`)."""
        return None

    @property
    def grows_from(self) -> str | None:
        """Sums over rows that `fit_sums` finds tests from: "histograms" or "moments".

        None: it has to see rows.
        """
        return None

    def needs_rows(self) -> str:
        """What it is that cannot be grown from sums, where `grows_from` is None."""
        return f"the learner {type(self).__name__}"

    def fit_sums(self, node: SumNode, rng: np.random.Generator) -> FoundSplit | None:
        """The best test for a node, from sums."""
        raise AssertionError(f"{type(self).__name__} has to see rows")

    def trial_losses(self, folds: NodeFolds, rng: np.random.Generator) -> Floats:
        """Mean loss on the test part of every fold, trained on the other part.

        The branches of a test answer as leaves of their training rows; a part where no
        test is found is a leaf. Learners that can train for all folds together do.
        """
        table, rows = folds.node.sample.table, folds.node.rows
        losses = np.empty(len(folds))
        for d, own in enumerate(rng.spawn(len(folds))):
            check_time()
            part = folds.part(d)
            # Limits are the node's affair: its parts are smaller than it is.
            split = None if part.target.is_pure else self.fit(part, own)
            branches = [np.full(len(at), -1) for at in folds.parts[d]]
            if split is not None:
                branches = [split.route(table, rows[at]) for at in folds.parts[d]]
                # Without a branch for them, rows with a missing value are divided, and
                # get the answer of the node.
                branches = [np.where(b < 0, split.missing, b) for b in branches]
            losses[d] = folds.loss(d, *branches)
        return losses
