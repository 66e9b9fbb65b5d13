"""Run every method on every data set, in parallel over folds, and keep each result.

All methods see the same divisions and the same seeds. Folds that the store has are not
repeated. Workers are processes of joblib; the order in which folds finish does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from omnitree.lab.data import Dataset
from omnitree.lab.fitting import fit_and_test
from omnitree.lab.methods import Method
from omnitree.lab.protocols import Division, Protocol
from omnitree.lab.store import Fold, Run, Store


@dataclass(frozen=True)
class Task:
    """One data set, one method, one protocol."""

    data: Dataset
    method: Method
    protocol: Protocol
    seed: int = 0

    @property
    def run(self) -> Run:
        """How the store knows it."""
        return Run(
            self.data.name,
            self.data.digest,
            tuple(self.data.classes.tolist()),
            self.method.name,
            self.method.parameters,
            self.protocol.name,
            self.seed,
            version("omnitree"),
        )


@dataclass(frozen=True)
class Result:
    """A task and its folds, in order; failed folds are there with a `failure`."""

    task: Task
    folds: list[Fold]

    @property
    def failures(self) -> list[str]:
        """What went wrong, fold by fold."""
        return [fold.failure for fold in self.folds if fold.failure is not None]

    def scores(self, measure: str) -> np.ndarray:
        """A measure of every fold: error, leaves, nodes, parameters, seconds, memory."""
        values = [getattr(fold, measure) for fold in self.folds]
        return np.array([np.nan if v is None else v for v in values], dtype=float)

    def wrong(self) -> np.ndarray:
        """Whether each tested row was classified wrongly, over all folds in order."""
        codes = np.searchsorted(self.task.data.classes, self.task.data.y)
        parts = [fold.predicted != codes[fold.rows] for fold in self.folds]
        return np.concatenate(parts).astype(float)


def run(
    tasks: Sequence[Task],
    store: Store,
    n_jobs: int | None = None,
    limit: float | None = None,
    verbose: bool = False,
    retry: bool = False,
) -> list[Result]:
    """Do what the store does not have yet, then return everything.

    Parameters
    ----------
    tasks : sequence of Task
    store : Store
    n_jobs : int, optional
        Processes, as joblib counts them; by default one.
    limit : float, optional
        Seconds that one fit may take.
    verbose : bool, default=False
        Show progress with the time left.
    retry : bool, default=False
        Try failed folds again.
    """
    parts = _Divisions()
    runs = [task.run for task in tasks]
    jobs = []
    for task, key in zip(tasks, runs, strict=True):
        if retry:
            store.forget_failures(key)
        done = store.done(key)
        for fold, part in enumerate(parts.of(task)):
            if fold not in done:
                jobs.append((task, key, fold, part))

    if jobs:
        workers = Parallel(n_jobs=n_jobs or 1, return_as="generator_unordered")
        finished = workers(delayed(_work)(*job, limit) for job in jobs)
        for key, fold, result in _watched(finished, len(jobs), verbose):
            store.add(key, fold, result)
    out = []
    for task, key in zip(tasks, runs, strict=True):
        found = store.folds(key)
        out.append(Result(task, [found[i] for i in range(len(parts.of(task)))]))
    return out


def frame(results: Sequence[Result]) -> pd.DataFrame:
    """One row per fold: data set, method, and every measure."""
    rows = []
    for result in results:
        for i, fold in enumerate(result.folds):
            rows.append(
                {
                    "data": result.task.data.name,
                    "method": result.task.method.title,
                    "fold": i,
                    "error": fold.error,
                    "leaves": fold.leaves,
                    "nodes": fold.nodes,
                    "depth": fold.depth,
                    "parameters": fold.parameters,
                    "seconds": fold.seconds,
                    "memory": fold.memory,
                    "failure": fold.failure,
                    **{f"{kind} nodes": n for kind, n in fold.kinds.items()},
                }
            )
    return pd.DataFrame(rows)


class _Divisions:
    """Divisions of each data set, made once for all methods."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, int], list[Division]] = {}

    def of(self, task: Task) -> list[Division]:
        key = (task.data.digest, task.protocol.name, task.seed)
        if key not in self._made:
            self._made[key] = task.protocol.divide(task.data, task.seed)
        return self._made[key]


def _work(
    task: Task, key: Run, fold: int, part: Division, limit: float | None
) -> tuple[Run, int, Fold]:
    seed = int(np.random.SeedSequence([task.seed, fold]).generate_state(1)[0])
    return key, fold, fit_and_test(task.data, task.method, part, seed, limit)


def _watched(finished, total: int, verbose: bool):
    """The results as they come, with a bar that shows the time left."""
    if not verbose:
        yield from finished
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(finished, "fitting", total=total, console=console)
