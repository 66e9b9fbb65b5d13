"""Optimisations switched off: the same model.

Threads, caches and the fast routing of plain cuts: the same JSON, to the last digit. Growers
add numbers up in other orders, so that models of theirs have the same tests, and numbers
alike to nine digits. SIMD is switched off in the build of `make sanitize`, which runs this
file and `tests/test_digests.py` too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.tables import random_sample

from omnitree import OmniTreeClassifier, OmniTreeRegressor, TreeRegressor, presets
from omnitree.data.switches import SWITCHES, disabled

CLASSIFIERS = (
    "cart",
    "c4.5",
    "ldt",
    "quest",
    "omni-bic",
    "lmt",
    "lmdt",
    "oc1",
    "qtree",
)


def documents(names=CLASSIFIERS) -> dict[str, str]:
    """Model files of several estimators on tables with and without missing values."""
    out = {}
    for share, categorical in ((0.0, 0.0), (0.1, 0.4)):
        rng = np.random.default_rng(3)
        sample = random_sample(
            rng, n=90, d=4, k=3, missing_share=share, categorical=categorical
        )
        X, y, weight = sample.frame, sample.y, sample.weight
        numbers = np.nan_to_num(sample.values).sum(axis=1) + y
        models = {name: presets.make(name) for name in names}
        if names is CLASSIFIERS:
            models["omni"] = OmniTreeClassifier()
        for name, model in models.items():
            model.set_params(random_state=0, n_jobs=2).fit(X, y, sample_weight=weight)
            answers = json.dumps(model.predict_proba(X).tolist())
            out[f"{name}, {share}"] = f"[{model.export('json')}, {answers}]"
        for regressor in (
            TreeRegressor(pruning="cost_complexity"),
            OmniTreeRegressor(),
        ):
            regressor.set_params(random_state=0, n_jobs=2).fit(X, numbers)
            answers = json.dumps(regressor.predict(X).tolist())
            name = type(regressor).__name__
            out[f"{name}, {share}"] = f"[{regressor.export('json')}, {answers}]"
    return out


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    return documents()


def assert_alike(found, expected, where=()):
    """The same keys, words and whole numbers; other numbers alike to nine digits."""
    if isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), where
        return
    assert type(found) is type(expected), where
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for key, value in expected.items():
            assert_alike(found[key], value, (*where, key))
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, value in enumerate(expected):
            assert_alike(found[i], value, (*where, i))
    else:
        assert found == expected, where


@pytest.mark.parametrize("switch", ["threads", "fast_routing"])
def test_same_models(switch, expected, monkeypatch):
    monkeypatch.setenv("OMNITREE_DISABLE", switch)
    assert documents() == expected


@pytest.mark.parametrize("switch", ["presorting", "whole_trees"])
def test_same_models_by_other_growers(switch, expected, monkeypatch):
    """Surrogates and C4.5's rules look at the whole table, which a node does not see."""
    monkeypatch.setenv("OMNITREE_DISABLE", switch)
    beyond_nodes = ("c4.5", "cart") if switch == "whole_trees" else ()
    for name, document in documents(set(CLASSIFIERS) - set(beyond_nodes)).items():
        assert_alike(json.loads(document), json.loads(expected[name]), (name,))


def test_same_models_without_caches(expected):
    """Caches are switched off at import, so in a process of its own."""
    code = (
        "import json, sys; from tests.growing.test_switches import documents; "
        "json.dump(documents(), sys.stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"OMNITREE_DISABLE": "caches"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == expected


def test_unknown_switches_are_refused(monkeypatch):
    monkeypatch.setenv("OMNITREE_DISABLE", "presorting,turbo")
    with pytest.raises(ValueError, match="turbo; it takes presorting"):
        disabled("threads")
    monkeypatch.setenv("OMNITREE_DISABLE", ",".join(SWITCHES))
    assert all(map(disabled, SWITCHES))
