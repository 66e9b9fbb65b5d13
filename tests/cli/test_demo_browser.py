"""The demo's report in a browser: whole on a desk and on a phone, in light and in dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.export.browser import chromium

from omnitree import presets
from omnitree.cli import demo_story
from omnitree.lab import data, methods, protocols
from omnitree.lab.comparison import MethodComparison
from omnitree.lab.runner import Task, run
from omnitree.lab.store import Store


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    table = data.load("penguins")
    clf = presets.make("cart", random_state=0).fit(table.X, table.y)
    protocol = protocols.parse("2fold")
    systems = [methods.parse(name) for name in ("cart", "id3")]
    found = MethodComparison(run([Task(table, m, protocol) for m in systems], Store()))
    folder = tmp_path_factory.mktemp("demo")
    clf.to_html(folder / "penguins.html", table.X, table.y)
    page = demo_story.page([demo_story.Story(table, clf)], found, "Versions.")
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


def test_the_report_fits_every_screen(report: Path):
    with chromium() as browser:
        grounds = set()
        for width, scheme in ((1200, "light"), (390, "dark")):
            context = browser.new_context(
                viewport={"width": width, "height": 800}, color_scheme=scheme
            )
            page = context.new_page()
            troubles: list[str] = []
            page.on("pageerror", lambda e, troubles=troubles: troubles.append(str(e)))
            page.goto(report.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            shown = page.locator("iframe").is_visible()
            assert shown == (width == 1200)  # on a phone there is a link instead
            assert page.locator("a.open").is_visible()
            if shown:
                tree = page.frame_locator("iframe").locator("#tree .card")
                assert tree.first.is_visible()
            grounds.add(
                page.evaluate("getComputedStyle(document.body).backgroundColor")
            )
            assert page.locator(".dot").count() == 2 and troubles == []
            context.close()
        assert len(grounds) == 2  # light and dark differ
