"""Colours of classes: told apart with normal vision and with each colour blindness."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from omnitree.export.palette import PALETTE, class_colours

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SEEN = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_OKLAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def linear(colour: str):
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def seen(colour: str, eyes: str):
    """The colour in OKLab."""
    rgb = np.clip(np.asarray(SEEN[eyes]) @ linear(colour), 0, 1)
    return np.asarray(TO_OKLAB) @ np.cbrt(np.asarray(TO_CONES) @ rgb)


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize(("n", "apart"), [(16, 0.076), (20, 0.062)])
def test_colours_are_apart(n, apart, eyes):
    places = [seen(c, eyes) for c in class_colours(n)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(places, 2)) >= apart


@pytest.mark.parametrize("paper", ["#ffffff", "#1a2129"])
def test_colours_are_seen_on_both_pages(paper):
    def luminance(colour):
        return float(np.dot([0.2126, 0.7152, 0.0722], linear(colour))) + 0.05

    for colour in PALETTE:
        pair = sorted([luminance(colour), luminance(paper)])
        assert pair[1] / pair[0] >= 1.5, colour


def test_many_classes_have_a_colour_each():
    colours = class_colours(60)
    assert len(set(colours)) == 60
    assert all(len(c) == 7 and int(c[1:], 16) >= 0 for c in colours)
