"""Results in one SQLite file: what was run, and each finished fold.

A run is a data set (by the hash of its table), a method with all its parameters, a
protocol, a seed and the version of omnitree; its key is a hash of these. A fold is written
in a transaction of its own as soon as it is done, so that a process killed at any moment
has lost nothing that was finished and repeats nothing on resuming. Only the process that
started the run writes.

Every row carries a checksum. A store is checked when it is opened (`store_repair`): rows
that are damaged are named and dropped, so that they are run again, and all others stay.
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from omnitree.data.reading import InputError
from omnitree.lab.store_repair import open_checked, sign_row


@dataclass(frozen=True)
class Run:
    """One method on one data set under one protocol."""

    data: str  # name of the table
    data_hash: str
    classes: tuple[str, ...]  # what the codes of stored predictions stand for
    method: str  # preset with the options given to it
    parameters: str  # all parameters of the estimator, as JSON
    protocol: str
    seed: int
    version: str  # of omnitree

    @property
    def key(self) -> str:
        """Hash of everything that decides the result (names of data and methods do not)."""
        of = (self.data_hash, self.parameters, self.protocol, self.seed, self.version)
        return sha256(json.dumps(of).encode()).hexdigest()


@dataclass(frozen=True)
class Fold:
    """What one fit and test gave; a failed one has a `failure` and nothing else.

    `detail` has `nodes`, what `fitting.describe_nodes` says, `training_error` in percent,
    and `log_loss` and `brier` of the probabilities of the test rows; or `paths`, the
    features along each row's path.
    """

    failure: str | None = None  # what went wrong, in words
    error: float | None = None  # percent of the test rows classified wrongly
    leaves: int | None = None  # of leave-one-out paths this and the next are unknown
    nodes: int | None = None
    depth: int | None = None
    parameters: int | None = None
    kinds: dict[str, int] = field(default_factory=dict)  # decision nodes by kind
    seconds: float | None = None  # CPU time of the fit
    memory: float | None = None  # megabytes that the process grew by, at its peak
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    predicted: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def log_loss(self) -> float | None:
        """Mean of minus the logarithm of the true class's probability."""
        return self.detail.get("log_loss")

    @property
    def brier(self) -> float | None:
        """Mean over the rows of the sum over the classes of squared errors."""
        return self.detail.get("brier")


class Store:
    """Runs and their folds in a file; without one they last as long as the object.

    >>> store = Store()
    >>> run = Run("iris", "ab12", ("a", "b"), "cart", "{}", "5x2fold", 0, "0.1")
    >>> store.add(run, 3, Fold(error=4.0, leaves=3))
    >>> sorted(store.folds(run)), store.folds(run)[3].error
    ([3], 4.0)
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self._db = open_checked(path)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def add(self, run: Run, fold: int, result: Fold) -> None:
        """Write one finished fold; it is on disk when this returns."""
        values = asdict(run) | {"key": run.key, "classes": json.dumps(run.classes)}
        row = asdict(result) | {
            "run": run.key,
            "fold": fold,
            "kinds": json.dumps(result.kinds),
            "rows": _pack(result.rows),
            "predicted": _pack(result.predicted),
            "detail": json.dumps(result.detail),
        }
        with self._writing():
            self._insert("INSERT OR IGNORE", "runs", values)
            self._insert("INSERT OR REPLACE", "folds", row)

    def _insert(self, how: str, table: str, values: dict[str, Any]) -> None:
        names = ", ".join(values)
        places = ", ".join(f":{name}" for name in values)
        command = f"{how} INTO {table} ({names}, checksum) VALUES ({places}, '')"
        done = self._db.execute(command, values)
        if done.rowcount > 0:
            sign_row(self._db, table, done.lastrowid)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction; what cannot be written is said in one line."""
        try:
            with self._db:
                yield
        except sqlite3.OperationalError as error:
            raise InputError(
                f"cannot write {self.path}: {error}. The folds in it are kept: run the "
                "same command again once it can be written"
            ) from None

    def done(self, run: Run) -> set[int]:
        """Numbers of the folds that are finished, failed ones included."""
        found = self._db.execute("SELECT fold FROM folds WHERE run = ?", [run.key])
        return {fold for (fold,) in found}

    def folds(self, run: Run) -> dict[int, Fold]:
        """All finished folds of a run, by number."""
        names = [f.name for f in fields(Fold)]
        query = (
            f"SELECT fold, {', '.join(names)} FROM folds WHERE run = ? ORDER BY fold"
        )
        out = {}
        with closing(self._db.execute(query, [run.key])) as found:
            for number, *values in found:
                row = dict(zip(names, values, strict=True))
                row["kinds"] = json.loads(row["kinds"])
                row["detail"] = json.loads(row["detail"])
                row["rows"] = _unpack(row["rows"])
                row["predicted"] = _unpack(row["predicted"])
                out[number] = Fold(**row)
        return out

    def totals(self) -> tuple[int, float]:
        """Number of all finished folds, and the CPU seconds that their fits took."""
        found = self._db.execute("SELECT COUNT(*), TOTAL(seconds) FROM folds")
        n, seconds = found.fetchone()
        return int(n), float(seconds)

    def forget_failures(self, run: Run) -> None:
        """Let the failed folds of a run be tried again."""
        with self._writing():
            self._db.execute(
                "DELETE FROM folds WHERE run = ? AND failure IS NOT NULL", [run.key]
            )


def _pack(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array, dtype=np.int32), allow_pickle=False)
    return buffer.getvalue()


def _unpack(raw: bytes) -> np.ndarray:
    return np.load(io.BytesIO(raw), allow_pickle=False)
