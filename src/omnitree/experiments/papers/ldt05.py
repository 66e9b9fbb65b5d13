"""Yildiz & Alpaydin (2005), Linear discriminant trees: tables 3-17 and 20-22.

Five runs of two-fold cross-validation, mean and deviation over the ten folds, combined 5x2cv
F test. Their "C4.5" is not Quinlan's program; its preset is `c4.5:variant=ldt05`. `monks` is
taken as the first of the three problems, which the paper does not name. C5.0 has no preset.
Times are of another machine and get no verdict. With --quick: seven small data sets.
"""

from __future__ import annotations

from collections.abc import Sequence

from omnitree.experiments.methods import Method
from omnitree.experiments.papers.base import Lab, Reproduction, chosen, shortfalls
from omnitree.experiments.papers.results import Study
from omnitree.experiments.protocols import CrossValidation

TITLE = "Yildiz & Alpaydin (2005), Linear discriminant trees"

MEASURES = ("accuracy", "treesize", "time")
GROUPS = {
    3: "univariate methods",
    6: "LDT: grouping of classes",
    9: "LDT: principal components",
    12: "LDT: pruning",
    15: "LDT: split point",
    20: "seven methods",
}
TABLES = {
    str(first + i): f"{measure}, {what}"
    for first, what in GROUPS.items()
    for i, measure in enumerate(MEASURES)
}
TABLES["21"] = "complexity, seven methods"
PAIRWISE = ("3", "4", "20", "21")

LDT = Method("ldt")
METHODS: dict[tuple[str, str | None], Method] = {
    ("C4.5", None): Method("c4.5", {"variant": "ldt05"}),
    ("LDTu(1)", None): Method("ldt-u1"),
    ("LDTu(2)", None): Method("ldt-u2"),
    ("QUEST", "univariate"): Method("quest-u"),
    ("QUEST", None): Method("quest"),
    ("LDT", None): LDT,
    ("LDTm", "exchange"): LDT,
    ("LDTm", "selection"): Method("ldt", {"grouping": "selection"}),
    ("LDTm", "eps=0.99"): LDT,
    ("LDTm", "eps=0.90"): Method("ldt", {"epsilon": 0.9}),
    ("LDTm", "post-pruning"): LDT,
    ("LDTm", "pre-pruning"): Method(
        "ldt", {"pruning": None, "stopping": "pre_pruning"}
    ),
    ("LDTm", "analytical"): LDT,
    ("LDTm", "exhaustive"): Method("ldt", {"threshold": "exhaustive"}),
    ("CART", None): Method("cart-lc"),
    ("ID-LP", None): Method("id-lp"),
    ("LMDT", None): Method("lmdt"),
    ("OC1", None): Method("oc1"),
}
DATA = {"monks": "monks1"}
QUICK = ("bupa", "ecoli", "glass", "hepatitis", "iris", "wine", "zoo")


def reproduce(lab: Lab, wanted: Sequence[str] = ()) -> Reproduction:
    """Run what the wanted tables need and set them beside the published ones."""
    study = Study(lab, CrossValidation(2, 5), METHODS, DATA, QUICK if lab.quick else ())
    tables = []
    for number in chosen(wanted, list(TABLES)):
        measure = TABLES[number].split(",")[0]
        stem = f"yildiz2005_table{int(number):02d}"
        file = f"{stem}_{measure}"
        tables.append(study.table(number, TABLES[number], file))
        if number in PAIRWISE:
            title = f"{TABLES[number]}: wins"
            tables.append(
                study.wins(f"{number}, wins", title, file, f"{stem}_pairwise")
            )
    notes = [
        f"5x2cv, seed {lab.seed}. Tables 18 and 19 need the hybrid tree: left out."
    ]
    return Reproduction(tables, notes=notes, others=[shortfalls(tables)])
