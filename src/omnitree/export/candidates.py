"""What the candidates of a node are called where people read them.

A tree records its candidates under short names that tell them apart ("tree over features +
sparse additive softmax"); here they get the words of a sentence. Used by `describe`, the
explorer and the demo.
"""

from __future__ import annotations

import re

from omnitree.tree.splits import SPLITS

# A rival of the refinement `contest`: a tree on top of a model, or the model alone.
RIVAL = re.compile(
    r"(?:(?:tree over (?P<over>features(?: and scores)?)|(?P<sum>univariate tree)) \+ )?"
    r"(?P<model>(?:sparse )?(?:linear|quadratic|additive)) softmax"
    r"(?P<products> with products)?"
)
SUBTREE = "univariate subtree"


def candidate_text(learner: str, kind: str = "") -> str:
    """A candidate in words, with the kind of its test if its name does not say it.

    Examples
    --------
    >>> candidate_text("tree over features + sparse additive softmax")
    'a tree on single features with a sparse additive model in its leaves'
    >>> candidate_text("univariate tree + linear softmax")
    'the sum of a linear model and a tree on single features'
    >>> candidate_text("linear softmax"), candidate_text("univariate subtree")
    ('a linear model', 'tests on single features')
    >>> candidate_text("fisher", "linear")
    'linear (fisher)'
    """
    if learner == SUBTREE:
        return "a single leaf" if kind == "leaf" else "tests on single features"
    found = RIVAL.fullmatch(learner)
    if found is None:
        family = (SPLITS[kind].family if kind in SPLITS else "") or kind
        return learner if family in learner else f"{family} ({learner})"
    article = "an" if found["model"].startswith("a") else "a"
    model = f"{article} {found['model']} model{found['products'] or ''}"
    if found["sum"] is not None:
        return f"the sum of {model} and a tree on single features"
    if found["over"] is None:
        return model
    scores = " and on model scores" if "scores" in found["over"] else ""
    return f"a tree on single features{scores} with {model} in its leaves"
