"""One fit and one test: the work of a single process of the runner.

A fit that fails or exceeds its time limit is recorded as a failure. The limit is hard where
the system has alarms (not on Windows): an exception stops the fit at the next step of Python
or tick of a kernel. Memory is the increase of the peak resident size during the fit, where
the system reports it (Linux).
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from omnitree.lab import paths
from omnitree.lab.data import Dataset
from omnitree.lab.methods import Method
from omnitree.lab.protocols import Division
from omnitree.lab.store import Fold
from omnitree.tree.tree import LEAF, Tree


class TimeLimit(Exception):
    """A fit took too long."""


def fit_and_test(
    data: Dataset, method: Method, part: Division, seed: int, limit: float | None
) -> Fold:
    """Fit on one division of a data set, test, and say what came of it."""
    try:
        with warnings.catch_warnings(), time_limit(limit):
            warnings.simplefilter("ignore", UserWarning)
            if part.by_path:
                return _paths(data, method, seed)
            return _tree(data, method, part, seed)
    except TimeLimit:
        return Fold(failure=f"time limit of {limit:g} s")
    except MemoryError:
        return Fold(failure="out of memory")
    except Exception as error:  # whatever a method does, the other folds go on
        return Fold(failure=f"{type(error).__name__}: {error}")


def _tree(data: Dataset, method: Method, part: Division, seed: int) -> Fold:
    estimator = method.make(seed)
    X, y = data.X, data.y
    given: dict[str, Any] = {}
    if part.prune is not None:
        # A class that growing has not seen cannot be pruned on.
        known = part.prune[np.isin(y[part.prune], y[part.train])]
        given["prune_set"] = (X.iloc[known], y[known])
    before = _start_memory()
    start = time.process_time()
    estimator.fit(X.iloc[part.train], y[part.train], **given)
    seconds = time.process_time() - start
    memory = _memory_since(before)
    predicted = np.searchsorted(data.classes, estimator.predict(X.iloc[part.test]))
    truth = np.searchsorted(data.classes, y[part.test])
    seen = float(np.mean(estimator.predict(X.iloc[part.train]) != y[part.train]))
    proba = np.zeros((len(truth), len(data.classes)))
    known = np.searchsorted(data.classes, estimator.classes_)
    proba[:, known] = estimator.predict_proba(X.iloc[part.test])
    detail = {"training_error": 100 * seen, **probability_losses(proba, truth)}
    tree = estimator.tree_
    return Fold(
        error=100 * float(np.mean(predicted != truth)),
        leaves=int(tree.n_leaves),
        nodes=int(tree.n_nodes),
        depth=int(tree.depth),
        parameters=int(tree.n_parameters),
        kinds=tree.node_kinds(),
        seconds=seconds,
        memory=memory,
        rows=part.test,
        predicted=predicted,
        detail={"nodes": describe_nodes(tree), **detail},
    )


def _paths(data: Dataset, method: Method, seed: int) -> Fold:
    start = time.process_time()
    found = paths.leave_one_out(method.make(seed), data.X, data.y, seed)
    seconds = time.process_time() - start
    predicted = np.array([path.label for path in found])
    truth = np.searchsorted(data.classes, data.y)
    return Fold(
        error=100 * float(np.mean(predicted != truth)),
        seconds=seconds,
        rows=np.arange(len(predicted)),
        predicted=predicted,
        detail={"paths": [list(path.features) for path in found]},
    )


def probability_losses(proba: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Log loss and Brier score of probabilities (n, classes) of rows of some classes.

    Examples
    --------
    >>> losses = probability_losses(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0, 1]))
    >>> {name: round(loss, 3) for name, loss in losses.items()}
    {'log_loss': 0.347, 'brier': 0.25}
    """
    own = proba[np.arange(len(truth)), truth]
    log_loss = -np.log(np.maximum(own, np.finfo(float).eps)).mean()
    brier = ((proba**2).sum(axis=1) - 2 * own + 1).mean()
    return {"log_loss": float(log_loss), "brier": float(brier)}


def describe_nodes(tree: Tree) -> list[list[Any]]:
    """Kind, level (1 is the root), rows, classes, features, number of columns and free
    parameters of each decision node."""
    depths = tree.depths
    out = []
    for node in np.flatnonzero(tree.kind != LEAF).tolist():
        split = tree.split(node)
        out.append(
            [
                split.kind,
                int(depths[node]) + 1,
                float(tree.value[node].sum()),
                int((tree.value[node] > 0).sum()),
                sorted(split.features(tree.schema)),
                len(getattr(split, "columns", ("the feature",))),
                tree.complexity(node),
            ]
        )
    return out


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `TimeLimit` in here after some seconds, where the system has alarms."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeLimit

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def _start_memory() -> float | None:
    """Megabytes in use, with the system's peak set back to that; None if unknown."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return None


def _memory_since(before: float | None) -> float | None:
    return None if before is None else max(0.0, _status("VmHWM") - before)


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise OSError(f"no {field} in /proc/self/status")
