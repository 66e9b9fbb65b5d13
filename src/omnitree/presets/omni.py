"""Omnivariate trees (Yildiz & Alpaydin, ECML 2005), and their pure relatives."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.growing.part import one_of, unknown
from omnitree.learners import (
    Analytic,
    Boosted,
    Linear,
    Omnivariate,
    Softmax,
    Univariate,
)
from omnitree.parts.choice import AIC, BIC, CHOICES, CombinedF, CombinedT, FiveByTwoT
from omnitree.parts.direction import Fisher
from omnitree.presets.ldt import post_pruned
from omnitree.pruning import (
    CriterionPruning,
    CrossValidatedPruning,
    Pruning,
    ReducedError,
)
from omnitree.refinement import Contest
from omnitree.refinement.contest import default_rivals


def uni(**changes: Any) -> TreeClassifier:
    """UNI: univariate nodes only (Yildiz & Alpaydin, ECML 2005, omnivariate trees).

    Node: univariate; one column per category. Branching: binary. Grouping of classes:
    exchange, for each column by itself. Merit: entropy. Threshold: analytic, the root of
    the quadratic for two variances that lies between the means, else their midpoint.
    Missing values: the node's mean. Pruning: a held-out fifth. The same composition as
    `ldt-u2`.
    """
    return post_pruned(_univariate(), changes)


def lin(epsilon: float = 0.99, **changes: Any) -> TreeClassifier:
    """LIN: linear nodes only (Yildiz & Alpaydin, ECML 2005, omnivariate trees).

    As `ldt`, but the principal components that explain ``epsilon`` of the node's variance
    are taken at every node, not only where its scatter is singular.
    """
    return post_pruned(_linear(epsilon), changes)


def qua(epsilon: float = 0.99, **changes: Any) -> TreeClassifier:
    """QUA: quadratic nodes only (Yildiz & Alpaydin, ECML 2005, omnivariate trees).

    As `lin`, with the squares and products of all columns beside the columns. Left out are
    products that are linear in the columns already: those of two categories of one feature.
    """
    return post_pruned(_linear(epsilon, "quadratic"), changes)


def omni_aic(
    epsilon: float = 0.99,
    logarithm: str = "binary",
    order: str = "top_down",
    **changes: Any,
) -> TreeClassifier:
    """Omnivariate tree by AIC (Yildiz & Alpaydin, ECML 2005, model selection).

    Node: at each the best of a univariate, a linear and a quadratic test (those of `uni`,
    `lin` and `qua`) by AIC = 2 (-L + d), with L the log likelihood of the classes in the
    branches and d = 2, k + 1 or m + 1 for k or m principal components; of equals the
    simpler. Branching: binary. Grouping of classes: exchange, for each candidate by itself.
    Merit: entropy. Missing values: the node's mean. Pruning: the AIC of a subtree against
    that of a leaf, on all rows.

    From the authors' program, since it brings the published sizes: L to base 2
    (``logarithm="natural"`` as the paper has it; smaller trees) and comparing from the root
    down, each node with its whole subtree (``order="bottom_up"``: with the subtree as
    pruned so far). A leaf counts no parameter, an assumption.
    """
    return _by_criterion(AIC(logarithm), order, "node", epsilon, changes)


def omni_bic(
    epsilon: float = 0.99,
    logarithm: str = "binary",
    order: str = "top_down",
    rows: str = "node",
    **changes: Any,
) -> TreeClassifier:
    """Omnivariate tree by BIC (Yildiz & Alpaydin, ECML 2005, model selection).

    As `omni-aic`, with BIC = -L + d/2 log N for choosing and pruning; the logarithm of N is
    natural. Assumption: in a subtree each test's d is charged with the N of its own node,
    as when it was chosen, which brings the published sizes; ``rows="subtree"`` takes the N
    of the subtree's root, as the public snapshot of the authors' program does, which cuts
    some trees to the root (bupa, pima, yeast).
    """
    return _by_criterion(BIC(logarithm), order, rows, epsilon, changes)


def omni_cv(
    test: str = "combined_5x2t",
    level: float = 0.05,
    bonferroni: bool = True,
    rule: str = "ordered",
    order: str = "bottom_up",
    epsilon: float = 0.99,
    prune_by: str = "held_out",
    **changes: Any,
) -> TreeClassifier:
    """Omnivariate tree by cross-validation (Yildiz & Alpaydin, ECML 2005, model selection).

    Node: at each one of a univariate, a linear and a quadratic test (those of `uni`, `lin`
    and `qua`), by 5x2 cross-validation and one-sided tests at ``level``: the quadratic one
    only if better than both others, else the linear one if better than the univariate.
    Branching: binary. Grouping of classes: exchange, for each candidate and training half.
    Merit: entropy. Missing values: the mean of the node or half. Pruning: a held-out fifth.

    The paper names Dietterich's t (``test="5x2t", bonferroni=False``); its node counts are
    those of the combined t with Bonferroni's correction in the authors' program, which is
    the default. ``rule="multitest"``, ``order="top_down"`` (of pruning) as the program
    does. That a fifth is held out for pruning is a reading: it is what the program does,
    and the paper's trees have about that size. The paper's words, one criterion for growing
    and for pruning, are ``prune_by="choice"``: a subtree stays if the same 5x2cv test finds
    trees grown on halves of its rows better than a leaf, which takes ten times as long for
    every level (`CrossValidatedPruning`). Assumptions: a node of fewer than 10 rows gets
    the univariate test, and one of more than 20,000 is judged by a sample.
    """
    known = CHOICES.resolve(test)
    if not isinstance(known, CombinedT | CombinedF | FiveByTwoT):
        raise ValueError(unknown("test", test, ["5x2t", "combined_5x2t", "5x2f"]))
    choice = type(known)(level=level, bonferroni=bonferroni, rule=rule)
    pruning: Pruning = ReducedError(0.2, order)
    if one_of("prune_by", prune_by, ("held_out", "choice")) == "choice":
        pruning = CrossValidatedPruning(choice)
    return _omnivariate(choice, pruning, epsilon, changes)


def hybrid_5x2f(
    level: float = 0.05, epsilon: float = 0.99, **changes: Any
) -> TreeClassifier:
    """The hybrid tree of univariate and linear nodes (Yildiz & Alpaydin 2005, section 7).

    Node: at each a univariate test (that of `ldt-u2`) or, if the combined 5x2cv F test says
    with 95 % confidence that it is more accurate, a linear one (that of `ldt`). Branching:
    binary. Grouping of classes: exchange. Merit: entropy. Missing values: the mean of the
    node or half. Pruning: a held-out fifth, as in the paper's other trees. Assumptions: the
    univariate test is that with two variances; nodes of fewer than 10 rows get it without a
    trial, and nodes of more than 20,000 rows are judged by a sample.
    """
    learner = Omnivariate(
        (_univariate(), Linear("exchange", Fisher(epsilon=epsilon))), CombinedF(level)
    )
    return post_pruned(learner, changes)


def _univariate() -> Analytic:
    return Analytic("exchange", "unequal_variance")


def _linear(epsilon: float, expansion: str = "linear") -> Linear:
    return Linear("exchange", Fisher("always", epsilon), expansion=expansion)


def _omnivariate(
    choice: Any, pruning: Any, epsilon: float, changes: dict[str, Any]
) -> TreeClassifier:
    candidates = (_univariate(), _linear(epsilon), _linear(epsilon, "quadratic"))
    parts = {"learner": Omnivariate(candidates, choice), "pruning": pruning}
    return TreeClassifier(**(parts | changes))


def _by_criterion(
    choice: Any, order: str, rows: str, epsilon: float, changes: dict[str, Any]
) -> TreeClassifier:
    return _omnivariate(choice, CriterionPruning(choice, order, rows), epsilon, changes)


def omni(
    optimise: str | None = None, store_cases: bool = True, **changes: Any
) -> TreeClassifier:
    """omnitree's default classifier, as `OmniTreeClassifier`; not from a paper.

    Node: univariate, or a test with one branch per class over many features, found by
    penalised multinomial logistic regression: linear, quadratic, or of curves of single
    features, with products or without. Branching: binary, K-way in the latter. Grouping
    of classes: none. Merit: Gini, as in CART (Breiman et al. 1984). Categories: two
    subsets in univariate tests, +1/-1 columns in the others. Missing values:
    surrogates, or the node's means. Refinement: pruned by cross-validation; then a
    single test over many features replaces every subtree with a higher held-out error,
    or with the same error and a higher log loss (`Contest`). A test with more
    parameters than the subtree must be better by a standard error and make no more
    errors; one with more than another such test must be better even if it made one
    more, or clearly likelier. On the most likely of these tests univariate trees are
    grown, which compete, too: their leaves shift its scores for each class, and their
    tests may be on its scores. So do tests that are built in small steps, one of curves
    that jump (`Steps`) and, with two classes, a sparse one of curves and products
    (`Stagewise`), the sum of the best test and the others that have no products, and the
    sum of either and the univariate tree, if it is likelier. Of tables without categories,
    so does likeness to cases (`CaseBased`): rows that are kept, of which each counts
    the more for its class, the more alike a row is to it. Tests are made sparse: terms
    (weights, or whole curves) with the least effect are removed as long as the held-out
    error does not rise, down to ten per sum. Nobody can read a quadratic form with more
    than 500 terms, so larger ones are only tried in small steps. A tree that is not
    clearly better than a single leaf becomes one. Leaves: below a test over many
    features, its softmax, calibrated on held-out rows; else class shares, shrunk
    towards those of the parent.
    `optimise` and `store_cases` are as for `OmniTreeClassifier`; given a ``pruning``, there
    is no contest.
    Margins, penalties and size limits were chosen on other random halves of the data sets
    than those of the comparison in `benchmarks/results/omni.md`, and on noise.
    """
    return _with_contest(Contest(default_rivals(store_cases), optimise), changes)


def omni_1(optimise: str | None = None, **changes: Any) -> TreeClassifier:
    """The first version of `omni`: univariate, linear and quadratic tests; not from a paper.

    Node: univariate, or a linear or quadratic test with one branch per class, found by
    penalised multinomial logistic regression; with more than 500 products, by LogitBoost.
    Branching: binary, K-way in the latter. Grouping of classes: none. Merit: Gini, as in
    CART (Breiman et al. 1984). Missing values: surrogates, or the node's means. Refinement:
    the contest of `omni`, with the first two kinds of rivals only and no trees on top of
    them. Kept to compare with.
    """
    contest = Contest(
        rivals=(
            Softmax(calibrates=False),
            Softmax("quadratic", max_columns=500, calibrates=False),
            Boosted("quadratic", min_columns=501, max_cells=500_000),
        ),
        optimise=optimise,
        folds=10,
        se=1.0,
        cautious=False,
        min_rows=30,
        max_rows=20_000,
        max_challenged=None,
        sparse=True,
        smooth=True,
        grows=False,
        repeats=1,
    )
    return _with_contest(contest, changes)


def _with_contest(contest: Contest, changes: dict[str, Any]) -> TreeClassifier:
    """A univariate tree, then the contest, unless another pruning is given."""
    parts: dict[str, Any] = {
        "learner": Univariate(),
        "refinement": None if "pruning" in changes else contest,
        "missing": "surrogate",
    }
    return TreeClassifier(**(parts | changes))
