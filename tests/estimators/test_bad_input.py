"""What a user may do wrong, and what omnitree says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from omnitree import (
    OmniTreeClassifier,
    TreeClassifier,
    TreeRegressor,
    load,
    presets,
    save,
)
from omnitree.growing.stopping import Stopping
from omnitree.learners import Univariate
from omnitree.pruning import PRUNINGS, ReducedError

X = np.arange(8.0)[:, None]
Y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
NAN = np.nan


def fit(X=X, y=Y, clf=None, **rest):
    return (TreeClassifier() if clf is None else clf).fit(X, y, **rest)


def tree(**params):
    return TreeClassifier(**params)


def learner(**params):
    return TreeClassifier(Univariate(**params))


FIT = {
    "no rows": (lambda: fit(np.empty((0, 2)), []), ValueError, "0 sample"),
    "no columns": (lambda: fit(np.empty((3, 0)), [0, 1, 0]), ValueError, "0 feature"),
    "an empty list": (lambda: fit([], []), ValueError, "array"),
    "an empty frame": (lambda: fit(pd.DataFrame(), []), ValueError, "0 sample"),
    "one row": (lambda: fit([[1.0]], [0]), ValueError, "two rows"),
    "one class": (lambda: fit(X, [1] * 8), ValueError, r"one class \(1\)"),
    "one class, a word": (lambda: fit(X, ["a"] * 8), ValueError, r"one class \('a'\)"),
    "one class left by weights": (
        lambda: fit(sample_weight=[1, 1, 1, 1, 0, 0, 0, 0]),
        ValueError,
        r"one class \(0\)",
    ),
    "all cells missing": (lambda: fit(np.full((8, 2), NAN)), ValueError, "All cells"),
    "all cells missing, words": (
        lambda: fit([[None], [""]] * 4),
        ValueError,
        "All cells",
    ),
    "an infinity": (
        lambda: fit(np.where(X == 3, np.inf, X)),
        ValueError,
        "'x0'.*infinite.*row 3",
    ),
    "a negative infinity": (
        lambda: fit(np.where(X == 3, -np.inf, X)),
        ValueError,
        "infinite",
    ),
    "one dimension": (lambda: fit(np.arange(8.0)), ValueError, "2D array"),
    "three dimensions": (lambda: fit(np.zeros((8, 1, 1))), ValueError, "dim"),
    "complex numbers": (lambda: fit(X + 1j), ValueError, "Complex data"),
    "durations": (
        lambda: fit(pd.DataFrame({"took": pd.to_timedelta(range(8), unit="h")})),
        ValueError,
        "'took' holds durations",
    ),
    "durations in polars": (
        lambda: fit(pl.DataFrame({"took": pd.to_timedelta(range(8), unit="h")})),
        ValueError,
        "'took' holds durations",
    ),
    "ids alone": (
        lambda: fit(
            pd.DataFrame({"id": [f"A{i}" for i in range(30)]}), np.arange(30) % 2
        ),
        ValueError,
        "No column is left to learn from.*'id'",
    ),
    "lists in cells": (
        lambda: fit([[[1, 2]]] * 8),
        (ValueError, TypeError),
        "array|cells",
    ),
    "a column name twice": (
        lambda: fit(pd.DataFrame(np.zeros((8, 2)), columns=["a", "a"])),
        ValueError,
        "more than once: 'a'",
    ),
    "ragged rows": (lambda: fit([[1], [1, 2]] * 4), ValueError, "cells|inhomogeneous"),
    "no y": (lambda: fit(y=None), ValueError, "requires y"),
    "a name as y": (lambda: fit(y="class"), ValueError, r"y='class' names a column"),
    "y too short": (lambda: fit(y=Y[:5]), ValueError, "inconsistent"),
    "y of two columns": (
        lambda: fit(y=np.column_stack([Y, Y])),
        ValueError,
        "1d array",
    ),
    "y with None": (
        lambda: fit(y=[None, *"aabbcc", "a"]),
        ValueError,
        "missing value in row 0",
    ),
    "y with NaN": (lambda: fit(y=[*Y[:7], NAN]), ValueError, "y contains NaN"),
    "y with NaN among words": (
        lambda: fit(y=np.array([*"aaaabbb", NAN], dtype=object)),
        ValueError,
        "missing value in row 7",
    ),
    "y with pandas' NA": (
        lambda: fit(y=pd.Series([*"aaaabbb", pd.NA], dtype=object)),
        ValueError,
        "missing value in row 7",
    ),
    "y with pandas' NaT": (
        lambda: fit(y=np.array([*"aaaabbb", pd.NaT], dtype=object)),
        ValueError,
        "missing value in row 7",
    ),
    "y with a null in pandas": (
        lambda: fit(y=pd.Series([*"aaaabbb", None])),
        ValueError,
        "missing value in row 7",
    ),
    "y with a null among pandas' integers": (
        lambda: fit(y=pd.Series([*Y[:7], None], dtype="Int64")),
        ValueError,
        "missing|NaN",
    ),
    "y with a null in polars": (
        lambda: fit(y=pl.Series([*"aaaabbb", None])),
        ValueError,
        "missing value in row 7",
    ),
    "y infinite": (lambda: fit(y=[*Y[:7], np.inf]), ValueError, "infinity"),
    "y continuous": (lambda: fit(y=X[:, 0] + 0.1), ValueError, "Unknown label type"),
    "y of words and numbers": (
        lambda: fit(y=np.array([*"aaaa", 1, 1, 1, 1], dtype=object)),
        TypeError,
        "mixes strings",
    ),
    "weights negative": (
        lambda: fit(sample_weight=[-1] + [1] * 7),
        ValueError,
        "negative",
    ),
    "weights zero": (lambda: fit(sample_weight=[0] * 8), ValueError, "zero everywhere"),
    "weights too few": (
        lambda: fit(sample_weight=[1] * 3),
        ValueError,
        r"shape \(3,\)",
    ),
    "weights of two columns": (
        lambda: fit(sample_weight=np.ones((8, 2))),
        ValueError,
        "shape",
    ),
    "weights with NaN": (
        lambda: fit(sample_weight=[NAN] + [1] * 7),
        ValueError,
        "missing",
    ),
    "weights infinite": (
        lambda: fit(sample_weight=[np.inf] + [1] * 7),
        ValueError,
        "finite",
    ),
    "weights are words": (
        lambda: fit(sample_weight=["a"] * 8),
        ValueError,
        "sample_weight must be .* 'a'",
    ),
    "weights complex": (
        lambda: fit(sample_weight=[1j] * 8),
        ValueError,
        "sample_weight must be finite numbers",
    ),
    "class weights zero": (
        lambda: fit(clf=tree(class_weight={0: 0, 1: 0})),
        ValueError,
        "class_weight",
    ),
    "class weights negative": (
        lambda: fit(clf=tree(class_weight={0: -1, 1: 1})),
        ValueError,
        "class_weight",
    ),
    "class weights NaN": (
        lambda: fit(clf=tree(class_weight={0: NAN, 1: 1})),
        ValueError,
        "class_weight",
    ),
    "class weight by a wrong name": (
        lambda: fit(clf=tree(class_weight="even")),
        ValueError,
        "class_weight",
    ),
    "unknown learner": (
        lambda: fit(clf=tree(learner="univariat")),
        ValueError,
        "did you mean 'univariate'",
    ),
    "unknown merit": (
        lambda: fit(clf=learner(merit="gains")),
        ValueError,
        "unknown merit 'gains', did you mean 'gain'",
    ),
    "unknown pruning": (
        lambda: fit(clf=tree(pruning="reduced_eror")),
        ValueError,
        "did you mean 'reduced_error'",
    ),
    "unknown missing": (
        lambda: fit(clf=tree(missing="meen")),
        ValueError,
        "unknown missing-value policy 'meen', did you mean 'mean'",
    ),
    "unknown stopping": (
        lambda: fit(clf=tree(stopping="pur")),
        ValueError,
        "did you mean 'pure'",
    ),
    "unknown categories": (
        lambda: fit(clf=learner(categories="subsets")),
        ValueError,
        "did you mean 'subset'",
    ),
    "unknown choice": (lambda: fit(clf=learner(choice="rand")), ValueError, "choice"),
    "unknown threshold": (
        lambda: fit(clf=learner(threshold="mid")),
        ValueError,
        "threshold",
    ),
    "learner is a number": (
        lambda: fit(clf=tree(learner=3)),
        TypeError,
        "learner must be",
    ),
    "learner is a pruning": (
        lambda: fit(clf=tree(learner=ReducedError())),
        TypeError,
        "learner must be",
    ),
    "merit is a number": (
        lambda: fit(clf=learner(merit=3)),
        TypeError,
        "merit must be",
    ),
    "pruning is a number": (
        lambda: fit(clf=tree(pruning=3)),
        TypeError,
        "pruning must be",
    ),
    "pruning is a class": (
        lambda: fit(clf=tree(pruning=ReducedError)),
        TypeError,
        "pruning must be",
    ),
    "stopping is a number": (
        lambda: fit(clf=tree(stopping=3)),
        TypeError,
        "stopping rule must be",
    ),
    "missing is nothing": (
        lambda: fit(clf=tree(missing=None)),
        TypeError,
        "policy must be",
    ),
    "min_branch is a word": (
        lambda: fit(clf=learner(min_branch="two")),
        (ValueError, TypeError),
        "min_branch|two",
    ),
    "min_branch is NaN": (
        lambda: fit(clf=learner(min_branch=NAN)),
        ValueError,
        "min_branch",
    ),
    "min_rows is NaN": (
        lambda: fit(clf=tree(stopping=Stopping(min_rows=NAN))),
        ValueError,
        "min_rows",
    ),
    "min_rows is a word": (
        lambda: fit(clf=tree(stopping=Stopping(min_rows="two"))),
        (ValueError, TypeError),
        "min_rows",
    ),
    "min_share above one": (
        lambda: fit(clf=tree(stopping=Stopping(min_share=5))),
        ValueError,
        "min_share",
    ),
    "smoothing by a wrong name": (
        lambda: fit(clf=tree(smoothing="laplas")),
        ValueError,
        "smoothing must be",
    ),
    "smoothing negative": (
        lambda: fit(clf=tree(smoothing=-1)),
        ValueError,
        "smoothing must be",
    ),
    "smoothing NaN": (
        lambda: fit(clf=tree(smoothing=NAN)),
        ValueError,
        "smoothing must be",
    ),
    "smoothing a list": (
        lambda: fit(clf=tree(smoothing=[1])),
        ValueError,
        "smoothing must be",
    ),
    "max_depth negative": (
        lambda: fit(clf=tree(max_depth=-1)),
        ValueError,
        "max_depth.*at least 0, not -1",
    ),
    "max_depth half": (lambda: fit(clf=tree(max_depth=2.5)), ValueError, "max_depth"),
    "max_depth a word": (
        lambda: fit(clf=tree(max_depth="deep")),
        ValueError,
        "max_depth",
    ),
    "max_leaves zero": (
        lambda: fit(clf=tree(max_leaves=0)),
        ValueError,
        "max_leaves.*at least 1",
    ),
    "max_seconds negative": (
        lambda: fit(clf=tree(max_seconds=-1)),
        ValueError,
        "max_seconds",
    ),
    "max_seconds NaN": (
        lambda: fit(clf=tree(max_seconds=NAN)),
        ValueError,
        "max_seconds",
    ),
    "random_state is a word": (
        lambda: fit(clf=tree(random_state="x")),
        ValueError,
        "seed",
    ),
    "prune set with a new class": (
        lambda: fit(clf=tree(pruning="reduced_error"), prune_set=(X, Y + 5)),
        ValueError,
        "lack: 5",
    ),
    "prune set with words as classes": (
        lambda: fit(clf=tree(pruning="reduced_error"), prune_set=(X, ["a"] * 8)),
        ValueError,
        "lack: 'a'",
    ),
    "prune set of another width": (
        lambda: fit(
            clf=tree(pruning="reduced_error"), prune_set=(np.ones((2, 3)), [0, 1])
        ),
        ValueError,
        "3 features.*expecting 1",
    ),
    "prune set is no pair": (
        lambda: fit(clf=tree(pruning="reduced_error"), prune_set=X),
        (ValueError, TypeError),
        "prune_set",
    ),
    "prune set of different lengths": (
        lambda: fit(clf=tree(pruning="reduced_error"), prune_set=(X, [0, 1])),
        ValueError,
        "inconsistent",
    ),
    "unknown preset": (
        lambda: presets.make("c45"),
        ValueError,
        "unknown preset 'c45', did you mean 'c4.5'",
    ),
    "unknown preset described": (
        lambda: presets.describe("crat"),
        ValueError,
        "did you mean 'cart'",
    ),
    "unknown variant of c4.5": (
        lambda: presets.make("c4.5", variant="r8"),
        ValueError,
        "unknown variant",
    ),
}


@pytest.mark.parametrize("name", FIT)
def test_fit_says_what_is_wrong(name):
    call, error, message = FIT[name]
    with pytest.raises(error, match=message):
        call()


def test_front_door_says_the_same():
    for X2, y2, message in (
        ([[1.0]], [0], "two rows"),
        (np.full((8, 2), NAN), Y, "All cells"),
        (np.where(X == 3, np.inf, X), Y, "infinite"),
        (X, None, "OmniTreeClassifier requires y"),
        (X, [0] * 8, "one class"),
    ):
        with pytest.raises(ValueError, match=message):
            OmniTreeClassifier().fit(X2, y2)
    with pytest.raises(ValueError, match="max_depth"):
        OmniTreeClassifier(max_depth=-1).fit(X, Y)


# -- at prediction -------------------------------------------------------------------

FRAME = pd.DataFrame({"a": np.arange(8.0), "b": list("xxyyxxyy")})
METHODS = ["predict", "predict_proba", "apply", "decision_path"]


@pytest.mark.parametrize("method", METHODS)
def test_predict_says_what_is_wrong(method):
    run = getattr(TreeClassifier().fit(FRAME, Y), method)
    with pytest.raises(ValueError, match=r"lacks column\(s\) 'b'"):
        run(FRAME[["a"]])
    with pytest.raises(
        ValueError, match="3 features, but TreeClassifier is expecting 2"
    ):
        run(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="0 sample"):
        run(FRAME[:0])
    with pytest.raises(ValueError, match="infinite"):
        run(FRAME.assign(a=np.inf))
    with pytest.raises(ValueError, match="2D array"):
        run(np.zeros(2))


@pytest.mark.parametrize("method", METHODS)
def test_not_fitted(method):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        getattr(TreeClassifier(), method)(X)
    with pytest.raises(NotFittedError):
        TreeClassifier().describe()
    with pytest.raises(NotFittedError):
        TreeClassifier().prune("pessimistic", X, Y)


def test_unseen_categories_and_other_types_are_missing():
    clf = TreeClassifier().fit(FRAME, Y)
    odd = pd.DataFrame({"a": [1.0, 6.0], "b": ["z", None]})
    assert clf.predict(odd).tolist() == [0, 1]


def test_columns_are_found_by_name():
    clf = TreeClassifier().fit(FRAME, Y)
    turned = FRAME[["b", "a"]].assign(c=1)
    assert clf.predict(turned).tolist() == Y.tolist()


# -- pruning afterwards --------------------------------------------------------------


@pytest.mark.parametrize("name", list(PRUNINGS))
def test_prune_says_what_is_wrong(name):
    method = PRUNINGS[name](folds=0) if name == "cost_complexity" else name
    clf = TreeClassifier().fit(X, Y)
    for X2, y2, message in (
        (X, Y + 1, "lack: 2"),
        (X, Y[:3], "inconsistent"),
        (np.zeros((8, 2)), Y, "expecting 1 features"),
        (X, [None] * 8, "missing value"),
        (X, None, "y"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            clf.prune(method, X2, y2)
    assert clf.tree_.n_leaves == 2


# -- files ---------------------------------------------------------------------------


def test_damaged_and_truncated_files(tmp_path):
    path = tmp_path / "model.json"
    save(TreeClassifier().fit(X, Y), path)
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(ValueError, match="cut off"):
        load(path)
    path.write_text(text.replace('"axis"', '"exia"'))
    with pytest.raises(ValueError, match="unknown kind of test 'exia'"):
        load(path)


# -- not wrong -----------------------------------------------------------------------


def test_things_that_are_fine():
    fit(y=pd.Series(Y, dtype="Int64"))
    fit(y=pd.Categorical(np.array(["no", "yes"])[Y]))
    fit(y=pl.Series(np.array(["no", "yes"])[Y]))
    fit(y=Y.astype(bool))
    fit(sample_weight=2.0)
    fit(pl.DataFrame({"a": X[:, 0]}))
    fit([[1], [2], [None], [4]], ["a", "a", "b", "b"])
    fit([["x", None], ["y", 1]] * 4)
    fit(np.full((8, 1), 3.0))  # nothing to cut: one leaf
    fit(
        clf=tree(
            max_depth=np.int64(2), max_seconds=1.5, max_leaves=4, smoothing="laplace"
        )
    )
    fit(clf=tree(class_weight="balanced"))
    fit(clf=tree(class_weight={0: 3}))  # the others weigh 1
    fit(y=[True, 2, 2, 2, True, True, True, 2])


def test_fit_leaves_its_arguments_alone():
    clf = presets.make("c4.5", random_state=3)
    before = clf.get_params()
    data, labels, weight = X.copy(), Y.copy(), np.ones(8)
    for array in (data, labels, weight):
        array.flags.writeable = False
    clf.fit(data, labels, sample_weight=weight)
    assert clf.get_params() == before


def test_refit_forgets_names():
    clf = TreeClassifier().fit(FRAME, Y)
    assert clf.feature_names_in_.tolist() == ["a", "b"]
    clf.fit(X, Y)
    assert not hasattr(clf, "feature_names_in_")
    assert clf.n_features_in_ == 1


def test_date_labels_are_refused_at_save(tmp_path):
    y = np.array(["2020-01-01", "2020-01-02"] * 5, dtype="datetime64[D]")
    clf = TreeClassifier().fit(np.arange(10.0)[:, None], y)
    with pytest.raises(TypeError, match="use strings, numbers or booleans"):
        save(clf, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_counts_beyond_memory_are_refused_at_once(rng, monkeypatch):
    """400 classes in 799 nodes, six times, are 15 MB."""
    monkeypatch.setattr("omnitree.estimators.memory.FEW_BYTES", 2**20)
    monkeypatch.setattr(
        "omnitree.estimators.memory.free_memory", lambda whole: 10 * 2**20
    )
    X, y = rng.normal(size=(800, 3)), np.arange(800) % 400
    with monkeypatch.context() as patch:
        patch.setattr("omnitree.growing.growth.grow", None)  # not even begun
        for name in ("c4.5", "ldt", "omni"):
            with pytest.raises(
                MemoryError, match=r"800 rows of 400 classes.*max_leaves"
            ):
                presets.make(name).fit(X, y)
    for limit in ({"max_leaves": 200}, {"max_depth": 7}):
        assert presets.make("c4.5", **limit).fit(X, y).tree_.n_leaves > 100
    y = X[:, 0]
    assert TreeRegressor(max_leaves=3).fit(X, y).tree_.n_leaves == 3


def test_contests_need_room_for_the_trees_of_their_folds(rng, monkeypatch):
    """100 classes in 199 nodes are 0.2 MB: six times for C4.5, 16 times for a contest."""
    monkeypatch.setattr("omnitree.estimators.memory.FEW_BYTES", 2**10)
    monkeypatch.setattr(
        "omnitree.estimators.memory.free_memory", lambda whole: 2 * 2**20
    )
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 100
    presets.make("c4.5").fit(X, y)
    presets.make("omni", max_leaves=4).fit(X, y)
    for copies, limits in ((1, {}), (10, {"max_leaves": 4})):  # or for all answers
        with pytest.raises(MemoryError, match=r"00 rows of 100 classes.*max_leaves"):
            presets.make("omni", **limits).fit(
                np.tile(X, (copies, 1)), np.tile(y, copies)
            )


@pytest.mark.parametrize("n_classes", [2, 500])
def test_the_end_of_memory_is_explained(n_classes, rng, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("omnitree.growing.growth.grow", full)
    X, y = rng.normal(size=(1000, 3)), np.arange(1000) % n_classes
    words = f"1,000 rows of {n_classes} classes and 3 columns: "
    words += "limit its size" if n_classes == 2 else "every node counts every class"
    with pytest.raises(MemoryError, match=words):
        TreeClassifier().fit(X, y)
