"""Feature selections against the obvious ones, and their criteria."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.cases import cases_from, random_cases
from tests.naive_features import Search

from omnitree.parts.coefficients import RLS, Coefficients, FisherUnit, Machine
from omnitree.parts.feature_selection import (
    SELECTIONS,
    LMDTElimination,
    Trials,
    dispersion,
    trials_of,
)
from omnitree.parts.feature_selection.gram import GramTrials
from omnitree.parts.merit import MERITS, GainRatio, Gini

SEARCH = {
    "sbe": lambda s: s.backward(None),
    "dsbe": lambda s: s.backward(1),
    "mixed_sbe": lambda s: s.backward(5),
    "sfs": lambda s: s.forward(),
    "hss": lambda s: s.heuristic(),
    "none": lambda s: s.all if s.test(s.all)[1] > -np.inf else None,
}


class Centres(Coefficients):
    """Nearest class mean: a machine of any number of classes without randomness."""

    def train(self, cases, rng):
        one_hot = np.eye(cases.n_classes)[cases.y] * cases.weight[:, None]
        means = (one_hot.T @ cases.z) / one_hot.sum(axis=0)[:, None]
        return Machine(means, -(means**2).sum(axis=1) / 2)


class Recorded(Trials):
    """Trials that keep the subsets a search went through."""

    def __init__(self, trials):
        self.__dict__.update(trials.__dict__)
        self.inner, self.steps = trials, []

    def of(self, columns, start=None):
        return self.inner.of(columns, start)

    def best_without(self, trial, which):
        found = self.inner.best_without(trial, which)
        self.steps.append(tuple(found.columns.tolist()))
        return found

    def best_with(self, trial):
        found = self.inner.best_with(trial)
        self.steps.append(tuple(found.columns.tolist()))
        return found


def test_every_selection_has_an_oracle():
    assert set(SEARCH) == set(SELECTIONS) - {"lmdt"}


@pytest.mark.parametrize("missing_share", [0.0, 0.2])
@pytest.mark.parametrize(
    "learner", [RLS(), RLS(sequential=True), FisherUnit(), Centres()], ids=repr
)
@pytest.mark.parametrize("name", list(SEARCH))
def test_against_naive(name, learner, missing_share, rng):
    many = 6 if getattr(learner, "sequential", False) else 25
    compared = kept = 0
    while compared < many:
        cases = random_cases(
            rng, missing_share=missing_share, n=int(rng.integers(8, 40)), d=3
        )
        if learner.n_classes == 2 and cases.n_classes != 2:
            continue
        compared += 1
        # Weights without pattern: nothing ties but for rounding.
        cases = replace(cases, weight=1 + rng.random(len(cases.y)))
        merit = MERITS.resolve(str(rng.choice(["gain_ratio", "gini", "twoing"])))
        ours = Recorded(trials_of(cases, learner, merit, rng))
        found = SELECTIONS[name]().select(ours)
        naive = Search(cases, lambda c: learner.train(c, rng), merit)
        best = SEARCH[name](naive)
        columns = None if found is None else tuple(found.columns.tolist())
        kept += found is not None
        assert columns == best
        steps = ours.steps[1:] if name == "hss" else ours.steps
        forward = name == "sfs"
        assert steps == naive.steps[0 if forward else 1 :]
        if best is not None:
            machine, worth, accuracy = naive.test(best)
            assert found.worth == pytest.approx(worth, abs=1e-9)
            assert found.accuracy == pytest.approx(accuracy, abs=1e-9)
            np.testing.assert_allclose(
                found.machine.weights, machine.weights, rtol=1e-4, atol=1e-6
            )
    assert kept > many // 3


@pytest.mark.parametrize("against", ["saved", "best"])
def test_lmdt_against_naive(against, rng):
    """LMDT's elimination, step by step, with t-tests of the rows' answers."""
    sizes = set()
    merit, learner = MERITS.resolve("misclassification"), Centres()

    def train(cases):
        return learner.train(cases, rng)

    for _ in range(150):
        cases = random_cases(rng, n=int(rng.integers(8, 60)), d=4)
        repeats = rng.integers(1, 4, len(cases.y)).astype(float)
        cases = replace(cases, weight=repeats)
        found = LMDTElimination(against=against).select(
            Trials(cases, learner, merit, rng)
        )
        naive = Search(cases, train, merit)
        best = naive.dwindling(against)
        if naive.test(best)[1] == -np.inf:
            assert found is None
        else:
            assert tuple(found.columns.tolist()) == best
            sizes.add(len(best) / len(naive.all))
    assert len(sizes) > 2


def test_lmdt_may_lose_accuracy_in_small_steps(rng):
    """Against the machine saved before, many small losses add up; against the best not."""
    y = rng.integers(0, 2, 400)
    z = (2 * y[:, None] - 1) + rng.normal(scale=2.0, size=(400, 12))
    cases = cases_from(z, y)
    kept = {}
    for against in ("saved", "best"):
        trials = Trials(cases, Centres(), MERITS.resolve("misclassification"), rng)
        kept[against] = LMDTElimination(against=against).select(trials)
    assert len(kept["saved"].columns) < len(kept["best"].columns)
    whole = trials.of(trials.all_columns).accuracy
    assert whole - 0.1 <= kept["saved"].accuracy < kept["best"].accuracy
    with pytest.raises(ValueError, match=r"against.*saved"):
        LMDTElimination(against="x").select(trials)


@pytest.mark.parametrize("learner", [RLS(), FisherUnit()], ids=repr)
@pytest.mark.parametrize("seed", range(20))
def test_gram_elimination_keeps_the_order_of_refits(seed, learner):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 8))
    y = z[:, 0] - z[:, 3] + rng.normal(size=300) > 0
    cases = cases_from(z, y, 1 + rng.random(300))
    steps = []
    for trials in (
        trials_of(cases, learner, GainRatio(), rng),
        Trials(cases, learner, GainRatio(), rng),
    ):
        assert isinstance(trials, GramTrials) == (not steps)
        recorded = Recorded(trials)
        SELECTIONS["sbe"](drop=1.0).select(recorded)
        SELECTIONS["sfs"](drop=1.0).select(recorded)
        steps.append(recorded.steps)
    assert len(steps[0]) == 7 + 8
    assert steps[0] == steps[1]


def test_collinear_columns(rng):
    """One-of-L columns add up to a constant; down-dates must survive that."""
    codes = rng.integers(0, 6, size=(400, 3))
    z = np.hstack(
        [np.where(codes[:, [j]] == np.arange(6), 1.0, -1.0) for j in range(3)]
    )
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    y = (codes[:, 0] < 3) ^ (rng.random(400) < 0.1)
    cases = cases_from(z, y, 1 + rng.random(400))
    steps = []
    for trials in (
        trials_of(cases, RLS(), Gini(), rng),
        Trials(cases, RLS(), Gini(), rng),
    ):
        recorded = Recorded(trials)
        SELECTIONS["sbe"](drop=1.0).select(recorded)
        steps.append(recorded.steps)
    assert steps[0] == steps[1]
    assert isinstance(trials_of(cases, RLS(), Gini(), rng), GramTrials)


def test_underfitting_and_discrimination(rng):
    z = rng.normal(size=(9, 6))
    cases = cases_from(z, np.arange(9) % 2)
    trials = trials_of(cases, RLS(), Gini(), rng)
    assert [trials.underfits(n) for n in range(1, 7)] == [False] * 3 + [True] * 3
    for name in ("sbe", "sfs", "dsbe", "mixed_sbe", "hss"):
        assert len(SELECTIONS[name]().select(trials).columns) <= 3
    assert len(SELECTIONS["none"]().select(trials).columns) == 6
    loose = SELECTIONS["sbe"](underfitting=False).select(trials)
    assert len(loose.columns) > 3
    # Two rows of one class in the middle of many of another: no test separates anything.
    z = np.concatenate([np.linspace(-1, 1, 20), [0.0, 0.01]])[:, None]
    lost = trials_of(cases_from(z, [0] * 20 + [1] * 2), RLS(), Gini(), rng)
    for name in SEARCH:
        assert SELECTIONS[name]().select(lost) is None


def test_ties_go_to_fewer_columns(rng):
    x = rng.normal(size=(200, 1))
    cases = cases_from(np.hstack([x, x, x]), x[:, 0] > 0)
    for name in ("sbe", "dsbe", "sfs", "hss", "mixed_sbe"):
        trial = SELECTIONS[name]().select(trials_of(cases, RLS(), Gini(), rng))
        assert len(trial.columns) == 1


def test_dispersion():
    w = np.array([[1.0, 0.0], [4.0, 0.5], [1.0, -0.5]])
    np.testing.assert_allclose(dispersion(Machine(w, np.zeros(3))), [6.0, 0.5])
    np.testing.assert_allclose(dispersion(Machine(-w[:1], np.zeros(1))), [1.0, 0.0])


@pytest.mark.parametrize("name", ["sbe", "sfs", "dsbe", "mixed_sbe", "hss"])
def test_bad_values(name, rng):
    trials = trials_of(
        cases_from(rng.normal(size=(20, 2)), np.arange(20) % 2), RLS(), Gini(), rng
    )
    with pytest.raises(ValueError, match="drop must be at least 0 and at most 1"):
        SELECTIONS[name](drop=3).select(trials)
    if name == "mixed_sbe":
        with pytest.raises(ValueError, match="width must be at least 1"):
            SELECTIONS[name](width=0).select(trials)
