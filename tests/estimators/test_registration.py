"""Parts of other packages: registered, announced by entry points, saved, loaded, absent."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import omnitree
from omnitree import TreeClassifier, load, save
from omnitree.cli.app import app
from omnitree.growing.foreign import announced
from omnitree.growing.part import UnregisteredPart
from omnitree.learners import LEARNERS, Linear, Omnivariate, Univariate
from omnitree.parts.merit import MERITS, Gini, Merit

X, Y = load_iris(return_X_y=True, as_frame=True)


class Cubed(Gini):
    """The Gini decrease to a power."""

    def __init__(self, power=3.0):
        self.power = power

    def score(self, counts):
        return super().score(counts) ** self.power


class HalfHearted(Univariate):
    """A learner that is not always in the mood."""

    def __init__(self, mood=2, merit="gini"):
        super().__init__(merit=merit)
        self.mood = mood

    def fit(self, node, rng):
        return None if node.depth > self.mood else super().fit(node, rng)


# -- register ------------------------------------------------------------------------


def test_a_registered_name_serves_like_any_other():
    with pytest.raises(ValueError, match="unknown merit 'cubed'"):
        TreeClassifier(Univariate("cubed")).fit(X, Y)
    omnitree.register("merit", "cubed", Cubed)
    omnitree.register("learner", "half_hearted", HalfHearted)
    by_name = TreeClassifier(Univariate("cubed")).fit(X, Y)
    by_object = TreeClassifier(Univariate(Cubed())).fit(X, Y)
    assert by_name.tree_.to_dict() == by_object.tree_.to_dict()
    assert TreeClassifier("half_hearted").fit(X, Y).get_depth() == 3
    with pytest.raises(ValueError, match="did you mean 'cubed'"):
        TreeClassifier(Univariate("cubbed")).fit(X, Y)
    shown = CliRunner().invoke(app, ["parts"]).stdout
    assert "The Gini decrease to a power. (from tests)" in " ".join(shown.split())


def test_a_class_defined_again_takes_its_own_place():
    omnitree.register("merit", "cubed", Cubed)
    again = type("Cubed", (Cubed,), {"__module__": Cubed.__module__})
    omnitree.register("merit", "cubed", again)
    assert MERITS["cubed"] is again


def test_what_cannot_be_registered():
    class NoScore(Merit):
        pass

    class NoDefault(Gini):
        def __init__(self, power):
            self.power = power

    class Anything(Gini):
        def __init__(self, **options):
            self.options = options

    omnitree.register("merit", "cubed", Cubed)
    for error, message, kind, name, cls in (
        (ValueError, "'merits', did you mean 'merit'", "merits", "a", Cubed),
        (ValueError, "unknown kind of part", 3, "a", Cubed),
        (TypeError, "derived from omnitree.parts.merit", "merit", "a", Univariate),
        (TypeError, "must be a class", "merit", "a", Cubed()),
        (TypeError, "NoScore lacks what a merit needs: score", "merit", "a", NoScore),
        (TypeError, "needs a default for 'power'", "merit", "a", NoDefault),
        (TypeError, "name all its parameters", "merit", "a", Anything),
        (ValueError, "'gini' is omnitree.*:Gini already", "merit", "gini", Cubed),
        (ValueError, "'cubed' is .*:Cubed already", "merit", "cubed", HalfHeartedGini),
        (ValueError, "without dots", "merit", "my.merit", Cubed),
        (ValueError, "without dots", "merit", "", Cubed),
        (ValueError, "without dots", "merit", None, Cubed),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            omnitree.register(kind, name, cls)


class HalfHeartedGini(Gini):
    """Another merit."""


# -- entry points --------------------------------------------------------------------


MODULE = '''
from omnitree.parts.merit import Gini

class Announced(Gini):
    """A merit of a package."""
    def score(self, counts):
        return super().score(counts)

class NoMerit:
    pass
'''
ENTRIES = """[omnitree.parts]
merit.announced = package_with_parts:Announced
merit.not_there = package_with_parts:Missing
merit.no_module = no_such_module:Merit
merit.no_merit = package_with_parts:NoMerit
merit.gini = package_with_parts:Announced
missing_value_policy.odd = package_with_parts:NoMerit
nonsense = package_with_parts:NoMerit
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package that announces parts, most of them broken."""
    (tmp_path / "package_with_parts.py").write_text(MODULE)
    info = tmp_path / "package_with_parts-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: package-with-parts\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    announced.cache_clear()
    yield
    sys.modules.pop("package_with_parts", None)


def test_an_announced_part_is_loaded_when_it_is_asked_for(package):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TreeClassifier(Univariate("gini")).fit(X, Y)
        assert "package_with_parts" not in sys.modules
        clf = TreeClassifier(Univariate("announced")).fit(X, Y)
    assert clf.tree_.n_leaves == TreeClassifier().fit(X, Y).tree_.n_leaves


def test_broken_entry_points_warn_once_and_do_no_harm(package):
    with pytest.warns(UserWarning, match="cannot be used") as found:
        names = list(MERITS)
    said = sorted(str(w.message) for w in found)
    assert [text.split("'")[1] for text in said] == [
        "merit.no_merit",
        "merit.no_module",
        "merit.not_there",
    ]
    assert all("package 'package-with-parts'" in text for text in said)
    assert "announced" in names and "no_merit" not in names
    assert MERITS["gini"] is Gini
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(MERITS) == names
        with pytest.raises(ValueError, match="unknown merit 'not_there'"):
            MERITS.resolve("not_there")
    with (
        pytest.warns(UserWarning, match=r"missing_value_policy\.odd"),
        pytest.raises(ValueError, match="unknown missing-value policy 'odd'"),
    ):
        TreeClassifier(missing="odd").fit(X, Y)


def test_parts_lists_what_packages_announce(package):
    result = CliRunner().invoke(app, ["parts"])
    assert result.exit_code == 0
    assert "A merit of a package. (from package_with_parts)" in result.stdout
    assert "'merit.no_module' of the package 'package-with-parts'" in result.stderr


# -- saving and loading --------------------------------------------------------------


MODELS = {
    "merit": TreeClassifier(Univariate(Cubed(2.0)), random_state=0),
    "learner": TreeClassifier(
        HalfHearted(mood=1, merit=Cubed()), pruning="pessimistic"
    ),
    "candidate": TreeClassifier(Omnivariate((HalfHearted(), Linear())), random_state=0),
}


@pytest.mark.parametrize("model", list(MODELS))
def test_a_model_with_a_foreign_part_is_saved_and_loaded(model, tmp_path):
    clf = clone(MODELS[model]).fit(X, Y)
    path, second = tmp_path / "model.json", tmp_path / "again.json"
    save(clf, path)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert loaded.describe() == clf.describe()
    assert loaded.explain(X.iloc[[0]]) is not None
    assert "UnregisteredPart(class_name='tests." in repr(loaded)
    save(loaded, second)
    assert json.loads(second.read_text()) == json.loads(path.read_text())
    for unfitted in (loaded, clone(loaded)):
        with pytest.raises(ValueError, match=r"import .*omnitree\.register\("):
            unfitted.fit(X, Y)

    omnitree.register("learner", "half_hearted", HalfHearted)
    omnitree.register("merit", "cubed", Cubed)
    known = load(path)
    assert known.get_params(deep=False) == clf.get_params(deep=False)
    assert known.fit(X, Y).tree_.to_dict() == clf.tree_.to_dict()


def test_what_stands_in_for_a_part():
    part = UnregisteredPart("merit", "package.module:Class", {"power": 2}, "cubed")
    assert repr(part).startswith("UnregisteredPart(class_name='package.module:Class'")
    assert clone(part) == part
    with pytest.raises(ValueError, match=r"`from package\.module import Class`"):
        LEARNERS.resolve(part)


def test_loading_imports_nothing(package, tmp_path):
    """Neither a module that a file names, nor the entry points of installed packages."""
    path = tmp_path / "model.json"
    save(TreeClassifier(Univariate(Gini())).fit(X, Y), path)
    document = json.loads(path.read_text())
    merit = {
        "part": "merit",
        "name": "announced",
        "class": "package_with_parts:Announced",
        "params": {},
    }
    document["params"]["learner"]["params"]["merit"] = merit
    path.write_text(json.dumps(document))
    loaded = load(path)
    assert isinstance(loaded.learner.merit, UnregisteredPart)
    assert loaded.predict(X).shape == Y.shape
    assert "package_with_parts" not in sys.modules
    del merit["class"]  # a name that is not omnitree's own
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="unknown part"):
        load(path)
    assert "package_with_parts" not in sys.modules
