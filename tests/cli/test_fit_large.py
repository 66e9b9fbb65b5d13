"""`omnitree fit` on Parquet files, in memory and beyond."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from omnitree import load
from omnitree.cli import commands, fit_large
from omnitree.cli.app import app
from omnitree.estimators import large
from omnitree.growing.blocks.sizes import Sizes
from omnitree.lab.procedure import Procedure

pytest.importorskip("pyarrow")


@pytest.fixture
def files(tmp_path, monkeypatch):
    sizes = Sizes(sample_rows=500, node_rows=300, bins=16)
    monkeypatch.setattr(large, "SIZES", sizes)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1500, 3)), columns=["a", "b", "c"])
    X["w"] = rng.integers(1, 4, 1500)
    noise = rng.normal(size=1500) / 2
    X["label"] = np.where(X.a + noise > 0.3, 7, 8)
    X["number"] = X.a * 2 + noise
    for i in range(3):
        X[i::3].to_parquet(tmp_path / f"part-{i}.parquet", index=False)
    return tmp_path


def run(*args):
    result = CliRunner().invoke(app, ["fit", *map(str, args)])
    return result.exit_code, result.output


def test_several_files_that_fit_are_one_table(files):
    code, out = run(files / "part-*.parquet", "--target", "label", "--folds", "0")
    assert code == 0, out
    assert "1500" in out or "rows" in out


@pytest.mark.parametrize("preset", ["cart", "omni"])
def test_files_beyond_memory(files, preset):
    code, out = run(
        *(files / "part-*.parquet", "--target", "label", "--drop", "number"),
        *("--weight", "w", "--preset", preset, "--max-memory", "1kb"),
        *("-o", files / "model.json"),
    )
    assert code == 0, out
    assert "Error on new rows" in out and "a tenth" in out
    model = load(files / "model.json")
    assert model.classes_.tolist() == [7, 8]
    assert model.tree_.schema.inputs == ("a", "b", "c")
    table = pd.read_parquet(files / "part-0.parquet")
    assert model.score(table, table["label"]) > 0.7


def test_bars_on_a_terminal(files, monkeypatch, capsys):
    source = fit_large.beyond_memory(
        files / "part-*.parquet", "label", None, ["number"], "1kb"
    )
    procedure = Procedure("cart", 0, options={"max_memory": 1, "max_depth": 2})
    model = fit_large.fit_large(source, procedure, [7, 8])
    assert "growing" not in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    again = fit_large.fit_large(source, procedure, [7, 8])
    shown = capsys.readouterr().out
    assert "survey" in shown and "growing" in shown and "100%" in shown
    assert again.get_params() == model.get_params()


def test_numbers_beyond_memory(files):
    code, out = run(
        *(files / "part-*.parquet", "--target", "number", "--drop", "label,w"),
        *("--max-memory", "1kb"),
    )
    assert code == 0, out
    assert "Root mean squared error on new rows" in out


def test_options_beyond_memory(files):
    what = (files / "part-*.parquet", "--target", "label", "--max-memory", "1kb")
    options = ("--class-weight", "7=2", "--preset", "cart", "--folds", "0")
    code, out = run(*what, "--drop", "number", *options)
    assert code == 0, out
    for options, message in (
        (("--groups", "w"), "--groups needs data that fits"),
        (("--preset", "c4.5"), "cannot be grown from data beyond memory"),
        (("--target", "nothing"), "no column 'nothing'"),
        (("--max-memory", "much"), "max_memory must be"),
    ):
        code, out = run(*what, *options)
        assert code == 1 and message in out.replace("\n", " "), out


def test_clear_errors(files):
    code, out = run(files / "no-*.parquet", "--target", "label")
    assert code == 1 and "there is no file" in out
    pd.DataFrame({"z": [1]}).to_parquet(files / "part-9.parquet")
    code, out = run(files / "part-*.parquet", "--target", "label")
    assert code == 1 and "other columns" in out


@pytest.fixture(scope="module")
def address():
    distributed = pytest.importorskip(
        "distributed", reason="dask is not installed: pip install 'omnitree[dask]'"
    )
    workers = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}
    with distributed.LocalCluster(**workers) as cluster:
        yield cluster.scheduler_address


def test_a_scheduler_gives_the_same_tree(files, address, monkeypatch):
    what = ("part-*.parquet", "--target", "label", "--weight", "w", "--preset", "cart")
    monkeypatch.chdir(files)
    outputs = []
    for number, more in enumerate(([], ["--scheduler", address])):
        model = files / f"{number}.json"
        code, out = run(*what, "--max-memory", "1kb", "-o", model, *more)
        assert code == 0, out
        outputs.append((model.read_text(), out.replace(model.name, "")))
    assert outputs[0] == outputs[1]


def test_folds_on_a_scheduler(address, tmp_path):
    found = []
    for name, more in (("a", ["--jobs", "1"]), ("b", ["--scheduler", address])):
        store = ["--store", str(tmp_path / name), "--protocol", "5x2cv"]
        args = ["compare", "iris", "--presets", "cart", *store]
        result = CliRunner().invoke(app, [*args, *more])
        assert result.exit_code == 0, result.output
        with closing(sqlite3.connect(tmp_path / name)) as file:
            query = "SELECT fold, error, predicted FROM folds ORDER BY fold"
            found.append(file.execute(query).fetchall())
    assert found[0] == found[1] and len(found[0]) == 10


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--scheduler", "tcp://127.0.0.1:9"], "no scheduler answers"),
        (["--scheduler", "{address}"], "do not fit into memory"),
    ],
)
def test_schedulers_that_do_not_serve(more, message, files, address, monkeypatch):
    monkeypatch.setattr(commands, "PATIENCE", "1s")
    more = [option.format(address=address) for option in more]
    code, out = run(files / "part-0.parquet", "--target", "label", *more)
    assert code == 1 and message in " ".join(out.split())
