"""Run every method on every data set, in parallel over folds, and keep each result.

All methods see the same divisions and the same seeds. Folds that the store has are not
repeated. Workers are processes of joblib, or of a Dask cluster; the order in which folds
finish does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from omnitree.growing.blocks.dask_engine import current_client
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
        """A measure of every fold: one of `omnitree.lab.comparison.MEASURES`."""
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

    `n_jobs` are processes, as joblib counts them; inside ``with distributed.Client(...)``
    folds are tasks of its cluster instead. One fit may take `limit` seconds;
    `verbose` shows progress with the time left, and `retry` tries failed folds again.
    """
    divisions: dict[tuple[str, str, int], list[Division]] = {}  # once for all methods
    runs, jobs = [], []
    for task in tasks:
        run, key = task.run, (task.data.digest, task.protocol.name, task.seed)
        if key not in divisions:
            divisions[key] = task.protocol.divide(task.data, task.seed)
        if retry:
            store.forget_failures(run)
        runs.append((run, len(divisions[key])))
        done = store.done(run)
        for fold, part in enumerate(divisions[key]):
            if fold not in done:
                jobs.append((task, run, fold, part))
    finished = _finished([(*job, limit) for job in jobs], n_jobs)
    for run, fold, result in watched(finished, "fitting", len(jobs), verbose):
        store.add(run, fold, result)
    out = []
    for task, (run, n_folds) in zip(tasks, runs, strict=True):
        found = store.folds(run)
        out.append(Result(task, [found[i] for i in range(n_folds)]))
    return out


def _finished(jobs: list[Any], n_jobs: int | None) -> Iterator[Any]:
    """What `_work` returns for each job, as they finish."""
    client = current_client(allow_global=False)
    if client is None:
        workers = Parallel(n_jobs=n_jobs or 1, return_as="generator_unordered")
        yield from workers(delayed(_work)(*job) for job in jobs)
        return
    from distributed import as_completed

    futures = [client.submit(_work, *job, pure=False) for job in jobs]
    for future in as_completed(futures):
        yield future.result()
        future.release()


def _work(
    task: Task, run: Run, fold: int, part: Division, limit: float | None
) -> tuple[Run, int, Fold]:
    seed = int(np.random.SeedSequence([task.seed, fold]).generate_state(1)[0])
    return run, fold, fit_and_test(task.data, task.method, part, seed, limit)


def watched(steps: Iterable[Any], title: str, total: int, shown: bool) -> Iterable[Any]:
    """The steps, with a bar that shows the time left until it is done."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(
        steps, title, total, console=console, transient=True, disable=not shown
    )
