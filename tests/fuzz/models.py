"""Mutated model files: `load` refuses them, or everything works with what it made.

Everything: predictions, probabilities, leaves and paths, words, rules, explanations, the
explorer, every export, and a second round trip. The export to Python is also run. Many
mutations leave what is loaded as it was, or make it what another one did: of a model that
has been asked everything, only the loading is tried again.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from tests.fuzz.corpus import documents
from tests.fuzz.harness import Campaign, expect, is_refusal
from tests.fuzz.mutation import Mutator

from omnitree import load
from omnitree.data.schema import Feature, Schema
from omnitree.export import NAMES

NUMBERS = (0.0, 1.0, -1.5, 0.25, 2.0, -1e6, 1e6)
DATES = ("2020-03-01", "2021-11-30", "1999-01-01 12:30", "2020-02-29")
CONTROL = {*map(chr, (*range(9), *range(11, 32), *range(127, 160)))}


class Models(Campaign):
    """Mutants of model files."""

    def __init__(self, seed: int, folder: Path, every: bool = True):
        super().__init__(seed, folder)
        self.mutator = Mutator(documents(every))
        self.seen: set[int] = set()

    def mutant(self, number: int) -> tuple[str, bytes]:
        """The name of the model that input `number` came from, and its bytes."""
        return self.mutator.mutant(Random(f"{self.seed}:{number}"))

    def attempt(self, number: int) -> tuple[str, int]:
        _, content = self.mutant(number)
        path = self.folder / "model.json"
        path.write_bytes(content)
        try:
            model = load(path)
        except ValueError as error:
            expect(str(error).startswith(str(path)), "an error without the file's name")
            if not is_refusal(error):
                raise
            return "refused", len(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = model.export("json")
            if hash(text) in self.seen:
                return "works, seen before", len(content)
            use(model, text, path)
        self.seen.add(hash(text))
        return "works", len(content)


def rows_for(schema: Schema) -> Any:
    """Rows that a model can be asked about, with missing and unseen cells."""
    columns = [
        _cells([f for f in schema.features if f.input == name], at)
        for at, name in enumerate(schema.inputs)
    ]
    cells = np.empty((6, len(columns)), dtype=object)
    cells[:] = list(zip(*columns, strict=True))
    # Names and words may hold lone surrogates, which only plain objects can.
    names = pd.Index(schema.inputs, dtype=object)
    return pd.DataFrame(cells, columns=names, dtype=object) if schema.named else cells


def _cells(features: list[Feature], shift: int) -> list[Any]:
    if not features:
        values: tuple[Any, ...] = ("id",)
    elif features[0].part is not None:
        values = DATES
    elif features[0].kind == "numeric":
        values = NUMBERS
    else:
        values = (*(features[0].categories or ()), "unseen")
    cells = [values[(i + shift) % len(values)] for i in range(6)]
    cells[(shift + 3) % 6] = None
    return cells


def use(model: Any, text: str, path: Path) -> None:
    """Ask everything of a model; raises where something fails or is wrong.

    `text` is its file. Frames are slow to read, so most questions are asked of an array.
    """
    frame = rows_for(model.tree_.schema)
    named = isinstance(frame, pd.DataFrame)
    X = frame.to_numpy() if named else frame
    answer = model.predict(X)
    if named:
        same = model.predict(frame).tolist() == answer.tolist()
        expect(same, "a frame has another answer than an array")
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(X)
        expect(np.isfinite(proba).all(), "probabilities that are no numbers")
        expect(((proba >= 0) & (proba <= 1)).all(), "probabilities out of range")
        expect(
            np.allclose(proba.sum(axis=1), 1), "probabilities that do not add to one"
        )
    else:
        expect(np.isfinite(answer).all(), "predictions that are no numbers")
    leaf = model.apply(X)
    expect((model.tree_.kind[leaf] == 0).all(), "apply gives a node that is no leaf")
    model.decision_path(X)
    importance = model.feature_importances_
    expect(np.isfinite(importance).all(), "importances that are no numbers")
    for row in range(2):
        one = frame.iloc[[row]] if named and row else X[[row]]
        expect(model.predict(one)[0] == answer[row], "a row alone has another answer")
        _check_text(str(model.explain(one)))
    for options in ({}, {"full": True}):
        _check_text(model.describe(**options))
    if model.tree_.deviation is not None:
        _check_text(model.describe(standardised=True))
    repr(model)
    model.to_html(path.with_suffix(".html"), X)
    for format in NAMES:
        _export(model, format, X, answer)
    again = path.with_suffix(".again.json")
    again.write_text(text)
    expect(
        load(again).predict(X).tolist() == answer.tolist(),
        "another answer after a save",
    )


def _check_text(text: str) -> None:
    expect(not CONTROL & set(text), "control characters in words")


def _export(model: Any, format: str, X: Any, answer: np.ndarray) -> None:
    """Each format can be written, or says what it cannot hold."""
    variants = (
        [{}, {"proba": True}] if format == "sql" and _has_classes(model) else [{}]
    )
    for options in variants:
        try:
            out = model.export(format, **options)
        except ValueError as error:
            if not is_refusal(error):
                raise
            continue
        if format == "rules":
            _check_text(str(out))
        elif format == "json":
            json.loads(out)
        elif format == "python":
            _run_python(model, str(out), X, answer)


def _run_python(model: Any, source: str, X: Any, answer: np.ndarray) -> None:
    names: dict[str, Any] = {}
    exec(compile(source, "exported.py", "exec"), names)
    for row, known in zip(X, answer.tolist(), strict=True):
        found = names["predict"](dict(zip(model.tree_.schema.inputs, row, strict=True)))
        found = found[0] if _has_classes(model) else found
        expect(found == known, f"exported Python answers {found!r}, not {known!r}")


def _has_classes(model: Any) -> bool:
    return hasattr(model, "predict_proba")
