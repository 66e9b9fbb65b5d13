"""Progress of long work: a rich bar on demand, silence otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(title: str, verbose: int = 0) -> Iterator[Callable[[float], None]]:
    """A function that shows which fraction is done; with `verbose` 0, nothing is shown."""
    if not verbose:
        yield lambda fraction: None
        return
    # Imported here, so that `import omnitree` stays quick.
    from rich.progress import Progress

    with Progress() as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda fraction: bar.update(task, completed=min(fraction, 1.0))
        bar.update(task, completed=1.0)
