"""Models saved as JSON, for MLflow: a loader module of its `pyfunc` flavour.

MLflow is not imported. `mlflow.pyfunc.save_model` and `log_model` take the name of this
module as `loader_module` and the file that `omnitree.save` has written as `data_path`; what
they store is that file, so loading the model runs no pickle (docs/saving.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omnitree.estimators.persistence import load


class Served:
    """A tree behind MLflow's `predict`.

    Parameters
    ----------
    estimator : fitted estimator of omnitree
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Classes, or numbers; probabilities with ``params={"proba": True}``."""
        unknown = set(params or ()) - {"proba"}
        if unknown:
            raise ValueError(f"unknown parameter {min(unknown)!r}; there is 'proba'")
        if params and params.get("proba"):
            return self.estimator.predict_proba(model_input)
        return self.estimator.predict(model_input)


def _load_pyfunc(data_path: str) -> Served:
    """What MLflow calls to load a model; it may give the folder that has the file."""
    path = Path(data_path)
    if path.is_dir():
        [path] = path.glob("*.json")
    return Served(load(path))
