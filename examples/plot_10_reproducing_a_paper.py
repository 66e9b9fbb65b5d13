"""
Reproducing a published table
=============================

Every experiment of the papers that omnitree implements is a module that declares its data,
its trees and its protocol. What it gives are published figures beside ours, with a verdict
for every cell.
"""

# %%
# Liu and White (1994) asked whether it matters how a tree chooses its attributes. Their
# data are generated, so this can be run anywhere. Table 6 tells how important the
# attributes on a path are, by position, under random choice and under their measure.
# ``quick`` takes 20 data sets instead of the paper's 100. On the command line:
# ``omnitree reproduce lw94 --table 6 --quick``.

import matplotlib.pyplot as plt

from omnitree.lab import papers
from omnitree.lab.papers.base import Lab
from omnitree.lab.store import Store

paper = papers.find("lw94")
found = paper.reproduce(Lab(Store(), quick=True), ["6"])
found.tables[0].table()

# %%
# Published figures beside ours, a point for each cell with two standard errors of the
# difference:

cells = [cell for cell in found.tables[0].cells if cell.error > 0]
figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
axis.errorbar(
    [cell.published for cell in cells],
    [cell.ours for cell in cells],
    yerr=[2 * cell.error for cell in cells],
    fmt="o",
    markersize=4,
    elinewidth=0.8,
)
axis.axline((0, 0), slope=1, color="grey", linewidth=0.8)
axis.set(xlabel="published", ylabel="ours", title="Importance by position on the path")
plt.show()

# %%
# A cell is called the same where the difference is within what chance explains. All
# tables of a paper, by number:

for number, title in paper.TABLES.items():
    print(f"{number:>3}  {title}")

# %%
# The other papers use real data sets: ``NAME.csv`` in ``--data DIR`` or ``$OMNITREE_DATA``,
# else what OpenML has of them. Results of full runs are in ``benchmarks/papers``.

for name in papers.PAPERS:
    print(f"{name:7} {papers.find(name).TITLE}")
