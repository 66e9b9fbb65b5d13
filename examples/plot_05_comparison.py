"""
Comparing systems with a test of significance
=============================================

Which of several trees is better, and could it be chance? All are trained and tested on the
same divisions of the same data; the test suits the protocol; over several data sets the
mean ranks are compared.
"""

# %%
# Three systems on four data sets, five times two halves. On the command line:
# ``omnitree compare iris wine breast_cancer led:rows=300 --presets c4.5,cart,ldt``.

import matplotlib.pyplot as plt
import numpy as np

from omnitree.lab import data, methods, protocols
from omnitree.lab.comparison import MethodComparison
from omnitree.lab.plots import critical_difference_diagram
from omnitree.lab.runner import Task, run
from omnitree.lab.store import Store

tables = [data.load(name) for name in ("iris", "wine", "breast_cancer", "led:rows=300")]
systems = [methods.parse(name) for name in ("c4.5", "cart", "ldt")]
protocol = protocols.parse("5x2cv")
tasks = [Task(table, system, protocol) for table in tables for system in systems]
found = MethodComparison(run(tasks, Store()))

# %%
# Errors, sizes and times, and the result of the 5x2cv test of each system against the
# first. A `Store` with a file name saves every fold, so that an interrupted run can
# resume.

found.summary(("error", "leaves", "seconds"))

# %%
# The same as a picture: each point is the error on one half. Where the clouds overlap, the
# test finds no difference.

figure, axes = plt.subplots(1, len(tables), figsize=(10, 3), layout="constrained")
for axis, (name, by_system) in zip(axes, found.scores("error").items(), strict=True):
    for i, errors in enumerate(by_system.values()):
        spread = np.linspace(-0.15, 0.15, len(errors))
        axis.scatter(i + spread, errors, s=14, alpha=0.7)
        axis.hlines(errors.mean(), i - 0.3, i + 0.3, color="black")
    axis.set_xticks(range(len(by_system)), list(by_system))
    axis.set_title(name, fontsize=10)
axes[0].set_ylabel("error on the other half, %")
plt.show()

# %%
# Mean ranks over the data sets (Demšar 2006). A bar joins systems that Nemenyi's test
# cannot distinguish; with so few data sets, only large differences are significant.

scores = np.array(list(found.mean_scores("error").values()))
critical_difference_diagram(scores, found.methods)
