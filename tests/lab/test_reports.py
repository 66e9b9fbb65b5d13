"""Tables and reports: right numbers, everything escaped, nothing from the network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from omnitree.data.reading import InputError
from omnitree.lab import data, methods, plots, protocols, report
from omnitree.lab.comparison import MethodComparison
from omnitree.lab.runner import Task, run
from omnitree.lab.statistics import five_by_two_f
from omnitree.lab.store import Store
from omnitree.lab.tables import TextTable


@pytest.fixture(scope="module")
def comparison() -> MethodComparison:
    kind = protocols.parse("5x2cv")
    names = ["c4.5", "ldt", "id3"]
    sets = [data.load("iris"), data.load("wine"), data.load("led:rows=80")]
    tasks = [Task(d, methods.parse(m), kind) for d in sets for m in names]
    return MethodComparison(run(tasks, Store(), n_jobs=2))


def test_summary_has_the_means_and_the_p_values(comparison: MethodComparison):
    rows = comparison.summary().rows
    assert [row[:2] for row in rows[:3]] == [
        ("iris", "c4.5"),
        ("iris", "ldt"),
        ("iris", "id3"),
    ]
    results = comparison.by_data["iris"]
    errors = {name: result.scores("error") for name, result in results.items()}
    assert rows[1][2].startswith(f"{errors['ldt'].mean():.2f} ± ")
    assert rows[1][-1] == f"{five_by_two_f(errors['ldt'], errors['c4.5']).p:.3f}"
    assert rows[0][-1] == ""
    titles = [table.title for table in comparison.tables()]
    assert titles == ["Comparison", "Wins: error %", "Ranks: error %"]


class Tags(HTMLParser):
    """Tags that fetch or run something, and the text of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            outside = value and re.match(r"\s*(https?:|//)", value)
            if name in ("src", "href", "xlink:href") and outside:
                self.bad.append(f"{tag} {name}")
        if tag in ("script", "iframe", "link", "img"):
            self.bad.append(tag)

    def handle_data(self, text):
        self.text += text


def test_html_is_escaped_and_alone(comparison: MethodComparison, tmp_path: Path):
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    evil = "<script>alert('x')</script>&"
    table = TextTable(evil, (evil,), ((evil,),), evil)
    figures = report.figures_of(comparison)
    assert any("Mean ranks" in figure.title for figure in figures)
    assert any("by level" in figure.title for figure in figures)
    path = tmp_path / "r.html"
    report.write(path, evil, [evil], [table, *comparison.tables()], figures)
    text = path.read_text()
    tags = Tags()
    tags.feed(text)
    assert tags.bad == []
    assert evil in tags.text and "<script" not in text
    assert text.count("<svg") == len(figures)


def test_markdown_latex_and_csv(comparison: MethodComparison, tmp_path: Path):
    table = TextTable("a_b", ("x|y", "%"), (("1 & 2", "3"),), "100 %")
    assert r"| x\|y | % |" in table.markdown()
    assert r"1 \& 2 & 3 \\" in table.latex() and r"\caption{a\_b}" in table.latex()
    for suffix, word in (
        (".md", "### Comparison"),
        (".tex", r"\toprule"),
        (".csv", ",c4.5,"),
    ):
        path = tmp_path / f"r{suffix}"
        report.write(path, "t", ["l"], comparison.tables())
        assert word in path.read_text()
    with pytest.raises(InputError, match="ends in"):
        report.check(tmp_path / "r.pdf")


def test_notebooks_show_tables_and_figures(rng: np.random.Generator):
    table = TextTable("a < b", ("<i>",), (("x & y",),), note="n > 1")
    text = table._repr_html_()
    assert "<caption>a &lt; b</caption>" in text and "<th>&lt;i&gt;</th>" in text
    assert "<td>x &amp; y</td>" in text and "<p>n &gt; 1</p>" in text
    drawing = plots.critical_difference_diagram(
        rng.normal(size=(5, 3)), ["a", "b", "c"]
    )
    assert drawing._repr_html_().startswith("<svg") and drawing == str(drawing)


def test_level_counts(comparison: MethodComparison):
    folds = comparison.by_data["iris"]["c4.5"].folds
    counts = report.level_counts(folds)
    assert counts["univariate"][0] == pytest.approx(1.0)  # every tree has one root
    nodes = np.mean([fold.kinds["axis"] for fold in folds])
    assert sum(counts["univariate"]) == pytest.approx(nodes)


def test_figures_are_repeatable(rng: np.random.Generator):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    scores = rng.normal(size=(6, 4))
    first = plots.critical_difference_diagram(scores, list("abcd"))
    assert first == plots.critical_difference_diagram(scores, list("abcd"))
    assert first.startswith("<svg")
    series = {"H_T": ([1, 2], [9.0, 7.0])}
    assert plots.lines_by_position(series, ("position", "level")).startswith("<svg")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InputError, match=r"jinja2: pip install omnitree\[lab\]"):
        report.check(tmp_path / "r.html")
