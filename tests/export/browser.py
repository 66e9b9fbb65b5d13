"""A headless Chromium for tests of HTML pages, driven by playwright.

Both are found where they are, and without one of them the tests are skipped: the browser is
Debian's `chromium`, another one on the PATH, or the one playwright has fetched itself.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Any]:
    """A running browser."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="browser tests need playwright"
    )
    path = next(filter(None, map(shutil.which, NAMES)), None)
    with api.sync_playwright() as playwright:
        try:
            # The tests may run as root, where Chromium's own sandbox cannot start.
            browser = playwright.chromium.launch(
                executable_path=path, args=["--no-sandbox"]
            )
        except api.Error as error:
            reason = str(error).splitlines()[0]
            pytest.skip(f"browser tests need Chromium, which did not start: {reason}")
        yield browser
        browser.close()


class Watched:
    """A page with what went wrong on it and what it asked of the network."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda e: self.troubles.append(str(e)))
        self.page.on("dialog", lambda d: self.troubles.append(f"dialog {d.message}"))
        self.page.on("console", self._hear)
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.as_uri())

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)

    def close(self) -> None:
        """Check that nothing went wrong and nothing left the page."""
        self.context.close()
        assert self.troubles == []
        outside = [u for u in self.requests if not u.startswith(("file:", "data:"))]
        assert outside == []
        own = {u.partition("#")[0] for u in self.requests if u.startswith("file:")}
        assert len(own) == 1  # this page, however often
