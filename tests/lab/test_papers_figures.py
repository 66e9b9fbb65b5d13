"""Figures of the papers, the tree over node types, and verdicts by kind of figure."""

from __future__ import annotations

import numpy as np
import pandas as pd

from omnitree.lab.papers import base, ldt05_figures, verdicts


def hybrid_nodes(rng, n=300):
    """Nodes that are multivariate where they have many rows."""
    out = pd.DataFrame(
        {
            "node_level": rng.integers(1, 9, n),
            "features": 5,
            "classes": rng.integers(2, 9, n),
            "node_classes": rng.integers(2, 9, n),
            "rows": 900,
            "node_instances": rng.integers(5, 900, n).astype(float),
            "node_training_ratio_percent": 100 * rng.random(n),
        }
    )
    return out.assign(multivariate=out["node_instances"] > 500)


def test_the_first_cut_of_figure_2_is_the_published_one():
    figures, table = ldt05_figures.iris_figures()
    assert [f.title[:8] for f in figures] == ["Figure 1", "Figure 2"]
    assert all(f.svg.startswith("<svg") for f in figures)
    row = table.rows[1]
    assert row[2] == row[3] == "-0.39"


def test_figure_3_and_the_tree_over_node_types():
    nodes = hybrid_nodes(np.random.default_rng(0))
    figures = ldt05_figures.shares_figure(nodes)
    assert len(figures) == 4 and all("<svg" in f.svg for f in figures)
    rows = {row[0]: row for row in ldt05_figures.tree_over_nodes(nodes).rows}
    assert rows["first test on"][2] == "node_instances"
    assert rows["nodes of the C4.5 tree"][1:] == ("65", "3")


def test_published_shares_lie_on_their_side_of_the_cut(monkeypatch):
    """Table 18 cuts levels at <= 4 and > 4, rows at >= 500 and < 500."""
    drawn = {}

    def lines_by_position(series, labels, title):
        drawn[title] = {name: x for name, (x, _) in series.items()}
        return "<svg/>"

    monkeypatch.setattr(ldt05_figures.plots, "lines_by_position", lines_by_position)
    ldt05_figures.shares_figure(hybrid_nodes(np.random.default_rng(0), 3000))
    assert drawn["level"]["published, <= 4"] == [1, 4]
    assert drawn["level"]["published, > 4"] == [5, 8]
    assert drawn["rows in the node"]["published, < 500"] == [0, 250]
    assert drawn["rows in the node"]["published, >= 500"] == [500, 500]
    assert drawn["% of the training rows"]["published, > 20"] == [20, 80]


def test_verdicts_by_kind_and_reasons():
    cells = (
        base.figure_cell(("iris", "LDT"), 95.0, 90.0, 0.5),
        base.figure_cell(("wine", "LDT"), 95.0, 95.5, 0.5),
        base.figure_cell(("wine", "LDT, size"), 9.0, 3.0, 0.5, "size"),
        base.figure_cell(("wine", "time"), 9.0, 3.0, float("nan"), "unknown"),
        base.statistic_cell(("wine", "p"), 0.01, 0.2, True, 0.2),
    )
    table = base.PaperTable("3", "accuracy", ("data set", "method"), cells)
    found = {"ldt05": base.Reproduction([table])}
    counts = {row[:2]: row[2:] for row in verdicts.counts(found).rows}
    order = base.VERDICTS
    accuracy = dict(zip(order, counts["ldt05", "accuracy or error"], strict=True))
    assert (accuracy["same"], accuracy["worse"], accuracy["better"]) == ("1", "1", "0")
    assert counts["all", "size"][order.index("smaller")] == "1"
    assert counts["all", verdicts.TEST][order.index("differs")] == "1"
    assert counts["all", verdicts.NONE][order.index("not compared")] == "1"
    assert verdicts.worse(found, []).rows[0][-1] == ""
    reasons = [verdicts.Reason("ldt05", "3", "iris*", "another iris")]
    (row,) = verdicts.worse(found, reasons).rows
    assert row[-1] == "another iris" and row[3] == "-5.00 (-10.0 s.e.)"
    drifts = {row[1]: row for row in verdicts.drifts(found, reasons).rows}
    assert float(drifts["LDT"][4]) < -2 and drifts["LDT"][5] == "none found"
