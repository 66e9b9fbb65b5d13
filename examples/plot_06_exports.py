"""
The same predictions in SQL, C and ONNX
=======================================

Often a tree has to run where the data are. ``export`` writes it as code for other systems;
here three of them predict every row, and all agree with the library.
"""

# %%
# A table with categories and missing values: passengers of an imaginary ferry.

import ctypes
import sqlite3
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import pandas as pd

from omnitree import OmniTreeClassifier

rng = np.random.default_rng(0)
n = 400
X = pd.DataFrame(
    {
        "age": rng.integers(1, 80, n).astype(float),
        "fare": rng.gamma(2.0, 15.0, n).round(2),
        "deck": rng.choice(["upper", "middle", "lower"], n),
    }
)
score = X["age"] - 1.5 * X["fare"] + 40 * (X["deck"] == "lower") + rng.normal(0, 5, n)
y = np.where(score > 10, "boards late", "boards early")
X.loc[rng.random(n) < 0.1, "fare"] = np.nan
X.loc[rng.random(n) < 0.05, "deck"] = None

clf = OmniTreeClassifier(random_state=0).fit(X, y)
print(clf.describe())
answers = clf.predict(X)

# %%
# **SQL**: one expression over the columns, for any database. Shown are its first lines.

expression = clf.export("sql")
print(expression[:90], "...")
with sqlite3.connect(":memory:") as database:
    X.to_sql("passengers", database, index=False)
    rows = database.execute(f"SELECT {expression} FROM passengers").fetchall()
print("SQL agrees:", (np.array(rows)[:, 0] == answers).all())

# %%
# **C**: one function, C99, without a library. Numbers and strings come in two arrays
# with a place for each column, as the comment at the top of the code explains.

with TemporaryDirectory() as folder:
    source = Path(folder, "tree.c")
    source.write_text(clf.export("c"), encoding="utf-8")
    library = source.with_suffix(".so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    predict = ctypes.CDLL(str(library)).omnitree_predict

numbers, strings, shares = ctypes.c_double * 3, ctypes.c_char_p * 3, ctypes.c_double * 2
found = []
for age, fare, deck in X.itertuples(index=False):
    text = deck.encode() if isinstance(deck, str) else None
    found.append(predict(numbers(age, fare, 0), strings(None, None, text), shares()))
print("C agrees:", (clf.classes_[found] == answers).all())

# %%
# **ONNX**: standard operators only. Numbers and strings are two tables; a missing value is
# NaN or an empty string.

session = onnxruntime.InferenceSession(clf.export("onnx"))
labels, probabilities = session.run(
    ["label", "probabilities"],
    {
        "numbers": X[["age", "fare"]].to_numpy(),
        "strings": X[["deck"]].fillna("").to_numpy(dtype=object),
    },
)
print("ONNX agrees:", (labels == answers).all())
print("its probabilities:", np.abs(probabilities - clf.predict_proba(X)).max() < 1e-6)

# %%
# The probabilities of ONNX Runtime beside those of the library, a point for each row:

figure, axis = plt.subplots(figsize=(4.5, 4), layout="constrained")
axis.scatter(clf.predict_proba(X)[:, 1], probabilities[:, 1], s=12, alpha=0.6)
axis.axline((0, 0), slope=1, color="grey", linewidth=0.8)
axis.set(xlabel="probability by omnitree", ylabel="probability by ONNX Runtime")
axis.set_title(f"P({clf.classes_[1]}) of {len(X)} rows", fontsize=10)
plt.show()

# %%
# ``export("python")`` is a function without imports, ``export("pmml")`` is PMML 4.4,
# and ``export("rules")``, ``"dot"`` and ``"json"`` are for reading, drawing and processing.

print(clf.export("rules")[:700])
