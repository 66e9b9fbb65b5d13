"""Running exported trees: each function gives the labels and probabilities of all rows.

Rows come as lists of cells, one a feature of the tree, missing values as None.
"""

from __future__ import annotations

import ast
import ctypes
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.export.pmml_run import run_pmml

Rows = list[list[Any]]
Answer = tuple[list[Any], np.ndarray]

GCC = ["gcc", "-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c99", "-O1"]


def cells(frame: pd.DataFrame) -> Rows:
    """Rows of a data frame."""
    is_missing = frame.isna().to_numpy()
    values = frame.astype(object).to_numpy()
    return np.where(is_missing, None, values).tolist()


def run_python(source: str, tree: dict, rows: Rows, folder: Path) -> Answer:
    """In an interpreter without site packages, environment or imports."""
    steps = ast.walk(ast.parse(source))
    assert not any(isinstance(s, ast.Import | ast.ImportFrom) for s in steps)
    program, data = folder / "tree.py", folder / "rows.json"
    program.write_text(source, encoding="utf-8")
    names = [f["name"] for f in tree["schema"]["features"]]
    data.write_text(json.dumps([dict(zip(names, r, strict=True)) for r in rows]))
    run = (
        "import json, sys; names = {}; "
        "exec(open(sys.argv[1], encoding='utf-8').read(), names); "
        "rows = json.load(open(sys.argv[2])); "
        "json.dump([names['predict'](row) for row in rows], sys.stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", run, program, data],
        check=True,
        capture_output=True,
        text=True,
    )
    answers = json.loads(done.stdout)
    if tree["task"] == "regression":
        return answers, np.array(answers)[:, None]
    return [a[0] for a in answers], np.array([a[1] for a in answers])


def run_c(source: str, tree: dict, rows: Rows, folder: Path) -> Answer:
    """Compiled with all warnings as errors, and called."""
    program, library = folder / "tree.c", folder / f"tree{len(source)}.so"
    program.write_text(source, encoding="utf-8")
    command = [*GCC, "-shared", "-fPIC", "-o", library, program, "-lm"]
    subprocess.run(command, check=True)
    function = ctypes.CDLL(str(library)).omnitree_predict
    features, classes = tree["schema"]["features"], tree.get("classes", [0])
    numeric = tree["task"] == "regression"
    if numeric:
        function.restype = ctypes.c_double
    texts = {
        j
        for j, f in enumerate(features)
        if any(isinstance(c, str) for c in f["categories"] or ())
    }
    labels, proba = [], np.empty((len(rows), len(classes)))
    for i, row in enumerate(rows):
        number = (ctypes.c_double * len(row))(*[np.nan] * len(row))
        text = (ctypes.c_char_p * len(row))()
        for j, cell in enumerate(row):
            if cell is not None and j in texts:
                text[j] = str(cell).encode()
            elif cell is not None and not isinstance(cell, str):
                number[j] = float(cell)
        if numeric:
            labels.append(function(number, text))
            proba[i] = labels[-1]
            continue
        p = (ctypes.c_double * len(classes))()
        labels.append(classes[function(number, text, p)])
        proba[i] = list(p)
    return labels, proba


def table_of(tree: dict) -> str:
    """SQL that makes the table t for the features of a tree."""
    columns = []
    for feature in tree["schema"]["features"]:
        kind = "VARCHAR(100)"
        if feature["kind"] == "boolean":
            kind = "BOOLEAN"
        elif not any(isinstance(c, str) for c in feature["categories"] or ()):
            kind = "DOUBLE PRECISION"
        name = feature["name"].replace('"', '""')
        columns.append(f'"{name}" {kind}')
    return f"CREATE TABLE t ({', '.join(columns)}, row_id_ INTEGER)"


def run_sql(connection: Any, clf: Any, tree: dict, rows: Rows) -> Answer:
    """The label alone must be the same as with the probabilities."""
    connection.execute(table_of(tree))
    marks = ", ".join("?" * (len(rows[0]) + 1))
    numbered = [[*row, i] for i, row in enumerate(rows)]
    connection.executemany(f"INSERT INTO t VALUES ({marks})", numbered)
    one = f"SELECT {clf.export('sql')} FROM t ORDER BY row_id_"
    labels = [r[0] for r in connection.execute(one).fetchall()]
    if tree["task"] == "regression":
        return labels, np.array(labels, dtype=float)[:, None]
    all_ = f"SELECT {clf.export('sql', proba=True)} FROM t ORDER BY row_id_"
    found = connection.execute(all_).fetchall()
    assert [r[0] for r in found] == labels
    return labels, np.array([r[1:] for r in found], dtype=float)


def run_sqlite(clf: Any, tree: dict, rows: Rows, folder: Path) -> Answer:
    """SQLite of the standard library."""
    with sqlite3.connect(":memory:") as connection:
        return run_sql(connection, clf, tree, rows)


def run_duckdb(clf: Any, tree: dict, rows: Rows, folder: Path) -> Answer:
    """DuckDB, in memory."""
    import duckdb

    with duckdb.connect() as connection:
        return run_sql(connection, clf, tree, rows)


def run_onnx(data: bytes, tree: dict, rows: Rows, folder: Path) -> Answer:
    """ONNX Runtime, inputs put together from the model's metadata."""
    import onnx
    import onnxruntime

    model = onnx.load_from_string(data)
    assert {o.domain for o in model.opset_import} == {""}
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    meta = session.get_modelmeta().custom_metadata_map
    names = [f["name"] for f in tree["schema"]["features"]]
    feed = {}
    for which, missing, dtype in (("numbers", np.nan, float), ("strings", "", object)):
        at = [names.index(n) for n in json.loads(meta[which])]
        if at:
            feed[which] = np.array(
                [
                    [
                        missing
                        if row[j] is None
                        else float(row[j])
                        if dtype is float
                        else str(row[j])
                        for j in at
                    ]
                    for row in rows
                ],
                dtype=dtype,
            )
    if tree["task"] == "regression":
        (number,) = session.run(["prediction"], feed)
        return number.tolist(), number[:, None]
    label, proba = session.run(["label", "probabilities"], feed)
    return label.tolist(), proba


def run(format: str, clf: Any, rows: Rows, folder: Path) -> Answer:
    """Labels and probabilities by one of the formats that can be run."""
    tree = clf.tree_.to_dict()
    if format == "sqlite":
        return run_sqlite(clf, tree, rows, folder)
    if format == "duckdb":
        return run_duckdb(clf, tree, rows, folder)
    functions = {
        "python": run_python,
        "c": run_c,
        "onnx": run_onnx,
        "pmml": run_pmml,
    }
    return functions[format](clf.export(format), tree, rows, folder)
