"""Writing files whole: a file is replaced only when the new one is complete."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file beside `path` and put it in its place when complete.

    A link is followed; only regular files are replaced, and they keep their permissions.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no regular file; choose another name")
    data = content.encode("utf-8") if isinstance(content, str) else content
    # The start of the name is enough: the whole may be as long as the system allows.
    temporary = path.parent / f".{path.name[:32]}.{secrets.token_hex(8)}.tmp"
    try:
        file = temporary.open("xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
