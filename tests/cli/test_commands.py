"""The lab's commands from end to end."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from omnitree.cli import app as cli
from omnitree.data.reading import InputError
from omnitree.lab.papers import sources

PLAY = "a,b,kind\n" + "".join(
    f"{i % 7},{i * 37 % 11},{'xy'[i % 7 > 3]}\n" for i in range(60)
)


def run(*args: object):
    result = CliRunner().invoke(cli.app, [str(a) for a in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def refused(*args: object) -> str:
    result = run(*args)
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("omnitree: ")
    return lines[0]


def test_compare_a_file_and_a_name(tmp_path: Path):
    path = tmp_path / "play.csv"
    path.write_text(PLAY)
    store, report = tmp_path / "s.sqlite", tmp_path / "r.md"
    args = ["compare", path, "iris", "--presets", "c4.5,cart:se=1.0", "-j", 1]
    result = run(*args, "--protocol", "3fold", "--store", store, "--report", report)
    assert result.exit_code == 0
    for word in ("play", "iris", "c4.5", "cart:se=1.0", "Wins"):
        assert word in result.stdout and word in report.read_text()
    with sqlite3.connect(store) as db:
        assert db.execute("SELECT count(*) FROM folds").fetchone() == (12,)
    again = run(*args, "--protocol", "3fold", "--store", store)
    assert again.stdout.splitlines()[3:9] == result.stdout.splitlines()[3:9]


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["iris", "--presets", "c45"], "c4.5"),
        (["iris", "--presets", "ldt:epsilonn=1"], "epsilonn"),
        (["iris", "--presets", ","], "no preset"),
        (["iris", "--protocol", "5x3cv"], "5x2cv"),
        (["iris", "iris"], "twice"),
        (["iris", "--protocol", "fixed"], "split"),
        (["gone.csv"], "no file"),
        (["led:noize=1"], "noize"),
        (["iris", "--report", "r.pdf"], ".html"),
        (["iris", "--data", "nowhere", "--report", "gone/r.md"], "does not exist"),
    ],
)
def test_compare_refuses(args: list[str], word: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert word in refused("compare", *args)


def test_datasets(tmp_path: Path):
    (tmp_path / "mine.csv").write_text(PLAY)
    shown = run("datasets", "--data", tmp_path).stdout
    for word in ("iris", "led", "waveform", "lw94", "mine"):
        assert word in shown


def test_a_data_set_as_a_file(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = run("datasets", "penguins").stdout
    assert "344 rows, 7 features, target 'species'" in shown
    lines = Path("penguins.csv").read_text().splitlines()
    assert len(lines) == 345 and lines[0].endswith(",species")
    run("datasets", "led:rows=5", "-o", "led.csv")
    assert Path("led.csv").read_text().startswith("segment")
    assert "'x'" in refused("datasets", "led:rows=5:x=1", "-o", "a.csv")
    assert "NAME" in refused("datasets", "-o", "a.csv")


def test_reproduce_without_data_says_what_is_needed(monkeypatch):
    """Without a folder and a server: the files to get, in one look."""
    monkeypatch.delenv("OMNITREE_DATA", raising=False)

    def silent(*_):
        raise InputError("OpenML cannot be reached: no network")

    monkeypatch.setattr(sources, "from_openml", silent)
    result = run("reproduce", "bu95", "--quick", "-t", "5")
    assert result.exit_code == 1 and "none of the data sets" in result.stderr
    shown = " ".join(result.stdout.split())
    for word in ("OpenML", "bupa.csv", "--data", "column `class`"):
        assert word in shown


def test_reproduce(tmp_path: Path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    report = tmp_path / "r.html"
    args = ["reproduce", "lw94", "--quick", "-t", "II", "-j", 1]
    result = run(*args, "--report", report)
    assert result.exit_code == 0
    assert "76.61" in result.stdout and "Summary" in result.stdout
    assert "76.61" in report.read_text()
    assert "bu59" in refused("reproduce", "bu59")
    assert "unknown table" in refused("reproduce", "lw94", "-t", "42")
