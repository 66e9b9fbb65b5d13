"""The explorer's file: what it says, what it weighs, and what is refused."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from tests.tables import random_sample
from tests.trees import random_rows, random_tree

from omnitree import OmniTreeClassifier, TreeClassifier, TreeRegressor, presets
from omnitree.data.table import Table
from omnitree.export.candidates import candidate_text
from omnitree.export.explorer import SCRIPTS, embedded_json
from omnitree.export.explorer.payload import payload
from omnitree.export.model import NodeTest
from omnitree.export.sample import ShownRows, bins_at_cut, cut_of, in_bins, project
from omnitree.tree.expression import plain_rule
from omnitree.tree.splits import SPLITS

KINDS = tuple(SPLITS)
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    y = data.target_names[data.target]
    return TreeClassifier().fit(data.data, y), data.data, y


def page_data(page):
    """What is embedded in a page."""
    (found,) = DATA.findall(page)
    return json.loads(found)


def sample_of(tree, values, labels=None):
    return ShownRows(values, labels, tree.decision_path(Table(values, tree.schema)))


# -- the file ------------------------------------------------------------------------


def test_one_file_with_the_public_tree(iris, tmp_path):
    clf, X, y = iris
    path = clf.to_html(tmp_path / "tree.html", X, y, title="Iris & friends")
    page = path.read_text(encoding="utf-8")
    data = page_data(page)
    assert data["tree"] == clf.tree_.to_dict()
    assert data["labels"] == list(clf.classes_)
    assert "<title>Iris &amp; friends</title>" in page
    # Nothing is fetched: no address but names of standards.
    outside = re.sub(DATA, "", page)
    assert re.findall(r"https?://[^\"'\s]+", outside) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<link(?! rel=\"icon\" href=\"data:)|\ssrc=|@import", outside)


def test_a_page_of_two_trees(iris, tmp_path):
    clf, X, y = iris
    small = presets.make("cart", max_leaves=2).fit(X, y)
    path = clf.to_html(tmp_path / "tree.html", X, y, compare={"<b>small</b>": small})
    page = path.read_text(encoding="utf-8")
    assert "<b>small" not in page
    data = page_data(page)
    assert (data["title"], data["compare"]["title"]) == ("This tree", "<b>small</b>")
    assert data["compare"]["tree"] == small.tree_.to_dict()
    right = clf.predict(X) == y, small.predict(X) == y
    assert data["figures"]["wrong"] == pytest.approx(1 - right[0].mean())
    assert data["compare"]["figures"]["wrong"] == pytest.approx(1 - right[1].mean())
    assert data["agreement"] == {
        "rows": len(X),
        "same": int(np.sum(clf.predict(X) == small.predict(X))),
        "only": [int(np.sum(right[0] & ~right[1])), int(np.sum(right[1] & ~right[0]))],
    }
    assert "compare" not in page_data(clf.to_html(path, X, y).read_text("utf-8"))


def test_a_page_of_two_trees_of_numbers(iris, tmp_path):
    _, X, _ = iris
    y = X.iloc[:, 0] * 2
    one, two = (TreeRegressor(max_leaves=n).fit(X, y) for n in (2, 9))
    path = one.to_html(tmp_path / "tree.html", X, y, compare=two)
    data = page_data(path.read_text(encoding="utf-8"))
    for own, given in ((one, data), (two, data["compare"])):
        error = np.sqrt(np.mean((own.predict(X) - y) ** 2))
        assert given["figures"]["loss"] == pytest.approx(error)
        assert given["figures"]["wrong"] is None
        assert given["figures"]["parameters"] == own.tree_.n_parameters
        assert len(given["hints"]) == own.tree_.n_nodes
    assert data["agreement"]["only"] is None
    # Without rows there are trees to look at, and nothing to count.
    data = page_data(one.to_html(path, compare=two).read_text(encoding="utf-8"))
    assert data["agreement"] is None and data["compare"]["figures"]["loss"] is None


def test_leaves_with_one_model_store_it_once(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = OmniTreeClassifier(random_state=0).fit(X, y)
    nodes = clf.tree_.to_dict()["nodes"]
    assert nodes[1]["model"] == nodes[2]["model"]
    shown = page_data(clf.to_html(tmp_path / "t.html").read_text("utf-8"))["tree"]
    assert shown["nodes"][1]["model"] == nodes[1]["model"]
    assert [node.get("model") for node in shown["nodes"][2:]] == [1] * (len(nodes) - 2)


def test_every_source_is_used():
    folder = files("omnitree.export.explorer")
    scripts = {f.name for f in folder.iterdir() if f.name.endswith(".js")}
    assert scripts == set(SCRIPTS)


def test_no_markup_is_made_from_text():
    ways = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\("
    )
    for name in SCRIPTS:
        source = files("omnitree.export.explorer").joinpath(name).read_text("utf-8")
        assert not ways.search(source), name


def test_embedded_json_is_inert():
    text = embedded_json(["</script>", "<!--", "&", "\u2028", "\ud800"])
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == ["</script>", "<!--", "&", "\u2028", "\ud800"]


@pytest.mark.parametrize("preset", ["cart", "ldt"])
def test_weight_of_two_hundred_nodes(preset, tmp_path, rng):
    """20 columns, 5 classes, 200 nodes, with rows: less than a megabyte."""
    X = rng.normal(size=(1500, 20))
    y = rng.integers(0, 5, 1500)
    clf = presets.make(preset, pruning=None, max_leaves=101, random_state=0).fit(X, y)
    assert clf.tree_.n_nodes >= 200
    size = clf.to_html(tmp_path / "tree.html", X, y).stat().st_size
    assert size < 1_000_000


def test_old_file_survives_a_failure(iris, tmp_path):
    clf, X, _ = iris
    path = tmp_path / "tree.html"
    path.write_text("old")
    with pytest.raises(ValueError):
        clf.to_html(path, X, ["unknown"] * len(X))
    assert path.read_text() == "old"
    with pytest.raises(OSError):
        clf.to_html(tmp_path)
    with pytest.raises(OSError):
        clf.to_html(tmp_path / "no" / "folder.html")


def test_rows_are_spread_evenly(iris, tmp_path):
    clf, X, y = iris
    path = clf.to_html(tmp_path / "tree.html", X, y, max_rows=30)
    sample = page_data(path.read_text())["sample"]
    assert sample["n_rows"] == 150
    assert sample["index"] == list(range(0, 150, 5))
    assert sample["values"] == X.to_numpy()[::5].tolist()
    assert np.unique(sample["labels"], return_counts=True)[1].tolist() == [10, 10, 10]
    none = clf.to_html(path, X, y, max_rows=0)
    assert page_data(none.read_text())["sample"]["values"] == []


def test_bad_arguments(iris, tmp_path):
    clf, X, y = iris
    path = tmp_path / "tree.html"
    with pytest.raises(ValueError, match="y was given without X"):
        clf.to_html(path, y=y)
    with pytest.raises(ValueError, match="class that training did not show: 'rose'"):
        clf.to_html(path, X, ["rose", *y[1:]])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        clf.to_html(path, X, y[:-1])
    with pytest.raises(ValueError, match="max_rows"):
        clf.to_html(path, X, y, max_rows=-1)
    with pytest.raises(ValueError, match="lacks column"):
        clf.to_html(path, X.iloc[:, :2], y)
    with pytest.raises(Exception, match="not fitted"):
        TreeClassifier().to_html(path)
    assert not path.exists()


# -- what it says --------------------------------------------------------------------


def test_projection_decides_as_the_tree_does(rng):
    """Left of the cut is branch 0 (machine: right of it, the branch itself)."""
    for kind in (k for k in KINDS if k not in ("multiway", "subset")):
        for _ in range(40):
            tree = random_tree(rng, (kind,), n_inner=1)
            values = random_rows(rng, 30)
            table = Table(values, tree.schema)
            main = tree.split(0)
            test = NodeTest.of(main)
            branch = type(main)(*_own(main)).route(table, np.arange(30))
            z = project(test, tree.schema, values)
            known = ~np.isnan(z)
            assert (branch[~known] == -1).all()
            if test.is_machine:
                expected = np.where(z >= cut_of(test), 0, 1)
                assert ((branch > 0) == expected).all()
            else:
                right = z > cut_of(test)
                low = test.data.get("low", 0)
                expected = np.where(right, 1 - low, low)
                assert (branch[known] == expected[known]).all()


def _own(split):
    """The test alone, without its surrogates."""
    return [getattr(split, name) for name in split.to_dict()]


def test_bins_keep_branches_apart(rng):
    for _ in range(200):
        z = rng.integers(-8, 9, size=rng.integers(1, 30)) / 4
        cut = float(rng.integers(-10, 11) / 4)
        edges = bins_at_cut(z, cut, n_bins=int(rng.integers(1, 12)))
        labels = rng.integers(0, 3, len(z))
        weight = rng.integers(1, 5, len(z)) / 2
        counts = in_bins(z, edges, labels, weight, 3)
        assert (np.diff(edges) > 0).all()
        assert edges[0] <= z.min() + 1e-9 and z.max() - 1e-9 <= edges[-1]
        np.testing.assert_allclose(
            counts.sum(axis=1), np.bincount(labels, weight, minlength=3)
        )
        if z.min() <= cut <= z.max():
            left = edges[1:] <= cut + 1e-9
            np.testing.assert_allclose(counts[:, left].sum(), weight[z <= cut].sum())


@pytest.mark.parametrize("cut", [-1.7e308, 0.0, 1.7e308])
def test_bins_at_the_end_of_the_range(cut: float):
    z = np.array([-1.7e308, -1e300, 1.7e308])
    edges = bins_at_cut(z, cut)
    assert np.isfinite(edges).all() and len(edges) < 40
    assert edges[0] <= z[0] and z[2] <= edges[-1]
    one = np.zeros(3, dtype=np.intp)
    assert in_bins(z, edges, one, np.ones(3), 1).sum() == 3


def test_page_of_numbers_whose_squares_are_infinite(tmp_path):
    """Spreads of terms were infinite, which JSON does not know."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = presets.make("ldt", random_state=0).fit(X, X.sum(axis=1) > 0)
    page = model.to_html(tmp_path / "page.html", X * 1e200).read_text()
    root = page_data(page)["sample"]["views"]["0"]
    own = X.std(axis=0)
    np.testing.assert_allclose(np.array(root["spread"], float) / 1e200, own, 1e-4)
    model.to_html(tmp_path / "page.html", X * 1e307)  # sums are infinite, too


def test_charts_count_the_rows(rng):
    """Each chart holds the parts of the rows that come to its node and can be placed."""
    tree = random_tree(rng, KINDS, n_inner=12)
    values = random_rows(rng, 200)
    labels = rng.integers(0, 3, 200)
    sample = sample_of(tree, values, labels)
    shown = payload(
        tree.to_dict(),
        tree.shares,
        tree.class_shares,
        sample,
        figures={},
        title="",
        made_by="",
        max_rows=10,
    )
    views = shown["sample"]["views"]
    for node in shown["tree"]["nodes"]:
        if node["kind"] == "leaf":
            continue
        part = sample.path[:, [node["id"]]].toarray()[:, 0]
        test = node["test"]
        if "feature" in test:
            part = np.where(np.isnan(values[:, test["feature"]]), 0, part)
        expected = np.bincount(labels, part, minlength=3)
        charts = views[str(node["id"])]["charts"]
        if part.any():
            assert charts
        for chart in charts:
            np.testing.assert_allclose(
                np.sum(chart["counts"], axis=1), expected, rtol=1e-4
            )


def test_ranges_without_rows_hold_every_threshold(rng, tmp_path):
    for _ in range(20):
        sample = random_sample(rng, n=60, d=4, k=2)
        clf = TreeClassifier().fit(sample.frame, sample.y)
        data = page_data(clf.to_html(tmp_path / "t.html").read_text())
        assert data["sample"] is None
        for node in data["tree"]["nodes"]:
            if node["kind"] == "axis":
                low, high = data["ranges"][node["test"]["feature"]]
                assert low < node["test"]["threshold"] < high


def test_answers_are_smoothed_as_the_estimator_says(iris, tmp_path):
    _, X, y = iris
    clf = TreeClassifier(smoothing="laplace", max_depth=2).fit(X, y)
    data = page_data(clf.to_html(tmp_path / "t.html").read_text())
    leaves = np.flatnonzero(clf.tree_.kind == 0)
    by_leaf = dict(zip(clf.apply(X), clf.predict_proba(X).tolist(), strict=True))
    assert {i for i, a in enumerate(data["answer"]) if a} == set(leaves.tolist())
    assert all(data["answer"][leaf] == p for leaf, p in by_leaf.items())


def test_labels_and_categories_are_text(tmp_path):
    X = pd.DataFrame({"a": [True, False] * 10, "b": pd.Categorical([1, 2, 3, 4] * 5)})
    clf = TreeClassifier().fit(X, X.a)
    data = page_data(clf.to_html(tmp_path / "t.html", X, X.a).read_text())
    assert data["labels"] == ["False", "True"]
    assert data["categories"] == [["False", "True"], ["1", "2", "3", "4"]]


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_has_a_page(name, tmp_path, rng):
    sample = random_sample(rng, n=60, d=4, k=3, missing_share=0.1)
    clf = presets.make(name, random_state=0).fit(sample.frame, sample.y)
    data = page_data(clf.to_html(tmp_path / "t.html", sample.frame).read_text())
    tree = clf.tree_.to_dict()
    for node in tree["nodes"]:
        for left_out in ("importance", "model_importance"):
            node.pop(left_out, None)
        if node["kind"] != "leaf":
            node.pop("model", None)
            node["test"] = plain_rule(clf.tree_.split(node["id"]).rule)
        for candidate in node.get("candidates", ()):
            words = candidate_text(candidate["learner"], candidate["kind"])
            candidate["learner"] = words
    for node in data["tree"]["nodes"]:
        if isinstance(node.get("model"), int):  # stored with an earlier leaf
            node["model"] = data["tree"]["nodes"][node["model"]]["model"]
    assert data["tree"] == tree
    assert data["sample"]["labels"] is None


# -- in a notebook -------------------------------------------------------------------


def test_notebook_shows_the_explorer_when_fitted(iris):
    clf, _, _ = iris
    html = clf._repr_html_()
    assert 'sandbox="allow-scripts"' in html and "srcdoc=" in html
    assert clf._repr_mimebundle_()["text/html"] == html
    assert clf._repr_mimebundle_()["text/plain"] == repr(clf)
    assert "srcdoc" not in clone(clf)._repr_html_()  # scikit-learn's own
    assert "TreeClassifier" in clone(clf)._repr_html_()


def test_notebook_without_diagrams(iris):
    from sklearn import config_context

    clf, _, _ = iris
    with config_context(display="text"):
        assert not hasattr(clf, "_repr_html_")
        assert "text/html" not in clf._repr_mimebundle_()


def test_notebook_escapes_the_page():
    X = pd.DataFrame({'"></iframe><script>alert(1)</script>': np.arange(8.0)})
    clf = OmniTreeClassifier().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    html = clf._repr_html_()
    assert html.count("<iframe") == 1 and html.count("</iframe>") == 1
    assert "<script" not in html


def test_notebook_leaves_out_large_pages(iris, monkeypatch):
    monkeypatch.setattr("omnitree.estimators.show.NOTEBOOK_BYTES", 1000)
    html = iris[0]._repr_html_()
    assert "iframe" not in html and "to_html" in html
