"""Data sets of OpenML: scikit-learn fetches and caches them, a manifest checks them.

`fetch_openml` keeps downloads in a folder, checks them against the server's checksums and
reads them from there later, without a network. OpenML may change what it serves under a
name, so the hash of each table is written to `manifest.json` the first time and compared
from then on: a run is either repeated exactly or fails with an error. The folder is
$OMNITREE_CACHE, else `omnitree` in the user's cache folder.
"""

from __future__ import annotations

import json
import os
import warnings
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd

from omnitree.data.files import replace_file
from omnitree.data.reading import InputError

VARIABLE = "OMNITREE_CACHE"


def cache_folder() -> Path:
    """Where fetched data sets are kept."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "omnitree"


def fetch(
    name: str, version: int, target: str | None = None
) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and labels of a data set, from the cache if it is there."""
    from sklearn.datasets import fetch_openml

    options: dict[str, Any] = {} if target is None else {"target_column": target}
    try:
        with warnings.catch_warnings():
            # That it tries again; that a version is said to have faults is worth a word.
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
            bunch = fetch_openml(
                name,
                version=version,
                as_frame=True,
                parser="pandas",
                data_home=str(cache_folder()),
                n_retries=1,
                delay=0.1,
                **options,
            )
    # Not all that a broken connection raises is a URLError.
    except (URLError, TimeoutError, ConnectionError, HTTPException) as error:
        raise InputError(
            f"{name!r} is not in {cache_folder()} and OpenML cannot be reached: "
            f"{getattr(error, 'reason', '') or error or type(error).__name__}"
        ) from None
    except (ValueError, KeyError) as error:
        raise InputError(f"OpenML's {name!r}, version {version}: {error}") from None
    if bunch.target is None or bunch.target.ndim != 1:
        raise InputError(
            f"OpenML's {name!r} names no single target; give target=COLUMN"
        )
    known = bunch.target.notna().to_numpy()
    labels = bunch.target[known].astype(str).to_numpy()
    return bunch.data[known].reset_index(drop=True), labels


def check(name: str, version: int, digest: str) -> None:
    """Remember the hash of a table, or compare it with the one remembered."""
    path = cache_folder() / "manifest.json"
    key = f"{name}/{version}"
    known: dict[str, str] = {}
    if path.exists():
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            raise InputError(f"{path} is damaged: delete it to start anew") from None
    if key not in known:
        replace_file(path, json.dumps(known | {key: digest}, indent=1) + "\n")
    elif known[key] != digest:
        raise InputError(
            f"OpenML's {name!r}, version {version}, is not what it was: the hash of its "
            f"table is {digest[:12]}..., in {path} it is {known[key][:12]}..."
        )
