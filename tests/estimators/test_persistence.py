"""Model files: what comes back, what is refused, and that nothing is ever half written."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.tables import random_sample

from omnitree import (
    OmniTreeClassifier,
    OmniTreeRegressor,
    TreeClassifier,
    load,
    presets,
    save,
)
from omnitree.learners import Univariate
from omnitree.pruning import PRUNINGS, CostComplexity
from omnitree.refinement import REFINEMENTS

X = np.arange(8.0)[:, None]
Y = np.array([0, 0, 0, 0, 1, 1, 1, 1])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def damaged(path, change):
    """A model file after `change(its data)`."""
    save(TreeClassifier(Univariate("gain"), pruning="pessimistic").fit(X, Y), path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


# -- there and back ------------------------------------------------------------------


@pytest.mark.parametrize("name", [*presets.names(), "OmniTreeClassifier"])
def test_round_trip(name, path, rng):
    sample = random_sample(rng, n=80, d=5, k=3, missing_share=0.1)
    labels = np.array(["red", "green", "blue"])[sample.y]
    make = OmniTreeClassifier if name == "OmniTreeClassifier" else presets.PRESETS[name]
    clf = make(random_state=0).fit(sample.frame, labels)
    save(clf, path)
    again = load(path)
    assert type(again) is type(clf)
    # A part given by its name comes back as a name, one given as an object as an object.
    assert again.get_params(deep=False) == clf.get_params(deep=False)
    assert again.tree_.to_dict() == clf.tree_.to_dict()
    np.testing.assert_array_equal(
        again.predict(sample.frame), clf.predict(sample.frame)
    )
    np.testing.assert_array_equal(
        again.predict_proba(sample.frame), clf.predict_proba(sample.frame)
    )
    assert again.feature_names_in_.tolist() == clf.feature_names_in_.tolist()
    assert again.n_features_in_ == clf.n_features_in_
    assert again.describe() == clf.describe()
    again.fit(sample.frame, labels)
    assert again.tree_.to_dict() == clf.tree_.to_dict()


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-5, 7],
        [1.0, 2.0],
        [False, True],
        ["no", "yes"],
        ["", "ü\n\"'"],
        [2**62, 2**62 + 1],
    ],
    ids=str,
)
def test_labels_keep_their_type(labels, path):
    y = np.array(labels)[Y]
    clf = TreeClassifier().fit(X, y)
    save(clf, path)
    again = load(path)
    assert again.classes_.dtype.kind == clf.classes_.dtype.kind
    assert again.predict(X).tolist() == y.tolist()
    assert again.score(X, y) == 1


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        *(([0, 1], k) for k in ("int8", "int32", "uint8", "uint64")),
        *(([1.0, 2.0], k) for k in ("float16", "float32", "float64")),
        *((["a", "bb"], k) for k in ("object", "<U2")),
        ([2**62, 2**62 + 1], "uint64"),
    ],
    ids=str,
)
def test_labels_keep_the_type_of_their_array(labels, kind, path):
    clf = TreeClassifier().fit(X, np.array(labels, dtype=kind)[Y])
    save(clf, path)
    again = load(path)
    assert again.classes_.dtype == clf.classes_.dtype == np.dtype(kind)
    assert again.predict(X).dtype == clf.predict(X).dtype
    assert again.predict(X).tolist() == clf.predict(X).tolist()
    usual = np.array(labels).dtype == np.dtype(kind)
    assert ("label_type" in json.loads(path.read_text())) is not usual


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        *(([0, 300], k) for k in ("int8", "uint8", "float64", "bool", "<M8[s]", None)),
        *(([3.0, 2.0**24 + 1], k) for k in ("float32", "float16", "int64")),
        *((["0", "1"], k) for k in ("int64", "float64", "<U1", ["object"])),
        ([False, True], "int8"),
        ([-1, 1], "uint64"),
    ],
    ids=str,
)
def test_types_that_labels_cannot_have(labels, kind, path):
    save(TreeClassifier().fit(X, np.array(labels)[Y]), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"label_type": kind}))
    with pytest.raises(ValueError, match=r"model\.json: labels cannot be of type"):
        load(path)


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [False, True]], ids=str)
def test_class_weight(labels, path):
    weight = {labels[0]: 1, labels[1]: 2.5}
    clf = TreeClassifier(class_weight=weight).fit(X, np.array(labels)[Y])
    save(clf, path)
    again = load(path).class_weight
    assert again == weight
    assert [type(k) for k in again] == [type(k) for k in weight]


def test_numpy_parameters(path):
    clf = TreeClassifier(max_depth=np.int64(3), smoothing=np.float64(0.5)).fit(X, Y)
    save(clf, path)
    assert load(path).max_depth == 3
    assert load(path).smoothing == 0.5


@pytest.mark.parametrize("name", list(PRUNINGS))
def test_parts_with_options(name, path):
    clf = TreeClassifier(pruning=None).fit(X, Y).set_params(pruning=PRUNINGS[name]())
    save(clf, path)
    assert load(path).pruning == PRUNINGS[name]()


@pytest.mark.parametrize("name", list(REFINEMENTS))
def test_refinements_are_saved(name, path):
    part = REFINEMENTS[name]()
    clf = TreeClassifier().fit(X, Y).set_params(refinement=part)
    save(clf, path)
    assert load(path).refinement == part


def test_nested_parts_with_changed_options(path):
    clf = presets.make("c4.5", subsets=True, pruning=CostComplexity(se=1.0, alpha=0.5))
    save(clf.fit(X, Y), path)
    assert load(path).get_params() == clf.get_params()


def test_random_stream_is_not_kept(path):
    clf = TreeClassifier(random_state=np.random.RandomState(0)).fit(X, Y)
    save(clf, path)
    assert load(path).random_state is None


def test_path_may_be_text_and_file_is_plain_json(path):
    save(TreeClassifier().fit(X, Y), str(path))
    assert load(str(path)).score(X, Y) == 1
    json.loads(path.read_text())
    assert list(path.parent.iterdir()) == [path]


# -- refused at saving ---------------------------------------------------------------


def test_other_estimators_cannot_be_saved(path):
    class Other(TreeClassifier):
        pass

    for thing in (Other().fit(X, Y), "model", None):
        with pytest.raises(TypeError, match="cannot save"):
            save(thing, path)
    assert not path.exists()


def test_unfitted(path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        save(TreeClassifier(), path)
    assert not path.exists()


@pytest.mark.parametrize(
    "wrong", [{"smoothing": np.inf}, {"class_weight": {0: np.nan, 1: 1}}]
)
def test_numbers_without_json_cannot_be_saved(wrong, path):
    clf = TreeClassifier().fit(X, Y).set_params(**wrong)
    with pytest.raises(ValueError, match="cannot save"):
        save(clf, path)
    assert not path.exists()


def test_a_model_that_could_not_be_loaded_is_not_saved(path, rng):
    """Weights on columns of tiny numbers are larger than what `load` lets in."""
    sample = rng.normal(size=(60, 3)) * np.array([1e-250, 1.0, 1e-250])
    y = (sample[:, 0] * 1e250 + sample[:, 1] > 0).astype(int)
    clf = presets.make("ldt", random_state=0).fit(sample, y)
    assert clf.score(sample, y) > 0.8
    with pytest.raises(ValueError, match="cannot save this model"):
        save(clf, path)
    assert not path.exists()


# -- written whole or not at all -----------------------------------------------------


def test_failed_replace_keeps_the_old_file(path, monkeypatch):
    save(TreeClassifier().fit(X, Y), path)
    before = path.read_bytes()

    def fail(*args):
        raise OSError("disk on fire")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk on fire"):
        save(TreeClassifier().fit(X, 1 - Y), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_failed_write_keeps_the_old_file(path, monkeypatch, error):
    save(TreeClassifier().fit(X, Y), path)
    before = path.read_bytes()

    def fail(*args):
        raise error("no space")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(error, match="no space"):
        save(TreeClassifier().fit(X, 1 - Y), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_no_such_folder(tmp_path):
    with pytest.raises(OSError):
        save(TreeClassifier().fit(X, Y), tmp_path / "none" / "model.json")


# -- refused at loading --------------------------------------------------------------


def test_truncated_anywhere(path, rng):
    sample = random_sample(rng, n=60, d=4)
    save(TreeClassifier().fit(sample.frame, sample.y), path)
    whole = path.read_bytes()
    for tenth in range(10):
        path.write_bytes(whole[: len(whole) * tenth // 10])
        with pytest.raises(ValueError, match="model"):
            load(path)
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError):
        load(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe\x80",
        b"not json",
        b"null",
        b"[]",
        b"{}",
        b"3",
        b'"omnitree-model"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 5_000 + b"]" * 5_000,
        b"NaN",
        b"1e999999",
        b"9" * 10_000,
        b'{"format": "omnitree-model"}',
        b'{"format": ["omnitree-model"], "version": 1}',
    ],
    ids=lambda b: repr(b[:20]),
)
def test_garbage(content, path):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.json"):
        load(path)


def test_missing_file(path):
    with pytest.raises(FileNotFoundError):
        load(path)


def put(*keys, value):
    def change(data):
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


def deep(n):
    out = []
    for _ in range(n):
        out = [out]
    return out


PART = {"part": "learner", "name": "univariate", "params": {}}
DAMAGE = {
    "another format": put("format", value="other"),
    "newer version": put("version", value=99),
    "no version": lambda d: d.pop("version"),
    "unknown estimator": put("estimator", value="os.system"),
    "estimator is a list": put("estimator", value=["TreeClassifier"]),
    "no estimator": lambda d: d.pop("estimator"),
    "no parameters": lambda d: d.pop("params"),
    "parameters are a list": put("params", value=[]),
    "unknown parameter": put("params", "colour", value=1),
    "parameter is a list": put("params", "max_depth", value=[3]),
    "parameter is an object": put("params", "max_depth", value={"a": 1}),
    "unknown part": put("params", "learner", value=PART | {"name": "os.system"}),
    "unknown kind of part": put("params", "learner", value=PART | {"part": "os"}),
    "kind of part is a list": put("params", "learner", value=PART | {"part": []}),
    "name of a part is a list": put("params", "learner", value=PART | {"name": []}),
    "part with unknown option": put(
        "params", "learner", value=PART | {"params": {"a": 1}}
    ),
    "class of a part is a list": put("params", "learner", value=PART | {"class": []}),
    "class of a part is code": put(
        "params", "learner", value=PART | {"class": "os:system('ls')"}
    ),
    "part without options": put("params", "learner", value=PART | {"params": None}),
    "pairs are no pairs": put("params", "class_weight", value={"pairs": [1]}),
    "pairs of three": put("params", "class_weight", value={"pairs": [[1, 2, 3]]}),
    "pairs with an object as key": put(
        "params", "class_weight", value={"pairs": [[{"pairs": []}, 1]]}
    ),
    "no tree": lambda d: d.pop("tree"),
    "tree is a list": put("tree", value=[]),
    "damaged tree": put("tree", "nodes", 0, "children", value=[5, 6]),
    "enormous number": put("tree", "nodes", 0, "value", value=[10**400, 1]),
    "deep nesting": put("tree", "nodes", 0, "value", value=deep(900)),
    "deep test": put("tree", "nodes", 0, "test", "threshold", value=deep(900)),
    "deep parameter": put("params", "max_depth", value=deep(900)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_file(name, path):
    damaged(path, DAMAGE[name])
    with pytest.raises(ValueError, match=r"model\.json"):
        load(path)


def test_every_preset_uses_only_parts_that_can_be_saved(path):
    for name in presets.names():
        save(presets.make(name).fit(X, Y), path)
        assert load(path).get_params() == presets.make(name).get_params()


def test_one_document_for_export_and_save(path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    for model in (
        presets.make("lmt", random_state=0).fit(X, y),
        OmniTreeRegressor(random_state=0).fit(X, y),
    ):
        save(model, path)
        text = model.export("json")
        assert path.read_text() == text
        path.write_text(text)
        again = load(path)
        assert type(again) is type(model)
        assert repr(again) == repr(model)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_tree_alone_is_read(path):
    """What `export("json")` gave at first."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    for model, plain in (
        (presets.make("ldt", random_state=0).fit(X, y), "TreeClassifier"),
        (OmniTreeRegressor(random_state=0).fit(X, y), "TreeRegressor"),
    ):
        path.write_text(json.dumps(model.tree_.to_dict(), indent=1))
        again = load(path)
        assert type(again).__name__ == plain
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="has no options"):
        model.export("json", proba=True)
