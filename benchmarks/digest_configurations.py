"""What `digests.py` fits: presets, default estimators, parts, pairs of parts, options.

Parts are found by the names of their registries and their own, so that nothing here depends
on where the package keeps them. A new registered part gets its configurations by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import omnitree
from omnitree import presets

CLASSES = (
    *("horse22", "hepatitis", "cylinder", "cleveland", "breast"),
    *("dermatology", "soybean15", "vote", "mushroom", "glass"),
)
NUMBERS = ("births", "hitters", "ames")
MISSING = ("mean", "filled", "fractional", "surrogate")
MAX_ROWS = 600
SLOW_ROWS = {"omni-cv": 150, "hybrid-5x2f": 200, "lmdt": 150, "cruise": 200}


class Part(NamedTuple):
    """A part with options, found by the name of its registry and its own name."""

    kind: str
    name: str
    options: dict[str, Any]

    def build(self) -> Any:
        options = {key: built(value) for key, value in self.options.items()}
        return registries()[self.kind][self.name](**options)


class Configuration(NamedTuple):
    """An estimator, by its class or preset, the rows it gets and the options of fit."""

    name: str
    data: str
    estimator: str
    params: dict[str, Any]
    fit: tuple[str, ...] = ()
    rows: int = MAX_ROWS

    def build(self) -> Any:
        params = {key: built(value) for key, value in self.params.items()}
        if self.estimator in presets.names():
            return presets.make(self.estimator, random_state=1, **params)
        return getattr(omnitree, self.estimator)(random_state=1, **params)


def built(value: Any) -> Any:
    if isinstance(value, Part):
        return value.build()
    return tuple(map(built, value)) if type(value) is tuple else value


@cache
def registries() -> dict[str, Mapping[str, type]]:
    """Names and classes of the parts by kind, wherever in the package they are kept."""
    assert omnitree.save  # knows all parts, so that all their modules are loaded
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("omnitree"):
            for value in vars(module).values():
                if isinstance(value, Mapping) and hasattr(value, "resolve"):
                    found[value.kind] = value
    return found


def learner(name: str, **options: Any) -> Part:
    return Part("learner", name, options)


def configurations() -> Iterator[Configuration]:
    for name in presets.names():
        for data in CLASSES:
            rows = SLOW_ROWS.get(name, MAX_ROWS)
            yield Configuration(f"preset/{name}/{data}", data, name, {}, rows=rows)
    for data in CLASSES:
        yield Configuration(f"default/{data}", data, "OmniTreeClassifier", {})
    for data in NUMBERS:
        yield Configuration(f"default/{data}", data, "OmniTreeRegressor", {}, rows=300)
    yield from part_configurations()
    yield from pairs()
    yield from regression_configurations()
    yield from options()


def part_configurations() -> Iterator[Configuration]:
    """Every part in a slot of a learner, and what the learners can do with options."""
    slots = {
        "merit": (("univariate", {}), ("linear", {})),
        "threshold": (("linear", {}), ("analytic", {})),
        "grouping": (("linear", {}), ("analytic", {}), ("grouped", {})),
        "direction": (("linear", {}), ("adaptive", {})),
        "coefficients": (("multivariate", {"selection": "none"}), ("grouped", {})),
        "discriminants": (("kway", {}), ("constructive", {})),
        "feature selection": (("multivariate", {}),),
        "choice": (("omnivariate", {}),),
    }
    for kind, learners in slots.items():
        slot = "selection" if kind == "feature selection" else kind
        for part in registries()[kind]:
            for name, given in learners:
                own = learner(name, **{**given, slot: part})
                yield from trees(f"part/{slot}/{part}/{name}", learner=own)
    for name in registries()["learner"]:
        for missing in MISSING:
            yield from trees(f"learner/{name}/{missing}", learner=name, missing=missing)
    variants = [
        *(
            learner("univariate", categories=c)
            for c in ("multiway", "one_rest", "groups")
        ),
        learner("univariate", merit="gain_ratio", release8=True, collapse=True),
        learner("univariate", choice="random", threshold="value", min_branch=5),
        learner("linear", expansion="quadratic"),
        learner("linear", max_features_per_test=2, fallback=True),
        learner("linear", direction=Part("direction", "fisher", {"pca": "always"})),
        learner("multivariate", univariate=True),
        learner("kway", node="univariate"),
        learner("kway", improve=True, distinct=True),
        learner("softmax", expansion="quadratic"),
        learner("omnivariate", candidates=("univariate", "machine"), choice="one_se"),
    ]
    for own in variants:
        words = ",".join(f"{k}={_word(v)}" for k, v in own.options.items())
        for missing in ("mean", "fractional"):
            name = f"variant/{own.name}({words})/{missing}"
            yield from trees(name, learner=own, missing=missing)


def _word(value: Any) -> str:
    if isinstance(value, Part):
        value = (value.name, *value.options.values())
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def trees(name: str, **params: Any) -> Iterator[Configuration]:
    """A tree for two and for three classes, mixed columns and missing values in both."""
    for data in ("hepatitis", "outcome"):
        yield Configuration(f"{name}/{data}", data, "TreeClassifier", params, rows=160)


def pairs() -> Iterator[Configuration]:
    """Missing-value policies with prunings, leaves, stopping rules and other presets."""
    for missing in MISSING:
        changes = {name: {"pruning": name} for name in registries()["pruning"]}
        changes |= {name: {"refinement": name} for name in registries()["refinement"]}
        # As the paper calls the two together.
        changes["multivariate"] = {
            "pruning": "reduced_error",
            "refinement": "feature_elimination",
        }
        for change, own in changes.items():
            names = ("univariate", "linear")
            for name in ("functional",) if change == "functional" else names:
                params = {"learner": name, "missing": missing, **own}
                yield from trees(f"pair/{missing}/{change}/{name}", **params)
        for leaves in registries()["leaves"]:
            for pruning in (None, "cost_complexity"):
                params = {"leaves": leaves, "pruning": pruning, "missing": missing}
                yield from trees(f"pair/{missing}/{leaves} leaves/{pruning}", **params)
        for rule in registries()["stopping rule"]:
            params = {"stopping": rule, "missing": missing}
            yield from trees(f"pair/{missing}/{rule}", **params)
        for preset in ("omni", "cart", "c4.5", "ldt", "omni-cv", "bu95"):
            for data in ("horse22", "dermatology"):
                name = f"pair/{missing}/preset {preset}/{data}"
                yield Configuration(name, data, preset, {"missing": missing}, rows=200)


def regression_configurations() -> Iterator[Configuration]:
    """Learners, criteria, leaves and prunings for numbers with missing-value policies."""
    learners = ("univariate", "linear", "omnivariate")
    few_folds = Part("pruning", "cost_complexity", {"folds": 3})
    prunings = (None, few_folds, "information")
    leaves = ("constant", "ridge")
    slots = (registries()["criterion"], learners, prunings, leaves, MISSING)
    keys = ("criterion", "learner", "pruning", "leaves", "missing")
    for values in product(*slots):
        if "absolute_error" in values and "ridge" in values:
            continue  # refused
        params = dict(zip(keys, values, strict=True))
        if "omnivariate" in values:  # takes long
            params["max_depth"] = 3
        for data in ("births", "ames") if "mean" not in values else NUMBERS:
            name = "/".join(["regression", *map(_word, values), data])
            yield Configuration(name, data, "TreeRegressor", params, rows=120)


def options() -> Iterator[Configuration]:
    """Weights, groups, costs, limits and constraints, for two classes and for numbers."""
    for_all: dict[str, dict[str, Any]] = {
        "max_depth": {"max_depth": 2},
        "max_leaves": {"max_leaves": 4},
        **{fit: {"fit": (fit,)} for fit in ("sample_weight", "groups", "prune_set")},
        "all": {"fit": ("sample_weight", "groups", "prune_set"), "max_leaves": 5},
    }
    costs = {"cost_matrix": [[0, 1], [5, 0]]}
    prices = {"feature_costs": {"pulse": 5.0, "pain": 1.0, "outcome": 20.0}}
    monotone = {"pulse": 1, "total_protein": -1}
    interactions = [["pulse", "pain", "age"], ["abdomen", "outcome"]]
    rules = {"monotone": monotone, "interactions": interactions}
    for_classes = for_all | {
        "class_weight": {"class_weight": "balanced"},
        "cost_matrix": costs,
        "feature_costs": prices,
    }
    for_trees = for_classes | {
        "laplace": {"smoothing": "laplace"},
        "m-estimate": {"smoothing": 2.0},
        "altered_priors": costs | {"altered_priors": True},
    }
    ruled = for_trees | {
        "monotone": {"learner": learner("univariate", monotone=monotone)},
        "interactions": {"learner": learner("univariate", interactions=interactions)},
        "rules": {"learner": learner("univariate", merit="gain", **rules)},
    }
    default = for_classes | {
        "monotone": {"monotone": monotone},
        "interactions": {"interactions": interactions},
        "log_loss": {"optimise": "log_loss"},
        "cost": {"optimise": "cost"} | costs,
    }
    numeric = {"mage": 1, "gained": -1}
    own = learner("univariate", monotone=numeric)
    absolute = {"criterion": "absolute_error"}
    both = {"learner": own, "pruning": "cost_complexity", "missing": "fractional"}
    softmax = {"learner": "softmax"}
    cases: list[tuple[str, str, dict[str, Any], dict[str, dict[str, Any]]]] = [
        *(("horse22", name, {}, for_trees) for name in ("c4.5", "ldt", "omni-bic")),
        *(
            ("horse22", name, {}, for_trees)
            for name in ("omni", "bu95", "lmt", "id-lp")
        ),
        ("horse22", "cart", {}, for_trees),
        ("horse22", "TreeClassifier", {}, ruled),
        ("horse22", "TreeClassifier", softmax, for_trees),
        ("horse22", "OmniTreeClassifier", {}, default),
        ("births", "OmniTreeRegressor", {}, for_all | {"mae": absolute}),
        ("births", "TreeRegressor", {}, for_all | {"monotone": both}),
    ]
    for data, estimator, base, every in cases:
        for option, given in every.items():
            params = {**base, **{k: v for k, v in given.items() if k != "fit"}}
            name = "/".join(["option", option, base.get("learner", estimator), data])
            fit = given.get("fit", ())
            yield Configuration(name, data, estimator, params, fit, rows=250)
