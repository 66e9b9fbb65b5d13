"""Options of `omnitree fit` that name columns, class weights and costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from omnitree.data.reading import InputError, TableFile, read_table
from omnitree.growing.part import unknown

Costs = dict[str, dict[str, float]]


def columns(given: Sequence[str], table: TableFile) -> list[str]:
    """Names of columns: each option is one, or several as a,b,c."""
    found: list[str] = []
    for text in given:
        names = [text]
        if text not in table.header:
            names = [name.strip() for name in text.split(",") if name.strip()]
        for name in names:
            table.check_column(name)
            if name not in found:
                found.append(name)
    return found


def class_weights(text: str, classes: Sequence[str]) -> str | dict[str, float]:
    """`balanced`, or the weight of every class from `LABEL=W,...`; others have weight 1.

    Examples
    --------
    >>> class_weights("yes=2.5", ["no", "yes"])
    {'no': 1.0, 'yes': 2.5}
    """
    if text == "balanced":
        return text
    weights = dict.fromkeys(classes, 1.0)
    for label, weight in _numbers(text, "--class-weight", "balanced or LABEL=W,..."):
        _check_class(label, classes)
        weights[label] = weight
    return weights


def costs(text: str, classes: Sequence[str]) -> Costs:
    """Cost of each prediction for rows of each class.

    From `TRUE:ANSWER=C,...`, where pairs that are not named cost 1, or from a file with
    the true classes in its first column and a column per prediction.

    Examples
    --------
    >>> costs("bad:good=5", ["bad", "good"])
    {'bad': {'bad': 0.0, 'good': 5.0}, 'good': {'bad': 1.0, 'good': 0.0}}
    """
    found = {t: {s: float(s != t) for s in classes} for t in classes}
    if Path(text).is_file():
        return _costs_of_file(Path(text), found)
    for pair, cost in _numbers(text, "--cost", "a file or TRUE:ANSWER=C,..."):
        parts = pair.split(":")
        splits = [
            (":".join(parts[:i]), ":".join(parts[i:])) for i in range(1, len(parts))
        ]
        if not splits:
            raise InputError(
                f"--cost must be a file or TRUE:ANSWER=C,..., not {text!r}"
            )
        # A label may contain a colon itself.
        known = [s for s in splits if s[0] in found and s[1] in found]
        true, answer = known[0] if known else splits[0]
        for label in (true, answer):
            _check_class(label, classes)
        _set(found, true, answer, cost)
    return found


def _costs_of_file(path: Path, found: Costs) -> Costs:
    table = read_table(path)
    answers = table.header[1:]
    given = []
    for row in table.rows():
        given.append(row[0])
        _check_class(row[0], list(found))
        for answer, cell in zip(answers, row[1:], strict=True):
            _check_class(answer, list(found))
            if answer != row[0] or cell.strip():
                _set(found, row[0], answer, _number(cell, f"{path}: a cost"))
    for label in found:
        if label not in answers or label not in given:
            raise InputError(f"{path} has no costs for class {label!r}")
    return found


def _set(found: Costs, true: str, answer: str, cost: float) -> None:
    if true == answer and cost:
        raise InputError(f"the cost of a correct prediction ({true!r}) must be 0")
    found[true][answer] = cost


def _numbers(text: str, option: str, form: str) -> Iterator[tuple[str, float]]:
    for item in text.split(","):
        name, equals, number = item.rpartition("=")
        if not equals:
            raise InputError(f"{option} must be {form}, not {text!r}")
        yield name.strip(), _number(number, option)


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise InputError(f"{what} must be a number of at least 0, not {text!r}")
    return number


def _check_class(label: str, classes: Sequence[str]) -> None:
    if label not in classes:
        raise InputError(unknown("class", label, list(classes)))
