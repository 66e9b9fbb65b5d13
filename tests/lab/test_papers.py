"""Reproductions: published figures are packaged, cells and verdicts are right."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omnitree.data.reading import InputError
from omnitree.lab import data, papers
from omnitree.lab.papers import ldt05, lw94, lw94_runs, lw94_tables, omni, sources
from omnitree.lab.papers.base import (
    Lab,
    Reproduction,
    chosen,
    figure_cell,
    published,
    statistic_cell,
)
from omnitree.lab.store import Store

FOLDER = Path(
    os.environ.get(
        "OMNITREE_DATA", Path(__file__).parents[2].parent / "shared" / "data"
    )
)


def test_every_paper_has_its_interface():
    for name in papers.PAPERS:
        module = papers.find(name)
        assert module.TITLE and module.TABLES and callable(module.reproduce)
    with pytest.raises(InputError, match="lw94"):
        papers.find("lw49")
    with pytest.raises(InputError, match="unknown table"):
        chosen(["99"], list(lw94.TABLES))


def test_published_tables_are_complete():
    assert len(published("liuwhite1994_table1")) == 12
    assert len(published("brodley1995_table14_accuracy")) == 64
    names = set(published("yildiz2005_table02_datasets")["dataset"])
    assert list(ldt05.TABLES) == [str(number) for number in range(3, 23)]
    for number, title in ldt05.TABLES.items():
        frame = published(f"yildiz2005_table{int(number):02d}_{title.split(',')[0]}")
        if "dataset" in frame:
            assert set(frame["dataset"]) - {"ALL"} <= names


@pytest.mark.parametrize(
    ("ours", "better", "verdict"),
    [
        (91.0, "larger", "same"),
        (91.6, "larger", "better"),
        (88.0, "larger", "worse"),
        (88.0, "smaller", "better"),
        (88.0, "neither", "differs"),
        (88.0, "unknown", "not compared"),
        (float("nan"), "larger", "not compared"),
    ],
)
def test_verdicts(ours: float, better: str, verdict: str):
    assert figure_cell(("x",), 90.0, ours, 0.5, better).verdict == verdict


def test_verdicts_of_tests():
    assert statistic_cell(("F",), 10.0, 3.0, True, 0.01).verdict == "same"
    assert statistic_cell(("F",), 10.0, 3.0, True, 0.2).verdict == "differs"
    assert statistic_cell(("F",), 1.0, 3.0, False, 0.2).verdict == "same"


@pytest.fixture(scope="module")
def quick() -> Reproduction:
    pytest.importorskip("statsmodels", reason="statsmodels is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    return lw94.reproduce(Lab(Store(), n_jobs=2, quick=True))


def test_lw94_quick(quick):
    """Twenty data sets per condition tell the main effects beyond doubt."""
    tables = {table.number: table for table in quick.tables}
    assert list(tables) == list(lw94.TABLES)
    accuracy = {cell.labels: cell for cell in tables["1"].cells}
    assert len(accuracy) == 12
    # Three standard errors, with a margin for twelve cells.
    assert sum(cell.verdict == "same" for cell in accuracy.values()) >= 11
    few, many = (accuracy[(f"1 signal and {n} noise", "random")].ours for n in (1, 80))
    assert few - many > 15
    for number in ("2", "7"):
        assert {cell.verdict for cell in tables[number].cells} == {"same"}
    assert {figure.title for figure in quick.figures} == {"Figure 1", "Figure 2"}
    rows = quick.summary().rows
    assert rows[-1][0] == "all"
    cells = sum(len(table.cells) for table in quick.tables)
    assert sum(int(count) for count in rows[-1][2:]) == cells


def test_lw94_data_sets_share_a_sequence_but_not_their_paths():
    """Counts vary between data sets, less than independent draws would, and with the run."""
    lab = Lab(Store())
    (condition,) = lw94_runs.simulate(lab, [(1, 1)], 30, 4).values()
    assert condition.right["random"].shape == (4, 30, 100)
    assert condition.right["H_T"].shape == (1, 30, 100)
    counts = condition.on_signal().sum(axis=2)
    assert 2 < counts.std(axis=1, ddof=1).mean() < 5
    assert counts.mean(axis=1).std(ddof=1) > 1.5  # 0.9 if they were independent
    same, other = (np.nanmean(condition.subset("random", shift)) for shift in (0, 1))
    assert other == pytest.approx(condition.accuracy("random").mean(), abs=3)
    assert 70 < same < 85


def test_lw94_one_table_runs_one_experiment():
    store = Store()
    found = lw94.reproduce(Lab(store, quick=True), ["II"])
    assert [table.number for table in found.tables] == ["II"]
    runs = store._db.execute("SELECT count(*) FROM runs").fetchone()[0]
    assert runs == (3 + 1) * 20


def test_clustered_error_is_that_of_means_when_sets_are_equal(rng):
    import pandas as pd

    value = rng.normal(size=(30, 8)) + rng.normal(size=(30, 1))
    rows = pd.DataFrame(
        {"set": np.repeat(np.arange(30), 8), "importance": value.ravel()}
    )
    expected = value.mean(axis=1).std(ddof=1) / np.sqrt(30)
    assert lw94_tables.clustered_error(rows) == pytest.approx(expected)


@pytest.mark.skipif(not FOLDER.exists(), reason=f"no data sets in {FOLDER}")
def test_ldt05_quick():
    lab = Lab(Store(), FOLDER, n_jobs=2, quick=True)
    raw, wins = ldt05.reproduce(lab, ["3"]).tables
    assert {cell.labels[0] for cell in raw.cells} == set(ldt05.QUICK)
    assert "C5.0" in raw.note and len(raw.cells) == 4 * len(ldt05.QUICK)
    iris = {cell.labels: cell for cell in raw.cells}[("iris", "LDTu(1)")]
    assert iris.published == 93.2 and 88 < iris.ours < 98
    assert [cell.verdict for cell in wins.cells] == ["not compared"] * 12


@pytest.mark.skipif(not FOLDER.exists(), reason=f"no data sets in {FOLDER}")
def test_ldt05_hybrid(monkeypatch):
    """Nodes of the hybrid tree: both sides of each rule are all nodes of table 19."""
    monkeypatch.setattr(ldt05, "QUICK", ("iris", "zoo"))
    lab = Lab(Store(), FOLDER, quick=True)
    rules, nodes = ldt05.reproduce(lab, ["18", "19"]).tables
    mean = {cell.labels: cell.ours for cell in nodes.cells}
    assert set(mean) == {
        (name, kind)
        for name in ("iris", "zoo")
        for kind in ("univariate", "multivariate")
    }
    assert 1 < mean["iris", "univariate"] < 4
    for kind in ("univariate", "multivariate"):
        total = 10 * sum(value for labels, value in mean.items() if labels[1] == kind)
        counts = [cell.ours for cell in rules.cells if cell.labels[1] == kind]
        for below, above in zip(counts[::2], counts[1::2], strict=True):
            assert below + above == pytest.approx(total)
    assert {cell.verdict for cell in rules.cells} == {"not compared"}


@pytest.mark.skipif(not FOLDER.exists(), reason=f"no data sets in {FOLDER}")
def test_omni_small(monkeypatch):
    """All tables on three small sets: counts, levels and criteria fit together."""
    monkeypatch.setattr(omni, "QUICK", ("iris", "wine", "zoo"))
    found = omni.reproduce(Lab(Store(), FOLDER, n_jobs=2, quick=True))
    tables = {table.title: table for table in found.tables}
    assert len(tables["error"].cells) == len(tables["model complexity"].cells) == 18
    error = {cell.labels: cell for cell in tables["error"].cells}
    assert error["iris", "LIN"].published == 3.07 and error["iris", "LIN"].ours < 6
    assert sum(cell.verdict == "worse" for cell in error.values()) <= 2
    nodes = {cell.labels: cell.ours for cell in tables["nodes of each kind"].cells}
    *drift, levels, no_worse, follows = found.others
    assert [len(table.rows) for table in drift] == [6, 3]
    for at, method in ((1, "AIC"), (5, "BIC"), (9, "CV")):
        for i, kind in enumerate(omni.PURE):
            total = sum(nodes[name, method, kind] for name in ("iris", "wine", "zoo"))
            assert sum(int(row[at + i]) for row in levels.rows) == total
    assert [row[0] for row in no_worse.rows] == [
        "UNI",
        "LIN",
        "QUA",
        "AIC",
        "BIC",
        "CV",
    ]
    assert [row[0] for row in follows.rows] == ["wine"]
    wins = [cell for table in found.tables[2:4] for cell in table.cells]
    assert len(wins) == 2 * 30


def test_papers_that_need_data_say_so(monkeypatch):
    monkeypatch.delenv("OMNITREE_DATA", raising=False)
    with pytest.raises(InputError, match="--data"):
        ldt05.reproduce(Lab(Store(), quick=True), ["3"])


def test_every_data_set_that_a_paper_needs_is_named():
    for name in papers.PAPERS:
        module = papers.find(name)
        whole = sources.needed(name, module, [], quick=False)
        assert set(sources.needed(name, module, [], quick=True)) <= set(whole)
        assert bool(whole) == (name != "lw94")
    assert "monks1" in sources.needed("omni", omni, ["1"], quick=False)
    assert sources.needed("lmdt91", papers.find("lmdt91"), ["4"], False)[-1] == (
        "soybean15"
    )
    with pytest.raises(InputError, match="unknown table"):
        sources.needed("ldt05", ldt05, ["99"], quick=False)


def test_a_survey_finds_what_is_there(tmp_path: Path, monkeypatch):
    """Files first, then OpenML, which is asked once if it does not answer."""
    (tmp_path / "zoo.csv").write_text("a,class\n1,x\n2,y\n")
    asked = []

    def silent(name, version):
        asked.append(name)
        raise InputError("OpenML cannot be reached: no network")

    def small(name, version):
        rows = 625 if name == "balance-scale" else 3
        X = pd.DataFrame(np.zeros((rows, 4)), columns=list("abcd"))
        return data.Dataset(name, X, np.array(["L", "B", "R"])[np.arange(rows) % 3])

    names = ["bupa", "ecoli", "balance", "iris", "led", "zoo"]
    monkeypatch.setattr(sources, "from_openml", silent)
    found = sources.survey(names, tmp_path)
    assert asked == ["ecoli"] and not found.is_empty
    assert (found.generated, found.in_folder) == (("led",), ("zoo",))
    assert found.installed == ("iris",)
    assert found.missing == ("bupa", "ecoli", "balance")
    assert any("bupa.csv, ecoli.csv, balance.csv" in line for line in found.lines())
    assert sources.survey(["bupa", "ecoli"]).is_empty
    assert not sources.survey(["bupa", "wine"]).is_empty
    monkeypatch.setattr(sources, "from_openml", small)
    found = sources.survey(names, tmp_path)
    assert found.fetched == ("balance",) and found.missing == ("bupa", "ecoli")
    assert any("3 instead of 336 rows, 4 instead of 7" in x for x in found.lines())
    assert not any("cannot be reached" in line for line in found.lines())
    assert sources.load("balance", tmp_path).source == ""
    assert sources.load("iris", tmp_path).source == "scikit-learn"
    with pytest.raises(InputError, match="3 instead of 8 classes"):
        sources.load("ecoli", tmp_path)


@pytest.mark.skipif(not FOLDER.exists(), reason=f"no data sets in {FOLDER}")
@pytest.mark.parametrize("name", sources.OPENML)
def test_openml_must_give_what_the_files_hold(name):
    """Rows, features and classes that a fetched table needs are those of the file."""
    table = data.load(name, FOLDER)
    assert (*table.X.shape, len(table.classes)) == sources.OPENML[name][2:]


@pytest.mark.skipif(not FOLDER.exists(), reason=f"no data sets in {FOLDER}")
def test_the_cells_of_missing_data_sets_are_left_out():
    others = ("bupa", "ecoli", "glass", "hepatitis", "zoo", "monks1")
    lab = Lab(Store(), FOLDER, quick=True, missing=others)
    (table,) = omni.reproduce(lab, ["1"]).tables
    assert {cell.labels[0] for cell in table.cells} == {"iris", "wine"}
