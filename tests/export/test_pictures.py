"""The pictures: what is drawn is what the tree says."""

from __future__ import annotations

import io
import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from tests import curved
from tests.tables import random_sample
from tests.trees import random_rows, random_tree

from omnitree import TreeClassifier, TreeRegressor, presets

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.patches import FancyBboxPatch  # noqa: E402

from omnitree.data.table import Table  # noqa: E402
from omnitree.export.pictures import importance_by_level, plot_node  # noqa: E402
from omnitree.export.sample import ShownRows  # noqa: E402
from omnitree.tree.splits import SPLITS  # noqa: E402

KINDS = tuple(SPLITS)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    y = data.target_names[data.target]
    return presets.make("ldt", random_state=0).fit(data.data, y), data.data, y


def words(ax):
    return [t.get_text() for t in ax.texts]


def test_plot_draws_every_node(iris):
    clf = iris[0]
    ax = clf.plot()
    boxes = [p for p in ax.patches if isinstance(p, FancyBboxPatch)]
    assert len(boxes) == clf.tree_.n_nodes
    assert sum(" row" in t for t in words(ax)) == len(boxes)
    assert "setosa" in words(ax)
    shares = [t.get_text() for t in ax.get_legend().get_texts()]
    assert shares == list(clf.classes_)
    ax.figure.savefig(io.BytesIO(), format="png")


def test_plot_stops_at_a_depth():
    X, y = load_iris(return_X_y=True)
    clf = TreeClassifier().fit(X, y)
    ax = clf.plot(max_depth=1)
    assert len([p for p in ax.patches if isinstance(p, FancyBboxPatch)]) == 3
    with pytest.raises(ValueError, match="max_depth"):
        clf.plot(max_depth=-1)


def test_plot_on_given_axes(iris):
    _, ax = plt.subplots()
    assert iris[0].plot(ax=ax) is ax


def test_boxes_do_not_overlap(rng):
    clf = TreeClassifier()
    clf._set_fitted(random_tree(rng, KINDS, n_inner=10), np.array(["a", "b", "c"]))
    boxes = [p.get_bbox() for p in clf.plot().patches if isinstance(p, FancyBboxPatch)]
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:i])


@pytest.fixture(scope="module")
def noise():
    """Trees by their number of leaves."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((600, 4)), columns=["age", "income", "x3", "x4"])
    y = np.array(["maybe", "no", "yes"])[rng.integers(0, 3, 600)]

    def fitted(n, depth=None):
        limits = {"max_leaves": n, "max_depth": depth}
        return TreeClassifier(**limits, random_state=0).fit(X, y)

    return fitted


def drawn(ax):
    """Boxes of a picture by size on the screen, and its texts likewise."""
    ax.figure.canvas.draw()
    boxes = [p for p in ax.patches if isinstance(p, FancyBboxPatch)]
    return [b.get_window_extent() for b in boxes], [
        t.get_window_extent() for t in ax.texts
    ]


@pytest.mark.parametrize(("n_leaves", "whole"), [(4, True), (30, True), (120, False)])
def test_text_can_be_read_on_given_axes(n_leaves, whole, noise):
    clf = noise(n_leaves, 6 if n_leaves == 30 else None)
    assert clf.tree_.n_leaves == n_leaves
    figure, ax = plt.subplots(figsize=(10, 6), layout="constrained")
    figure.canvas.draw()
    clf.plot(ax=ax)
    assert min(t.get_fontsize() for t in ax.texts) >= 4.9
    assert max(t.get_fontsize() for t in ax.texts) <= 8 * 1.4  # large axes, larger text
    boxes, texts = drawn(ax)
    assert (len(boxes) == clf.tree_.n_nodes) == whole
    left_out = clf.tree_.n_nodes - len(boxes)
    hint = f"{left_out} nodes of the lower levels are not drawn"
    assert any(hint in t for t in words(ax)) != whole
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:i])
    inside = ax.get_window_extent().expanded(1.01, 1.01)
    for text in texts:
        assert inside.containsx(text.x0) and inside.containsx(text.x1)
        assert inside.containsy(text.y0) and inside.containsy(text.y1)


def test_a_depth_that_is_asked_for_is_drawn(noise):
    clf = noise(60)
    depth = clf.tree_.depth
    _, ax = plt.subplots(figsize=(5, 3))
    clf.plot(max_depth=depth, ax=ax)
    assert len(drawn(ax)[0]) == clf.tree_.n_nodes


def test_small_axes_have_small_text(iris):
    sizes = []
    for inches in ((8, 6), (4, 3)):
        _, ax = plt.subplots(figsize=inches)
        iris[0].plot(ax=ax)
        sizes.append(max(t.get_fontsize() for t in ax.texts))
    assert sizes[1] < sizes[0]


def test_plot_with_rows(iris):
    """Each decision node has the histogram of its rows, with its cut."""
    clf, X, y = iris
    ax = clf.plot(X, y)
    inner = [int(node) for node in np.flatnonzero(clf.tree_.kind)]
    assert len(ax.child_axes) == len(inner)
    counted = sorted(sum(p.get_height() for p in a.patches) for a in ax.child_axes)
    path = clf.decision_path(X)
    assert counted == pytest.approx(sorted(path[:, [i]].sum() for i in inner))
    cuts = sorted(a.lines[0].get_xdata()[0] for a in ax.child_axes)
    assert cuts == sorted(clf.tree_.split(i).threshold for i in inner)
    with pytest.raises(ValueError, match="both X and y"):
        clf.plot(X)


def test_plot_with_rows_of_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(80), "where": rng.choice(["x", "y", "z"], 80)})
    y = 3 * (X.a > 0.4) + (X["where"] == "y")
    clf = TreeRegressor(max_leaves=4, random_state=0).fit(X, y)
    ax = clf.plot(X, y)
    assert len(ax.child_axes) == clf.tree_.n_nodes - clf.tree_.n_leaves
    for panel in ax.child_axes:
        assert len(panel.collections[0].get_offsets()) > 0


def test_plot_with_rows_that_do_not_reach_every_node(iris):
    clf, X, y = iris
    ax = clf.plot(X[:50], y[:50])  # one class: the rows take one way
    ax.figure.savefig(io.BytesIO(), format="png")
    assert any("no rows" in t for t in words(ax))


def test_a_machine_shows_its_weights():
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = presets.make("lmdt", random_state=0, selection="none").fit(X, y)
    root = clf.tree_.to_dict()["nodes"][0]
    ax = clf.plot()
    deviations = np.array(clf.tree_.to_dict()["deviations"])[root["test"]["columns"]]
    weights = np.array(root["test"]["weights"]) * deviations
    main = np.argsort(-np.ptp(weights, axis=0), kind="stable")[:3]
    names = X.columns[root["test"]["columns"]]
    for j, dots in zip(main, ax.collections[:3], strict=True):
        assert any(names[j].startswith(t.rstrip("…")) for t in words(ax) if t)
        at = dots.get_offsets()[:, 0]
        apart = at - at[0], weights[:, j] - weights[0, j]
        np.testing.assert_allclose(
            apart[0] * np.abs(apart[1]).max(), apart[1] * np.abs(apart[0]).max()
        )


def test_plot_node_counts_the_rows(iris):
    clf, X, y = iris
    for node in np.flatnonzero(clf.tree_.kind):
        ax = clf.plot_node(int(node), X, y)
        rows = clf.decision_path(X)[:, [int(node)]].sum()
        assert sum(p.get_height() for p in ax.patches) == pytest.approx(rows)
        (cut,) = ax.lines
        told = f"{cut.get_xdata()[0]:.6g}"  # where `describe` has it, of the same sum
        assert re.search(rf"(<=|>=) {re.escape(told)}\b", clf.describe())


def test_plot_node_of_every_kind(rng):
    for kind in KINDS:
        tree = random_tree(rng, (kind,), n_inner=1)
        values = random_rows(rng, 100)
        path = tree.decision_path(Table(values, tree.schema))
        sample = ShownRows(values, rng.integers(0, 3, 100), path)
        ax = plot_node(tree.to_dict(), 0, sample)
        sees = ax.child_axes[0] if ax.child_axes else ax
        assert sees.patches and sees.get_xlabel()
        assert bool(ax.child_axes) == kind.startswith("additive")


@pytest.mark.parametrize("one_sum", [True, False])
def test_plot_node_draws_the_curves_over_the_rows(one_sum: bool):
    X, y = curved.iris()
    if one_sum:
        X, y = X[y != "setosa"], y[y != "setosa"]
    clf = curved.curved_tree(X, y, one_sum)
    split = clf.tree_.split(0)
    _, given = plt.subplots()
    assert clf.plot_node(0, X, y, ax=given) is given
    sees, *panels = given.child_axes
    assert sum(p.get_height() for p in sees.patches) == len(X)
    curves, below = panels[::2], panels[1::2]
    names = [panel.get_xlabel() for panel in below]
    assert sorted(names) == sorted(X.columns[:4])
    for name, panel, rows in zip(names, curves, below, strict=True):
        j = list(X.columns).index(name)
        drawn = [line for line in panel.lines if line.get_marker() == "."]
        lines = [split.curve_values] if one_sum else split.curve_values
        for line, own in zip(drawn, lines, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), split.knots[j])
            np.testing.assert_array_equal(line.get_ydata(), own[j][:-1])
        known = X[name].notna().sum()
        assert sum(p.get_height() for p in rows.patches) == pytest.approx(known)
        missing = [
            line.get_ydata()[0] for line in panel.lines if line.get_marker() == "D"
        ]
        assert missing == [own[j][-1] for own in lines]
    # The leaves answer by curves, too: of two classes one line, the difference.
    leaf = clf.plot_node(1, X, y)
    assert len(leaf.child_axes) == 8
    leaf.figure.savefig(io.BytesIO(), format="png")


def test_plot_node_refuses(iris):
    clf, X, y = iris
    leaf = int(np.flatnonzero(clf.tree_.kind == 0)[0])
    with pytest.raises(ValueError, match="is a leaf"):
        clf.plot_node(leaf, X, y)
    with pytest.raises(ValueError, match="node must be 0 to 4"):
        clf.plot_node(99, X, y)
    with pytest.raises(ValueError, match="needs y"):
        clf.plot_node(0, X, None)
    with pytest.raises(ValueError, match="none of the rows"):
        clf.plot_node(1, X[y == "setosa"], y[y == "setosa"])


def test_boundary_is_predict(iris):
    _, X, y = iris
    two = X.iloc[:, 2:]
    clf = presets.make("ldt", random_state=0).fit(two, y)
    ax = clf.plot_boundary(two, y, resolution=40)
    (image,) = ax.images
    left, right, low, high = image.get_extent()
    a, b = np.meshgrid(np.linspace(left, right, 40), np.linspace(low, high, 40))
    grid = pd.DataFrame(
        {n: v.ravel() for n, v in zip(two.columns, (a, b), strict=True)}
    )
    answers = clf.predict(grid).reshape(40, 40)
    colours = np.asarray(image.get_array())
    # One colour a class and share; classes never share a colour.
    seen = {}
    for colour, answer in zip(colours.reshape(-1, 3), answers.ravel(), strict=True):
        assert seen.setdefault(tuple(colour), answer) == answer
    assert set(seen.values()) == set(answers.ravel())
    assert ax.get_xlabel() == two.columns[0]


def test_boundary_holds_other_features(rng):
    frame = pd.DataFrame(
        {"a": rng.random(60), "b": rng.random(60), "c": rng.choice(["x", "y"], 60)}
    )
    y = np.where(frame.c == "x", frame.a > 0.5, frame.b > 0.5)
    frame.loc[:40, "c"] = "x"
    clf = TreeClassifier().fit(frame, y)
    ax = clf.plot_boundary(frame, features=("a", "b"))
    assert ax.get_ylabel() == "b"
    with pytest.raises(ValueError, match="name the two to draw"):
        clf.plot_boundary(frame)
    with pytest.raises(ValueError, match="'c' is no number"):
        clf.plot_boundary(frame, features=("a", "c"))
    with pytest.raises(ValueError, match="no feature 'd'"):
        clf.plot_boundary(frame, features=("a", "d"))
    with pytest.raises(ValueError, match="two different"):
        clf.plot_boundary(frame, features=(1, 1))
    with pytest.raises(ValueError, match="must be a pair"):
        clf.plot_boundary(frame, features="ab")


def test_importance_adds_up_over_levels(rng):
    for preset in ("cart", "ldt"):
        sample = random_sample(rng, n=120, d=5, k=3)
        clf = presets.make(preset, pruning=None, random_state=0)
        clf.fit(sample.frame, sample.y)
        by_level = importance_by_level(clf.tree_.to_dict())
        assert by_level.shape == (clf.tree_.depth, 5)
        np.testing.assert_allclose(by_level.sum(axis=0), clf.feature_importances_)
        ax = clf.plot_importance()
        drawn = sum(p.get_width() for p in ax.patches)
        assert drawn == pytest.approx(clf.feature_importances_.sum())


def test_importance_legend_is_beside_the_bars(noise):
    clf = noise(120)
    assert clf.tree_.depth > 6
    ax = clf.plot_importance()
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert not any(p.get_window_extent().overlaps(box) for p in ax.patches)
    names = [t.get_text() for t in ax.get_legend().get_texts()]
    assert names[-1] == "level 5 and below" and len(names) == 6
    widths = sum(p.get_width() for p in ax.patches)
    assert widths == pytest.approx(1)


def test_importance_of_a_single_leaf():
    clf = TreeClassifier(max_depth=0).fit([[1], [2]], [0, 1])
    assert not clf.plot_importance().patches
    assert clf.plot().patches


def test_names_are_shown_as_they_are(rng):
    names = ["$x^2$", "_a", "50 % of $"]
    frame = pd.DataFrame(rng.random((40, 3)), columns=names)
    y = np.array(["_one", "$two"])[(frame.sum(axis=1) > 1.5).astype(int)]
    clf = TreeClassifier(max_depth=2).fit(frame, y)
    figures = [
        clf.plot(),
        clf.plot_node(0, frame, y),
        clf.plot_importance(),
        clf.plot_boundary(frame, y, features=names[:2]),
    ]
    for ax in figures:
        ax.figure.canvas.draw()  # mathtext would fail here
    assert len(figures[0].get_legend().get_texts()) == 2


def test_clear_error_without_matplotlib(iris, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install \"omnitree\[plot\]\""):
        iris[0].plot()


@pytest.mark.parametrize("preset", ["cart", "omni"])
def test_ticks_of_whole_numbers(preset: str, rng):
    """No 2007.5 among years."""
    X = pd.DataFrame({"year": rng.integers(2005, 2010, 200), "x": rng.normal(size=200)})
    y = (np.abs(X.year - 2007) + 0.2 * X.x > 1).astype(int)
    clf = presets.make(preset, random_state=0).fit(X, y)
    figure = clf.plot_node(0, X, y).figure
    figure.canvas.draw()
    panels = [a for ax in figure.axes for a in (ax, *ax.child_axes)]
    years = [a for a in panels if a.get_xlabel() == "year"]
    assert years
    for ax in years:
        assert (ax.get_xticks() % 1 == 0).all()
