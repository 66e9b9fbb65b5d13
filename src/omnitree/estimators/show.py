"""Looking at a fitted tree: pictures, the explorer, and the notebook's view of it.

`Showing` is what the estimators inherit. It gathers what is to be shown, the public tree
and the rows with their ways through it, and hands that to `omnitree.export`, which knows
nothing of estimators.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from omnitree.data.files import replace_file
from omnitree.data.table import Table
from omnitree.export.sample import ShownRows
from omnitree.growing.part import number
from omnitree.tree.tree import Tree

# A notebook keeps every output: a larger explorer is left to `to_html`.
NOTEBOOK_BYTES = 1_000_000


class Showing:
    """Pictures and pages of a fitted estimator."""

    tree_: Tree
    classes_: NDArray[Any]
    _encode: Callable[[Any], Table]
    _node_outputs: Callable[[], NDArray[np.float64]]
    _node_labels: Callable[[], list[int] | None]

    def to_html(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        title: str | None = None,
        max_rows: int = 200,
        compare: Any = None,
    ) -> Path:
        """Write the explorer: one HTML file that works without any network.

        It has the tree to fold and zoom, a panel for each node, rules, search, and
        controls that answer "what if" exactly as `predict` and `predict_proba` do.

        Parameters
        ----------
        path : str or path
            The file; an old one is replaced only when the new one is complete.
        X : array, data frame or list of rows, optional
            Rows to show, by name or position as in `predict`: histograms of what each
            test sees (from all rows) and a table of rows. They become part of the file.
        y : array, optional
            Classes of the rows, for colours and to find wrong answers.
        title : str, optional
            Heading of the page; the name of the estimator if none is given.
        max_rows : int, default=200
            At most so many rows go into the table, evenly spread over `X`.
        compare : fitted estimator, or dict of one, optional
            Another tree to set beside this one, fitted on the same features and classes:
            the tree before pruning, or that of another preset. The page has both trees
            and a tab with their figures, the nodes they have in common, and the rows
            they answer differently. A dict gives it a name: `{"unpruned": other}`.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> from sklearn.datasets import load_iris
        >>> from omnitree import OmniTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> clf = OmniTreeClassifier(random_state=1).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.to_html(folder + "/tree.html", X, y).name
        'tree.html'
        """
        number("max_rows", max_rows, 0)
        check_is_fitted(self, "tree_")
        if X is None and y is not None:
            raise ValueError("y was given without X; give the rows too")
        from omnitree.estimators.comparing import agreement, other_tree
        from omnitree.export.explorer import render

        own = "This tree" if compare is not None and title is None else title
        page = self._page(X, y, own, int(max_rows))
        if compare is not None:
            name, other = other_tree(self, compare)
            page["compare"] = other._page(X, y, name, int(max_rows))
            page["agreement"] = None if X is None else agreement(self, other, X, y)
        replace_file(Path(path), render(page))
        return Path(path)

    def _page(
        self, X: Any, y: ArrayLike | None, title: str | None, max_rows: int
    ) -> dict[str, Any]:
        """What the explorer shows of this tree."""
        from omnitree.estimators.comparing import figures
        from omnitree.export.explorer.payload import payload

        return payload(
            self.tree_.to_dict(),
            self.tree_.shares,
            self._node_outputs(),
            None if X is None else self._sample(X, y),
            figures=figures(self, X, y),
            title=type(self).__name__ if title is None else str(title),
            made_by=f"omnitree {version('omnitree')}",
            max_rows=max_rows,
        )

    def _sample(self, X: Any, y: ArrayLike | None) -> ShownRows:
        """Rows as the exporters take them."""
        table = self._encode(X)
        path = self.tree_.decision_path(table)
        if y is None or self.tree_.task == "classification":
            labels = None if y is None else self._codes(y, table.n_rows)
            return ShownRows(table.values, labels, path)
        target = np.asarray(column_or_1d(y), dtype=np.float64)
        check_consistent_length(table.values, target)
        return ShownRows(table.values, None, path, target)

    def _codes(self, y: ArrayLike, n_rows: int) -> NDArray[np.intp]:
        """Position of each label in `classes_`."""
        labels = column_or_1d(y)
        check_consistent_length(np.empty(n_rows), labels)
        place = {label: k for k, label in enumerate(self.classes_.tolist())}
        codes = [place.get(label, -1) for label in labels.tolist()]
        if -1 in codes:
            new = labels.tolist()[codes.index(-1)]
            raise ValueError(f"y has a class that training did not show: {new!r}")
        return np.array(codes, dtype=np.intp)

    # -- pictures -------------------------------------------------------------------

    def plot(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        max_depth: int | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw the tree: a box a node with its test and a bar of class shares.

        Text is scaled to the axes. A tree with too many leaves to be drawn from the top
        down goes from the left to the right, a line a leaf; if that is too small to be
        read as well, lower levels are left out, and the picture says so.

        Parameters
        ----------
        X, y : optional
            Rows and their classes, or targets: each decision node then shows how they are
            distributed over what it tests, with the cut.
        max_depth : int, optional
            Levels to draw below the root, however small; as many as can be read if not
            given.
        ax : matplotlib Axes, optional
            Where to draw; a new figure of fitting size if not given.

        Returns
        -------
        matplotlib Axes
        """
        from omnitree.export.pictures import plot_tree

        check_is_fitted(self, "tree_")
        if (X is None) != (y is None):
            raise ValueError("plot takes both X and y, or neither of them")
        return plot_tree(
            self.tree_.to_dict(),
            self._node_labels(),
            sample=None if X is None else self._sample(X, y),
            max_depth=max_depth,
            ax=ax,
        )

    def plot_node(self, node: int, X: Any, y: ArrayLike, *, ax: Any = None) -> Any:
        """Draw what the test of a node sees: a histogram by class, with the cut.

        A test with curves also gets a panel for each curve: what the feature adds, with
        the node's rows under it.

        Parameters
        ----------
        node : int
            A decision node, or a leaf whose model has curves, by its number in
            `tree_.to_dict()`.
        X, y
            Rows and their classes; those that come to the node are shown.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib Axes
        """
        from omnitree.export.pictures import plot_node

        sample = self._sample(X, y)
        return plot_node(self.tree_.to_dict(), node, sample, ax=ax)

    def plot_boundary(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        features: Sequence[int | str] | None = None,
        ax: Any = None,
        resolution: int = 200,
    ) -> Any:
        """Draw the answers over two features that are numbers, with the rows on top.

        Parameters
        ----------
        X : array, data frame or list of rows
            Gives the range of the picture. Features that are not drawn are held at their
            median (numbers) or most frequent category.
        y : array, optional
            Classes of the rows, for their colours.
        features : pair of int or str, optional
            Positions or names of the two features; the tree's two if it has no more.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        resolution : int, default=200
            Points along each side.

        Returns
        -------
        matplotlib Axes
        """
        from omnitree.export.pictures import boundary_grid, plot_boundary

        sample = self._sample(X, y)
        tree = self.tree_.to_dict()
        number("resolution", resolution, 2)
        pair = self._pair(features)
        grid = boundary_grid(tree, sample, pair, int(resolution))
        table = Table(grid.reshape(-1, grid.shape[-1]), self.tree_.schema)
        answer = self.tree_.predict_value(table, self._node_outputs())
        best = self.tree_.decide(answer).reshape(grid.shape[:2])
        answer = answer.reshape(*grid.shape[:2], -1)
        return plot_boundary(tree, sample, pair, grid, answer, best, ax=ax)

    def _pair(self, features: Sequence[int | str] | None) -> tuple[int, int]:
        """Positions of two features that are numbers."""
        schema = self.tree_.schema
        if features is None:
            if schema.n_features != 2:
                raise ValueError(
                    f"the tree has {schema.n_features} features: name the two to draw, "
                    "features=(first, second)"
                )
            features = (0, 1)
        if isinstance(features, str) or len(features) != 2:
            raise ValueError(f"features must be a pair, not {features!r}")
        found = []
        for given in features:
            if isinstance(given, str):
                if given not in schema.names:
                    raise ValueError(
                        f"there is no feature {given!r}; the tree has "
                        f"{', '.join(map(repr, schema.names))}"
                    )
                given = schema.names.index(given)
            if not 0 <= given < schema.n_features:
                raise ValueError(f"there is no feature {given}")
            if schema.features[given].kind != "numeric":
                raise ValueError(
                    f"feature {schema.names[given]!r} is no number; plot_boundary draws "
                    "two numbers"
                )
            found.append(int(given))
        if found[0] == found[1]:
            raise ValueError("plot_boundary needs two different features")
        return found[0], found[1]

    def plot_importance(self, *, ax: Any = None, max_features: int = 10) -> Any:
        """Draw the importance of the features, divided by level of the tree.

        A bar's length is the feature's share in `feature_importances_`; its parts are
        the levels of the tree at which the feature is tested.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        max_features : int, default=10
            The most important ones are drawn.

        Returns
        -------
        matplotlib Axes
        """
        from omnitree.export.pictures import plot_importance

        check_is_fitted(self, "tree_")
        number("max_features", max_features, 1)
        tree = self.tree_.to_dict()
        return plot_importance(tree, ax=ax, max_features=int(max_features))

    # -- notebook -------------------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """What scikit-learn's `_repr_html_` gives: fitted, the explorer."""
        if not hasattr(self, "tree_"):
            return super()._repr_html_inner()  # type: ignore[misc]
        from omnitree.export.explorer import render
        from omnitree.export.notebook import summary

        page = render(self._page(None, None, None, 0))
        return summary(repr(self), self.tree_.to_dict(), page, NOTEBOOK_BYTES)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle
