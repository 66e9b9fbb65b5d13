"""The methods that `omni_against.py` compares, one fit of each, and losses.

omnitree, LightGBM and EBM get the frame as it is. For the others (`PLAIN`) categories become
columns of zeros and ones, and missing numbers training medians. Every method runs in one
thread with a fixed seed. Libraries are imported where a method is made, so that the script
runs in environments that have some of them only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

CLIP = 1e-6
MEASURES = (
    *("error", "log loss", "Brier", "leaves", "parameters", "terms"),
    *("seconds", "prediction"),
)
PRESETS = (
    *("omni", "omni-1", "lmt", "ft", "cart", "c4.5"),
    *("id3", "rp-c4.5", "uni-gini", "uni-gain-ratio", "random-attribute", "ldt-u1"),
    *("ldt-u2", "quest-u", "bu95", "cart-lc", "lmdt", "oc1"),
    *("id-lp", "id-mlp", "ldt", "quest", "fact", "cruise"),
    *("friedman", "ltree", "qtree", "lgtree", "uni", "lin"),
    *("qua", "omni-aic", "omni-bic", "omni-cv", "hybrid-5x2f"),
)


class PrunedCart(DecisionTreeClassifier):
    """scikit-learn's tree, which chooses `ccp_alpha` among at most 50 of its path."""

    def fit(self, X, y):
        tree = DecisionTreeClassifier(random_state=self.random_state)
        alphas = np.unique(tree.cost_complexity_pruning_path(X, y).ccp_alphas)
        if len(alphas) > 50:
            alphas = alphas[np.linspace(0, len(alphas) - 1, 50).astype(int)]
        search = GridSearchCV(tree, {"ccp_alpha": np.maximum(alphas, 0)}, cv=5)
        self.ccp_alpha = search.fit(X, y).best_params_["ccp_alpha"]
        return super().fit(X, y)


def stree() -> Any:
    from stree import Stree

    return Stree(random_state=0)


def oblique() -> Any:
    from obliquetree import Classifier

    return Classifier(use_oblique=True, random_state=0)


def linear_tree() -> Any:
    from lineartree import LinearTreeClassifier

    return LinearTreeClassifier(RidgeClassifier())


def neural(name: str) -> Callable[[], Any]:
    def make():
        import neural_trees

        return getattr(neural_trees, name)()

    return make


def light_gbm(classes: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, n_jobs=1, random_state=0, verbose=-1)


def ebm(classes: int) -> Any:
    """One outer bag instead of 14, and pairs of features for two classes only.

    With its defaults a fit to the 75 rows of a half of iris takes 30 CPU seconds.
    """
    from interpret.glassbox import ExplainableBoostingClassifier

    several = {"interactions": 0} if classes > 2 else {}
    return ExplainableBoostingClassifier(
        outer_bags=1, n_jobs=1, random_state=0, **several
    )


PLAIN: dict[str, Callable[[], Any]] = {
    "random forest": lambda: RandomForestClassifier(100, random_state=0),
    "STree": stree,
    "linear-tree": linear_tree,
    "obliquetree": oblique,
    "sklearn CART": lambda: PrunedCart(random_state=0),
    "neural-trees omnivariate": neural("OmnivariateDecisionTree"),
    "neural-trees multivariate": neural("MultivariateDecisionTree"),
    "LDA": LinearDiscriminantAnalysis,
    "logistic": lambda: make_pipeline(
        StandardScaler(), LogisticRegressionCV(max_iter=1000)
    ),
}
NATIVE = {"LightGBM": light_gbm, "EBM": ebm}
METHODS = (*PRESETS, *PLAIN, *NATIVE)
ENSEMBLES = ("random forest", "LightGBM", "EBM")
NO_PROBABILITIES = ("linear-tree",)  # its leaves are ridge classifiers: 0 or 1


def one_fold(method: str, a, b, y_a, y_b) -> dict[str, float]:
    """What one fit costs, and what it says of the other half."""
    if method in PLAIN:
        as_objects = [
            x.astype(dict.fromkeys(x.select_dtypes("category"), object)) for x in (a, b)
        ]
        encoder = prepared(as_objects[0])
        a, b = (encoder.transform(x) for x in as_objects)
        model = PLAIN[method]()
    elif method in NATIVE:
        model = NATIVE[method](len(np.unique(y_a)))
    else:
        from omnitree import presets

        model = presets.make(method, random_state=0)
    begin = time.process_time()
    model.fit(a, y_a)
    seconds = time.process_time() - begin
    answer, prediction = predicted(model, b)
    loss, brier = np.nan, np.nan
    if hasattr(model, "predict_proba") and method not in NO_PROBABILITIES:
        loss, brier = losses(y_b, model.predict_proba(b), model.classes_)
    error = 100 * np.mean(answer != y_b)
    numbers = (error, loss, brier, *size(model, a), seconds, prediction)
    return {m: float(f"{v:.6g}") for m, v in zip(MEASURES, numbers, strict=True)}


def losses(
    truth: np.ndarray, p: np.ndarray, classes: np.ndarray
) -> tuple[float, float]:
    """Log loss and Brier score of probabilities."""
    own = truth[:, None] == classes
    loss = -np.log(np.clip((p * own).sum(axis=1), CLIP, 1 - CLIP)).mean()
    # A class that training never showed has the probability 0.
    return loss, (((p - own) ** 2).sum(axis=1) + ~own.any(axis=1)).mean()


def prepared(X: pd.DataFrame) -> Any:
    """Categories as columns of zeros and ones, medians for missing numbers."""
    numbers = make_column_selector(dtype_include="number")
    others = make_column_selector(dtype_exclude="number")
    missing = SimpleImputer(strategy="constant", fill_value="?")
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (SimpleImputer(strategy="median", keep_empty_features=True), numbers),
        (make_pipeline(missing, encoder), others),
    ).fit(X)


def predicted(model: Any, X: Any) -> tuple[np.ndarray, float]:
    """The classes that a model gives, and CPU seconds for it.

    The mean of as many calls as take 20 ms, because the clock may tick every 4 ms only.
    """
    begin, calls, spent = time.process_time(), 0, 0.0
    while spent < 0.02:
        answer, calls = model.predict(X), calls + 1
        spent = time.process_time() - begin
    return answer, spent / calls


def size(model: Any, X: Any) -> tuple[float, float, float]:
    """Leaves (of ensembles: of all trees), parameters and terms; NaN where none are told.

    Of trees that only tell where rows fall, the leaves are those that training rows reach.
    """
    if hasattr(model, "tree_") and hasattr(model.tree_, "n_parameters"):
        tree = model.tree_
        return tree.n_leaves, tree.n_parameters, n_terms(tree)
    if isinstance(model, PrunedCart):
        leaves = model.get_n_leaves()
        tests = model.tree_.node_count - leaves
        return leaves, leaves + 2 * tests, tests
    if isinstance(model, RandomForestClassifier):
        return sum(tree.get_n_leaves() for tree in model.estimators_), np.nan, np.nan
    if hasattr(model, "booster_"):
        trees = model.booster_.dump_model()["tree_info"]
        return sum(tree["num_leaves"] for tree in trees), np.nan, np.nan
    if type(model).__name__ == "Stree":
        nodes = list(model)
        inner = [n for n in nodes if not n.is_leaf()]
        terms = sum(n._clf.coef_.size for n in inner)
        biases, leaves = (
            sum(n._clf.intercept_.size for n in inner),
            len(nodes) - len(inner),
        )
        return leaves, terms + biases + leaves, terms
    if hasattr(model, "apply"):
        return len(np.unique(model.apply(X))), np.nan, np.nan
    return np.nan, np.nan, np.nan


def n_terms(tree: Any) -> int:
    """What a reader finds in the tests and models of a tree of omnitree.

    A test on one feature counts as one, a sum as its weights that are not 0 and its curves,
    whatever their knots; each class has a sum of its own, but of two classes the second has
    that of the first with opposite signs. A case counts once for each class that it has a
    weight for. Functions of a test that the leaves below answer by, and those that leaves
    share, count once.
    """
    nodes = tree.to_dict()["nodes"]
    told = sum(_terms_of(node["test"]) for node in nodes if node["kind"] != "leaf")
    models: dict[str, tuple[dict, set[int]]] = {}
    for node in nodes:
        model = node.get("model") if node["kind"] == "leaf" else None
        if model:
            functions = repr({name: v for name, v in model.items() if name != "bias"})
            models.setdefault(functions, (model, set()))[1].add(node["parent"])
    for model, above in models.values():
        if not (len(above) == 1 and above <= set(tree.sharing)):
            told += _terms_of(model)
    return told


def _terms_of(sums: dict[str, Any]) -> int:
    """Weights and curves of a test or a model; 1 of a test on one feature."""
    if "cases" in sums:
        return int(np.count_nonzero(sums["case_weights"]))
    if "weights" not in sums:
        return 1
    weights, curves = sums["weights"], sums.get("curve_values", [])
    if "bias" not in sums:  # one sum
        weights, curves = [weights], [curves]
    if len(weights) == 2:
        weights, curves = weights[:1], curves[:1]
    bent = sum(np.ptp(values) > 0 for line in curves for values in line)
    return sum(np.count_nonzero(line) for line in weights) + int(bent)
