"""Published systems, ready to fit.

A preset is a function of a few lines that composes parts; its docstring cites the paper,
names the six dimensions and owns up to every difference. A new one is a function in a file
here and a line below.

Presets that hold rows out (for pruning, or to choose between tests or the number of steps)
look only at the proportions of `sample_weight`, and keep `groups` together. Those that
count instead, as C4.5's pruning, chi-square and F tests, AIC and BIC, take a row of weight
two for two rows. `describe` says which it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.growing.part import unknown
from omnitree.presets.brodley_utgoff import bu95, uni_gain_ratio, uni_gini
from omnitree.presets.c45 import c45, rp_c45
from omnitree.presets.cart import cart
from omnitree.presets.discriminant import cruise, fact, friedman
from omnitree.presets.functional import ft, lmt
from omnitree.presets.gama import lgtree, ltree, qtree
from omnitree.presets.id3 import id3
from omnitree.presets.ldt import ldt, ldt_u1, ldt_u2, quest, quest_u
from omnitree.presets.liu_white import random_attribute
from omnitree.presets.lmdt import lmdt
from omnitree.presets.neural import id_lp, id_mlp
from omnitree.presets.oblique import cart_lc, oc1
from omnitree.presets.omni import (
    hybrid_5x2f,
    lin,
    omni,
    omni_1,
    omni_aic,
    omni_bic,
    omni_cv,
    qua,
    uni,
)

PROPORTIONS = (
    "Weights of rows: only their proportions matter; rows are held out, whole groups of "
    "them where there are any."
)
REPEATS = (
    "Weights of rows: a row of weight two counts as two rows; groups have no effect."
)

PRESETS: dict[str, Callable[..., TreeClassifier]] = {
    "id3": id3,
    "c4.5": c45,
    "rp-c4.5": rp_c45,
    "cart": cart,
    "uni-gini": uni_gini,
    "uni-gain-ratio": uni_gain_ratio,
    "bu95": bu95,
    "lmdt": lmdt,
    "random-attribute": random_attribute,
    "ldt-u1": ldt_u1,
    "ldt-u2": ldt_u2,
    "quest-u": quest_u,
    "ldt": ldt,
    "quest": quest,
    "uni": uni,
    "lin": lin,
    "qua": qua,
    "omni-aic": omni_aic,
    "omni-bic": omni_bic,
    "omni-cv": omni_cv,
    "hybrid-5x2f": hybrid_5x2f,
    "omni": omni,
    "omni-1": omni_1,
    "friedman": friedman,
    "fact": fact,
    "cruise": cruise,
    "ltree": ltree,
    "qtree": qtree,
    "lgtree": lgtree,
    "lmt": lmt,
    "ft": ft,
    "id-lp": id_lp,
    "id-mlp": id_mlp,
    "cart-lc": cart_lc,
    "oc1": oc1,
}


def names() -> list[str]:
    """Ids of all presets.

    Examples
    --------
    >>> from omnitree import presets
    >>> presets.names()[:3]
    ['id3', 'c4.5', 'rp-c4.5']
    """
    return list(PRESETS)


def make(name: str, **changes: Any) -> TreeClassifier:
    """An unfitted estimator of a published system.

    Parameters
    ----------
    name : str
        One of `names()`.
    **changes
        Options of the preset, or parameters of `TreeClassifier` that replace the
        preset's; ``pruning=None`` leaves the tree unpruned.

    Examples
    --------
    >>> from omnitree import presets
    >>> presets.make("cart", se=1.0).pruning
    CostComplexity(repeats=10, se=1.0)
    """
    preset = _find(name)
    known = [*_options(preset), *TreeClassifier().get_params()]
    for change in changes:
        if change not in known:
            raise TypeError(unknown(f"option of preset {name!r}", change, known))
    return preset(**changes)


def describe(name: str) -> str:
    """What a preset is: its paper, its dimensions, how it differs from the paper."""
    what = inspect.getdoc(_find(name)) or ""
    holds_out = _find(name)()._resolved_parts().resamples
    return f"{what}\n\n{PROPORTIONS if holds_out else REPEATS}"


def _options(preset: Callable[..., TreeClassifier]) -> list[str]:
    parameters = inspect.signature(preset).parameters.values()
    return [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]


def _find(name: str) -> Callable[..., TreeClassifier]:
    if name not in PRESETS:
        raise ValueError(unknown("preset", name, names()))
    return PRESETS[name]
