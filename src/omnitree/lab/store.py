"""Results in one SQLite file: what was run, and each finished fold.

A run is a data set (by the hash of its table), a method with all its parameters, a
protocol, a seed and the version of omnitree; its key is a hash of these. A fold is written
in a transaction of its own as soon as it is done, so that a process killed at any moment
has lost nothing that was finished and repeats nothing on resuming. Only the process that
started the run writes.
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

FORMAT = 1

TABLES = """
CREATE TABLE IF NOT EXISTS runs (
  key TEXT PRIMARY KEY,
  data TEXT NOT NULL, data_hash TEXT NOT NULL, classes TEXT NOT NULL,
  method TEXT NOT NULL, parameters TEXT NOT NULL,
  protocol TEXT NOT NULL, seed INTEGER NOT NULL, version TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS folds (
  run TEXT NOT NULL REFERENCES runs(key), fold INTEGER NOT NULL,
  failure TEXT, error REAL, leaves INTEGER, nodes INTEGER, depth INTEGER,
  parameters INTEGER, kinds TEXT, seconds REAL, memory REAL,
  rows BLOB, predicted BLOB, detail TEXT,
  PRIMARY KEY (run, fold)
);
"""


@dataclass(frozen=True)
class Run:
    """One method on one data set under one protocol.

    Attributes
    ----------
    data, data_hash : str
        Name and hash of the table.
    classes : tuple of str
        What the codes of stored predictions stand for.
    method : str
        Preset with the options given to it.
    parameters : str
        All parameters of the estimator, as JSON.
    protocol : str
    seed : int
    version : str
        Of omnitree.
    """

    data: str
    data_hash: str
    classes: tuple[str, ...]
    method: str
    parameters: str
    protocol: str
    seed: int
    version: str

    @property
    def key(self) -> str:
        """Hash of everything that decides the result (names of data and methods do not)."""
        parts = [
            self.data_hash,
            self.parameters,
            self.protocol,
            self.seed,
            self.version,
        ]
        return sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Fold:
    """What one fit and test gave; a failed one has a `failure` and nothing else.

    Attributes
    ----------
    failure : str or None
        What went wrong, in words.
    error : float
        Percent of the test rows classified wrongly.
    leaves, nodes, depth, parameters : int
        Of the tree (of leave-one-out paths: unknown).
    kinds : dict
        Decision nodes by kind.
    seconds : float
        CPU time of the fit.
    memory : float or None
        Megabytes that the process grew by, at its peak, during the fit.
    rows, predicted : array of int
        The test rows and the codes of their predicted classes.
    detail : dict
        What else is worth keeping: `nodes`, a list of [kind, level, rows, classes,
        features, number of encoded columns] for each decision node, and `training_error`
        in percent; or `paths`, the features along each row's path.
    """

    failure: str | None = None
    error: float | None = None
    leaves: int | None = None
    nodes: int | None = None
    depth: int | None = None
    parameters: int | None = None
    kinds: dict[str, int] = field(default_factory=dict)
    seconds: float | None = None
    memory: float | None = None
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    predicted: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    detail: dict[str, Any] = field(default_factory=dict)


class Store:
    """Runs and their folds in a file, or in memory.

    Parameters
    ----------
    path : Path, optional
        The file; without it results last as long as the object.

    Examples
    --------
    >>> store = Store()
    >>> run = Run("iris", "ab12", ("a", "b"), "cart", "{}", "5x2fold", 0, "0.1")
    >>> store.add(run, 3, Fold(error=4.0, leaves=3))
    >>> sorted(store.folds(run)), store.folds(run)[3].error
    ([3], 4.0)
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        try:
            self._db = sqlite3.connect(
                ":memory:" if path is None else str(path), timeout=60
            )
            with self._db:
                found = self._db.execute("PRAGMA user_version").fetchone()[0]
                if found not in (0, FORMAT):
                    raise InputError(
                        f"{path} is a store of format {found}; this omnitree reads "
                        f"{FORMAT}"
                    )
                self._db.executescript(TABLES)
                self._db.execute(f"PRAGMA user_version = {FORMAT}")
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path} is no store of results: {error}") from None

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
        with self._db:
            self._insert("INSERT OR IGNORE", "runs", values)
            self._insert("INSERT OR REPLACE", "folds", row)

    def _insert(self, how: str, table: str, values: dict[str, Any]) -> None:
        names = ", ".join(values)
        places = ", ".join(f":{name}" for name in values)
        self._db.execute(f"{how} INTO {table} ({names}) VALUES ({places})", values)

    def done(self, run: Run) -> set[int]:
        """Numbers of the folds that are finished, failed ones included."""
        found = self._db.execute("SELECT fold FROM folds WHERE run = ?", [run.key])
        return {fold for (fold,) in found}

    def folds(self, run: Run) -> dict[int, Fold]:
        """All finished folds of a run, by number."""
        names = [f.name for f in fields(Fold)]
        with closing(
            self._db.execute(
                f"SELECT fold, {', '.join(names)} FROM folds WHERE run = ? ORDER BY fold",
                [run.key],
            )
        ) as found:
            out = {}
            for number, *values in found:
                row = dict(zip(names, values, strict=True))
                row["kinds"] = json.loads(row["kinds"])
                row["detail"] = json.loads(row["detail"])
                row["rows"] = _unpack(row["rows"])
                row["predicted"] = _unpack(row["predicted"])
                out[number] = Fold(**row)
        return out

    def forget_failures(self, run: Run) -> None:
        """Let the failed folds of a run be tried again."""
        with self._db:
            self._db.execute(
                "DELETE FROM folds WHERE run = ? AND failure IS NOT NULL", [run.key]
            )


@contextmanager
def opened(path: Path | None) -> Iterator[Store]:
    """A store that is closed at the end."""
    store = Store(path)
    try:
        yield store
    finally:
        store.close()


def _pack(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array, dtype=np.int32), allow_pickle=False)
    return buffer.getvalue()


def _unpack(raw: bytes) -> np.ndarray:
    return np.load(io.BytesIO(raw), allow_pickle=False)
