"""omnitree: decision trees whose every node is as complex as its data needs.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> import omnitree
>>> data = load_iris(as_frame=True)
>>> petals = data.data[["petal length (cm)", "petal width (cm)"]]
>>> y = data.target_names[data.target]
>>> clf = omnitree.OmniTreeClassifier(random_state=2).fit(petals, y)
>>> print(clf.describe())  # doctest: +ELLIPSIS
4 nodes, 3 leaves, 3 classes
softmax: exp(score) of a class over the sum of exp(score) of all
linear machine: predict the class with the largest score
  setosa     = -0.87... - 2.4... (petal length (cm) - 3.8)
               - 4.9... (petal width (cm) - 1.2)
...
setosa is largest: setosa (50 rows); held out: 100 % right (86 to 100)
versicolor is largest: versicolor (50 rows, 3 wrong); held out: 94 % right (77 to 99)
virginica is largest: virginica (50 rows, 3 wrong); held out: 92 % right (74 to 98)
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from omnitree import presets
    from omnitree.estimators.boosted import from_lightgbm, from_xgboost
    from omnitree.estimators.classifier import OmniTreeClassifier, TreeClassifier
    from omnitree.estimators.from_sklearn import from_sklearn
    from omnitree.estimators.persistence import load, save
    from omnitree.estimators.registries import register
    from omnitree.estimators.regressor import OmniTreeRegressor, TreeRegressor

    __version__: str

__all__ = [
    "OmniTreeClassifier",
    "OmniTreeRegressor",
    "TreeClassifier",
    "TreeRegressor",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "load",
    "presets",
    "register",
    "save",
]

# Where each name lives. They are imported when first used, so that `omnitree --help`
# does not wait for scikit-learn (2 s).
_HOMES = {
    "OmniTreeClassifier": "omnitree.estimators.classifier",
    "OmniTreeRegressor": "omnitree.estimators.regressor",
    "TreeClassifier": "omnitree.estimators.classifier",
    "TreeRegressor": "omnitree.estimators.regressor",
    "from_lightgbm": "omnitree.estimators.boosted",
    "from_sklearn": "omnitree.estimators.from_sklearn",
    "from_xgboost": "omnitree.estimators.boosted",
    "load": "omnitree.estimators.persistence",
    "register": "omnitree.estimators.registries",
    "save": "omnitree.estimators.persistence",
}


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from importlib.metadata import version

        value: _Any = version("omnitree")
    elif name in ("dask", "presets"):
        value = _import_module(f"omnitree.{name}")
    elif name in _HOMES:
        value = getattr(_import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'omnitree' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
