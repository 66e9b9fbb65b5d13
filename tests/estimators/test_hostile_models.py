"""Model files: whatever is saved can be loaded, and whatever loads works.

A file with which predictions, descriptions or exports would fail later is refused when it
is read, with the place in it that is wrong.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from omnitree import (
    OmniTreeClassifier,
    TreeClassifier,
    TreeRegressor,
    load,
    presets,
    save,
)
from omnitree.export import FORMATS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def noise(seed, n=40, d=3, k=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, k, size=n)


# -- round trips ---------------------------------------------------------------------


def same_after_saving(clf, X, path):
    save(clf, path)
    again = load(path)
    assert again.export("json") == clf.export("json")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_of_noise_can_be_loaded(name, path):
    for seed in range(2):
        X, y = noise(seed)
        same_after_saving(presets.make(name, random_state=seed).fit(X, y), X, path)


def test_the_default_of_noise_can_be_loaded(path):
    """Its candidate "univariate subtree" is a leaf in such tables."""
    kinds = set()
    for seed in range(12):
        X, y = noise(seed, n=90, d=4)
        clf = OmniTreeClassifier(random_state=0).fit(X, y)
        same_after_saving(clf, X, path)
        nodes = clf.tree_.to_dict()["nodes"]
        kinds |= {c["kind"] for n in nodes for c in n.get("candidates", ())}
    X, y = noise(0, n=90, d=4)
    y = np.where(X[:, 0] + X[:, 1] > 0, 0, y)
    same_after_saving(OmniTreeClassifier(random_state=0).fit(X, y), X, path)


# -- what is refused -----------------------------------------------------------------


def classifier():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "number": rng.normal(size=60),
            "size": pd.Categorical(
                rng.choice(["S", "M"], 60), categories=["S", "M"], ordered=True
            ),
            "colour": rng.choice(["red", "green", "blue"], 60),
        }
    )
    y = np.where((X.number > 0) == (X.colour == "red"), 1, 0)
    return X, y


def document(kind="univariate"):
    X, y = classifier()
    if kind == "models":
        clf = presets.make("lmt", random_state=0).fit(X, y)
    elif kind == "numbers":
        clf = TreeRegressor(missing="fractional").fit(X, X.number * 1.5)
    elif kind == "linear":
        clf = TreeClassifier("softmax", random_state=0).fit(X, y)
    else:
        clf = TreeClassifier(missing="fractional").fit(X, y)
    return json.loads(clf.export("json"))


def put(*where):
    """A change of a document: the value that follows the keys."""
    *keys, last, value = where

    def change(data):
        for key in keys:
            data = data[key]
        data[last] = value

    return change


def model_weight(value):
    def change(data):
        (node,) = [n for n in data["tree"]["nodes"] if "model" in n][:1]
        node["model"]["weights"][0][0] = value

    return change


REFUSED = {
    "zero root": (
        put("tree", "nodes", 0, "value", [0, 0]),
        "node 0: value must not be",
    ),
    "counts overflow": (
        put("tree", "nodes", 1, "value", [1e308, 1e308]),
        "node 1: value is more than 1e",
    ),
    "count too large for a float": (
        put("tree", "nodes", 1, "value", [10**400, 1]),
        "node 1: value must be a list of numbers",
    ),
    "order of nothing": (
        put("tree", "schema", "features", 1, "categories", []),
        "'size' .ordered. has no categories",
    ),
    "category beyond 64 bits": (
        put("tree", "schema", "features", 1, "categories", [2**64, "M"]),
        "'size' is neither",
    ),
    "smoothing": (put("params", "smoothing", 1.8e308), "smoothing"),
    "large smoothing": (put("params", "smoothing", 1.7e308), "smoothing must be"),
    "huge smoothing": (put("params", "smoothing", 10**400), "smoothing must be"),
    "part of a job": (put("params", "n_jobs", 0.1), "n_jobs must be"),
    "no job": (put("params", "n_jobs", 0), "n_jobs must be"),
    "jobs in words": (put("params", "n_jobs", "two"), "n_jobs must be"),
    "jobs in a list": (put("params", "n_jobs", {"list": [1]}), "n_jobs must be"),
    "bare list": (put("params", "n_jobs", [1]), "damaged parameter n_jobs"),
    "depth in words": (put("params", "max_depth", "deep"), "max_depth must be"),
    "huge depth": (put("params", "max_seconds", 10**400), "max_seconds must be"),
    "part without name": (
        put("params", "learner", {"part": "learner", "name": 1, "params": {}}),
        "damaged parameter learner: unknown part",
    ),
    "odd option of a part": (
        put(
            *("params", "learner"),
            {"part": "learner", "name": "univariate", "params": {"merit": [1]}},
        ),
        "damaged parameter learner.merit",
    ),
    "unknown option of a part": (
        put(
            *("params", "learner"),
            {"part": "learner", "name": "univariate", "params": {"depth": 1}},
        ),
        "damaged parameter learner: .*'depth'",
    ),
    "classes of two types": (
        put("tree", "classes", [True, 2]),
        "all strings, all booleans or all numbers",
    ),
    "class of 2^64": (put("tree", "classes", [0, 2**64]), "beyond 64 bits"),
    "class beyond floats": (put("tree", "classes", [0, 10**400]), "all numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_place(name, path):
    change, message = REFUSED[name]
    data = document()
    change(data)
    path.write_text(json.dumps(data).replace("1.8e+308", "1.8e308"))
    with pytest.raises(ValueError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("models", model_weight(1e308), "weights are so large"),
        (
            "linear",
            put("tree", "nodes", 0, "test", "weights", [1e308] * 5),
            "node 0: its",
        ),
        ("numbers", put("tree", "nodes", 0, "constant", 1e308), "node 0: constant is"),
        ("numbers", put("tree", "nodes", 0, "loss", 1e308), "node 0: loss is more"),
        ("numbers", put("tree", "nodes", 0, "value", [0.0]), "node 0: value must not"),
    ],
)
def test_numbers_that_would_overflow(kind, change, message, path):
    data = document(kind)
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=message):
        load(path)


# -- what loads works ----------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        put("tree", "classes", [-(2**63), 2**63 - 1]),
        put("tree", "classes", [2**53, 2**53 + 1]),
        put("tree", "classes", [2**53 + 0.0, 2**53 + 1]),
        put("tree", "classes", ["a", "a\0"]),
        put("tree", "nodes", 0, "value", [1e30, 1e-300]),
        put("tree", "schema", "features", 2, "categories", ["a", "a\0", 2**63 - 1]),
        put("tree", "schema", "features", 2, "categories", [1, 2.5, -(2**63)]),
    ],
)
def test_what_loads_works(change, path):
    data = document()
    change(data)
    path.write_text(json.dumps(data))
    clf = load(path)
    X, _ = classifier()
    X.loc[:5] = None
    assert len(set(clf.classes_.tolist())) == 2
    assert set(clf.predict(X).tolist()) <= set(data["tree"]["classes"])
    assert np.isfinite(clf.predict_proba(X)).all()
    assert str(clf.explain(X.iloc[0])) and clf.describe()
    nul = "\\u0000" in path.read_text()
    for name in FORMATS:
        try:
            assert clf.export(name)
        except ValueError as error:  # no way to write such text in these languages
            assert nul and name in ("c", "pmml", "sql", "onnx"), name
            assert "\\x00" in str(error)


def test_labels_that_numpy_would_merge(path):
    labels = ["a", "a\0"] * 10
    X = np.arange(20.0)[:, None] % 2
    clf = TreeClassifier().fit(X, labels)
    save(clf, path)
    assert load(path).predict(X).tolist() == clf.predict(X).tolist() == labels
    with pytest.raises(ValueError, match="make the labels strings"):
        TreeClassifier().fit(X[:3], [2**53, 2**53 + 1, 0.5])
    with pytest.raises(ValueError, match="make the labels strings"):
        TreeClassifier().fit(X[:2], np.array([2**63, 1], dtype=np.uint64))
