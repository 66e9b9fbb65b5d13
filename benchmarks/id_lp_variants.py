"""Why ID-LP is more accurate than in Yildiz & Alpaydin (2005): one thing done otherwise.

- The perceptron is trained as by the authors' program, in ten epochs of steps a row (rate
  0.1, falling by a twentieth an epoch, momentum 0.6, the epoch with fewest training errors),
  instead of to the minimum of its error by L-BFGS: on the squared error, which the paper
  names, or on the entropy, which the program has.
- Trees are pruned from the root down, as by the program, instead of from the leaves up.

Accuracies and numbers of parameters on all data sets of tables 20 and 21, by the paper's
5x2 folds, beside the published ones: means, how many differ by more than three standard
errors and which way, and the difference in standard errors, on average and pooled (of
parameters mushroom's alone decides, whose number is the same in all folds).

    python benchmarks/id_lp_variants.py --data FOLDER -o benchmarks/results/id_lp_variants.md
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from page import of_papers, versions

from omnitree.lab.papers.base import Lab, PaperCell
from omnitree.lab.papers.ldt05 import CODED, DATA, METHODS
from omnitree.lab.papers.readings import SUMMED_UP, summed_up
from omnitree.lab.papers.results import Study
from omnitree.lab.protocols import RepeatedFolds
from omnitree.lab.store import Store
from omnitree.lab.tables import TextTable
from omnitree.learners import Grouped
from omnitree.parts.coefficients import StochasticPerceptron
from omnitree.pruning import ReducedError

KEY = ("ID-LP", None)
FROM_THE_ROOT = {"pruning": ReducedError(0.2, "top_down")}
SQUARED, ENTROPY = (
    {"learner": Grouped(StochasticPerceptron(error))}
    for error in ("squared", "entropy")
)
WAYS = {
    "as run": {},
    "from the root down": FROM_THE_ROOT,
    "a step a row": SQUARED,
    "both": SQUARED | FROM_THE_ROOT,
    "a step a row, entropy": ENTROPY,
    "both, entropy": ENTROPY | FROM_THE_ROOT,
}
TABLES = {"accuracy": "20_accuracy", "parameters": "21_complexity"}


def pooled(cells: list[PaperCell]) -> float:
    """The sum of the differences in standard errors, over the root of their number."""
    z = [(c.ours - c.published) / c.error for c in cells if c.error > 0]
    return float(np.sum(z) / np.sqrt(len(z)))


def main() -> None:
    given = of_papers(__doc__)
    lab, cells = Lab(Store(given.store), given.data), {}
    for way, options in WAYS.items():
        method = replace(METHODS[KEY], options=METHODS[KEY].options | options)
        study = Study(lab, RepeatedFolds(2, 5), {KEY: method}, DATA, (), CODED)
        for figure, file in TABLES.items():
            cells[figure, way] = study.cells(f"yildiz2005_table{file}", KEY)
        print(way, *(pooled(cells[figure, way]) for figure in TABLES), flush=True)
    lines = tuple(
        (figure, way, *summed_up(found), f"{pooled(found):+.2f}")
        for (figure, way), found in sorted(cells.items(), key=lambda item: item[0][0])
    )
    whole = TextTable(
        "All data sets", ("figure", "way", *SUMMED_UP, "pooled z"), lines, "", 2
    )
    parts = [f"# ID-LP beside LDT05\n\n{__doc__}\n{versions()}", whole.markdown()]
    for figure in TABLES:
        columns = [cells[figure, way] for way in WAYS]
        rows = tuple(
            (row[0].labels[0], f"{row[0].published:g}", *(f"{c.ours:.1f}" for c in row))
            for row in zip(*columns, strict=True)
        )
        header = ("data set", "published", *WAYS)
        parts.append(TextTable(figure.capitalize(), header, rows).markdown())
    if given.output:
        given.output.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
