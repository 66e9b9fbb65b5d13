"""Every table of every paper has the cells that it should, on made-up results.

No fit: folds with random errors stand for all runs, so the whole of a paper is quick.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from omnitree.lab.data import Dataset, generate
from omnitree.lab.papers import ldt05, omni, sources
from omnitree.lab.papers.base import Lab, PaperTable, figure_cell
from omnitree.lab.papers.pooled import pooled
from omnitree.lab.papers.results import Study
from omnitree.lab.runner import Result
from omnitree.lab.store import Fold, Store

CELLS = {
    ldt05: {
        "3": 80,
        "3, wins": 4 * 3,
        "4": 80,
        "4, wins": 4 * 3,
        "5": 80,
        "5, wins": 4 * 3,
        "6": 22,
        "7": 22,
        "8": 22,
        "9": 32,
        "10": 32,
        "11": 32,
        "12": 40,
        "13": 40,
        "14": 40,
        "15": 40,
        "16": 40,
        "17": 40,
        "18": 24,
        "19": 40,
        "20": 140,
        "20, wins": 7 * 6,
        "21": 140,
        "21, wins": 7 * 6,
        "22": 140,
        "22, wins": 7 * 6,
    },
    omni: {"1": 22 * 6, "2": 22 * 6, "3": 2 * 6 * 5, "4": 22 * 9},
}


def made_up_fold(rng: np.random.Generator) -> Fold:
    nodes = [
        [kind, level, 100.0, 3, [0], 1, 2]
        for level, kind in enumerate(("linear", "axis", "axis"), start=1)
    ]
    return Fold(
        error=rng.normal(20, 2),
        leaves=4,
        nodes=int(rng.integers(5, 9)),
        depth=3,
        parameters=int(rng.integers(5, 9)),
        seconds=rng.random(),
        detail={"nodes": nodes},
    )


@pytest.fixture
def made_up(monkeypatch, rng):
    """Runs give random folds and ask for no data."""

    def run(lab, tasks):
        return [Result(t, [made_up_fold(rng) for _ in range(10)]) for t in tasks]

    data = generate("dnf")
    monkeypatch.setattr(Lab, "run", run)
    monkeypatch.setattr(Study, "load", lambda study, name: data)
    return Lab(Store())


@pytest.mark.parametrize(
    "paper", CELLS, ids=lambda paper: paper.__name__.split(".")[-1]
)
def test_number_of_cells(paper, made_up):
    counts: dict[str, int] = {}
    for table in paper.reproduce(made_up).tables:
        counts[table.number] = counts.get(table.number, 0) + len(table.cells)
    assert counts == CELLS[paper]


def test_other_readings_stand_beside_the_first_and_are_not_counted(made_up):
    """Two lines for each reading in tables 3 and 4, 6 and 7, 9 and 10, ...; no times."""
    others = {table.title: table for table in ldt05.reproduce(made_up).others}
    lines = others["Two readings side by side"].rows
    assert len(lines) == 2 * 2 * (4 + 1 + 2 * 2 + 1 + 5)
    assert [line[2] for line in lines[:2]] == ["as run", "ties kept"]
    # Table 20, accuracies: C4.5, ID-LP, LDT, QUEST with ties, LMDT with all variables.
    table = others["Table 20: accuracy, seven methods, read otherwise"]
    assert len(table.rows) == 20 * 5
    assert len({(row[0], row[1]) for row in table.rows}) == len(table.rows)


def test_data_are_coded_as_the_papers_have_them():
    """The repository's monks-1.test begins 1 1 1 1 1 1, 1 1 1 1 1 2, 1 1 1 1 2 1."""
    names = ["a1", "a2", "a3", "a4", "a5", "a6"]
    rows = [
        ["round", "round", "yes", "sword", "red", "yes"],
        ["round", "square", "no", "balloon", "yellow", "no"],
        ["octagon", "square", "no", "flag", "blue", "no"],
    ]
    monks = Dataset("monks1", pd.DataFrame(rows, columns=names), np.arange(3))
    expected = [[1, 1, 1, 1, 1, 1], [1, 2, 2, 2, 2, 2], [3, 2, 2, 3, 4, 2]]
    assert sources.as_numbers(monks).X.to_numpy().tolist() == expected
    balance = Dataset("balance", pd.DataFrame({"weight": [1, 5]}), np.arange(2))
    assert sources.as_categories(balance).X["weight"].tolist() == ["1", "5"]
    assert {*omni.CODED, *ldt05.CODED} == {"monks", "balance"}


def test_a_table_without_cells_is_refused():
    with pytest.raises(ValueError, match=r"table 9 .* has no cells"):
        PaperTable("9", "nothing", ("data set",), ())


def test_pooled_z_shows_a_drift_that_no_cell_shows():
    """Nine cells, each one standard error low: no verdict, but three in all."""
    cells = [
        figure_cell((f"set {i}", method), 90.0, 90.0 - shift, 0.5, "larger", 2.0)
        for i in range(9)
        for method, shift in (("low", 0.5), ("fair", 0.5 * (-1) ** i))
    ]
    assert {cell.verdict for cell in cells} == {"same"}
    table = PaperTable("1", "accuracy", ("data set", "method"), tuple(cells))
    by_method, by_set = pooled([table, table])
    assert by_method.rows == (
        ("low", "9", "-1.00", "-3.00"),
        ("fair", "9", "-0.11", "-0.33"),
    )
    assert by_set.rows[0] == ("set 0", "2", "-1.00", "-1.41")
    sizes = PaperTable(
        "2",
        "size",
        ("data set", "method"),
        (figure_cell(("a", "b"), 9, 5, 0.5, "size"),),
    )
    assert pooled([sizes]) == []
