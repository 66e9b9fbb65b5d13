"""Views of the explorer in a real browser: the whole tree, weights, two trees, paper."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from tests.export.browser import Watched, chromium

from omnitree import TreeClassifier, TreeRegressor, presets
from omnitree.data.schema import Feature, Schema
from omnitree.tree.splits import AxisSplit, LinearSplit, MachineSplit
from omnitree.tree.tree import NodeRecord, tree_from_nodes

FIVE = ("f0", "f1", "f2", "f3", "f4")
# Cards, and what covers a part of the canvas.
BOXES = """() => {
  const box = e => e.getBoundingClientRect().toJSON();
  const canvas = document.getElementById("tree");
  return {
    canvas: box(canvas),
    zoom: box(document.getElementById("zoom")),
    legend: box(document.getElementById("legend")),
    cards: [...document.querySelectorAll(".card .paper")].map(box),
    detail: ["middle", "far"].find(name => canvas.classList.contains(name)) ?? "near",
  };
}"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def watch(browser, tmp_path):
    """Open the explorer of an estimator; checked for troubles at the end."""
    opened = []

    def open_(clf, X=None, y=None, size=(1280, 800), scheme="light", **options):
        path = clf.to_html(tmp_path / "tree.html", X, y, **options)
        viewport = {"width": size[0], "height": size[1]}
        watched = Watched(browser, path, viewport=viewport, color_scheme=scheme)
        opened.append(watched)
        return watched.page

    yield open_
    for watched in opened:
        watched.close()


@pytest.fixture(scope="module")
def noise():
    """A tree of some 200 nodes."""
    rng = np.random.default_rng(0)
    X, y = rng.random((500, 4)), rng.integers(0, 3, 500)
    return TreeClassifier(random_state=0).fit(X, y)


def machine(n_classes: int):
    """A machine of three features, with more classes than fit beside each other."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(n_classes, 3))
    rows = tuple(map(tuple, weights.tolist()))
    split = MachineSplit((0, 1, 2), (0.0,) * 3, (0.0,) * n_classes, rows, merit=0.5)
    records = [NodeRecord(-1, np.full(n_classes, 10.0), split)]
    records[0].children = list(range(1, n_classes + 1))
    records += [NodeRecord(0, 10.0 * row) for row in np.eye(n_classes)]
    schema = Schema(tuple(Feature(f"f{j}", "numeric") for j in range(3)), True)
    classes = tuple(f"class {k}" for k in range(n_classes))
    clf = TreeClassifier()
    clf._set_fitted(tree_from_nodes(schema, classes, records), np.array(classes))
    return clf


def check_whole(found):
    """Every card lies on the canvas, and under neither the legend nor the buttons."""
    canvas = found["canvas"]
    for card in found["cards"]:
        assert card["left"] >= canvas["left"] and card["right"] <= canvas["right"]
        assert card["top"] >= canvas["top"] and card["bottom"] <= canvas["bottom"]
        for cover in (found["zoom"], found["legend"]):
            apart = card["right"] <= cover["left"] or card["left"] >= cover["right"]
            assert (
                apart
                or card["bottom"] <= cover["top"]
                or card["top"] >= cover["bottom"]
            )


# -- the whole tree ------------------------------------------------------------------


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_tree_fits_at_opening_and_when_asked(size, noise, watch):
    page = watch(noise, size=size)
    check_whole(page.evaluate(BOXES))
    page.click("#unfold")
    whole = page.evaluate(BOXES)
    check_whole(whole)
    assert len(whole["cards"]) == noise.tree_.n_nodes > 150
    assert whole["detail"] == "far"
    # From afar the tree takes all of the room, and a node can still be hit.
    assert max(c["right"] for c in whole["cards"]) > 0.85 * whole["canvas"]["right"]
    assert not page.locator(".card .title").first.is_visible()
    page.click("#zoom-in")
    page.click("#zoom-in")
    page.click("#zoom-fit")
    check_whole(page.evaluate(BOXES))


def test_details_follow_the_zoom(watch):
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = presets.make("cart", random_state=0, pruning=None).fit(X, y)
    page = watch(clf, size=(1100, 800))
    page.click("#zoom-fit")
    assert page.evaluate(BOXES)["detail"] == "middle"
    assert page.locator(".card[data-node='0'] .short").is_visible()
    labels = page.locator(".edge-label.short")
    assert labels.first.is_visible() and labels.first.text_content().endswith("≤ 2.45")
    assert not page.locator(".edge-label.near").first.is_visible()
    for _ in range(4):
        page.click("#zoom-in")
    assert page.evaluate(BOXES)["detail"] == "near"
    assert page.locator(".card[data-node='0'] .title").is_visible()
    assert not page.locator(".card[data-node='0'] .short").is_visible()
    assert page.locator(".edge-label.near").first.is_visible()
    for _ in range(12):
        page.click("#zoom-out")
    assert page.evaluate(BOXES)["detail"] == "far"


def test_a_stretched_tree_grows_evenly_again(noise, watch):
    page = watch(noise)
    page.click("#unfold")
    matrix = "(({a, d}) => [a, d])(document.getElementById('scene').getCTM())"
    across, along = page.evaluate(matrix)
    assert across > 1.5 * along  # no text shows: the tree takes all of the room
    page.mouse.move(400, 400)
    for _ in range(3):
        page.mouse.wheel(0, -1000)
    page.wait_for_function("!document.querySelector('#tree.far, #tree.middle')")
    across, along = page.evaluate(matrix)
    assert across == pytest.approx(along)


def test_a_found_node_comes_near(noise, watch):
    page = watch(noise)
    page.click("#unfold")
    page.fill("#search", "#120")
    page.press("#search", "Enter")
    assert page.evaluate(BOXES)["detail"] == "near"
    card = page.locator(".card[data-node='120']")
    assert card.locator(".title").is_visible()


# -- weights -------------------------------------------------------------------------


def test_cards_show_the_main_terms(watch):
    data = load_wine(as_frame=True)
    clf = presets.make("lin", random_state=0, pruning=None).fit(data.data, data.target)
    page = watch(clf, data.data, data.target)
    root = clf.tree_.to_dict()["nodes"][0]
    size = (
        np.abs(root["test"]["weights"])
        * np.array(clf.tree_.to_dict()["deviations"])[root["test"]["columns"]]
    )
    names = data.data.columns[root["test"]["columns"]]
    main = [names[j] for j in np.argsort(-size)[:3]]
    terms = page.locator(".card[data-node='0'] .term")
    assert terms.count() == 3
    for name, text in zip(main, terms.all_text_contents(), strict=True):
        assert name.startswith(text.rstrip("…"))
    assert terms.locator("rect").count() == 3


def test_flags_are_not_measured_from_means(watch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(50.0, 2.0, size=(300, 2))).add_prefix("x")
    X["flag"] = rng.integers(0, 2, 300)
    clf = presets.make("ldt", max_depth=1).fit(X, X.sum(axis=1) > 101)
    page = watch(clf, X)
    page.click(".card[data-node='0']")
    text = page.text_content("#node")
    assert "(x0 −" in text and " flag" in text and "(flag" not in text


@pytest.fixture(scope="module")
def lopsided():
    """A deep path of cuts, then a sum of which some terms hardly count; 5 features."""
    features = tuple(Feature(f"f{j}", "numeric") for j in range(5))
    weights = (1.0, -0.5, 0.25, 0.002, -1.5e-6)
    records = [NodeRecord(-1, [40.0, 40.0], AxisSplit(4, 0.5), [1, 2])]
    records.append(NodeRecord(0, [40.0, 0.0]))
    for at in (2, 4, 6):
        records.append(NodeRecord(at - 2, [8.0, 40.0], AxisSplit(3, 0.1 * at)))
        records[-1].children = [at + 1, at + 2]
        records.append(NodeRecord(at, [4.0, 0.0]))
    linear = LinearSplit(tuple(range(5)), weights, (0.5,) * 5, 0.4)
    records.append(NodeRecord(6, [4.0, 40.0], linear, [9, 10]))
    records += [NodeRecord(8, [4.0, 1.0]), NodeRecord(8, [0.0, 39.0])]
    clf = TreeClassifier()
    tree = tree_from_nodes(Schema(features, True), ("no", "yes"), records)
    clf._set_fitted(tree, np.array(["no", "yes"]))
    return clf


def test_terms_that_hardly_count_are_folded(lopsided, watch):
    rng = np.random.default_rng(0)
    page = watch(lopsided, pd.DataFrame(rng.random((80, 5)), columns=list(FIVE)))
    page.fill("#search", "#8")
    page.press("#search", "Enter")
    shown = page.locator("#node .bars:not(details .bars) tr:visible")
    assert shown.locator("th").all_text_contents() == ["f0", "f1", "f2"]
    rest = page.locator("#node details", has_text="2 smaller terms")
    rest.locator("summary").click()
    assert rest.locator("th").all_text_contents() == ["f3", "f4"]
    page.uncheck("#node .choice input")  # the weights themselves
    assert "−0.0000015" not in page.text_content("#node")
    assert "−1.5e−6" in page.text_content("#node")


def test_a_sum_from_afar_names_its_main_terms(lopsided, watch):
    page = watch(lopsided)
    page.click("#zoom-fit")
    assert page.evaluate(BOXES)["detail"] == "middle"
    card = page.locator(".card[data-node='8']")
    assert card.locator(".short:visible").all_text_contents() == ["linear", "f0", "f1"]
    boxes = card.locator(".short:visible").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().toJSON())"
    )
    paper = card.locator(".paper").bounding_box()
    for above, below in pairwise(boxes):
        assert above["bottom"] <= below["bottom"] - 5
    assert boxes[-1]["bottom"] <= paper["y"] + paper["height"]


def test_what_if_begins_with_what_decides(lopsided, watch):
    page = watch(lopsided)
    page.click("#tab-whatif")
    names = page.locator("#whatif .control-name").all_text_contents()
    assert names[:2] == ["f3", "f4"] and sorted(names) == list(FIVE)


def test_histograms_have_round_ticks(watch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"glucose": rng.uniform(56, 199, 300)})
    y = X.glucose > 127.3
    page = watch(presets.make("cart", random_state=0).fit(X, y), X, y)
    ticks = page.locator("#node .chart .tick:not(.strong)").all_text_contents()
    assert 3 <= len(ticks) <= 7 and all(int(t) % 25 == 0 for t in ticks)


@pytest.mark.parametrize("leaves", ["ridge", "additive"])
def test_cards_of_leaves_show_their_models(leaves, watch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=["age", "bmi", "dose", "x4"])
    y = np.where(X.dose > 0, np.sin(2 * X.age) + X.bmi, X.bmi**2)
    clf = TreeRegressor(leaves=leaves, max_leaves=2, random_state=0).fit(X, y)
    page = watch(clf, X, y)
    for node in np.flatnonzero(clf.tree_.kind == 0):
        model = clf.tree_.to_dict()["nodes"][node]["model"]
        curves = model.get("curve_values", [[]])[0]
        n_curves = sum(any(line) for line in curves)
        card = page.locator(f".card[data-node='{node}']")
        assert card.locator(".small-curve").count() <= 3
        assert card.locator(".small-curve").count() >= min(n_curves, 3)
        shown = 0 if n_curves else min(np.count_nonzero(model["weights"]), 3)
        assert card.locator(".term").count() == shown
        assert n_curves or shown


@pytest.mark.parametrize("n_classes", [3, 9])
def test_weights_of_a_machine_share_one_scale(n_classes, watch):
    clf = machine(n_classes)
    page = watch(clf)
    weights = np.array(clf.tree_.to_dict()["nodes"][0]["test"]["weights"])
    dots = page.locator(".card[data-node='0'] .term circle")
    assert dots.count() == 3 * n_classes
    if n_classes == 3:
        bars = page.locator("#node .groups .signed span")
        widths = bars.evaluate_all("all => all.map(b => parseFloat(b.style.width))")
        order = np.argsort(-np.ptp(weights, axis=0), kind="stable")
        expected = 50 * np.abs(weights[:, order]).T.ravel() / np.abs(weights).max()
        assert widths == pytest.approx(expected.tolist(), rel=1e-3)
    else:
        cells = page.locator("#node .shades .shade")
        assert cells.count() == 3 * n_classes
        assert len(set(cells.evaluate_all("all => all.map(c => c.title)"))) == 27


# -- two trees -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def pruned_and_not():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    X["where"] = rng.choice(["here", "there", "nowhere"], 400)
    y = np.where((X.a > 0) ^ (rng.random(400) < 0.2), "yes", "no")
    pruned = presets.make("c4.5", random_state=0).fit(X, y)
    whole = presets.make("c4.5", random_state=0, pruning=None).fit(X, y)
    return pruned, whole, X, y


def test_two_trees(pruned_and_not, watch):
    pruned, whole, X, y = pruned_and_not
    page = watch(whole, X, y, title="Grown", compare={"Pruned": pruned})
    page.click("#tab-compare")
    figures = page.inner_text("#compare .figures")
    for tree in (pruned.tree_, whole.tree_):
        assert str(tree.n_nodes) in figures and str(tree.n_leaves) in figures
    same = int(np.sum(pruned.predict(X) == whole.predict(X)))
    assert f"the same answer for {same} of 400 rows" in page.inner_text("#compare")
    # The root's test is the same, so nodes that pruning took away are marked.
    assert page.locator(".card[data-node='0'].only-here").count() == 0
    assert page.locator(".card.only-here").count() > 0
    assert page.locator("#compare .outline g").count() == pruned.tree_.n_nodes
    shown = {
        int(r)
        for r in page.locator("[data-differs]").evaluate_all(
            "all => all.map(r => r.innerText.split(/\\s/)[0])"
        )
    }
    index = np.arange(200) * 2  # the rows in the table
    differ = index[(pruned.predict(X) != whole.predict(X))[index]]
    assert shown == set(differ.tolist())
    page.locator("[data-differs]").first.click()
    assert page.locator("#compare .outline g.lit").count() >= 1
    # The other tree in full, and back.
    page.click("#swap")
    page.wait_for_function("document.title && location.hash === '#other'")
    page.wait_for_selector(f"text={pruned.tree_.n_nodes} nodes")
    assert page.inner_text("h1") == "Pruned"
    page.click("#tab-compare")
    page.click("#swap")
    page.wait_for_selector(f"text={whole.tree_.n_nodes} nodes")


def test_what_if_asks_both_trees(pruned_and_not, watch):
    """The other tree is asked by name and by category, whatever its own order is."""
    _, whole, X, y = pruned_and_not
    turned = X[["where", "c", "a", "b"]].copy()
    turned["where"] = turned["where"].replace("nowhere", "anywhere")
    other = presets.make("cart", random_state=0).fit(turned, y)
    page = watch(whole, X[:5], y[:5], compare={"Other": other})
    page.click("#tab-whatif")
    page.locator("#whatif details").evaluate_all(
        "all => all.forEach(d => d.open = true)"
    )
    for row in range(3):
        values = X.iloc[row]
        for j, name in enumerate("abc"):
            page.fill(f"#feature-{j}", repr(float(values[name])))
        page.select_option("#feature-3", label=values["where"])
        expected = other.predict(X.iloc[[row]])[0]
        assert f"Other: {expected} " in page.inner_text("#whatif-other")


def test_compare_refuses(pruned_and_not, tmp_path):
    pruned, _, X, y = pruned_and_not
    path = tmp_path / "tree.html"
    with pytest.raises(TypeError, match="fitted estimator of omnitree, not str"):
        pruned.to_html(path, compare="cart")
    with pytest.raises(ValueError, match="one tree, not 2"):
        pruned.to_html(path, compare={"a": pruned, "b": pruned})
    fewer = presets.make("cart").fit(X[["a", "b"]], y)
    with pytest.raises(ValueError, match="same features; 'c'"):
        pruned.to_html(path, compare=fewer)
    others = presets.make("cart").fit(X, np.where(y == "yes", "ja", "nein"))
    with pytest.raises(ValueError, match="same classes"):
        pruned.to_html(path, compare=others)
    number = TreeRegressor().fit(X, X.a)
    with pytest.raises(ValueError, match="same classes"):
        pruned.to_html(path, compare=number)
    assert not path.exists()


# -- panels and paper ----------------------------------------------------------------


def test_probability_bars(pruned_and_not, watch):
    pruned, _, X, y = pruned_and_not
    page = watch(pruned, X, y)
    page.click("#tab-whatif")
    before = pruned.predict_proba(X.iloc[[0]])[0]
    page.fill("#feature-0", repr(-float(X.a[0])))
    after = pruned.predict_proba(X.iloc[[0]].assign(a=-X.a[0]))[0]
    assert before.tolist() != after.tolist()
    bars = page.locator("#whatif-answer .answer-bar")
    found = bars.evaluate_all(
        "all => all.map(b => [parseFloat(b.querySelector('.bar').style.width),"
        " parseFloat(b.querySelector('.was').style.left)])"
    )
    assert np.allclose(found, 100 * np.stack([after, before], axis=1), atol=1e-3)


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_panels_do_not_scroll_sideways(size, watch):
    rng = np.random.default_rng(0)
    names = ["AVeryLongNameOfAColumnWithoutAnySpaces" * 2, "b", "c" * 60]
    X = pd.DataFrame(rng.normal(size=(150, 3)), columns=names)
    y = np.array(["aClassWithALongName" * 3, "b" * 40, "c"])[rng.integers(0, 3, 150)]
    y[X.b > 0.3] = "c"
    for preset in ("omni-aic", "lmdt"):
        page = watch(presets.make(preset, random_state=0).fit(X, y), X, y, size=size)
        for tab in ("node", "rows", "whatif", "rules"):
            page.click(f"#tab-{tab}")
            wide, room = page.evaluate(
                f"(e => [e.scrollWidth, e.clientWidth])(document.getElementById('{tab}'))"
            )
            assert wide <= room, (preset, tab)


def test_paper(noise, watch):
    page = watch(noise, scheme="dark")
    transform = "document.getElementById('scene').getAttribute('transform')"
    page.keyboard.press("Shift")  # from now on the view is the reader's
    before = page.evaluate(transform)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.locator("#rules li").count() == noise.tree_.n_leaves
    assert page.locator("#rules li").first.is_visible()
    assert not page.locator("#zoom").is_visible()
    found = page.evaluate(BOXES)
    for card in found["cards"]:  # nothing is cut off by the edge of the drawing
        assert card["left"] >= found["canvas"]["left"]
        assert card["right"] <= found["canvas"]["right"]
        assert card["top"] >= found["canvas"]["top"]
        assert card["bottom"] <= found["canvas"]["bottom"]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.evaluate(transform) == before
    assert not page.locator("#rules").is_visible()
