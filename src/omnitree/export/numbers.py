"""Numbers as text, for every export in words."""

from __future__ import annotations


def number(value: float, digits: int = 4) -> str:
    """A number with so many digits; large ones in full instead of with an exponent.

    >>> number(0.123456), number(1234567.8), number(1e-7)
    ('0.1235', '1234568', '1e-07')
    """
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e12 else text
