"""Reproductions of BU95 and LMDT91: keys, runs, cells and tests of significance."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omnitree.lab.papers import bu95, bu95_runs, lmdt91
from omnitree.lab.papers.base import Lab, PaperTable, figure_cell, shortfalls
from omnitree.lab.papers.bu95_runs import Key
from omnitree.lab.statistics import paired_t
from omnitree.lab.store import Store

FOLDER = Path(
    os.environ.get(
        "OMNITREE_DATA", Path(__file__).parents[2].parent / "shared" / "data"
    )
)
needs_data = pytest.mark.skipif(not FOLDER.exists(), reason=f"no data sets in {FOLDER}")
METRICS = [*bu95.BETTER]


def made_up(rng: np.random.Generator, keys: list[Key], shift: dict[Key, float]):
    """Scores of ten runs around 80, some shifted."""
    return {
        key: pd.DataFrame(
            rng.normal(80 + shift.get(key, 0.0), 1.0, size=(10, len(METRICS))),
            columns=METRICS,
        )
        for key in keys
    }


def keys_of(number: str) -> list[Key]:
    rows = bu95._published(number, quick=False)
    keys = [bu95_runs.keys_of(number, row) for _, row in rows.iterrows()]
    return list(dict.fromkeys(key for part in keys for key in part))


@pytest.mark.parametrize("number", bu95.TABLES)
def test_every_published_cell_gets_one_of_ours(number: str, rng):
    scores = made_up(rng, keys_of(number), {})
    frame = bu95._published(number, quick=False)
    table = bu95._table(number, frame, scores)
    assert len(table.cells) == len(frame) > 0
    assert all(np.isfinite(cell.ours) for cell in table.cells)


def test_every_key_has_a_method():
    keys = {key for number in bu95.TABLES for key in keys_of(number)}
    made = {key: bu95_runs.method_of(key).make(0) for key in keys}
    assert made[Key("vowel", "Uni-G", criterion="gini")].pruning is None
    assert made[Key("breast", "HSS-I+Uni", "HSS")].learner.coefficients == "thermal"
    assert made[Key("bupa", "HSS-I+Uni", "HSS")].learner.coefficients == "rls"
    assert len(made) == 191


def test_tests_of_significance_find_what_is_there(rng):
    """RLS above the others on bupa: an algorithm effect and its contrast, nothing else."""
    keys = keys_of("6")
    shift = {k: 5.0 for k in keys if k.dataset == "bupa" and k.method == "RLS"}
    scores = made_up(rng, keys, shift)
    frame = bu95._published("6", quick=False)
    ours = {c.labels: c.ours for c in bu95._table("6", frame, scores).cells}
    assert ours["bupa", "algorithm"] < 1e-6
    assert min(ours["bupa", s] for s in ("selection", "algorithm*selection")) > 1e-3
    frame = bu95._published("7", quick=False)
    ours = {c.labels: c.ours for c in bu95._table("7", frame, scores).cells}
    assert ours["bupa", "RLS vs Thermal+Pocket"] < 1e-6
    assert ours["bupa", "Thermal vs Pocket"] > 1e-3


def test_who_wins_matters_in_table_21(rng):
    """Published: MU better on breast under SFS; if M is here, the cell differs."""
    keys = keys_of("21")
    plain, both = Key("breast", "RLS", "SFS"), Key("breast", "SFS-I+Uni", "SFS")
    frame = bu95._published("21", quick=False)
    for better, verdict in ((both, "same"), (plain, "differs")):
        scores = made_up(rng, keys, {better: 10.0})
        cells = {c.labels: c for c in bu95._table("21", frame, scores).cells}
        cell = cells["breast", "SFS, published best: MU"]
        assert cell.verdict == verdict
        pair = (scores[k]["accuracy"] for k in (plain, both))
        assert cell.ours == paired_t(*pair).p


def test_generated_samples_widen_the_error(rng):
    """The deviation between our samples of LED counts in full."""
    scores = made_up(rng, keys_of("11"), {})
    frame = bu95._published("11", quick=False)
    for cell in bu95._table("11", frame, scores).cells:
        name, method, _ = cell.labels
        key = Key(name, "Thermal", method.removeprefix("Thermal "))
        spread = scores[key]["accuracy"].std()
        square = (spread**2 + cell.deviation**2) / 10 + (name == "led") * spread**2
        assert cell.error == pytest.approx(square**0.5)


def test_shortfalls_are_two_deviations():
    cells = tuple(
        figure_cell((str(x),), 90.0, x, 1.0, "larger", 2.0) for x in (85.9, 86.1, 95)
    )
    small = figure_cell(("nodes",), 90.0, 50.0, 1.0, "smaller", 2.0)
    table = shortfalls([PaperTable("1", "x", ("set",), (*cells, small))])
    assert [row[1] for row in table.rows] == ["85.9"]
    assert table.note == "1 of 3 means."


def test_summaries_rank_and_compare(rng):
    keys = keys_of("5") + keys_of("10")
    worse = {Key("bupa", "RLS", "HSS"): -9.0}
    worse |= {k: -2.0 for k in keys if k.method == "Thermal"}
    worse |= {k: -4.0 for k in keys if k.method == "Pocket"}
    scores = made_up(rng, keys, worse)
    (ranking,) = bu95._ranking(scores)
    ours = [float(row[1]) for row in ranking.rows]
    assert [row[0] for row in ranking.rows] == ["RLS", "Thermal", "Pocket"]
    assert ours == sorted(ours, reverse=True)
    assert [row[2] for row in ranking.rows] == ["81.29", "80.08", "79.50"]
    (hybrid,) = bu95._hybrid(scores)
    verdicts = {row[:2]: row[-1] for row in hybrid.rows}
    assert len(verdicts) == 8
    assert verdicts["bupa", "RLS against SBE"] == "worse"


def test_runs_sum_their_folds():
    """A generated set needs no folder; a run is four folds over 1,000 rows."""
    key = Key("led", "Uni-G", criterion="gini")
    store = Store()
    runs = bu95_runs.run(Lab(store), [key], 2)[key]
    assert len(runs) == 2 and runs["accuracy"].between(60, 80).all()
    right = runs["accuracy"] * 10
    np.testing.assert_allclose(right, right.round(), atol=1e-6)
    np.testing.assert_allclose(runs["leaves"], runs["test_nodes"] + 1)
    assert (runs["size"] == runs["uv_tests"]).all() and not runs["mv_tests"].any()
    again = bu95_runs.run(Lab(store), [key], 2)[key]
    pd.testing.assert_frame_equal(runs, again)


@needs_data
def test_bu95_quick(monkeypatch):
    monkeypatch.setattr(bu95, "QUICK", ("hepatitis",))
    found = bu95.reproduce(Lab(Store(), FOLDER, quick=True), ["10", "24"])
    accuracy, pruning = found.tables
    assert len(accuracy.cells) == 4 and len(pruning.cells) == 12
    assert all(70 < cell.ours < 90 for cell in accuracy.cells)
    shorter = [c.ours for c in pruning.cells if c.labels[-1] == "features_per_test"]
    assert max(shorter) <= 0
    assert found.others[0].note.endswith("of 4 means.")


def test_lmdt91_without_data(monkeypatch):
    monkeypatch.setattr(lmdt91, "TASKS", {k: lmdt91.TASKS[k] for k in ("dnf", "led")})
    (table,) = lmdt91.reproduce(Lab(Store(), quick=True)).tables
    cells = {cell.labels: cell for cell in table.cells}
    assert len(cells) == 2 * 9
    for reading in ("best", "saved"):
        assert cells[reading, "dnf", "train accuracy"].ours > 90
        led = [
            cells[reading, "led", f"{part} accuracy"].ours for part in ("train", "test")
        ]
        assert led[0] > led[1] > 60


@needs_data
def test_lmdt91_quick():
    found = lmdt91.reproduce(Lab(Store(), FOLDER, quick=True))
    cells = {cell.labels: cell for cell in found.tables[0].cells}
    assert {task for _, task, _ in cells} == {*lmdt91.TASKS} - {"chess"}
    assert cells["best", "segment", "test accuracy"].ours > 91
    sizes = [cells[r, "soybean", "variables per lm"].ours for r in ("best", "saved")]
    assert sizes[0] > sizes[1]
