"""The explorer in a real browser: what a reader does, and the library's own answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from tests import curved
from tests.export.browser import Watched, chromium
from tests.tables import random_sample
from tests.trees import (
    SCHEMA,
    calibrated_tree,
    functions_of,
    random_rows,
    random_tree,
)

from omnitree import TreeClassifier, TreeRegressor, presets
from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.tree.splits import SPLITS, LinearSplit
from omnitree.tree.tree import NodeRecord, tree_from_nodes

# Sets the what-if controls as a reader would, one by one; gives the answers shown.
SET_ROWS = """rows => rows.map(row => {
  row.forEach((value, j) => {
    const box = document.querySelector(`.control[data-feature="${j}"]`);
    const missing = box.querySelector(".missing-box");
    if (missing.checked !== (value === null)) missing.click();
    if (value === null) return;
    const field = document.getElementById(`feature-${j}`);
    field.value = value;
    field.dispatchEvent(new Event(field.type === "number" ? "input" : "change"));
  });
  const shown = document.querySelector("#whatif-answer [data-answer]");
  const lit = [...document.querySelectorAll(".card.lit")];
  return {
    answer: Number(shown.dataset.answer),
    shares: shown.dataset.shares.split(" ").map(Number),
    lit: lit.map(card => Number(card.dataset.node)),
  };
})"""


# Enters the number of each node where nodes are searched; the selected card and its panel.
SELECT_EACH = """n => [...Array(n).keys()].map(node => {
  const box = document.getElementById("search");
  box.value = `#${node}`;
  box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  const card = document.querySelector(".card.selected");
  return [card.dataset.node, document.getElementById("node").innerText];
})"""


MANY = (
    "linear",
    "quadratic",
    "machine",
    "quadratic_machine",
    "additive",
    "additive_machine",
)


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def open_page(browser, tmp_path):
    """Write the explorer of an estimator and open it; checked for troubles at the end."""
    opened = []

    def open_(clf, X=None, y=None, size=(1280, 800), **options):
        path = clf.to_html(tmp_path / "tree.html", X, y)
        viewport = {"width": size[0], "height": size[1]}
        opened.append(Watched(browser, path, viewport=viewport, **options))
        return opened[-1].page

    yield open_
    for watched in opened:
        watched.close()


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    y = data.target_names[data.target]
    clf = presets.make("cart", random_state=0, pruning=None).fit(data.data, y)
    return clf, data.data, y


def shown_nodes(page):
    cards = page.locator(".card").evaluate_all("all => all.map(c => c.dataset.node)")
    return {int(node) for node in cards}


def scale(page):
    return page.evaluate("document.getElementById('scene').getCTM().a")


def focused(page):
    return page.evaluate("document.activeElement.dataset.node")


# -- looking about -------------------------------------------------------------------


def test_open(iris, open_page):
    clf, X, y = iris
    page = open_page(clf, X, y)
    assert page.title() == "TreeClassifier"
    tree = clf.tree_
    assert f"{tree.n_nodes} nodes · {tree.n_leaves} leaves" in page.inner_text(
        "#summary"
    )
    assert page.inner_text("#legend").split() == list(clf.classes_)
    assert "Node 0" in page.inner_text("#node")
    facts = page.inner_text("#node .facts")
    assert f"{tree.merit[0]:.6g}" in facts and "150 (100% of all)" in facts
    assert page.locator("#node svg.chart rect").count() > 5  # the histogram


def test_zoom_and_pan(iris, open_page):
    page = open_page(*iris)
    before = scale(page)
    page.click("#zoom-in")
    assert scale(page) == pytest.approx(1.25 * before)
    box = page.locator("#tree").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.wheel(0, 300)
    assert scale(page) < 1.25 * before
    left = page.locator(".card[data-node='0']").bounding_box()["x"]
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 10, steps=4)
    page.mouse.up()
    moved = page.locator(".card[data-node='0']").bounding_box()["x"]
    assert moved == pytest.approx(left + 50, abs=1)
    page.click("#zoom-fit")
    for card in page.locator(".card").all():
        spot = card.bounding_box()
        assert spot["x"] >= box["x"] and spot["y"] >= box["y"]
        assert spot["x"] + spot["width"] <= box["x"] + box["width"]


def test_fold_and_unfold(iris, open_page):
    clf, X, y = iris
    page = open_page(clf, X, y)
    if page.inner_text("#unfold") == "Unfold":
        page.click("#unfold")
    assert shown_nodes(page) == set(range(clf.tree_.n_nodes))
    page.click("[data-fold='0']")
    assert shown_nodes(page) == {0}
    assert page.get_attribute(".card[data-node='0']", "aria-expanded") == "false"
    page.click("[data-fold='0']")
    assert shown_nodes(page) == set(range(clf.tree_.n_nodes))


def test_large_trees_begin_folded(open_page, rng):
    X = rng.random((600, 4))
    clf = TreeClassifier().fit(X, rng.integers(0, 3, 600))
    page = open_page(clf)
    assert clf.tree_.n_nodes > 200
    assert 5 < len(shown_nodes(page)) < 60
    deepest = int(clf.tree_.depths.argmax())
    page.fill("#search", f"#{deepest}")
    page.press("#search", "Enter")
    assert deepest in shown_nodes(page)  # its ancestors unfold
    page.click("#unfold")
    assert len(shown_nodes(page)) == clf.tree_.n_nodes


def test_keyboard(iris, open_page):
    clf, X, y = iris
    page = open_page(clf, X, y)
    first, second = (int(c) for c in clf.tree_.to_dict()["nodes"][0]["children"])
    page.focus(".card[data-node='0']")
    page.keyboard.press("ArrowRight")
    assert focused(page) == str(first)
    page.keyboard.press("ArrowDown")
    assert focused(page) == str(second)
    assert f"Node {second}" in page.inner_text("#node")
    page.keyboard.press("Enter")
    assert (
        page.get_attribute(f".card[data-node='{second}']", "aria-expanded") == "false"
    )
    page.keyboard.press("ArrowRight")  # unfolds what it walks into
    assert page.get_attribute(f".card[data-node='{second}']", "aria-expanded") == "true"
    page.keyboard.press("Home")
    assert focused(page) == "0"
    # One stop for Tab, the selected node.
    assert page.locator(".card[tabindex='0']").count() == 1
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.focus("#tab-node")
    page.keyboard.press("ArrowRight")
    assert page.locator("#rows").is_visible() and not page.locator("#node").is_visible()


def test_tree_roles(iris, open_page):
    page = open_page(*iris)
    items = page.get_by_role("treeitem")
    assert items.count() == len(shown_nodes(page))
    root = page.get_by_role("treeitem").first
    assert "Node 0" in root.get_attribute("aria-label")
    for item in items.all():
        assert int(item.get_attribute("aria-level")) >= 1
        place = int(item.get_attribute("aria-posinset"))
        assert 1 <= place <= int(item.get_attribute("aria-setsize"))


def test_search(iris, open_page):
    clf, X, y = iris
    page = open_page(clf, X, y)
    page.fill("#search", "PETAL LENGTH")
    nodes = clf.tree_.to_dict()["nodes"]
    tested = [n["id"] for n in nodes if n.get("test", {}).get("feature") == 2]
    assert page.inner_text("#found") == f"{len(tested)} nodes"
    assert page.locator(".card.match").count() == len(tested)
    page.fill("#search", "virginica")
    leaves = [
        n["id"] for n in nodes if n["kind"] == "leaf" and np.argmax(n["value"]) == 2
    ]
    assert page.locator(".card.match").count() == len(leaves)
    page.press("#search", "Enter")
    assert page.get_attribute(".card.selected", "data-node") == str(leaves[0])
    page.press("#search", "Enter")
    assert page.get_attribute(".card.selected", "data-node") == str(leaves[1])
    page.press("#search", "Escape")
    assert page.locator(".card.match").count() == 0


def test_rules(iris, open_page):
    clf, X, y = iris
    page = open_page(clf, X, y)
    page.click("#tab-rules")
    assert page.locator("#rules li").count() == clf.tree_.n_leaves
    assert "petal length (cm) ≤ 2.45" in page.inner_text("#rules")
    page.select_option("#rules select", "0")
    assert page.locator("#rules li").count() == 1
    page.click("#rules li button")
    assert "setosa" in page.inner_text("#node h2")


def test_rules_turn_a_sum_of_one_negative_term(open_page, rng):
    X = pd.DataFrame({"width": rng.normal(size=200), "other": rng.normal(size=200)})
    y = np.where(X["width"] > 0.5, "a", "b")  # a unit's sum is low for its first class
    clf = presets.make("lmdt", random_state=0).fit(X, y)
    assert clf.tree_.split(0).weights == (-1.0,)
    cut = f"{-clf.tree_.split(0).threshold:.6g}"
    page = open_page(clf, X, y)
    page.click("#tab-rules")
    text = page.inner_text("#rules")
    assert f"width ≥ {cut}" in text and f"width < {cut}" in text
    assert f"width >= {cut}" in clf.export("rules")


def test_themes(iris, open_page):
    page = open_page(*iris, color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.click("#theme")
    light = page.evaluate(colour)
    assert dark != light
    page.emulate_media(color_scheme="light")
    assert page.evaluate(colour) == light


def test_phone(iris, open_page):
    page = open_page(*iris, size=(390, 844), has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for tab in ("node", "rows", "whatif", "rules"):
        page.tap(f"#tab-{tab}")
        assert page.locator(f"#{tab}").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_rows(iris, open_page):
    page = open_page(iris[0])
    assert "to_html(path, X, y)" in page.inner_text("#node")
    page.click("#tab-rows")
    assert "made without rows" in page.inner_text("#rows")
    page.click("#tab-whatif")
    assert page.locator("#whatif-answer [data-answer]").count() == 1


def test_rows_without_classes(iris, open_page):
    clf, X, _ = iris
    page = open_page(clf, X)
    assert page.locator("#node svg.chart rect").count() > 5
    page.click("#tab-rows")
    assert page.locator("#rows th:text-is('class')").count() == 0
    assert page.locator("[data-row]").count() == len(X)


# -- rows and what-if ----------------------------------------------------------------


def test_pick_a_row(iris, open_page):
    clf, X, y = iris
    page = open_page(clf, X, y)
    page.click("#tab-rows")
    path = clf.decision_path(X)
    answers = clf.predict(X)
    for row in (0, 77, 133):
        page.click(f"[data-row='{row}']")
        lit = page.locator(".card.lit").evaluate_all("a => a.map(c => +c.dataset.node)")
        expected = set(path[[row]].indices.tolist())
        assert set(lit) == expected
        edges = page.locator(".edge.lit").evaluate_all(
            "a => a.map(c => +c.dataset.edge)"
        )
        assert set(edges) == expected - {0}
        assert answers[row] in page.inner_text("#picked .verdict")
        # One step a test, with the distance to its cut.
        steps = page.locator("#picked .steps li")
        assert steps.count() == len(expected) - 1
        assert "the cut" in steps.first.inner_text()
    page.click("#picked button:text-is('Clear')")
    assert page.locator(".card.lit").count() == 0


def test_wrong_rows(open_page, iris):
    _, X, y = iris
    clf = TreeClassifier(max_depth=1).fit(X, y)
    page = open_page(clf, X, y)
    page.click("#tab-rows")
    page.check("text=wrong only")
    assert page.locator("[data-row]").count() == (clf.predict(X) != y).sum()
    page.uncheck("text=wrong only")
    page.click(".card[data-node='1']")
    page.click("#tab-rows")
    page.check("text=at the selected node")
    assert page.locator("[data-row]").count() == (clf.apply(X) == 1).sum()


def test_contributions_add_up(open_page, iris):
    _, X, y = iris
    clf = presets.make("ldt", random_state=0).fit(X, y)
    page = open_page(clf, X, y)
    page.click("#tab-rows")
    page.click("[data-row='70']")
    step = page.locator("#picked .steps li").first
    numbers = step.locator(".bars td.number").all_inner_texts()
    shown = sum(float(n.replace("−", "-")) for n in numbers)
    test = clf.tree_.split(0)
    value = float(np.dot(test.weights, X.iloc[70].to_numpy()[list(test.columns)]))
    assert shown == pytest.approx(value, abs=2e-3)  # four digits each
    side = "above" if value > test.threshold else "below"
    assert f"{abs(value - test.threshold):.4g} {side} the cut" in step.inner_text()


def test_slider(iris, open_page):
    clf, X, y = iris
    page = open_page(clf, X, y)
    page.click("#tab-whatif")
    page.locator(".control[data-feature='2'] input[type=range]").fill("1000")
    assert page.input_value("#feature-2") == str(X.iloc[:, 2].max())
    row = X.iloc[[0]].copy()
    row.iloc[0, 2] = X.iloc[:, 2].max()
    assert clf.predict(row)[0] in page.inner_text("#whatif-answer")
    assert "At the start: setosa" in page.inner_text("#whatif-answer")
    page.click("#whatif-reset")
    assert "setosa" in page.inner_text("#whatif-answer")
    assert float(page.input_value("#feature-2")) == X.iloc[0, 2]


def awkward_rows(clf, values, rng, n=50):
    """Rows of a table with missing values put in and numbers put on thresholds."""
    rows = values[rng.integers(0, len(values), n)].copy()
    for node in clf.tree_.to_dict()["nodes"]:
        test = node.get("test", {})
        if "threshold" in test and "feature" in test:
            rows[rng.integers(n), test["feature"]] = test["threshold"]
    rows[rng.random(rows.shape) < 0.15] = np.nan
    return rows


def check_what_if(page, clf, rows):
    """The page gives the library's answers and probabilities, to the last bit.

    The answers of models to parts of a row are added up in another order.
    """
    table = Table(rows, clf.tree_.schema)
    expected = clf.tree_.predict_value(table, clf._node_outputs())
    path = clf.tree_.decision_path(table)
    page.click("#unfold") if page.inner_text("#unfold") == "Unfold" else None
    page.click("#tab-whatif")
    plain = [[None if v != v else v for v in row] for row in rows.tolist()]
    shown = page.evaluate(SET_ROWS, plain)
    for i, result in enumerate(shown):
        numeric = clf.tree_.task == "regression"
        if numeric and clf.tree_.models is not None:
            assert result["shares"] == pytest.approx(expected[i].tolist(), rel=1e-14)
        else:
            assert result["shares"] == expected[i].tolist(), rows[i]
        answer = result["shares"][0] if numeric else clf.tree_.decide(expected)[i]
        assert result["answer"] == answer
        assert set(result["lit"]) == set(path[[i]].indices.tolist())


@pytest.mark.parametrize("leaves", ["constant", "ridge"])
@pytest.mark.parametrize("missing", ["mean", "fractional", "surrogate"])
def test_what_if_of_numbers(leaves, missing, open_page, rng):
    sample = random_sample(rng, n=150, d=6, k=3, missing_share=0.1)
    target = rng.normal(size=150) + 2 * sample.y
    reg = TreeRegressor(leaves=leaves, missing=missing, max_leaves=12)
    reg.fit(sample.frame, target)
    rows = awkward_rows(reg, reg._encode(sample.frame).values, rng)
    page = open_page(reg, sample.frame, target)
    check_what_if(page, reg, rows)
    for tab in ("node", "rules", "rows"):
        page.click(f"#tab-{tab}")
        assert page.inner_text(f"#{tab}")
    page.click("#tab-rows")
    assert "target" in page.inner_text("#rows")


@pytest.mark.parametrize(
    "name, with_rows, changes",
    [
        ("cart", True, {"pruning": None}),
        ("c4.5", True, {"pruning": None}),
        ("c4.5", False, {"smoothing": "laplace"}),
        ("ldt", False, {"pruning": None}),
        ("lmt", True, {"pruning": None}),
    ],
    ids=["cart", "c4.5", "c4.5-laplace", "ldt", "lmt"],
)
def test_what_if_is_the_library(name, with_rows, changes, open_page, rng):
    sample = random_sample(rng, n=150, d=6, k=3, missing_share=0.1)
    clf = presets.make(name, random_state=0, max_leaves=30, **changes)
    clf.fit(sample.frame, sample.y)
    given = (sample.frame, sample.y) if with_rows else ()
    values = clf._encode(sample.frame).values
    rows = awkward_rows(clf, values, rng)
    if name == "c4.5":
        assert (clf.tree_.leaf_shares(Table(rows, clf.tree_.schema)).data < 1).any()
    if name == "cart":
        assert any("surrogates" in n for n in clf.tree_.to_dict()["nodes"])
    check_what_if(open_page(clf, *given), clf, rows)


def test_what_if_with_costs(open_page, rng):
    clf = TreeClassifier()
    costs = rng.integers(1, 20, (3, 3)) * (1.0 - np.eye(3))
    tree = random_tree(rng, ("axis", "subset", "linear"), n_inner=12)
    clf._set_fitted(tree.replace(costs=costs), np.array(["a", "b", "c"]))
    rows = random_rows(rng, 50)
    shares = tree.predict_value(Table(rows, tree.schema), tree.class_shares)
    assert (clf.tree_.decide(shares) != shares.argmax(axis=1)).any()
    check_what_if(open_page(clf), clf, rows)


@pytest.mark.parametrize(
    "kind",
    [*MANY, "network", "all", "models", "own", "shared"],
)
def test_what_if_on_every_kind(kind, open_page, rng):
    kinds = (kind,) if kind in (*MANY, "network") else tuple(SPLITS)
    clf = TreeClassifier()
    if kind in ("own", "shared"):  # a model for all leaves below a test
        scale = 0.75 if kind == "own" else None
        tree = calibrated_tree(rng, ("axis", *MANY), scale, n_inner=12)
        assert tree.sharing
    else:
        tree = random_tree(rng, kinds, n_inner=12, models=0.8 * (kind == "models"))
    clf._set_fitted(tree, np.array(["a", "b", "c"]))
    page = open_page(
        clf, frame_of(random_rows(rng, 80)), rng.choice(["a", "b", "c"], 80)
    )
    check_what_if(page, clf, random_rows(rng, 25))
    # Every panel can be drawn.
    shown = page.evaluate(SELECT_EACH, clf.tree_.n_nodes)
    assert [node for node, _ in shown] == list(map(str, range(clf.tree_.n_nodes)))
    assert min(len(text) for _, text in shown) > 50


def test_a_shared_model_is_told_once(open_page):
    """At the test, in words if it is the test's own functions; its leaves refer to it."""
    schema = Schema((Feature("x", "numeric"), Feature("y", "numeric")), named=True)
    linear = LinearSplit((0, 1), (2.0, -3.0), (0.5, 0.0), 1.5)
    own, other = (functions_of(linear, scale, (0, 1), 2) for scale in (0.5, -0.5))
    for model, words in (
        (own, "yes: logistic(0.5 (sum − 0.5)) = 1 / (1 + exp(−0.5 (sum − 0.5)))"),
        (other, "A sum per class of weight times value"),
    ):
        records = [NodeRecord(-1, np.full(2, 5.0), linear, range(1, 3))]
        records += [NodeRecord(0, line, model=model) for line in ([2, 3], [3, 2])]
        clf = TreeClassifier()
        tree = tree_from_nodes(schema, ("no", "yes"), records)
        clf._set_fitted(tree, np.array(["no", "yes"]))
        page = open_page(clf)
        assert words in page.inner_text("#node")
        answers = []
        for leaf in (1, 2):
            page.click(f".card[data-node='{leaf}']")
            text = page.inner_text("#node")
            assert "Its probabilities are those of node #0." in text
            assert words not in text
            answers.append(text.split("leaf")[0].split()[-1])
        # Its own functions name the leaves; else the training rows do.
        assert answers == (["no", "yes"] if model is own else ["yes", "no"])


def frame_of(values):
    """Encoded rows of `tests.trees.SCHEMA` as the user would have them."""
    columns = {}
    for feature, column in zip(SCHEMA.features, values.T, strict=True):
        names = feature.categories
        if not names:
            columns[feature.name] = column
        else:
            columns[feature.name] = [None if v != v else names[int(v)] for v in column]
    return pd.DataFrame(columns)


def test_unknown_category_is_a_missing(open_page, rng):
    frame = pd.DataFrame({"colour": list("rgbrgbrgb") * 8, "size": np.arange(72.0)})
    y = (frame.colour == "r").to_numpy()
    clf = presets.make("c4.5", pruning=None).fit(frame, y)
    page = open_page(clf)
    page.click("#tab-whatif")
    page.select_option("#feature-0", "other")
    shown = page.get_attribute("#whatif-answer [data-answer]", "data-shares")
    row = pd.DataFrame(
        {"colour": ["never"], "size": [float(page.input_value("#feature-1"))]}
    )
    assert [float(s) for s in shown.split()] == clf.predict_proba(row)[0].tolist()
    assert page.input_value("#feature-0") == "other"  # the choice stays


# -- hostile text --------------------------------------------------------------------

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "{{ 7 * 7 }} ${7 * 7} &lt;b&gt;",
    '"><svg onload=window.hacked=1>',
    "\u2028\u2029 ]]> <!-- \u202e olleh",
    "http://example.com/a.png",
]


def test_hostile_names_stay_text(open_page, rng):
    n = 60
    frame = pd.DataFrame({name: rng.random(n) for name in HOSTILE})
    categories = pd.Series(rng.choice(HOSTILE, n), dtype="category")
    frame["categories " + HOSTILE[0]] = categories
    y = np.array(HOSTILE)[np.arange(n) % 3]
    clf = TreeClassifier().fit(frame, y)
    page = open_page(clf, frame, y)
    for tab in ("rows", "whatif", "rules", "node"):
        page.click(f"#tab-{tab}")
    page.click("#tab-rows")
    page.click("[data-row='1']")
    page.fill("#search", "<script>")
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    assert HOSTILE[0] in page.inner_text("#legend")
    heads = page.locator("#rows thead bdi").all_text_contents()
    assert heads[3 : 3 + len(HOSTILE)] == HOSTILE
    names = page.locator(".control-name bdi").all_text_contents()
    assert set(HOSTILE) <= set(names)


def test_hostile_title(browser, tmp_path, iris):
    clf = iris[0]
    title = HOSTILE[1]
    watched = Watched(browser, clf.to_html(tmp_path / "t.html", title=title))
    assert watched.page.title() == title
    assert watched.page.inner_text("#title") == title
    assert watched.page.evaluate("window.hacked") is None
    watched.close()


def test_candidates_are_shown(browser, tmp_path):
    """A tree that remembers why a node is of its kind says so."""
    clf = presets.make("omni-bic", random_state=0).fit(*load_iris(return_X_y=True))
    watched = Watched(browser, clf.to_html(tmp_path / "tree.html"))
    text = watched.page.inner_text("#node")
    assert "why this kind of test" in text.lower()
    assert all(word in text for word in ("analytic", "fisher", "quadratic", "BIC"))
    chosen = watched.page.inner_text("#node .candidates .marked")
    assert clf.tree_.split(0).kind == "axis"
    assert "univariate (analytic) (chosen)" in chosen
    watched.close()


# -- in a notebook -------------------------------------------------------------------


def test_notebook_view(browser, tmp_path, iris):
    clf, _, _ = iris
    path = tmp_path / "notebook.html"
    path.write_text(
        f"<!DOCTYPE html><body>{clf._repr_html_()}</body>", encoding="utf-8"
    )
    watched = Watched(browser, path)
    inside = watched.page.frame_locator("iframe")
    inside.locator(".card[data-node='1']").click()
    inside.locator("#tab-whatif").click()
    assert inside.locator("[data-answer]").first.is_visible()
    watched.context.close()
    assert watched.troubles == []
    outside = [
        u for u in watched.requests if not u.startswith(("file:", "data:", "about:"))
    ]
    assert outside == []


# -- curves ---------------------------------------------------------------------------


@pytest.mark.parametrize(("scheme", "one_sum"), [("light", False), ("dark", True)])
def test_curves_are_drawn_over_the_rows(scheme, one_sum, open_page):
    X, y = curved.iris()
    if one_sum:
        X, y = X[y != "setosa"], y[y != "setosa"]
    clf = curved.curved_tree(X, y, one_sum)
    page = open_page(clf, X, y, color_scheme=scheme)
    lines = 1 if one_sum else 3
    card = page.locator(".card[data-node='0']")
    assert card.locator(".small-curve").count() == 3
    assert card.locator(".small-curve polyline").count() == 3 * lines
    assert card.locator(".small-curve rect").count() > 3 + 10
    charts = page.locator("#node svg.curves")
    assert charts.count() == 4
    assert charts.locator("polyline").count() == 4 * lines
    assert charts.locator("path.missing").count() == 4 * lines
    assert charts.locator("rect").count() > 40  # the rows
    assert sorted(page.locator("#node .curve-box h4").all_inner_texts()) == sorted(
        X.columns[:4]
    )
    ink = charts.first.locator("polyline").first.evaluate(
        "line => getComputedStyle(line).stroke"
    )
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ink != back
    if one_sum:
        assert card.locator(".title").text_content() == "sum of 4 curves and 3 terms"
        words = page.locator("#node .curve-box .note").all_inner_texts()
        assert len(words) == 4 and all(" at ≤ " in text for text in words)
    page.click("#tab-whatif")
    page.click("#tab-node")
    assert charts.locator("circle.here").count() == 4 * lines


def test_curves_without_rows(open_page):
    clf = curved.curved_tree(*curved.iris())
    page = open_page(clf)
    assert page.locator("#node svg.curves polyline").count() == 12
    assert page.locator("#node svg.curves rect").count() == 0
    assert page.locator(".card .small-curve").count() == 3
    page.click("#tab-whatif")
    assert "curve(petal width (cm))" in page.inner_text("#whatif-steps")


def test_cards_with_curves_do_not_overlap(open_page, rng):
    clf = TreeClassifier()
    tree = random_tree(rng, ("additive", "additive_machine"), 7)
    clf._set_fitted(tree, np.array(tree.classes))
    page = open_page(clf)
    fold = page.locator(".card[data-node='1'] .knob")
    for _ in range(2):  # a folded node is as tall as an open one
        spots = page.locator(".card .paper").evaluate_all(
            "all => all.map(c => c.getBoundingClientRect().toJSON())"
        )
        for i, a in enumerate(spots):
            for b in spots[:i]:
                apart = a["right"] <= b["x"] or b["right"] <= a["x"]
                assert apart or a["bottom"] <= b["y"] or b["bottom"] <= a["y"]
        fold.dispatch_event("click")
