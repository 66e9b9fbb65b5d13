"""Libraries of the extra `lab`, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def need(module: str) -> Any:
    """A module of the extra `lab`; a clear error if it is not installed.

    >>> need("json").dumps([1])
    '[1]'
    >>> need("no_such_library.part")
    Traceback (most recent call last):
        ...
    ImportError: this needs no_such_library: pip install omnitree[lab]
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != library:
            raise
        raise ImportError(f"this needs {library}: pip install omnitree[lab]") from None
