"""Progress of long work: a rich bar on demand, silence otherwise.

rich is imported only when a bar is shown, so that `import omnitree` stays quick.
"""

from __future__ import annotations

from typing import Any


class Progress:
    """Context manager that turns fractions into a progress bar.

    Parameters
    ----------
    title : str
    verbose : int
        0 shows nothing.
    """

    def __init__(self, title: str, verbose: int = 0):
        self.title = title
        self.verbose = verbose
        self._bar: Any = None

    def __enter__(self) -> Progress:
        if self.verbose:
            from rich.progress import Progress as Bar

            self._bar = Bar(transient=False)
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=1.0)
        return self

    def __exit__(self, kind: Any, *rest: object) -> None:
        if self._bar is not None:
            if kind is None:
                self.update(1.0)
            self._bar.stop()

    def update(self, fraction: float) -> None:
        """Show that this much is done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=min(fraction, 1.0))
