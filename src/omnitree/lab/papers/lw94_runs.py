"""What the tables of Liu & White (1994) are made of: paths and answers by condition.

Every data set (100 cases, 50 of each class) is classified by leave-one-out with dynamic path
generation, under H_T and under random selection. The random choices start anew with each
data set: one sequence of random numbers serves all data sets of a run, and since paths
differ in length, data sets fall out of step and back into it. Several runs are made, each
with another sequence. Used by `lw94`, which gives the evidence for that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from omnitree.lab.data import generate
from omnitree.lab.methods import Method
from omnitree.lab.papers.base import Lab
from omnitree.lab.protocols import LeaveOneOut
from omnitree.lab.runner import Result, Task

TABLES = {
    "1": "accuracy, experiment I",
    "2": "split-plot ANOVA of table 1",
    "3": "cases that branch on the signal at the root, random selection",
    "4": "accuracy on the cases of table 3",
    "5": "split-plot ANOVA of table 4",
    "6": "importance level by position in the path, experiment III",
    "7": "ANOVA of table 6",
    "I": "tests in the text, experiment I",
    "II": "accuracy and test, experiment II",
    "III": "accuracy, path lengths and tests, experiment III",
}
NOISE = (1, 5, 10, 20, 40, 80)
METHODS = {
    "random": Method("random-attribute", label="random"),
    "H_T": Method("random-attribute", {"choice": "best"}, label="H_T"),
}
POSITIONS = range(1, 7)
Paths = list[list[list[int]]]  # data set, case, attribute at each step


@dataclass(frozen=True)
class Condition:
    """All data sets of one condition, by method; H_T, without choices, has one run."""

    right: dict[str, np.ndarray]  # (runs, data sets, cases): classified rightly?
    paths: dict[str, list[Paths]]  # one per run

    def accuracy(self, method: str) -> np.ndarray:
        """Percent of the cases classified rightly, (runs, data sets)."""
        return 100 * self.right[method].mean(axis=2)

    def on_signal(self) -> np.ndarray:
        """Whether each path under random selection begins with the signal; as `right`."""
        return self._of_paths("random", lambda path: path[:1] == [0])

    def _of_paths(self, method: str, of: Callable[[list[int]], Any]) -> np.ndarray:
        runs = self.paths[method]
        return np.array([[[of(p) for p in cases] for cases in sets] for sets in runs])

    def signal_anywhere(self) -> float:
        """Cases a data set whose path under random selection has the signal at all."""
        has = self._of_paths("random", lambda path: 0 in path)
        return has.shape[2] * float(has.mean())

    def subset(self, method: str, shift: int) -> np.ndarray:
        """Accuracy on the cases of `on_signal`, (runs, data sets), NaN where there are none.

        The answers are those of the run `shift` runs on; 0: of the same paths.
        """
        signal = self.on_signal()
        right = self.right[method]
        right = np.stack([right[(i + shift) % len(right)] for i in range(len(signal))])
        with np.errstate(invalid="ignore"):  # 0 / 0 where there are none
            return 100 * (right * signal).sum(axis=2) / signal.sum(axis=2)

    def lengths(self, method: str) -> np.ndarray:
        """Length of each path; as `right`."""
        return self._of_paths(method, len)

    def importance(self, method: str, run: int = 0) -> pd.DataFrame:
        """Data set, position (1 is the root) and importance of every branching of a run."""
        rows = [
            (i, at, feature + 1)
            for i, cases in enumerate(self.paths[method][run])
            for path in cases
            for at, feature in zip(POSITIONS, path, strict=False)
        ]
        out = pd.DataFrame(rows, columns=["set", "position", "importance"])
        return out.assign(method=method)


def simulate(
    lab: Lab, designs: Sequence[tuple[int, int]], n: int, n_runs: int
) -> dict[tuple[int, int], Condition]:
    """Both methods on n data sets of each design (experiment, noise attributes)."""
    runs = {"random": range(n_runs), "H_T": range(1)}
    tasks, keys = [], []
    for experiment, noise in designs:
        for i in range(n):
            # One seed per data set for its rows, and one per run for the choices.
            seed = 10**6 * lab.seed + 10**5 * experiment + 10**3 * noise + i
            data = generate("lw94", experiment=experiment, noise=noise, seed=seed)
            for name, method in METHODS.items():
                for r in runs[name]:
                    protocol = LeaveOneOut(paths=True)
                    tasks.append(Task(data, method, protocol, 1000 * lab.seed + r))
                    keys.append(((experiment, noise), name, r))
    found: dict[Any, list[Result]] = defaultdict(list)
    for key, result in zip(keys, lab.run(tasks), strict=True):
        found[key].append(result)
    out = {}
    for design in designs:
        right, paths = {}, {}
        for name in METHODS:
            by_run = [found[design, name, r] for r in runs[name]]
            right[name] = np.array([[1 - x.wrong() for x in sets] for sets in by_run])
            paths[name] = [[x.folds[0].detail["paths"] for x in s] for s in by_run]
        out[design] = Condition(right, paths)
    return out
