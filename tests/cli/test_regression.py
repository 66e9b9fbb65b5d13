"""A numeric target on the command line, from end to end."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from tests.cli.test_cli import refused, run

from omnitree import load


@pytest.fixture
def data(tmp_path: Path, rng) -> Path:
    path = tmp_path / "prices.csv"
    rows = ["size,colour,price"]
    for _ in range(60):
        size, colour = rng.uniform(1, 9), rng.choice(["red", "blue"])
        price = 3 * size + 5 * (colour == "red") + rng.normal()
        rows.append(f"{size:.2f},{colour},{price:.2f}")
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def model(data: Path, tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    done = run("fit", data, "--target", "price", "-o", path)
    assert done.exit_code == 0
    assert "'price' is treated as a number" in done.stderr
    assert "root mean squared error" in done.stdout and "a number" in done.stdout
    return path


def test_predict(model: Path, data: Path):
    done = run("predict", model, data)
    assert done.exit_code == 0
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0]) == ["size", "colour", "price", "predicted"]
    found = np.array([float(r["predicted"]) for r in rows])
    price = np.array([float(r["price"]) for r in rows])
    assert np.corrcoef(found, price)[0, 1] > 0.9
    assert load(model).tree_.task == "regression"


@pytest.mark.parametrize(
    "format", ["text", "rules", "sql", "c", "python", "json", "dot"]
)
def test_show(model: Path, format: str):
    done = run("show", model, "--format", format)
    assert done.exit_code == 0 and done.stdout


def test_explain(model: Path, data: Path):
    done = run("explain", model, data, "--row", 1, "--goal", "above 20")
    assert done.exit_code == 0
    assert "It would be" in done.stdout or "No change" in done.stdout
    assert "above NUMBER" in refused(
        "explain", model, data, "--row", 1, "--goal", "more"
    )


def test_no_probabilities(model: Path):
    assert "answers a number" in refused("show", model, "--format", "sql", "--proba")


def test_task_decides(tmp_path: Path):
    path = tmp_path / "counts.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i % 5}\n" for i in range(50)))
    few = run("fit", path, "--target", "y")
    assert few.exit_code == 0 and "5 classes" in few.stdout
    told = run("fit", path, "--target", "y", "--task", "regression")
    assert told.exit_code == 0 and "a number" in told.stdout
    path.write_text("x,y\n" + "".join(f"{i},{i % 40}\n" for i in range(120)))
    many = run("fit", path, "--target", "y")
    assert "treated as a number" in many.stderr


def test_refused(data: Path, tmp_path: Path):
    line = refused("fit", data, "--target", "price", "--task", "ranking")
    assert "classification, regression" in line
    line = refused("fit", data, "--target", "colour", "--task", "regression")
    assert "must be numeric" in line
    classes = run("fit", data, "--target", "price", "--preset", "cart")
    assert classes.exit_code == 1 and "is for classes" in classes.stderr
