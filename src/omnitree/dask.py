"""The estimators with a Dask client as an argument.

`OmniTreeClassifier().fit(collection, "y")` works on the cluster already, if there is a
client; see the page on large data. These four do the same for those used to `client=`. All
else is as for the estimator that each is an alias of: the tree, bit for bit, the
parameters, the files that `save` writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from omnitree.estimators.classifier import OmniTreeClassifier, TreeClassifier
from omnitree.estimators.regressor import OmniTreeRegressor, TreeRegressor

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "omnitree.dask needs dask and distributed: pip install 'omnitree[dask]'"
    ) from error

__all__ = [
    "DaskOmniTreeClassifier",
    "DaskOmniTreeRegressor",
    "DaskTreeClassifier",
    "DaskTreeRegressor",
]


class OnDask:
    """What an estimator with a client does otherwise: clients are not copied or saved."""

    client: Any

    def to_local(self) -> Any:
        """The same estimator without a client, fitted if this one is."""
        (alias,) = (base for base in type(self).__bases__ if base is not OnDask)
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        del params["client"]
        local = alias(**params)
        fitted = {k: v for k, v in vars(self).items() if k.endswith("_")}
        vars(local).update(fitted)
        return local

    def __sklearn_clone__(self) -> Any:
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        copies = {
            name: value if name == "client" else clone(value, safe=False)
            for name, value in params.items()
        }
        return type(self)(**copies)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"client": None}  # type: ignore[misc]


@dataclass(eq=False, repr=False)
class DaskOmniTreeClassifier(OnDask, OmniTreeClassifier):
    """`OmniTreeClassifier` on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        Whose workers read the data. None: as `OmniTreeClassifier` does, the client that
        was made last, for dask collections; without one, threads of this process.
    **params
        Those of `OmniTreeClassifier`.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.datasets import load_iris
    >>> from omnitree.dask import DaskOmniTreeClassifier
    >>> rows = dd.from_pandas(load_iris(as_frame=True).frame, npartitions=3)
    >>> clf = DaskOmniTreeClassifier(random_state=1).fit(rows, "target")
    >>> type(clf.predict(rows)).__name__, clf.tree_.n_leaves
    ('Series', 3)
    """

    client: Any = None


@dataclass(eq=False, repr=False)
class DaskTreeClassifier(OnDask, TreeClassifier):
    """`TreeClassifier` on a Dask cluster.

    Parameters
    ----------
    client
        As for `DaskOmniTreeClassifier`.
    **params
        Those of `TreeClassifier`.
    """

    client: Any = None


@dataclass(eq=False, repr=False)
class DaskOmniTreeRegressor(OnDask, OmniTreeRegressor):
    """`OmniTreeRegressor` on a Dask cluster.

    Parameters
    ----------
    client
        As for `DaskOmniTreeClassifier`.
    **params
        Those of `OmniTreeRegressor`.
    """

    client: Any = None


@dataclass(eq=False, repr=False)
class DaskTreeRegressor(OnDask, TreeRegressor):
    """`TreeRegressor` on a Dask cluster.

    Parameters
    ----------
    client
        As for `DaskOmniTreeClassifier`.
    **params
        Those of `TreeRegressor`.
    """

    client: Any = None
