"""ARFF files written by a grammar: sound ones are read as they were written.

Attributes are numbers or categories; names and categories have quotes, spaces, commas, per
cent signs, braces and letters of other languages. Comments and empty lines stand anywhere,
keywords in any case. Two of three files get an oddity (a cell too many, an unknown category,
a sparse row, an unclosed quote, ...) or damaged bytes: refused with an `InputError`, or read
with no more rows than lines.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from random import Random

from tests.fuzz.harness import Campaign, expect
from tests.fuzz.mutation import mutate_bytes

from omnitree.data.reading import InputError, read_table

WORDS = ("a", "red", "Größe", "x_1", "b-2", "7", "2.5", "nan", "data", "é", "日本")
# These need quotes.
QUOTED = (
    "dark blue",
    "x, y",
    "50 %",
    "{odd}",
    "a\tb",
    "@data",
    "it's",
    '6"',
    "\\",
    "?",
)
NUMBERS = ("0", "-1", "1.5", "1e3", "-2.5E-3", ".5", "1e308", "3.", "+4")
ODDITIES = (
    *("more cells", "fewer cells", "unknown category", "unclosed quote", "sparse row"),
    *("date", "string", "relational", "no data", "no attributes", "twice", "word"),
    *("weight", "infinite", "empty set", "huge line", "zero byte"),
)


@dataclass
class Written:
    """A file as text, and what it says."""

    lines: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rows: list[list[float | str | None]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def _cased(word: str, rng: Random) -> str:
    return rng.choice((word, word.upper(), word.capitalize()))


def _token(word: str, rng: Random) -> str:
    """A name or category, in quotes if it needs them."""
    if word in WORDS and rng.random() < 0.8:
        return word
    quote = rng.choice("'\"")
    text = word.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{text}{quote}"


def _noise(out: Written, rng: Random) -> None:
    """Perhaps a comment or an empty line."""
    if rng.random() < 0.2:
        out.lines.append(rng.choice(("", "% comment, with 'signs' {", "   ", "%")))


def written(rng: Random) -> Written:
    """A sound file."""
    out, every = Written(), WORDS + QUOTED
    _noise(out, rng)
    relation = _token(rng.choice(every), rng)
    out.lines.append(f"{_cased('@relation', rng)} {relation}")
    kinds: list[list[str] | None] = []
    names = rng.sample(every, rng.randint(1, 6))
    out.names = list(names)
    for name in names:
        _noise(out, rng)
        if rng.random() < 0.5:
            kinds.append(None)
            kind = _cased(rng.choice(("numeric", "real", "integer")), rng)
        else:
            categories = rng.sample(every, rng.randint(1, 5))
            kinds.append(categories)
            gap = rng.choice((",", ", ", " , "))
            kind = "{" + gap.join(_token(c, rng) for c in categories) + "}"
        gap = rng.choice((" ", "\t", "   "))
        out.lines.append(
            f"{_cased('@attribute', rng)}{gap}{_token(name, rng)}{gap}{kind}"
        )
    _noise(out, rng)
    out.lines.append(_cased("@data", rng))
    for _ in range(rng.randint(1, 8)):
        _noise(out, rng)
        row, cells = [], []
        for categories in kinds:
            if rng.random() < 0.15:
                row.append(None)
                cells.append("?")
            elif categories is None:
                cells.append(rng.choice(NUMBERS))
                row.append(float(cells[-1]))
            else:
                row.append(rng.choice(categories))
                cells.append(_token(row[-1], rng))
        out.rows.append(row)
        gap = rng.choice((",", ", ", " ,\t"))
        out.lines.append(gap.join(cells))
    return out


def spoil(out: Written, rng: Random) -> None:
    """Add one oddity to a file."""
    odd, lines = rng.choice(ODDITIES), out.lines
    at = next(i for i, line in enumerate(lines) if line.lower() == "@data")
    row = rng.randrange(at + 1, len(lines) + 1)
    one = {
        "more cells": ",".join(["1"] * (len(out.names) + 3)),
        "fewer cells": ",",
        "unknown category": ",".join(["never seen"] * len(out.names)),
        "unclosed quote": "'" + ",".join(["1"] * len(out.names)),
        "sparse row": "{0 1, 2 red}",
        "weight": ",".join(["1"] * len(out.names)) + ", {5}",
        "word": ",".join(["one"] * len(out.names)),
        "infinite": ",".join(
            [rng.choice(("inf", "1e999", "-Infinity"))] * len(out.names)
        ),
        "huge line": "1" * 200_000,
        "zero byte": "\0" + ",".join(["1"] * len(out.names)),
    }
    kinds = {
        "date": "date 'yyyy-MM-dd'",
        "string": "string",
        "relational": "relational",
        "empty set": "{}",
        "twice": "numeric",
    }
    if odd in one:
        lines.insert(row, one[odd])
    elif odd in kinds:
        name = f"'{out.names[0]}'" if odd == "twice" else "another"
        lines.insert(at, f"@attribute {name} {kinds[odd]}")
    elif odd == "no data":
        del lines[at:]
    else:
        lines[:] = [line for line in lines if not line.lower().startswith("@attr")]


class ArffFiles(Campaign):
    """ARFF files of a grammar, sound, odd and damaged."""

    def attempt(self, number: int) -> tuple[str, int]:
        rng = Random(f"arff:{self.seed}:{number}")
        out, fate = written(rng), rng.randrange(3)
        if fate == 1:
            spoil(out, rng)
        content = out.text.encode()
        if fate == 2:
            content = mutate_bytes(content, rng)
        path = self.folder / "some.arff"
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                table = read_table(path)
                if fate == 0:
                    self._compare(out, table)
                table.features_and_target(table.header[-1])
            except InputError as error:
                expect(str(error).strip(), "an error without words")
                few = "no column but" in str(error) or "no row of" in str(error)
                expect(fate or few, f"a sound file is refused: {error}")
                return "refused", len(content)
        rows = list(table.rows())
        expect(len(rows) == len(table.frame), "rows are lost between readings")
        expect(0 < len(rows) <= content.count(b"\n") + 1, "rows from nowhere")
        return "works", len(content)

    @staticmethod
    def _compare(out: Written, table) -> None:
        expect(table.header == out.names, f"header {table.header} of {out.names}")
        expect(len(table.frame) == len(out.rows), "another number of rows")
        for known, read in zip(
            out.rows, table.frame.itertuples(index=False), strict=True
        ):
            for a, b in zip(known, read, strict=True):
                missing = b is None or (isinstance(b, float) and math.isnan(b))
                if a is None:
                    expect(missing, f"{b!r} where a cell is missing")
                elif isinstance(a, float):
                    expect(a == b, f"{b!r} for {a!r}")
                else:
                    expect(not missing and a == b, f"{b!r} for {a!r}")
