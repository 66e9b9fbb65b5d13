"""Opening the file of a store: tables, checksums of rows, and what to do about damage.

A row whose checksum is wrong is dropped and named. Of a file that SQLite itself finds
malformed, the sound rows are copied to a new one, and the old one is kept beside it. Used by
`omnitree.lab.store`.
"""

from __future__ import annotations

import json
import os
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from omnitree.data.reading import InputError

FORMAT = 2
# Damaged rows that a warning names.
MOST_NAMED = 5

TABLES = """
CREATE TABLE IF NOT EXISTS runs (
  key TEXT PRIMARY KEY,
  data TEXT NOT NULL, data_hash TEXT NOT NULL, classes TEXT NOT NULL,
  method TEXT NOT NULL, parameters TEXT NOT NULL,
  protocol TEXT NOT NULL, seed INTEGER NOT NULL, version TEXT NOT NULL,
  checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS folds (
  run TEXT NOT NULL REFERENCES runs(key), fold INTEGER NOT NULL,
  failure TEXT, error REAL, leaves INTEGER, nodes INTEGER, depth INTEGER,
  parameters INTEGER, kinds TEXT, seconds REAL, memory REAL,
  rows BLOB, predicted BLOB, detail TEXT,
  checksum TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (run, fold)
);
"""
COLUMNS = {
    "runs": "key, data, data_hash, classes, method, parameters, protocol, seed, version",
    "folds": "run, fold, failure, error, leaves, nodes, depth, parameters, kinds, seconds, "
    "memory, rows, predicted, detail",
}


def open_checked(path: Path | None) -> sqlite3.Connection:
    """The file of a store, with its tables; damaged rows are dropped with a warning.

    Raises
    ------
    InputError
        If it is no store, or cannot be read or written.
    """
    try:
        try:
            return _opened(path)
        except sqlite3.DatabaseError as error:
            if path is None or "malformed" not in str(error):
                raise
        assert path is not None
        _salvage(path)
        return _opened(path)
    except sqlite3.OperationalError as error:
        raise InputError(f"{path} cannot be used as a store: {error}") from None
    except (sqlite3.DatabaseError, OSError) as error:
        raise InputError(f"{path} is no store of results: {error}") from None


def sign_row(db: sqlite3.Connection, table: str, row: int | None) -> None:
    """Write the checksum of a row."""
    columns = COLUMNS[table]
    found = db.execute(f"SELECT {columns} FROM {table} WHERE rowid = ?", [row])
    checksum = _checksum(list(found.fetchone()))
    db.execute(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", [checksum, row])


def _checksum(values: list[Any]) -> str:
    """A hash of a row as it is read."""
    plain = [v.hex() if isinstance(v, bytes) else v for v in values]
    return sha256(json.dumps(plain).encode()).hexdigest()[:32]


def _connect(path: Path | None) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:" if path is None else str(path), timeout=60)
    # Damaged text is for the checksum to find.
    db.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
    return db


def _opened(path: Path | None) -> sqlite3.Connection:
    db = _connect(path)
    try:
        with db:
            (found,) = db.execute("PRAGMA user_version").fetchone()
            if found not in (0, FORMAT):
                raise InputError(
                    f"{path} is a store of format {found}; this omnitree reads {FORMAT}"
                )
            if found:
                _check_file(db)
            db.executescript(TABLES)
            _drop_damaged(db, path)
            if found != FORMAT:
                db.execute(f"PRAGMA user_version = {FORMAT}")
    except UnicodeDecodeError as error:  # a message of SQLite quotes what is damaged
        db.close()
        raise sqlite3.DatabaseError(f"malformed: {error}") from None
    except BaseException:
        db.close()
        raise
    return db


def _check_file(db: sqlite3.Connection) -> None:
    """Raise DatabaseError where SQLite finds the file malformed."""
    (answer,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if answer != "ok":
        raise sqlite3.DatabaseError(f"malformed: {answer}")
    for table, columns in COLUMNS.items():
        try:
            db.execute(f"SELECT {columns} FROM {table} LIMIT 0")
        except sqlite3.OperationalError as error:
            raise sqlite3.DatabaseError(f"malformed: {error}") from None


def _drop_damaged(db: sqlite3.Connection, path: Path | None) -> None:
    """Delete rows whose checksum is wrong, and say which."""
    damaged: list[str] = []
    for table, columns in COLUMNS.items():
        bad = [
            (number, values)
            for number, checksum, *values in db.execute(
                f"SELECT rowid, checksum, {columns} FROM {table}"
            )
            if checksum != _checksum(values)
        ]
        for number, values in bad:
            db.execute(f"DELETE FROM {table} WHERE rowid = ?", [number])
            if table == "folds":
                damaged.append(f"fold {values[1]} of {_title(db, values[0])}")
            else:
                damaged.append(f"the entry of {values[4]} on {values[1]}")
    if damaged:
        more = len(damaged) - MOST_NAMED
        named = ", ".join(damaged[:MOST_NAMED]) + (f" and {more} more" * (more > 0))
        warnings.warn(
            f"{path} is damaged: {named} cannot be trusted and will be run again if asked "
            "for; everything else is kept",
            UserWarning,
            stacklevel=1,
        )


def _title(db: sqlite3.Connection, key: Any) -> str:
    """What a run is, in words."""
    found = db.execute("SELECT method, data FROM runs WHERE key = ?", [key]).fetchone()
    return "an unknown run" if found is None else f"{found[0]} on {found[1]}"


def _salvage(path: Path) -> None:
    """Copy the sound rows of a malformed file to a new one; the old one stays beside it."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    with closing(_connect(path)) as old, closing(_connect(fresh)) as new, new:
        new.executescript(TABLES)
        for table, columns in COLUMNS.items():
            places = ", ".join("?" * (columns.count(",") + 2))
            for checksum, *values in _readable(old, table, columns):
                if checksum == _checksum(values):
                    new.execute(
                        f"INSERT OR IGNORE INTO {table} ({columns}, checksum) "
                        f"VALUES ({places})",
                        [*values, checksum],
                    )
        new.execute(f"PRAGMA user_version = {FORMAT}")
        (kept,) = new.execute("SELECT count(*) FROM folds").fetchone()
    damaged = path.with_name(f"{path.name}.damaged")
    os.replace(path, damaged)
    os.replace(fresh, path)
    warnings.warn(
        f"{path} is damaged: {kept} folds could be read and are kept, others will be run "
        f"again if asked for; the damaged file is now {damaged}",
        UserWarning,
        stacklevel=1,
    )


def _readable(
    db: sqlite3.Connection, table: str, columns: str
) -> Iterator[tuple[Any, ...]]:
    """Rows that can be read, from the first on and, past damage, from the last back."""
    for order in ("rowid", "rowid DESC"):
        with (
            suppress(sqlite3.Error, UnicodeDecodeError),
            closing(
                db.execute(
                    f"SELECT checksum, {columns} FROM {table} NOT INDEXED ORDER BY {order}"
                )
            ) as found,
        ):
            yield from found
            return
