"""A picture in a mirror."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(picture: np.ndarray, width: np.ndarray, height: np.ndarray) -> dict[str, np.ndarray]:
    """Return the picture with its rows turned around."""
    return {"mirrored": picture.reshape(height, width)[:, ::-1].reshape(-1)}


def case(name: str, width: int, height: int, hidden: bool = False) -> Case:
    """Return a case with a picture of this size."""
    picture = np.random.default_rng(width).permutation(1000)[: width * height].astype(np.uint32)
    groups = ((width + 7) // 8, (height + 3) // 4, 1)
    inputs = {"picture": picture, "width": np.uint32(width), "height": np.uint32(height)}
    return Case(name, inputs, groups=groups, hidden=hidden)


CASES = (
    case("10 × 7 pixels", 10, 7),
    case("16 × 8 pixels", 16, 8),
    case("a picture that is higher than wide", 5, 13, hidden=True),
    case("a single row", 19, 1, hidden=True),
)
MISTAKES = (
    Mistake(
        "columns",
        "The pixels are found as if the picture were stored column by column.",
        lambda picture, width, height: {"mirrored": picture.reshape(width, height)[::-1].reshape(-1)},
    ),
    Mistake(
        "unturned",
        "The picture comes out as it went in.",
        lambda picture: {"mirrored": picture},
    ),
    Mistake(
        "upside down",
        "The picture is turned top to bottom instead of left to right.",
        lambda picture, width, height: {"mirrored": picture.reshape(height, width)[::-1].reshape(-1)},
    ),
    Mistake(
        "half turn",
        "The picture is turned both left to right and top to bottom.",
        lambda picture: {"mirrored": picture[::-1]},
    ),
    Mistake(
        "one off",
        "The rows are turned around, but by one pixel too far: the last column is width − 1.",
        lambda picture, width, height: {
            "mirrored": np.append(0, picture.reshape(height, width)[:, ::-1].reshape(-1)[:-1]).astype(np.uint32)
        },
    ),
)
