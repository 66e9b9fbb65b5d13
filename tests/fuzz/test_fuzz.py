"""A minute of every campaign, and proof that a campaign can find something.

`make fuzz` runs longer; see `__main__.py`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from mmap import PAGESIZE, mmap
from pathlib import Path
from random import Random

import pytest
from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.corpus import STAIRS, documents
from tests.fuzz.harness import Campaign, Report, Wrong, examine, is_refusal, run
from tests.fuzz.models import Models
from tests.fuzz.mutation import OTHERS, Mutator, places

from omnitree import presets
from omnitree.export.shifted_scores import shared_scores
from omnitree.tree.splits import SPLITS

ROOT = Path(__file__).resolve().parents[2]
# How many inputs of each campaign: about a minute in all.
INPUTS = {"models": 700, "tables": 400, "files": 300, "stores": 200}
FEW = {"models": {"every": False}, "tables": {"large": False}}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_campaign(name: str, tmp_path: Path):
    campaign = CAMPAIGNS[name](0, tmp_path, **FEW.get(name, {}))
    report = Report()
    for number in range(INPUTS[name]):
        ending, finding = examine(campaign, number)
        if (
            ending == "slow"
        ):  # perhaps the machine: a campaign that has not seen it decides
            again = CAMPAIGNS[name](0, tmp_path, **FEW.get(name, {}))
            ending, finding = examine(again, number)
        report.add(ending, finding)
    details = "\n\n".join(f.details for f in report.findings[:3])
    assert not report.findings, f"{report.text()}\n\n{details}"
    # Neither refuses everything nor takes anything.
    refused = report.endings["refused"]
    assert 0 < refused < INPUTS[name] * 0.95


@pytest.mark.slow
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_long_campaign(name: str):
    """Other inputs, with the whole corpus and the large tables.

    In a process of its own: threads of polars that were started here would be missing in
    the children, which would wait for them.
    """
    given = (name, "--mutants", str(20 * INPUTS[name]), "--seed", "1")
    command = [sys.executable, "-m", "tests.fuzz", *given]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_corpus_has_every_kind_preset_and_task():
    found = documents()
    kinds = {v for d in found.values() for p, v in places(d) if p[-1] == "kind"}
    assert set(SPLITS) <= kinds
    assert set(presets.names()) <= set(found)
    assert {d["tree"]["task"] for d in found.values()} == {
        "classification",
        "regression",
    }
    keys = {p[-1] for d in found.values() for p, _ in places(d)}
    assert {"costs", "model", "surrogates", "candidates", "monotone"} <= keys


def test_corpus_has_every_form_of_leaf():
    """Shifted scores of one model, products beside curves, numbers by both."""
    trees = [d["tree"] for d in documents().values()]
    assert sum(bool(shared_scores(tree["nodes"])) for tree in trees) >= 2
    models = [
        (t["task"], n["model"]) for t in trees for n in t["nodes"] if "model" in n
    ]
    assert any("knots" in model and "terms" in model for _, model in models)
    forms = {(task, "knots" in model, "terms" in model) for task, model in models}
    assert {("regression", True, False), ("regression", True, True)} <= forms
    assert any("cases" in model for _, model in models)


def test_corpus_has_steps_alone_and_in_sums():
    found = documents(every=False)
    chosen = {}
    for name in STAIRS:
        tree = found[name]["tree"]
        root, features = tree["nodes"][0], tree["schema"]["features"]
        assert {f["kind"] for f in features} == {"numeric", "categorical"}
        (chosen[name],) = [c["learner"] for c in root["candidates"] if c["chosen"]]
    assert all("additive softmax of steps" in name for name in chosen.values()), chosen
    parts = {part for name in chosen.values() for part in name.split(" + ")}
    others = {"additive softmax", "additive softmax with products", "univariate tree"}
    assert others <= parts
    assert "additive softmax of steps" in chosen.values()


def test_inputs_depend_on_seed_and_number_alone(tmp_path: Path):
    one, two, other = (Models(seed, tmp_path, every=False) for seed in (1, 1, 2))
    assert [one.mutant(i) for i in range(20)] == [two.mutant(i) for i in range(20)]
    assert [one.mutant(i) for i in range(20)] != [other.mutant(i) for i in range(20)]


class Broken(Campaign):
    """Everything that a campaign must notice, by number.

    Far from the limits: new pages of memory cost CPU time, much of it on a busy machine.
    They are mapped, because a process that has freed much memory may need no new ones.
    """

    seconds = 0.5
    memory = 16 * 2**20

    def attempt(self, number: int) -> tuple[str, int]:
        if number == 1:
            raise Wrong("wrong")
        if number == 2:
            while True:
                pass
        if number == 3:
            end = time.process_time() + 2 * self.seconds
            while time.process_time() < end:
                pass
        if number == 4:
            pages = mmap(-1, 3 * self.memory)
            pages[::PAGESIZE] = b"x" * (len(pages) // PAGESIZE)
        if number == 5:
            os.kill(os.getpid(), signal.SIGSEGV)
        return "works", 10


def test_harness_finds_what_it_should(tmp_path: Path):
    report = run(Broken(0, tmp_path), range(8))
    ends = ("works", "error", "hang", "slow", "memory", "crash")
    assert report.endings == dict(zip(ends, (3, 1, 1, 1, 1, 1), strict=True))
    assert sorted(f.number for f in report.findings) == [1, 2, 3, 4, 5]
    assert "FOUND 1 x Wrong" in report.text()


def test_refusals_are_raised_on_purpose():
    for work, expected in (
        (lambda: presets.make("none"), True),
        (lambda: int("x"), False),
    ):
        with pytest.raises(ValueError) as found:
            work()
        assert is_refusal(found.value) is expected


def test_mutants_depend_on_their_number_alone():
    """A value that was put into a document must not be changed for the next one."""
    known = json.dumps(OTHERS)
    mutator = Mutator({"one": {"a": [1, {"b": [2, 3]}], "c": {"d": {}, "e": "f"}}})
    first = [mutator.mutant(Random(number)) for number in range(3000)]
    assert first == [mutator.mutant(Random(number)) for number in range(3000)]
    assert json.dumps(OTHERS) == known
