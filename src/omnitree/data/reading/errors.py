"""The error that is the user's one line, and what turns others into it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class InputError(Exception):
    """The user's input is at fault; the message is the one line they read."""


@contextmanager
def input_at_fault() -> Iterator[None]:
    """What goes wrong in here is the input's fault."""
    try:
        yield
    except BrokenPipeError:  # `| head`: typer ends quietly
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise InputError(f"{where}{error.strerror or error}") from None
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from None


def check_input(path: Path) -> None:
    """Refuse a path that is no file."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if not path.exists():
        raise InputError(f"there is no file {path}")
