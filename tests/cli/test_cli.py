"""The command line from end to end: what it prints, writes, refuses, and its exit code."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from sklearn.datasets import load_iris, load_wine
from typer.testing import CliRunner

from omnitree import export, load, presets
from omnitree.cli import app as cli
from omnitree.cli import (
    commands,
    demo,
    demo_story,
    file_options,
    fit_command,
    fit_options,
)
from omnitree.data import reading
from omnitree.estimators import persistence
from omnitree.estimators.registries import REGISTRIES
from omnitree.lab import data
from omnitree.tree.splits import SPLITS

PLAY = """outlook,temperature,windy,play
sunny,30.5,false,no
sunny,27,true,no
overcast,28,false,yes
rain,21,false,yes
rain,20,false,yes
rain,18,true,no
overcast,17,true,yes
sunny,22,false,no
sunny,20,false,yes
rain,24,false,yes
sunny,24,true,yes
overcast,22,true,yes
overcast,27,false,yes
rain,22,true,no
"""


def run(*args: object):
    """Exit code, standard output and standard error of one command."""
    result = CliRunner().invoke(cli.app, [str(a) for a in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception  # a traceback is never right
    return result


def words(text: str) -> str:
    """Without line breaks."""
    return " ".join(text.split())


def refused(*args: object) -> str:
    """The one line that a command with bad input says."""
    result = run(*args)
    assert result.exit_code == 1
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("omnitree: ")
    return lines[0]


@pytest.fixture
def play(tmp_path: Path) -> Path:
    path = tmp_path / "play.csv"
    path.write_text(PLAY)
    return path


@pytest.fixture
def iris(tmp_path: Path) -> Path:
    path = tmp_path / "iris.csv"
    data = load_iris(as_frame=True)
    frame = data.data.assign(species=data.target_names[data.target])
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def model(iris: Path, tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    assert run("fit", iris, "--target", "species", "-o", path).exit_code == 0
    return path


# -- good input -----------------------------------------------------------------------


def test_version_and_help():
    assert run("--version").stdout.startswith("omnitree 0.")
    lab = ("compare", "datasets", "reproduce")
    words = ("show", "explain", "presets", "parts")
    for command in ("demo", "fit", "predict", *words, *lab):
        assert command in run("--help").stdout
        assert run(command, "--help").exit_code == 0


def test_help_gives_examples_that_are_right_usage():
    """Where there is something to give, there is an example, and it parses."""
    found = 0
    for name, command in typer.main.get_command(cli.app).commands.items():
        text = run(name, "--help").stdout
        lines = re.findall(r"^    omnitree (.*)$", text, re.M)
        assert bool(lines) == (name not in ("demo", "parts"))
        for line in lines:
            own, *args = shlex.split(line)
            assert own == name
            command.make_context(name, args)
            found += 1
    assert found > 10


MODULES = [cli, commands, demo, file_options, fit_command, fit_options, reading]


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_nothing_heavy(module):
    body = ast.parse(Path(module.__file__).read_text()).body
    found = {
        name.split(".")[0]
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
        )
    }
    assert found - set(sys.stdlib_module_names) <= {"typer", "omnitree"}


def test_fit_show_predict(iris: Path, tmp_path: Path):
    model = tmp_path / "model.json"
    fitted = run("fit", iris, "--target", "species", "-o", model)
    assert fitted.exit_code == 0
    assert ": setosa (50 rows)" in fitted.stdout
    assert "10-fold stratified" in words(fitted.stdout)
    assert load(model).describe() in fitted.stdout
    assert run("show", model).stdout.strip() == load(model).describe()

    printed = run("predict", model, iris)
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    assert len(rows) == 150
    right = [row["predicted"] == row["species"] for row in rows]
    assert 0.9 < np.mean(right) < 1
    shares = np.array(
        [[float(v) for k, v in row.items() if k.startswith("p(")] for row in rows]
    )
    assert shares.shape == (150, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)

    out = tmp_path / "out.csv"
    written = run("predict", model, iris, "-o", out)
    assert written.stdout == "" and out.read_text() == printed.stdout


def test_error_estimate_is_that_of_cross_validation(iris: Path):
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    from omnitree import OmniTreeClassifier

    X, y = load_iris(return_X_y=True, as_frame=True)
    folds = StratifiedKFold(10, shuffle=True, random_state=3)
    right = cross_val_score(OmniTreeClassifier(random_state=3), X, y, cv=folds)
    expected = f"Error on new rows: {100 * (1 - right.mean()):.1f} %"
    result = run("fit", iris, "--target", "species", "--seed", 3)
    assert expected in result.stdout


@pytest.mark.parametrize("name", presets.names())
def test_fit_with_each_preset(play: Path, tmp_path: Path, name: str):
    model = tmp_path / "model.json"
    result = run("fit", play, "--target", "play", "--preset", name, "-o", model)
    assert result.exit_code == 0
    assert "5-fold stratified" in words(
        result.stdout
    )  # the smaller class has five rows
    assert run("predict", model, play).exit_code == 0


def test_options_of_a_preset(iris: Path, tmp_path: Path):
    fit = ["fit", iris, "--target", "species", "--folds", 3]
    model = tmp_path / "model.json"
    spec = "bu95:coefficients=thermal:selection=sbe:pruning=null:max_depth=1"
    assert run(*fit, "--preset", spec, "-o", model).exit_code == 0
    assert load(model).tree_.depth == 1
    assert "one of: saved, best" in refused(*fit, "--preset", "lmdt:against=x")
    assert "unknown option" in refused(*fit, "--preset", "lmdt:colour=red")
    number = ["fit", iris, "--target", "petal length (cm)", "--task", "regression"]
    assert "is for classes" in refused(*number, "--preset", "cart:se=1.0")


def test_folds_of_the_estimate(play: Path, iris: Path, tmp_path: Path, monkeypatch):
    fit = ["fit", iris, "--target", "species", "--preset", "c4.5"]
    assert "4-fold stratified" in words(run(*fit, "--folds", 4).stdout)
    # No class has more rows than it has.
    assert "5-fold" in run("fit", play, "--target", "play", "--folds", 9).stdout
    model = tmp_path / "model.json"
    none = run(*fit, "--folds", 0, "-o", model)
    assert "Error" not in none.stdout and model.exists()
    for folds in (1, -1):
        assert "0 or at least 2" in refused(*fit, "--folds", folds)
    monkeypatch.setattr(fit_command, "LARGE", 500)
    assert "3-fold stratified" in words(run(*fit).stdout)


def test_model_is_there_before_the_estimate(play: Path, tmp_path: Path, monkeypatch):
    def tired(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_command, "_print_report", tired)
    model = tmp_path / "model.json"
    result = run("fit", play, "--target", "play", "-o", model)
    assert result.exit_code != 0
    assert load(model).describe() in result.stdout


def test_same_seed_same_model(iris: Path, tmp_path: Path):
    for name in ("a.json", "b.json"):
        run("fit", iris, "--target", "species", "--seed", 7, "-o", tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_missing_tabs_and_cells_as_written(tmp_path: Path):
    """Marks of missing values are whole cells; `predict` gives cells back unchanged."""
    data = tmp_path / "data.tsv"
    lines = ["code\tsize\tclass"]
    lines += [f"0{i % 2}\t{i}.50\t{'ab'[i % 2]}" for i in range(10)]
    lines += ["?\t\ta", "what?\tNA\tb"]
    data.write_text("\n".join(lines) + "\n")
    model = tmp_path / "model.json"
    result = run("fit", data, "--target", "class", "--preset", "c4.5", "-o", model)
    assert result.exit_code == 0
    features = json.loads(model.read_text())["tree"]["schema"]["features"]
    assert features[0]["categories"] == ["00", "01", "what?"]
    assert features[1]["kind"] == "numeric"

    new = tmp_path / "new.tsv"
    new.write_text("size\tcode\tnote\n1.50\t01\tx,y\n2.50\t00\t\n")
    rows = run("predict", model, new).stdout.splitlines()
    assert rows[0].split("\t")[:4] == ["size", "code", "note", "predicted"]
    assert rows[1].split("\t")[:4] == ["1.50", "01", "x,y", "b"]
    assert rows[2].split("\t")[:4] == ["2.50", "00", "", "a"]


def test_rows_without_a_label_are_left_out(play: Path):
    play.write_text(PLAY + "rain,20,false,?\n")
    result = run("fit", play, "--target", "play")
    assert result.exit_code == 0
    assert "1 row without a value in 'play' left out" in result.stderr
    assert "on 14 rows" in words(result.stdout)


def test_byte_order_mark_and_blank_lines(play: Path):
    play.write_text("\ufeff" + PLAY.replace("\n", "\r\n\r\n"), encoding="utf-8")
    assert run("fit", play, "--target", "play").exit_code == 0


def test_single_rows_of_a_class(tmp_path: Path):
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1,a\n2,a\n3,b\n")
    assert "No estimate of the error" in run("fit", data, "--target", "y").stdout
    data.write_text("x,y\n1,a\n2,a\n3,b\n4,b\n5,c\n")
    assert "2-fold" in run("fit", data, "--target", "y").stdout


def test_presets_and_parts():
    listed = run("presets").stdout
    assert all(name in listed for name in ["omni", *presets.names()])
    assert run("presets", "c4.5").stdout.strip() == presets.describe("c4.5")
    assert "as `OmniTreeClassifier`" in run("presets", "omni").stdout
    shown = run("parts").stdout
    for kind, registry in REGISTRIES.items():
        assert kind in shown and all(name in shown for name in registry)


def test_demo(tmp_path: Path, monkeypatch):
    """The story, the report and the files, on the smaller table and fewer folds."""
    monkeypatch.setattr(demo, "DATA", ("penguins",))
    monkeypatch.setattr(demo, "PROTOCOL", "3fold")
    monkeypatch.setattr(demo, "jobs_of", lambda jobs: 1)  # starts no processes
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # is not needed
    folder = tmp_path / "demo"
    result = run("demo", "--folder", folder)
    assert result.exit_code == 0
    for word in (*demo.DATA, *demo.PRESETS, "p against omni", "Nadeau & Bengio"):
        assert word in result.stdout
    assert load(folder / "penguins.json").describe() in result.stdout
    words = " ".join(result.stdout.split())
    assert "19 missing values" in words and "least sure" in words
    assert f"{folder / 'report.html'}: all of this" in result.stdout
    page = (folder / "report.html").read_text()
    for word in ('src="penguins.html"', "prefers-color-scheme: dark", "Nadeau"):
        assert word in page
    assert page.count('class="dot"') == len(demo.PRESETS)
    assert "<html" in (folder / "penguins.html").read_text()


def test_the_reasons_of_the_demo_are_those_of_the_tree():
    """Held-out errors of the chosen kind and its rivals, for nodes that had a choice."""
    table = data.load("penguins")
    clf = presets.make("omni", random_state=1).fit(table.X, table.y)
    story = demo_story.Story(table, clf)
    chosen = next(
        c for c in clf.tree_.to_dict()["nodes"][0]["candidates"] if c["chosen"]
    )
    (first, *_) = story.reasons()
    assert first.startswith("The root (344 rows): ")
    assert f"error of {100 * chosen['score']:.1f} % on held-out rows" in first
    assert "softmax" not in first
    assert "tests on single features" in first
    assert f"{clf.tree_.n_leaves} leaves" in story.kinds
    least = clf.predict_proba(table.X).max(axis=1).argmin() + 1
    assert story.hardest_row.startswith(f"Row {least} ")


def test_a_log_loss_is_told_as_no_percentage():
    scored = {"criterion": "held-out log loss", "parameters": 1}
    node = {
        "id": 7,
        "value": [30.0, 9.0],
        "candidates": [
            {"learner": "univariate subtree", "kind": "leaf", "score": 0.243}
            | {"chosen": False, **scored},
            {"learner": "linear softmax", "kind": "linear", "score": 0.0953}
            | {"chosen": True, **scored},
        ],
    }
    assert demo_story._reason(node) == (
        "Node 7 (39 rows): a linear model, with a log loss of 0.095 on held-out rows "
        "(a single leaf 0.243)."
    )


def test_a_tree_of_the_demo_mixes_kinds():
    """On a real table with categories and missing values, as the README shows it."""
    table = data.load(demo.DATA[-1])
    assert table.X.isna().any(axis=None) and table.X["sex"].dtype.kind not in "if"
    clf = presets.make("omni", random_state=demo.SEED).fit(table.X, table.y)
    used = {kind for kind, n in clf.tree_.node_kinds().items() if n}
    assert len({SPLITS[kind].family for kind in used}) > 1


def test_demo_that_cannot_write(tmp_path: Path):
    (tmp_path / "report.html").mkdir()
    assert "not a regular file" in refused("demo", "--folder", tmp_path)


FORMATS = ("text", *export.NAMES)


@pytest.mark.parametrize("format_", FORMATS)
def test_show_in_every_format(model: Path, tmp_path: Path, format_: str):
    clf, out = load(model), tmp_path / "out"
    expected = clf.describe() + "\n" if format_ == "text" else clf.export(format_)
    written = run("show", model, "--format", format_, "-o", out)
    assert (written.exit_code, written.stdout) == (0, "")
    content = out.read_bytes()
    assert content == (expected if format_ == "onnx" else expected.encode())
    if format_ == "onnx":
        assert "with -o" in refused("show", model, "--format", "onnx")
    else:
        assert run("show", model, "--format", format_).stdout == expected
    assert format_ in run("show", "--help").stdout


def test_show_as_a_page(model: Path, tmp_path: Path):
    page = tmp_path / "tree.html"
    written = run("show", model, "--format", "html", "-o", page)
    assert (written.exit_code, written.stdout) == (0, "")
    load(model).to_html(tmp_path / "other.html", title="model")
    assert page.read_bytes() == (tmp_path / "other.html").read_bytes()
    assert "html" in run("show", "--help").stdout
    assert "with -o" in refused("show", model, "--format", "html")
    assert "is an input" in refused("show", model, "--format", "html", "-o", model)


def test_show_in_full(tmp_path: Path):
    """Sums of many terms are cut, unless asked for."""
    data, model = tmp_path / "wine.csv", tmp_path / "model.json"
    wine = load_wine(as_frame=True)
    wine.data.assign(kind=wine.target).to_csv(data, index=False)
    run("fit", data, "--target", "kind", "--preset", "ldt", "--folds", 0, "-o", model)
    assert "smaller terms" in run("show", model).stdout
    full = run("show", model, "--full").stdout
    assert full == load(model).describe(full=True) + "\n"
    assert "smaller" not in full
    assert "--full" in refused("show", model, "--format", "sql", "--full")


def test_show_with_probabilities(model: Path):
    sql = run("show", model, "--format", "sql", "--proba").stdout
    assert sql == load(model).export("sql", proba=True)
    for format_ in ("c", "text"):
        line = refused("show", model, "--format", format_, "--proba")
        assert "--proba is for --format sql" in line


def test_explain(model: Path, iris: Path):
    result = run("explain", model, iris, "--row", 51)
    assert result.exit_code == 0
    frame = load_iris(as_frame=True).data
    assert result.stdout == f"{load(model).explain(frame.iloc[50])}\n"
    assert "It would be" in result.stdout


# -- bad input ------------------------------------------------------------------------


def bad_files(folder: Path) -> dict[str, tuple[Path, str]]:
    """Files that are no tables, and a word that the refusal must hold."""
    contents: dict[str, tuple[bytes, str]] = {
        "empty.csv": (b"", "empty"),
        "newlines.csv": (b"\n\n", "empty"),
        "header.csv": (b"a,play\n", "no rows"),
        "binary.csv": (b"\x7fELF\x00\x01\x02", "binary"),
        "cyrillic.csv": ("имя,play\nда,1\n".encode("cp1251"), "--encoding"),
        "cut.csv": (PLAY[:-12].encode(), "line 15"),
        "ragged.csv": (b"a,play\n1,2\n1,2,3\n", "line 3"),
        "short.csv": (b"a,b,play\n1,2,3\n1,2\n", "line 3"),
        "quote.csv": (b'a,play\n1,"yes\n2,no\n', "cut off"),
        "twice.csv": (b"a,a,play\n1,2,3\n", "two columns"),
        "nameless.csv": (b"a,,play\n1,2,3\n", "no name"),
    }
    for name, (content, _) in contents.items():
        (folder / name).write_bytes(content)
    (folder / "folder.csv").mkdir()
    words = {name: (folder / name, word) for name, (_, word) in contents.items()}
    words["folder.csv"] = (folder / "folder.csv", "folder")
    words["gone.csv"] = (folder / "gone.csv", "no file")
    return words


def test_bad_tables(tmp_path: Path, model: Path):
    for path, word in bad_files(tmp_path).values():
        for line in (
            refused("fit", path, "--target", "play"),
            refused("predict", model, path),
        ):
            assert word in line and path.name in line


@pytest.mark.parametrize(
    ("text", "target", "word"),
    [
        (PLAY, "plya", "has no column 'plya', did you mean 'play'? It has outlook"),
        ("y\na\nb\n", "y", "no column but the target"),
        ("x,y\n1,a\n2,a\n", "y", "have the same 'y', 'a'"),
        ("x,y\n1,\n2,?\n", "y", "no row"),
        ("x,y\n,a\n,b\n", "y", "missing"),
        ("x,y\n1,a\ninf,b\n", "y", "infinite"),
    ],
)
def test_bad_targets_and_cells(tmp_path: Path, text: str, target: str, word: str):
    data = tmp_path / "data.csv"
    data.write_text(text)
    assert word in refused("fit", data, "--target", target)


def test_bad_explanations(model: Path, iris: Path, tmp_path: Path):
    assert "has 150 rows; there is no row 151" in refused(
        "explain", model, iris, "--row", 151
    )
    for path, word in bad_files(tmp_path).values():
        line = refused("explain", model, path, "--row", 1)
        assert word in line and path.name in line
    assert "no file" in refused("explain", tmp_path / "gone", iris, "--row", 1)


def test_unknown_format(model: Path):
    assert "did you mean 'sql'" in refused("show", model, "--format", "sqll")


def test_onnx_without_its_package(model: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    line = refused("show", model, "--format", "onnx", "-o", tmp_path / "x")
    assert "pip install 'omnitree[onnx]'" in line


def test_unknown_preset(play: Path):
    assert "did you mean 'c4.5'" in refused(
        "fit", play, "--target", "play", "--preset", "c45"
    )
    assert "did you mean 'cart'" in refused("presets", "crat")


@pytest.mark.parametrize("command", ["show", "predict", "explain"])
def test_damaged_models(model: Path, iris: Path, tmp_path: Path, command: str):
    whole = model.read_bytes()
    data = json.loads(whole)
    data["tree"]["nodes"][0]["test"]["feature"] = 99
    damaged = {
        "cut": whole[: len(whole) // 2],
        "empty": b"",
        "binary": bytes(range(256)),
        "list": b"[1, 2]",
        "other": b'{"format": "something"}',
        "feature": json.dumps(data).encode(),
        "newer": whole.replace(b'"version": 1', b'"version": 99'),
    }
    rest = {"show": [], "predict": [iris], "explain": [iris, "--row", 1]}[command]
    for name, content in damaged.items():
        path = tmp_path / f"{name}.json"
        path.write_bytes(content)
        assert path.name in refused(command, path, *rest)
    assert "folder" in refused(command, tmp_path, *rest)
    assert "no file" in refused(command, tmp_path / "gone.json", *rest)


def test_predict_needs_the_columns(model: Path, tmp_path: Path):
    data = tmp_path / "data.csv"
    data.write_text("a,b\n1,2\n")
    assert "petal length (cm)" in refused("predict", model, data)


def test_predict_keeps_a_column_of_its_own_name(model: Path, iris: Path):
    iris.write_text(iris.read_text().replace("species", "predicted", 1))
    assert "already has a column 'predicted'" in refused("predict", model, iris)


@pytest.mark.parametrize(
    "args",
    [
        ["fit"],
        ["fit", "data.csv"],
        ["fit", "data.csv", "--target", "y", "--seed", "-1"],
        ["predict", "model.json"],
        ["explain", "model.json", "data.csv"],
        ["explain", "model.json", "data.csv", "--row", "0"],
        ["nothing"],
        ["--nothing"],
    ],
)
def test_wrong_usage(args: list[str]):
    result = run(*args)
    assert result.exit_code == 2
    assert "Usage" in result.stderr


# -- outputs --------------------------------------------------------------------------


def test_outputs_that_cannot_be(model: Path, iris: Path, tmp_path: Path):
    fit = ["fit", iris, "--target", "species", "-o"]
    predict = ["predict", model, iris, "-o"]
    show = ["show", model, "--format", "c", "-o"]
    for command in (fit, predict, show):
        assert "not a regular file" in refused(*command, tmp_path)
        assert "not a regular file" in refused(*command, "/dev/null")
        assert "does not exist" in refused(*command, tmp_path / "none" / "x")
    for command in (fit, predict):
        assert "is an input" in refused(*command, iris)
    for command in (predict, show):
        assert "is an input" in refused(*command, model)


@pytest.mark.parametrize("command", ["fit", "predict", "show", "onnx"])
def test_failed_write_leaves_the_old_file(
    model: Path, iris: Path, tmp_path: Path, monkeypatch, command: str
):
    """The disk is full when the new file is nearly complete."""
    out = tmp_path / "out"
    out.write_text("old")
    before = set(tmp_path.iterdir())

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(persistence.os, "fsync", full)
    args = {
        "fit": ["fit", iris, "--target", "species"],
        "predict": ["predict", model, iris],
        "show": ["show", model, "--format", "sql"],
        "onnx": ["show", model, "--format", "onnx"],
    }
    result = run(*args[command], "-o", out)
    assert result.exit_code == 1
    assert result.stderr == "omnitree: No space left on device\n"
    assert out.read_text() == "old"
    assert set(tmp_path.iterdir()) == before


def test_link_is_followed(model: Path, iris: Path, tmp_path: Path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    assert run("predict", model, iris, "-o", link).exit_code == 0
    assert link.is_symlink() and real.read_text().startswith("sepal")


# -- real processes ---------------------------------------------------------------------


def process(*args: object, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from omnitree.cli.app import main; main()"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(
        [*command, *map(str, args)],
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        **(pipes | options),
    )


def test_process_good_and_bad(play: Path, tmp_path: Path):
    model = tmp_path / "model.json"
    done = process("fit", play, "--target", "play", "-o", model)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b[" not in done.stdout  # no colours in a pipe
    gone = process("fit", tmp_path / "gone.csv", "--target", "play")
    assert gone.returncode == 1
    assert gone.stderr == f"omnitree: there is no file {tmp_path / 'gone.csv'}\n"
    assert process("fit").returncode == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str):
    """What the shell asks, as the script that `--show-completion` prints asks it."""
    one = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = process("--show-completion", shell, env=os.environ | one)
    assert script.returncode == 0
    assert "_OMNITREE_COMPLETE" in script.stdout and "omnitree" in script.stdout
    asked = {
        "_OMNITREE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "omnitree pre",
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": "omnitree pre",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    answer = process(env=os.environ | asked)
    assert "predict" in answer.stdout and "presets" in answer.stdout
    assert "show" not in answer.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_process_with_a_full_standard_output(model: Path, iris: Path):
    with open("/dev/full", "w") as full:
        for args in (
            ["predict", model, iris],
            ["show", model, "--format", "sql"],
            ["explain", model, iris, "--row", 1],
        ):
            done = process(*args, stdout=full)
            assert done.returncode == 1
            assert done.stderr.splitlines()[0] == "omnitree: No space left on device"
            assert "Traceback" not in done.stderr
