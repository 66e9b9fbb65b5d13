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

from omnitree.lab import papers
from omnitree.lab.papers.base import Lab
from omnitree.lab.store import Store

paper = papers.find("lw94")
found = paper.reproduce(Lab(Store(), quick=True), ["6"])
found.tables[0].table()

# %%
# A cell is called the same where the difference is within what chance explains. All
# tables of a paper, by number:

for number, title in paper.TABLES.items():
    print(f"{number:>3}  {title}")

# %%
# The other papers need their data sets as files, ``NAME.csv`` in ``--data DIR`` or
# ``$OMNITREE_DATA``. Results of full runs are in ``benchmarks/papers``.

for name in papers.PAPERS:
    print(f"{name:7} {papers.find(name).TITLE}")
