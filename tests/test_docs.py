"""The examples of the written documents run, and their lists are complete."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest
from tests.trees import kinds_restored

from omnitree import presets
from omnitree.estimators.registries import REGISTRIES
from omnitree.tree.splits import SPLITS

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


@pytest.fixture(autouse=True)
def _kinds():
    """Kinds of tests that an example registers are forgotten."""
    with kinds_restored():
        yield


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/choosing.md",
        "docs/composing.md",
        "docs/concepts.md",
        "docs/costs.md",
        "docs/explaining.md",
        "docs/exporting.md",
        "docs/for_engineers.md",
        "docs/for_researchers.md",
        "docs/getting_started.md",
        "docs/index.md",
        "docs/lab.md",
        "docs/large_data.md",
        "docs/reading.md",
        "docs/regression.md",
        "docs/saving.md",
        "docs/systems.md",
    ],
)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All Python blocks of a file, in order and in one namespace."""
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))
    assert blocks
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=flags)
    names: dict[str, object] = {"__name__": name}
    for block in blocks:
        if ">>>" not in block:
            exec(compile(block, name, "exec", dont_inherit=True), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, name, name, 0)
        report: list[str] = []
        runner.run(test, out=report.append, clear_globs=False)
        assert not report, "".join(report)
        names.update(test.globs)


def test_contributing_shows_a_learner_in_25_lines():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = (b for b in BLOCK.findall(text) if "(SplitLearner)" in b)
    assert sum(line.strip() != "" for line in block.splitlines()) <= 25


def test_extra_all_has_every_extra_for_users():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = text.split("[project.optional-dependencies]")[1].split("\n[")[0]
    users = set(re.findall(r"^(\w+) = ", text, re.M))
    # Nothing of omnitree needs `interop`: those packages are used beside it.
    users -= {"all", "bench", "docs", "interop", "lint", "test"}
    found = re.search(r'^all = \["omnitree\[(.*?)\]"', text, re.M)
    assert found is not None and set(found[1].split(",")) == users
    assert {"lab", "onnx", "plot"} <= users


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_kind_of_test_is_explained():
    text = text_of("docs/concepts.md")
    assert all(f"`{kind}`" in text for kind in SPLITS)


def test_every_preset_and_part_is_listed():
    systems, parts = text_of("docs/systems.md"), text_of("docs/composing.md")
    own = (n for r in REGISTRIES.values() for n in r.registered if r.is_own(n))
    for name in presets.names():
        assert f"`{name}`" in systems, f"docs/systems.md does not name {name}"
    for name in own:
        assert f"`{name}`" in parts, f"docs/composing.md does not name {name}"


def test_readme_is_short_and_its_links_and_pictures_are_there():
    text = text_of("README.md")
    assert len(text.split()) < 900
    links = re.findall(r"\]\(([^)#]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    assert len(links) > 15
    for link in map("".join, links):
        assert (ROOT / link).exists(), f"README.md links to {link}"


def test_readmes_claim_is_that_of_the_results():
    """Data sets, and trees with a higher mean error, as in the committed comparison."""
    text = text_of("benchmarks/results/omni.md")
    table = text.split("| method |")[1].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    trees = {row[0]: float(row[1]) for row in rows if row[4] != "–"}
    worse = sum(error > trees["omni"] for error in trees.values())
    assert worse == len(trees) - 1
    n_sets = re.search(r"(\d+) data sets, \d+ methods", text)
    claim = f"On {n_sets[1]} public data sets, the default tree has a lower mean error"
    assert n_sets is not None and claim in text_of("README.md")
    assert f"than {worse} other single trees" in text_of("README.md")


def test_the_chart_shows_the_committed_results(tmp_path: Path, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    pytest.importorskip("playwright", reason="playwright is not installed")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    pictures = importlib.import_module("pictures")
    found = pictures.read_results(pictures.RESULTS.read_text(encoding="utf-8"))
    assert set(pictures.NAMED) <= set(found) and min(found.values()) == found["omni"]
    monkeypatch.setattr(pictures, "STATIC", tmp_path)
    pictures.accuracy()
    drawn = (tmp_path / "accuracy.svg").read_text(encoding="utf-8")
    assert drawn.count("<use") > len(found)


def test_every_page_has_a_title_of_several_words():
    for path in (ROOT / "docs").glob("*.md"):
        title = re.search(r"^# (.*)", path.read_text(encoding="utf-8"), re.M)
        if path.stem not in ("changelog", "contributing", "design", "reliability"):
            assert title is not None and len(title[1].split()) > 1, path.name


def test_contributing_maps_every_module():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    words = set(text[text.index("src/omnitree/\n") :].split("```")[0].split())
    for path in (ROOT / "src/omnitree").iterdir():
        folder = path.is_dir() and path.name != "__pycache__"
        if folder or (path.suffix == ".py" and path.name != "__init__.py"):
            name = f"{path.name}/" if folder else path.name
            assert name in words, f"CONTRIBUTING.md's map lacks {name}"


def test_files_that_the_design_names_are_there():
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+(?:\w+\.(?:py|hpp|js))?)`", text)
    assert len(named) > 40
    for name in named:
        assert any((ROOT / at / name).exists() for at in (".", "src/omnitree")), name


def test_tests_that_the_promises_name_are_there():
    """`docs/reliability.md` says which test holds each promise."""
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:tests|benchmarks|\.ci)/[^` :]*)`", text)
    functions = re.findall(r"`(test_\w+)(?:\[\w+\])?`", text)
    assert len(paths) > 30 and len(functions) > 15
    for path in paths:
        assert (ROOT / path).exists(), path
    sources = [path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py")]
    for name in functions:
        assert any(f"def {name}(" in source for source in sources), name
