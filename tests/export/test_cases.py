"""Tests and models of cases: short words, every export and the explorer's page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from tests.export.browser import Watched, chromium
from tests.export.runs import cells
from tests.export.test_explorer_browser import SET_ROWS
from tests.export.test_export import RUN, check, fitted
from tests.trees import random_tree

from omnitree import TreeClassifier, presets
from omnitree.export.candidates import candidate_text
from omnitree.export.model import Model
from omnitree.export.words import branch_text
from omnitree.learners import CaseBased
from omnitree.refinement import Contest
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.splits import SPLITS

NOTE = "likeness to a case: exp(-d)"
SUM = re.compile(r"= -?[\d.]+ \+ likeness to \d+ cases, weighted \S+ to \S+$")


def iris() -> tuple[pd.DataFrame, np.ndarray]:
    """Short names, classes as text."""
    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X, columns=list("abcd")), load_iris().target_names[y]


@pytest.fixture(scope="module")
def tested() -> TreeClassifier:
    """One test of cases."""
    return TreeClassifier(learner=CaseBased(max_cases=12), max_depth=1).fit(*iris())


def patches(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Classes in patches."""
    rng = np.random.default_rng(seed)
    X, centres = rng.normal(size=(240, 4)), rng.uniform(-2, 2, size=(9, 4))
    near = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    return pd.DataFrame(X, columns=list("abcd")), np.array(list("PQR"))[near % 3]


def contested(seed: int) -> TreeClassifier:
    """A tree that cases may win, alone or together with tests on single features."""
    contest = Contest(rivals=(CaseBased(max_cases=20),))
    clf = presets.make("omni", random_state=0, refinement=contest)
    return clf.fit(*patches(seed))


@pytest.fixture(scope="module")
def modelled() -> tuple[TreeClassifier, int]:
    """A tree on single features whose leaves shift one model of cases, and its seed."""
    for seed in range(12):
        clf = contested(seed)
        if clf.tree_.models is not None and clf.tree_.node_kinds()["axis"]:
            return clf, seed
    raise AssertionError("cases were never added to a tree")


@pytest.fixture(scope="module")
def won() -> TreeClassifier:
    """A test of cases whose leaves answer by its scores."""
    for seed in range(12):
        clf = contested(seed)
        if clf.tree_.models is not None and clf.tree_.node_kinds()["cases"]:
            return clf
    raise AssertionError("cases never won")


def with_own_models(clf: TreeClassifier, scale: float, step: float = 0.0):
    """The tree with leaves that answer by the functions of its test, or near to them."""
    test = clf.tree_.split(0)
    model = LeafModel(
        test.columns,
        test.fill,
        tuple(scale * b + step * k for k, b in enumerate(test.bias)),
        ((),) * len(test.bias),
        precision=test.precision,
        cases=test.cases,
        case_weights=tuple(tuple(scale * w for w in row) for row in test.case_weights),
    )
    models = [None] + [model] * (clf.tree_.n_nodes - 1)
    return fitted(clf.tree_.replace(models=LeafModels.of(models)))


# -- words ----------------------------------------------------------------------------


def test_a_test_is_told_in_few_words(tested):
    lines = tested.describe().splitlines()
    assert lines[1].startswith(NOTE)
    assert lines[2] == "likeness to cases: predict the class with the largest score"
    assert all(SUM.search(line) for line in lines[3:6])
    assert re.fullmatch(r"  widths: (\w [\d.]+, ){3}\w [\d.]+", lines[6])
    assert lines[7].startswith("setosa is largest: setosa")
    assert "case 1" not in tested.describe()


def test_widths_are_the_distance_at_which_likeness_is_1_over_e(tested):
    test = tested.tree_.split(0)
    text = tested.describe()
    for name, precision in zip("abcd", test.precision, strict=True):
        assert f"{name} {precision**-0.5:.4g}" in text


def test_in_full_every_case_has_its_numbers(tested):
    test, text = tested.tree_.split(0), tested.describe(full=True)
    for i, case in enumerate(test.cases, 1):
        cells_ = ", ".join(f"{n} = {v:.4g}" for n, v in zip("abcd", case, strict=True))
        assert f"case {i}: {cells_}" in text
        assert len(re.findall(rf"likeness to case {i}\b", text)) == 1


def test_standardised_widths_are_in_deviations(modelled):
    text = modelled[0].describe(standardised=True)
    assert re.search(r"widths: z\(\w\) [\d.]+, z\(\w\)", text)


def test_a_model_of_leaves_is_told_once(modelled):
    text = modelled[0].describe()
    assert text.count(NOTE) == text.count("widths: ") == 1
    assert text.count("by one case-based model") == 1
    sums = [line for line in text.splitlines() if SUM.search(line)]
    assert [line.strip()[0] for line in sums] == list("PQR")


def test_scores_of_a_winner_are_told_once(won):
    text = won.describe()
    assert text.count("widths: ") == text.count("probabilities: softmax") == 1
    assert "likeness to cases: predict the class with the largest score" in text


def test_the_functions_of_a_test_are_not_told_again(tested):
    clf = with_own_models(tested, 1.25)
    text = clf.describe()
    assert "probabilities: softmax of the scores, calibrated (scale 1.25)" in text
    assert text.count("widths: ") == 1
    own = Model(clf.tree_.to_dict()).shared[0]
    assert own is not None and own.scale == pytest.approx(1.25)
    other = with_own_models(tested, 1.25, step=1.0).describe()
    assert "softmax of the scores of one case-based model:" in other


def test_two_sums_of_opposite_biases_are_told_apart(tested):
    X, y = iris()
    kept = y != "setosa"
    two = TreeClassifier(learner=CaseBased(max_cases=12), max_depth=1)
    two.fit(X[kept], y[kept])
    clf = with_own_models(two, 1.5)
    assert "calibrated (scale 1.5)" in clf.describe()
    assert "versicolor is largest" in clf.export("dot")
    model = clf.tree_.models[1]
    model = replace(model, bias=(0.5, -0.5))
    models = LeafModels.of([None, model, model])
    clf = fitted(clf.tree_.replace(models=models))
    assert "opposite signs" not in clf.describe()


def test_one_line_is_short(tested):
    tree = tested.tree_.to_dict()
    test = Model(tree).tests(0)[0]
    text = branch_text(test, 1, tree["schema"])
    assert text.startswith("versicolor is largest: ") and SUM.search(f"= {text[23:]}")
    assert max(map(len, tested.export("rules").splitlines())) < 100
    assert tested.export("rules").count(NOTE) == 1


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("models", [0.0, 0.7])
def test_random_trees_have_words(full, models, seed):
    """Also with categories, columns that do not count, and products beside the cases."""
    rng = np.random.default_rng(seed)
    for n_inner in (1, 4):
        clf = fitted(random_tree(rng, ("cases", "axis"), n_inner, models=models))
        assert clf.describe(full=full)
        assert clf.export("rules") and clf.export("dot")


def test_categories_count_1_or_0_in_cases(rng):
    """Where the columns of a test are +1 or -1, distances are told for 1 and 0."""
    while True:
        tree = random_tree(rng, ("cases",), 1)
        test, categories = tree.split(0), tree.schema.linear_columns()[1]
        at = [j for j, c in enumerate(test.columns) if categories[c] >= 0]
        if at and test.precision[at[0]] > 0:
            break
    own = test.precision[at[0]]
    text = fitted(tree).describe(full=True)
    assert f"] {(4 * own) ** -0.5:.4g}" in text


@pytest.mark.parametrize(
    "learner, text",
    [
        ("likeness to cases", "likeness to cases"),
        ("sparse likeness to cases", "likeness to a few cases"),
        (
            "univariate tree + likeness to cases",
            "the sum of likeness to cases and a tree on single features",
        ),
        (
            "linear softmax + sparse likeness to cases",
            "the sum of a linear model and likeness to a few cases",
        ),
        (
            "tree over features + likeness to cases",
            "a tree on single features with likeness to cases in its leaves",
        ),
    ],
)
def test_candidates(learner, text):
    assert candidate_text(learner, "cases") == text


def test_why(modelled):
    why = " ".join(modelled[0].describe().split())
    assert "the sum of likeness to cases and a tree on single features: chosen" in why
    assert "univariate tree" not in why


# -- exports --------------------------------------------------------------------------


@pytest.mark.parametrize("format", RUN)
def test_exports_of_a_test(format, tested, tmp_path: Path):
    X, _ = iris()
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    clf = with_own_models(tested, 1.25)
    for own, exact in ((tested, True), (clf, False)):
        check(own, cells(X), own._encode(X), format, tmp_path, exact)


@pytest.mark.parametrize("format", RUN)
def test_exports_of_models(format, modelled, tmp_path: Path):
    clf, seed = modelled
    X, _ = patches(seed)
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    check(clf, cells(X), clf._encode(X), format, tmp_path, exact=False)


# -- the page -------------------------------------------------------------------------


def page_data(clf, X, y, folder: Path) -> dict:
    """What the page holds."""
    path = folder / "tree.html"
    clf.to_html(path, X, y)
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S)
    assert found
    return json.loads(found[1])


def test_the_page_has_cases_and_no_formula(tested, tmp_path):
    data = page_data(tested, *iris(), tmp_path)
    test, own = data["tree"]["nodes"][0]["test"], tested.tree_.split(0)
    assert "values" not in test
    assert test["cases"] == [list(case) for case in own.cases]
    assert test["case_weights"] == [list(row) for row in own.case_weights]
    assert test["precision"] == list(own.precision)
    assert test["weights"] == [[], [], []] and test["bias"] == list(own.bias)
    assert data["kinds"]["cases"] == [SPLITS["cases"].family, SPLITS["cases"].title]
    assert data["sample"]["views"]["0"]["charts"]


def test_the_page_has_models_and_candidates(modelled, tmp_path):
    clf, seed = modelled
    data = page_data(clf, *patches(seed), tmp_path)
    nodes = data["tree"]["nodes"]
    assert any("cases" in n.get("model", {}) for n in nodes if n["kind"] == "leaf")
    names = {c["learner"] for c in nodes[0]["candidates"]}
    assert "the sum of likeness to cases and a tree on single features" in names


def test_the_page_knows_the_functions_of_a_test(tested, tmp_path):
    data = page_data(with_own_models(tested, 1.25), *iris(), tmp_path)
    assert data["shared"]["0"]["scale"] == pytest.approx(1.25)
    assert data["shared"]["0"]["others"] == {}


def test_the_page_in_a_browser(tested, modelled, tmp_path):
    """No errors, the library's answers, and panels of a few short lines."""
    clf, seed = modelled
    path = tmp_path / "tree.html"
    own = with_own_models(tested, 1.25)
    trees = [(tested, iris()), (own, iris()), (clf, patches(seed))]
    with chromium() as browser:
        for clf, (X, y) in trees:
            clf.to_html(path, X, y)
            watched = Watched(browser, path)
            page = watched.page
            assert ("Widths: " in page.inner_text("#node")) == (clf is not trees[2][0])
            assert max(map(len, page.inner_text("#node").splitlines())) < 200
            for tab in ("rules", "rows", "whatif"):
                page.click(f"#tab-{tab}")
                assert page.inner_text(f"#{tab}")
            shown = page.evaluate(SET_ROWS, X[:40].to_numpy().tolist())
            shares = [result["shares"] for result in shown]
            expected = clf.predict_proba(X[:40])
            np.testing.assert_allclose(shares, expected, rtol=0, atol=1e-14)
            assert re.search(r"case \d+", page.inner_text("#whatif"))
            page.click("#tab-rules")
            page.click("#rules li button")  # to the panel of a leaf
            assert max(map(len, page.inner_text("#node").splitlines())) < 200
            watched.close()


def test_plot_node(tested):
    pytest.importorskip("matplotlib").use("Agg")
    ax = tested.plot_node(0, *iris())
    figure = getattr(ax, "figure", ax)
    labels = [a.get_xlabel() for a in figure.axes]
    assert any("minus the largest of the others" in label for label in labels)
