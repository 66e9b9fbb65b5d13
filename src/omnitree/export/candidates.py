"""What the candidates of a node are called where people read them.

A tree records its candidates under short names that tell them apart ("tree over features +
sparse additive softmax"); here they get the words of a sentence. Used by `describe`, the
explorer and the demo.
"""

from __future__ import annotations

import re

from omnitree.tree.splits import SPLITS

# A softmax test, a rival of the refinement `contest`.
MODEL = re.compile(
    r"(?P<steps>stagewise )?(?P<model>(?:sparse )?(?:linear|quadratic|additive)) softmax"
    r"(?P<more> with products| of steps)?"
)
CASES = re.compile(r"(?P<few>sparse )?likeness to cases")
# A tree that such tests are added to, or that grows on top of one.
TREE = re.compile(r"univariate tree|tree over features(?P<scores> and scores)?")
SUBTREE = "univariate subtree"


def candidate_text(learner: str, kind: str = "") -> str:
    """A candidate in words, with the kind of its test if its name does not say it.

    Examples
    --------
    >>> candidate_text("tree over features + sparse additive softmax")
    'a tree on single features with a sparse additive model in its leaves'
    >>> candidate_text("univariate tree + linear softmax")
    'the sum of a linear model and a tree on single features'
    >>> candidate_text("linear softmax + stagewise additive softmax")
    'the sum of a linear model and an additive model built in small steps'
    >>> candidate_text("sparse linear softmax + additive softmax of steps")
    'the sum of a sparse linear model and an additive model of steps'
    >>> candidate_text("linear softmax"), candidate_text("univariate subtree")
    ('a linear model', 'tests on single features')
    >>> candidate_text("univariate tree + sparse likeness to cases")
    'the sum of likeness to a few cases and a tree on single features'
    >>> candidate_text("fisher", "linear")
    'linear (fisher)'
    """
    if learner == SUBTREE:
        return "a single leaf" if kind == "leaf" else "tests on single features"
    first, *others = learner.split(" + ")
    tree = TREE.fullmatch(first)
    models = [_model(name) for name in (others if tree else [first, *others])]
    if not models or not all(models):
        family = (SPLITS[kind].family if kind in SPLITS else "") or kind
        return learner if family in learner else f"{family} ({learner})"
    if tree is not None and first != "univariate tree":
        scores = " and on model scores" if tree["scores"] else ""
        return f"a tree on single features{scores} with {models[0]} in its leaves"
    if tree is not None:
        models.append("a tree on single features")
    if len(models) == 1:
        return models[0]
    return f"the sum of {', '.join(models[:-1])} and {models[-1]}"


def _model(name: str) -> str:
    """A test of softmax or of cases in words; empty if the name is of neither."""
    if cases := CASES.fullmatch(name):
        return f"likeness to {'a few ' if cases['few'] else ''}cases"
    found = MODEL.fullmatch(name)
    if found is None:
        return ""
    article = "an" if found["model"].startswith("a") else "a"
    model = f"{article} {found['model']} model{found['more'] or ''}"
    return f"{model} built in small steps" if found["steps"] else model
