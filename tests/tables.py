"""Random tables for tests: small, with every nuisance that real tables have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table


@dataclass
class Sample:
    """Encoded rows with classes and weights."""

    table: Table
    y: np.ndarray
    weight: np.ndarray
    n_classes: int

    @property
    def values(self) -> np.ndarray:
        return self.table.values

    @property
    def frame(self):
        """The rows as a user has them, with the schema's kinds."""
        import pandas as pd

        columns = {}
        for j, feature in enumerate(self.table.schema.features):
            v = self.values[:, j]
            if feature.is_categorical:
                codes = np.where(np.isnan(v), -1, v).astype(int)
                columns[feature.name] = pd.Categorical.from_codes(
                    codes, feature.categories
                )
            else:
                columns[feature.name] = v
        return pd.DataFrame(columns)


def random_schema(
    rng: np.random.Generator, d: int, categorical: float = 0.5, most: int = 5
):
    """Numeric and categorical features."""
    features = []
    for j in range(d):
        if rng.random() < categorical:
            names = tuple(f"s{c}" for c in range(rng.integers(2, most + 1)))
            features.append(Feature(f"x{j}", "categorical", names))
        else:
            features.append(Feature(f"x{j}", "numeric"))
    return Schema(tuple(features), named=True)


def random_values(
    rng: np.random.Generator,
    schema: Schema,
    n: int,
    missing_share: float = 0.0,
    fine: float = 0.5,
) -> np.ndarray:
    """Cells; numbers are dyadic so that sums of them are exact, some columns constant."""
    values = np.empty((n, schema.n_features))
    for j, feature in enumerate(schema.features):
        if feature.is_categorical:
            values[:, j] = rng.integers(0, feature.n_categories, size=n)
        elif rng.random() < 0.1:
            values[:, j] = rng.integers(-2, 3)
        elif rng.random() < fine:
            values[:, j] = rng.integers(-512, 512, size=n) / 64
        else:
            values[:, j] = rng.integers(-2, 3, size=n) / 2
    values[rng.random(values.shape) < missing_share] = np.nan
    return values


def random_weight(
    rng: np.random.Generator, n: int, kind: str | None = None
) -> np.ndarray:
    """Ones, whole numbers or dyadic fractions."""
    kind = kind or rng.choice(["one", "whole", "fraction"])
    if kind == "one":
        return np.ones(n)
    if kind == "whole":
        return rng.integers(1, 4, size=n).astype(float)
    return rng.integers(1, 64, size=n) / 16


def random_sample(
    rng: np.random.Generator,
    *,
    n: int | None = None,
    d: int | None = None,
    k: int | None = None,
    missing_share: float = 0.0,
    categorical: float = 0.5,
    weight: str | None = None,
    most: int = 5,
    fine: float = 0.5,
) -> Sample:
    """A table with classes that depend on it a little; every category and class occurs."""
    n = n or int(rng.integers(max(6, most), 26))
    d = d or int(rng.integers(1, 5))
    k = k or int(rng.integers(2, 5))
    schema = random_schema(rng, d, categorical, most)
    values = random_values(rng, schema, n, missing_share, fine)
    for j, feature in enumerate(schema.features):
        m = (
            feature.n_categories
        )  # every category occurs, as in a table that was learned
        values[rng.choice(n, m, replace=False), j] = np.arange(m)
        if np.isnan(values[:, j]).all():
            values[0, j] = 1.0
    score = np.nan_to_num(values).sum(axis=1) + rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, k + 1)[1:-1]))
    if rng.random() < 0.3:
        y = rng.integers(0, k, size=n)
    y[rng.choice(n, k, replace=False)] = np.arange(k)
    return Sample(
        Table(values, schema), y.astype(np.int32), random_weight(rng, n, weight), k
    )
