"""Mutations of JSON documents and of bytes: what could come out of a damaged file.

Structure-aware: a place of the document is chosen, and what stands there becomes an extreme
number, a hostile string, another type, longer, shorter, absent, or what stands under the
same key in another document. Everything is drawn from one `random.Random`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

NUMBERS: list[Any] = [
    *(0, 1, -1, 2, 3, 7, 100, -0.0, 0.1, -0.5, 1.5, 1e-9, 1e9),
    *(2**31 - 1, 2**31, -(2**31) - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64),
    *(10**25, 10**400, -(10**400), 5e-324, 1e-300, 1e18, 1e155, 1e300, -1e300),
    *(1e308, -1e308, 1.7e308, float("inf"), float("-inf"), float("nan")),
]
STRINGS: list[Any] = [
    *("", " ", "a", "A", "0", "1", "nan", "None", "True", "leaf", "none", "divide"),
    *("\x1b[31mred\x1b[0m", "\a", "line\nbreak", "\r", "\t", "\0", "a\0", "\x7f\x9b"),
    *("\ud800", "\udfff\ud800", "\u202e", "\u2028", "\ufeff", "e\u0301", "\U0001f333"),
    *("<script>alert(1)</script>", "]]>", "'; DROP TABLE t; --", "${x}", "*/", "\\"),
    *('"', "'", "=1+1", "@x", "{}", "%s", "__class__", "os:system", "x" * 3000),
]
OTHERS: list[Any] = [None, True, False, [], {}, [[]], [0], {"a": 0}]
Path = tuple[Any, ...]


def places(document: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value of a document below its top, with the keys that lead to it."""
    if isinstance(document, dict):
        items: Any = document.items()
    elif isinstance(document, list):
        items = enumerate(document)
    else:
        return
    for key, value in items:
        yield (*path, key), value
        yield from places(value, (*path, key))


class Mutator:
    """Mutants of some documents.

    Parameters
    ----------
    documents : dict of str to JSON values
        By name; values of one are put into others.
    """

    def __init__(self, documents: dict[str, Any]):
        self.names = list(documents)
        self.texts = {name: json.dumps(doc) for name, doc in documents.items()}
        self.places = {
            name: [path for path, _ in places(doc)] for name, doc in documents.items()
        }
        pool: dict[Any, dict[str, Any]] = defaultdict(dict)
        for doc in documents.values():
            for path, value in places(doc):
                text = json.dumps(value)
                if isinstance(path[-1], str) and len(text) < 5000:
                    pool[path[-1]][text] = value
        self.pool = {key: list(found) for key, found in pool.items()}
        self.keys = list(self.pool)

    def mutant(self, rng: Random) -> tuple[str, bytes]:
        """The name of a document, and the bytes of a mutant of it."""
        name = rng.choice(self.names)
        if rng.random() < 0.03:
            return name, mutate_bytes(self.texts[name].encode(), rng)
        document = json.loads(self.texts[name])
        for _ in range(1 if rng.random() < 0.6 else rng.randint(2, 5)):
            self._mutate(document, rng.choice(self.places[name]), rng)
        # JSON has no name for a lone surrogate but its escape, which dumps writes.
        return name, json.dumps(document).encode()

    def _mutate(self, document: Any, path: Path, rng: Random) -> None:
        holder = document
        try:
            for key in path[:-1]:
                holder = holder[key]
            value = holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            return  # an earlier mutation took the place away
        if not isinstance(holder, str):
            _mutate_at(holder, path[-1], value, self, rng)

    def like(self, key: Any, rng: Random) -> Any:
        """A value that stands under this key somewhere."""
        return json.loads(rng.choice(self.pool[key])) if key in self.pool else None


def _mutate_at(holder: Any, key: Any, value: Any, known: Mutator, rng: Random) -> None:
    how = rng.random()
    if how < 0.45:
        holder[key] = _other_value(value, rng)
    elif how < 0.6 and key in known.pool:
        holder[key] = known.like(key, rng)
    elif how < 0.7:
        del holder[key]
    elif how < 0.8:
        _rearrange(holder, key, value, known, rng)
    elif how < 0.9 and isinstance(value, list) and value:
        _mutate_list(value, rng)
    else:
        holder[key] = deepcopy(rng.choice([*OTHERS, [value], {"a": value}]))


def _other_value(value: Any, rng: Random) -> Any:
    """Another scalar, most often of the same type; of a list, all its numbers."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float) and rng.random() < 0.4:
        # An integer may be too large for a float.
        third = value / 3 if abs(value) < 2**1000 else value // 3
        return rng.choice([value + 1, value - 1, -value, value * 2, third])
    if isinstance(value, int | float):
        return rng.choice(NUMBERS if rng.random() < 0.9 else STRINGS)
    if isinstance(value, str):
        return rng.choice(STRINGS if rng.random() < 0.9 else NUMBERS)
    if isinstance(value, list) and value and rng.random() < 0.7:
        if all(isinstance(v, int | float) for v in value):
            return [rng.choice(NUMBERS)] * len(value)
        if all(isinstance(v, str) for v in value):
            return rng.sample(STRINGS, min(len(value), len(STRINGS)))
    return deepcopy(rng.choice([*NUMBERS, *STRINGS, *OTHERS]))


def _rearrange(holder: Any, key: Any, value: Any, known: Mutator, rng: Random) -> None:
    """Swap two entries, or put one under another key, or in twice."""
    other = rng.choice(range(len(holder)) if isinstance(holder, list) else list(holder))
    if rng.random() < 0.5:
        holder[key], holder[other] = holder[other], holder[key]
    elif isinstance(holder, list):
        holder.insert(other, json.loads(json.dumps(value)))
    else:
        holder[rng.choice([*known.keys, *STRINGS])] = deepcopy(value)


def _mutate_list(values: list[Any], rng: Random) -> None:
    how = rng.randrange(5)
    if how == 0:
        values.pop(rng.randrange(len(values)))
    elif how == 1:
        values.append(json.loads(json.dumps(rng.choice(values))))
    elif how == 2:
        rng.shuffle(values)
    elif how == 3:
        values[:] = values * rng.choice([2, 3, 50])
    else:
        values[:] = values[: rng.randrange(len(values))]


def mutate_bytes(data: bytes, rng: Random) -> bytes:
    """Some bytes flipped, cut out, repeated or put in."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if not out:
            break
        at = rng.randrange(len(out))
        end = min(len(out), at + rng.choice([1, 2, 4, 16, 256]))
        how = rng.randrange(7)
        if how == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            out[at] = rng.choice(b'\0\xff\n\r\t,;"\x27{}[]@%?-+.0e \x80')
        elif how == 2:
            del out[at:end]
        elif how == 3:
            out[at:at] = out[at:end] * rng.choice([1, 2, 20])
        elif how == 4:
            out[at:end] = bytes(rng.randrange(256) for _ in range(end - at))
        elif how == 5:
            out[at:at] = rng.choice(STRINGS).encode("utf-8", "surrogatepass")
        elif rng.random() < 0.3:
            del out[at:]
    return bytes(out)
