"""Writing files whole: a file is replaced only when the new one is complete."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file beside `path` and put it in its place when complete.

    A link is followed; only regular files are replaced.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no regular file; choose another name")
    handle, temporary = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.", suffix=".tmp"
    )
    try:
        data = content.encode("utf-8") if isinstance(content, str) else content
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
