"""Mutated data files and stores of results: an `InputError`, or contents that are sound.

A table must have as many parsed rows as written ones. A store must give the folds that were
put into it, each as it was or not at all.
"""

from __future__ import annotations

import gzip
import io
import warnings
import zipfile
from dataclasses import asdict
from pathlib import Path
from random import Random

import numpy as np
from tests.fuzz.corpus import small_table
from tests.fuzz.harness import Campaign, expect
from tests.fuzz.mutation import mutate_bytes

from omnitree.data.reading import InputError, read_table
from omnitree.lab.store import Fold, Run, Store

ARFF = """@relation 'small'
@attribute size numeric
@attribute 'the colour' {red, green, 'dark blue'}
@attribute weight real
@data
% a comment
1.5, red, 1e3
?, 'dark blue', ?
-2.5, green, 0
"""


def data_files() -> dict[str, bytes]:
    """Sound files by name."""
    frame, y = small_table(20)
    frame["y"] = y
    text = frame.to_csv(index=False)
    german = frame.to_csv(index=False, sep=";", decimal=",")
    quoted = 'name,"a ""b""",c\n"x\ny",1,"2,5"\n# comment,2,\n' * 3
    packed, parquet, excel = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data.csv", text)
    frame.to_parquet(parquet)
    frame.to_excel(excel, index=False)
    return {
        "plain.csv": text.encode(),
        "german.csv": german.encode("latin-1"),
        "quoted.csv": quoted.encode(),
        "tabs.tsv": frame.to_csv(index=False, sep="\t").encode("utf-16"),
        "packed.csv.gz": gzip.compress(text.encode()),
        "packed.csv.zip": packed.getvalue(),
        "small.arff": ARFF.encode(),
        "small.parquet": parquet.getvalue(),
        "small.xlsx": excel.getvalue(),
    }


class DataFiles(Campaign):
    """Mutants of CSV, ARFF, Parquet and Excel files, packed ones too."""

    def __init__(self, seed: int, folder: Path):
        super().__init__(seed, folder)
        self.files = data_files()

    def attempt(self, number: int) -> tuple[str, int]:
        rng = Random(f"{self.seed}:{number}")
        name = rng.choice(list(self.files))
        content = mutate_bytes(self.files[name], rng)
        path = self.folder / name
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                table = read_table(path)
                rows = list(table.rows())
                expect(len(rows) == len(table.frame), "rows are lost between readings")
                expect(list(table.frame.columns) == table.header, "another header")
                table.features_and_target(table.header[-1])
            except InputError as error:
                expect(str(error).strip(), "an error without words")
                return "refused", len(content)
        return "works", len(content)


def sound_store(path: Path) -> dict[tuple[Run, int], Fold]:
    """Write a store with some folds, and say which."""
    rng = np.random.default_rng(0)
    out = {}
    store = Store(path)
    for method in ("cart", "ldt"):
        run = Run("iris", "ab12", ("a", "b", "c"), method, f'"{method}"', "5x2", 0, "1")
        for number in range(6):
            fold = Fold(
                error=float(rng.integers(0, 100)),
                leaves=int(rng.integers(1, 50)),
                kinds={"axis": 3},
                seconds=0.25,
                rows=rng.permutation(75).astype(np.int32),
                predicted=rng.integers(0, 3, 75).astype(np.int32),
                detail={"training_error": 1.5},
            )
            store.add(run, number, fold)
            out[run, number] = fold
    store.close()
    return out


class StoreFiles(Campaign):
    """Mutants of a store of results."""

    def __init__(self, seed: int, folder: Path):
        super().__init__(seed, folder)
        path = folder / "sound.sqlite"
        self.folds = sound_store(path)
        self.content = path.read_bytes()

    def attempt(self, number: int) -> tuple[str, int]:
        rng = Random(f"{self.seed}:{number}")
        path = self.folder / "mutant.sqlite"
        for old in self.folder.glob("mutant.sqlite*"):
            old.unlink()
        path.write_bytes(mutate_bytes(self.content, rng))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about folds that cannot be read
            try:
                store = Store(path)
            except InputError:
                return "refused", len(self.content)
            try:
                return self._read(store), len(self.content)
            finally:
                store.close()

    def _read(self, store: Store) -> str:
        kept = 0
        for run in dict.fromkeys(run for run, _ in self.folds):
            try:
                found = store.folds(run)
                done = store.done(run)
            except InputError:
                return "refused"
            expect(done >= set(found), "a fold that was not done")
            for number, fold in found.items():
                known = self.folds.get((run, number))
                expect(known is not None, "a fold that nobody stored")
                expect(same_fold(known, fold), "a fold with other contents")
            kept += len(found)
        return "works" if kept == len(self.folds) else "some folds"


def same_fold(a: Fold | None, b: Fold) -> bool:
    """Whether two folds have the same contents."""
    one, two = (asdict(f) if f is not None else {} for f in (a, b))
    return all(np.array_equal(one[key], two[key]) for key in two)
