"""What the tables of Liu & White (1994) are made of: paths and answers by condition.

Every data set (100 cases, 50 of each class) is classified by leave-one-out with dynamic path
generation, under H_T and under random selection. The random choices start anew with each
data set: one sequence of random numbers serves all data sets of a run, and since paths
differ in length, data sets fall out of step and back into it. Several runs are made, each
with another sequence. Used by `lw94`, which gives the evidence for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """All data sets of one condition.

    Attributes
    ----------
    right : mapping of method to array (runs, data sets, cases)
        Whether each case was classified rightly; H_T, without choices, has one run.
    paths : mapping of method to list of Paths, one a run
    """

    right: dict[str, np.ndarray]
    paths: dict[str, list[Paths]]

    def accuracy(self, method: str) -> np.ndarray:
        """Percent of the cases classified rightly, (runs, data sets)."""
        return 100 * self.right[method].mean(axis=2)

    def on_signal(self) -> np.ndarray:
        """Whether each path under random selection begins with the signal; as `right`."""
        return np.array(
            [
                [[path[:1] == [0] for path in cases] for cases in sets]
                for sets in self.paths["random"]
            ]
        )

    def signal_anywhere(self) -> float:
        """Cases a data set whose path under random selection has the signal at all."""
        has = [0 in p for sets in self.paths["random"] for cases in sets for p in cases]
        return self.right["random"].shape[2] * float(np.mean(has))

    def subset(self, method: str, shift: int) -> np.ndarray:
        """Accuracy on the cases of `on_signal`, (runs, data sets), NaN where there are none.

        The answers are those of the run `shift` runs on; 0: of the same paths.
        """
        signal = self.on_signal()
        right = self.right[method]
        right = np.stack([right[(i + shift) % len(right)] for i in range(len(signal))])
        cases = signal.sum(axis=2)
        hits = (right * signal).sum(axis=2)
        return 100 * np.divide(
            hits, cases, out=np.full(cases.shape, np.nan), where=cases > 0
        )

    def lengths(self, method: str) -> np.ndarray:
        """Length of each path; as `right`."""
        return np.array(
            [
                [[len(path) for path in cases] for cases in sets]
                for sets in self.paths[method]
            ]
        )

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
    runs = {"random": n_runs, "H_T": 1}
    tasks = []
    for experiment, noise in designs:
        for i in range(n):
            # One seed a data set, so that its rows are its own; one a run for the choices.
            seed = 10**6 * lab.seed + 10**5 * experiment + 10**3 * noise + i
            data = generate("lw94", experiment=experiment, noise=noise, seed=seed)
            tasks += [
                Task(data, METHODS[name], LeaveOneOut(paths=True), 1000 * lab.seed + r)
                for name in METHODS
                for r in range(runs[name])
            ]
    results = iter(lab.run(tasks))
    out = {}
    for design in designs:
        by: dict[str, list[list[Result]]] = {
            m: [[] for _ in range(runs[m])] for m in runs
        }
        for _ in range(n):
            for name in METHODS:
                for r in range(runs[name]):
                    by[name][r].append(next(results))
        out[design] = Condition(
            {
                m: np.array([[1 - x.wrong() for x in r] for r in rs])
                for m, rs in by.items()
            },
            {
                m: [[x.folds[0].detail["paths"] for x in r] for r in rs]
                for m, rs in by.items()
            },
        )
    return out
