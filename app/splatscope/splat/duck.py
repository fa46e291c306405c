"""A duck on a pond: 32 Gaussians in space, placed by hand."""

from typing import NamedTuple

import numpy as np

Triple = tuple[float, float, float]

YELLOW, SHADE, ORANGE = (0.99, 0.80, 0.12), (0.93, 0.68, 0.06), (0.95, 0.42, 0.05)
WATER = ((0.20, 0.55, 0.80), (0.28, 0.62, 0.85), (0.16, 0.48, 0.74))
LEAF, REED, PINK = (0.25, 0.60, 0.25), (0.45, 0.55, 0.20), (0.95, 0.45, 0.65)
LOOKED_AT = 0.25  # how high above the body's centre
BLACK, WHITE, BROWN = (0.05, 0.05, 0.08), (1.0, 1.0, 1.0), (0.40, 0.24, 0.10)


class Ellipsoid(NamedTuple):
    """A Gaussian in space. y points up, and the duck swims towards z; the units are as long as a half duck."""

    name: str
    center: Triple
    size: Triple  # one standard deviation along each of its axes
    color: Triple
    opacity: float = 0.99
    about: Triple = (0.0, 1.0, 0.0)  # the axis about which it is turned, a unit vector
    turned: float = 0.0  # radians


ROUND = ("ahead", "ahead on the left", "on the left", "behind on the left")
ROUND += ("behind", "behind on the right", "on the right", "ahead on the right")


def _water(number: int) -> Ellipsoid:
    """Return one of eight patches of water round the duck."""
    angle = 2 * np.pi * number / len(ROUND)
    place = (1.5 * np.sin(angle), -0.42, 1.5 * np.cos(angle))
    return Ellipsoid(f"the water {ROUND[number]}", place, (0.62, 0.03, 0.62), WATER[number % 3], 0.85)


DUCK = (
    Ellipsoid("the body", (0, 0, 0), (0.52, 0.40, 0.70), YELLOW),
    Ellipsoid("the breast", (0, 0.06, 0.52), (0.40, 0.36, 0.34), YELLOW),
    Ellipsoid("the tail", (0, 0.34, -0.98), (0.20, 0.12, 0.36), SHADE, about=(1.0, 0.0, 0.0), turned=0.6),
    Ellipsoid("the neck", (0, 0.50, 0.62), (0.25, 0.30, 0.25), YELLOW),
    Ellipsoid("the head", (0, 0.98, 0.66), (0.33, 0.31, 0.33), YELLOW),
    Ellipsoid("the upper bill", (0, 0.93, 1.18), (0.17, 0.045, 0.22), ORANGE),
    Ellipsoid("the lower bill", (0, 0.83, 1.10), (0.13, 0.04, 0.16), ORANGE),
    Ellipsoid("the white of an eye", (0.24, 1.10, 0.92), (0.075, 0.085, 0.075), WHITE),
    Ellipsoid("the white of an eye", (-0.24, 1.10, 0.92), (0.075, 0.085, 0.075), WHITE),
    Ellipsoid("a pupil", (0.28, 1.11, 1.00), (0.05, 0.055, 0.05), BLACK),
    Ellipsoid("a pupil", (-0.28, 1.11, 1.00), (0.05, 0.055, 0.05), BLACK),
    Ellipsoid("a wing", (0.50, 0.14, -0.12), (0.11, 0.22, 0.44), SHADE, turned=-0.2),
    Ellipsoid("a wing", (-0.50, 0.14, -0.12), (0.11, 0.22, 0.44), SHADE, turned=0.2),
    *(_water(number) for number in range(8)),
    Ellipsoid("the water under the duck", (0, -0.44, 0), (0.85, 0.03, 0.85), WATER[1], 0.85),
    Ellipsoid("a lily pad", (1.45, -0.34, 1.05), (0.30, 0.025, 0.26), LEAF),
    Ellipsoid("a lily pad", (-1.60, -0.34, 0.55), (0.24, 0.025, 0.28), LEAF),
    Ellipsoid("a petal", (1.45, -0.16, 1.05), (0.22, 0.07, 0.07), PINK),
    Ellipsoid("a petal", (1.45, -0.16, 1.05), (0.22, 0.07, 0.07), PINK, turned=np.pi / 3),
    Ellipsoid("a petal", (1.45, -0.16, 1.05), (0.22, 0.07, 0.07), PINK, turned=-np.pi / 3),
    Ellipsoid("the heart of the flower", (1.45, -0.05, 1.05), (0.07, 0.06, 0.07), YELLOW),
    Ellipsoid("a reed", (-1.40, 0.25, -1.00), (0.035, 0.50, 0.035), REED),
    Ellipsoid("a reed", (-1.15, 0.10, -1.20), (0.035, 0.40, 0.035), REED, about=(0.0, 0.0, 1.0), turned=-0.15),
    Ellipsoid("a bulrush", (-1.40, 0.95, -1.00), (0.07, 0.20, 0.07), BROWN),
    Ellipsoid("a bulrush", (-1.04, 0.62, -1.20), (0.065, 0.17, 0.065), BROWN, about=(0.0, 0.0, 1.0), turned=-0.15),
)
NAMES = tuple(one.name for one in DUCK)


def numbers() -> np.ndarray:
    """Return the fourteen numbers of each Gaussian, (14, 32) float32: centre, sizes, quaternion x y z w, colour, opacity.

    The camera looks at the origin, which is a little above the body's centre.
    """
    rows = [
        (
            one.center[0],
            one.center[1] - LOOKED_AT,
            one.center[2],
            *one.size,
            *(np.sin(one.turned / 2) * np.array(one.about)),
            np.cos(one.turned / 2),
            *one.color,
            one.opacity,
        )
        for one in DUCK
    ]
    return np.array(rows, np.float32).T + np.float32(0)  # no zero is negative, which texts lose
