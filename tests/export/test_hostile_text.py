"""Names, categories and labels that hold control characters, formulas or HTML."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from omnitree import OmniTreeRegressor, TreeClassifier, presets, save
from omnitree.cli.app import app
from omnitree.lab import report
from omnitree.lab.tables import TextTable

ODD = "\x1b[31m\x07\n\u202e<b>"
# Anything but a new line that moves a cursor or turns a line.
CONTROL = re.compile(r"[^\n\x20-\x7e\xa0-\u1fff\u2030-\uffff]")


def table(rng):
    X = pd.DataFrame(
        {
            f"a{ODD}": rng.normal(size=90),
            f"b{ODD}": rng.normal(size=90),
            f"c{ODD}": rng.choice([f"x{ODD}", f"y{ODD}", f"z{ODD}"], 90),
        }
    )
    scores = X.iloc[:, 0] + X.iloc[:, 1] + 2 * (X.iloc[:, 2] == f"x{ODD}")
    return X, scores


@pytest.mark.parametrize("name", ["c4.5", "lmt", "omni", "ldt", "lmdt", "ft", "id-mlp"])
def test_no_control_character_comes_through(name, rng):
    X, scores = table(rng)
    y = np.array([f"low{ODD}", f"mid{ODD}", f"high{ODD}"])[pd.qcut(scores, 3).cat.codes]
    shown(presets.make(name, random_state=0).fit(X, y), X)


def test_nor_in_trees_for_numbers(rng):
    X, scores = table(rng)
    shown(OmniTreeRegressor(random_state=0).fit(X, scores), X)


def shown(model, X):
    texts = [model.describe(), model.describe(standardised=True, full=True)]
    texts += [model.export("rules"), model.export("dot"), str(model.explain(X.iloc[0]))]
    for text in texts:
        assert not CONTROL.search(text), repr(CONTROL.search(text))
        assert r"\x1b[31m\x07\n" in text.replace("\\\\", "\\")


def test_tables_and_reports(tmp_path):
    found = TextTable(f"T{ODD}", (f"c{ODD}", "n"), ((f"r{ODD}", "-1.5"),), f"note{ODD}")
    console = Console(file=io.StringIO(), width=200)
    console.print(found.rich())
    for suffix in (".md", ".tex"):
        path = tmp_path / f"r{suffix}"
        report.write(path, f"Title{ODD}", [f"line{ODD}"], [found])
        assert not CONTROL.search(path.read_text())
        if suffix == ".md":
            assert "<b>" not in path.read_text()
            assert path.read_text().count("&lt;b>") == 6
    assert not CONTROL.search(console.file.getvalue())


def test_formulas_in_reports(tmp_path):
    found = TextTable("T", ("name", "n"), (("=cmd()", "-1.5"), ("@x", "+2")))
    plain, safe = tmp_path / "plain.csv", tmp_path / "safe.csv"
    report.write(plain, "", [], [found])
    report.write(safe, "", [], [found], safe_csv=True)
    assert "\n=cmd(),-1.5\n@x,+2\n" in plain.read_text()
    assert "\n'=cmd(),-1.5\n'@x,+2\n" in safe.read_text()


def test_formulas_in_predictions(tmp_path):
    model, data = tmp_path / "m.json", tmp_path / "d.csv"
    X = pd.DataFrame({"x": np.arange(8) - 4.5, "note": ["=1+1", "-x"] * 4})
    save(TreeClassifier().fit(X[["x"]], ["@a", "b"] * 4), model)
    X.to_csv(data, index=False)
    run = CliRunner().invoke
    out = tmp_path / "out.csv"
    assert run(app, ["predict", str(model), str(data), "-o", str(out)]).exit_code == 0
    assert out.read_text().splitlines()[1].startswith("-4.5,=1+1,@a")
    options = ["-o", str(out), "--safe-csv"]
    assert run(app, ["predict", str(model), str(data), *options]).exit_code == 0
    rows = list(csv.reader(io.StringIO(out.read_text())))
    assert rows[1][:3] == ["-4.5", "'=1+1", "'@a"]
    assert rows[2][:3] == ["-3.5", "'-x", "b"]


def test_errors_on_the_command_line(tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("a\x1b[31m,class\n1,x\n2,y\n")
    found = CliRunner().invoke(app, ["fit", str(data), "--target", "n\x1b[31m"])
    assert found.exit_code == 1
    assert "\x1b" not in found.output
