"""The methods that `real_tables.py` compares, under one interface.

omnitree's presets are given the raw frame. The others get the frame as `prepare` leaves it,
which is in their favour: somebody has told them which columns are identifiers and which are
dates. Every method runs in one thread and has a fixed seed.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tables import prepare

OURS = ("omni", "cart", "lmt")
SOURCES = (".py", ".pyx", ".pxd", ".hpp", ".so", ".pyd")
NUMERIC = make_column_selector(dtype_include=["number", "bool"])
CATEGORICAL = make_column_selector(dtype_exclude=["number", "bool"])
INNER = StratifiedKFold(5, shuffle=True, random_state=0)


@cache
def code_of_omnitree() -> str:
    """A short name of the installed code: fits of another one are not worth keeping."""
    import omnitree

    folder = Path(omnitree.__file__).parent
    files = sorted(p for p in folder.rglob("*") if p.suffix in SOURCES)
    return hashlib.sha256(b"".join(map(Path.read_bytes, files))).hexdigest()[:8]


class Preset:
    """A preset of omnitree on the frame as it is."""

    def __init__(self, name: str, balanced: bool):
        from omnitree import presets

        weight = {"class_weight": "balanced"} if balanced else {}
        self.tree = presets.make(name, random_state=0, **weight)

    def fit(self, frame: pd.DataFrame, labels: np.ndarray):
        self.tree.fit(frame, labels)
        return self

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        return self.tree.predict_proba(frame)

    def predict(self, frame: pd.DataFrame) -> np.ndarray:
        return self.tree.predict(frame)

    @property
    def n_leaves(self) -> int:
        return self.tree.tree_.n_leaves


class Prepared(ABC):
    """A method of another library, on the prepared frame."""

    model: Any
    n_leaves = 0

    def __init__(self, table: str):
        self.table = table

    def fit(self, frame: pd.DataFrame, labels: np.ndarray):
        self._fit(self._prepare(frame), labels)
        return self

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        return self.model.predict_proba(self._prepare(frame))

    def predict(self, frame: pd.DataFrame) -> np.ndarray:
        return self.model.predict(self._prepare(frame))

    def _prepare(self, frame: pd.DataFrame) -> pd.DataFrame:
        return prepare(frame, self.table)

    @abstractmethod
    def _fit(self, frame: pd.DataFrame, labels: np.ndarray) -> None:
        """Set `model`."""


class PrunedTree(Prepared):
    """scikit-learn's tree with the `ccp_alpha` of its path that cross-validates best."""

    def __init__(self, table: str, balanced: bool = False):
        super().__init__(table)
        self.weight = "balanced" if balanced else None
        self.scoring = "balanced_accuracy" if balanced else "accuracy"

    def _fit(self, frame: pd.DataFrame, labels: np.ndarray) -> None:
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        encoder = make_column_transformer(
            (SimpleImputer(strategy="median"), NUMERIC),
            (
                make_pipeline(SimpleImputer(strategy="most_frequent"), codes),
                CATEGORICAL,
            ),
        )
        coded = encoder.fit_transform(frame)
        tree = DecisionTreeClassifier(random_state=0, class_weight=self.weight)
        alphas = tree.cost_complexity_pruning_path(coded, labels).ccp_alphas
        alphas = np.unique(np.maximum(alphas, 0))
        some = np.unique(np.linspace(0, len(alphas) - 1, 20).astype(int))
        grid = {"ccp_alpha": alphas[some]}
        search = GridSearchCV(tree, grid, scoring=self.scoring, cv=INNER)
        best = search.fit(coded, labels).best_estimator_
        self.model = make_pipeline(encoder, best)
        self.n_leaves = best.get_n_leaves()


class Logistic(Prepared):
    """Logistic regression on scaled numbers and indicators, C by cross-validation."""

    def _fit(self, frame: pd.DataFrame, labels: np.ndarray) -> None:
        numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
        indicators = make_pipeline(
            SimpleImputer(strategy="constant", fill_value="missing"),
            OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=5,
                sparse_output=False,
            ),
        )
        encoder = make_column_transformer((numbers, NUMERIC), (indicators, CATEGORICAL))
        model = make_pipeline(encoder, LogisticRegression(max_iter=1000))
        grid = {"logisticregression__C": 10.0 ** np.arange(-3, 3)}
        search = GridSearchCV(model, grid, scoring="neg_log_loss", cv=INNER)
        self.model = search.fit(frame, labels).best_estimator_


class LightGBM(Prepared):
    """LightGBM, with early stopping on a fifth of the rows."""

    def _fit(self, frame: pd.DataFrame, labels: np.ndarray) -> None:
        from lightgbm import LGBMClassifier, early_stopping

        text = [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]
        self.categories = {
            c: pd.CategoricalDtype(frame[c].dropna().unique()) for c in text
        }
        train, valid = train_test_split(
            np.arange(len(labels)), test_size=0.2, stratify=labels, random_state=0
        )
        coded = frame.astype(self.categories)
        self.model = LGBMClassifier(
            n_estimators=500, learning_rate=0.05, n_jobs=1, random_state=0, verbosity=-1
        )
        self.model.fit(
            coded.iloc[train],
            labels[train],
            eval_set=[(coded.iloc[valid], labels[valid])],
            callbacks=[early_stopping(20, verbose=False)],
        )

    def _prepare(self, frame: pd.DataFrame) -> pd.DataFrame:
        return super()._prepare(frame).astype(getattr(self, "categories", {}))


class EBM(Prepared):
    """Explainable boosting machine of interpret, with its defaults."""

    def _fit(self, frame: pd.DataFrame, labels: np.ndarray) -> None:
        from interpret.glassbox import ExplainableBoostingClassifier

        several = len(np.unique(labels)) > 2
        self.model = ExplainableBoostingClassifier(
            interactions=0 if several else "3x", n_jobs=1, random_state=0
        )
        self.model.fit(frame, labels)


METHODS: dict[str, Callable[[str], Any]] = {
    **{name: lambda table, name=name: Preset(name, False) for name in OURS},
    "pruned tree": PrunedTree,
    "logistic": Logistic,
    "LightGBM": LightGBM,
    "EBM": EBM,
    "omni, balanced": lambda table: Preset("omni", True),
    "pruned tree, balanced": lambda table: PrunedTree(table, True),
}
