"""A trained picture, and what the program's kernels do to one pixel of it: what the sections of the book follow."""

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypedDict

import numpy as np

from splatscope.paths import ASSETS, shader
from splatscope.splat.apart import unpack
from splatscope.splat.files.images import crop_picture
from splatscope.splat.parameters import FIELDS, POSITION, X
from splatscope.splat.scenes import scene_inputs
from splatscope.splat.settings import Settings
from splatscope.textbook.experiment import Experiment
from splatscope.tracing.job import KernelJob

TILE = (8, 4)
THREADS = TILE[0] * TILE[1]
PLACES = 512  # of a tile's list
SAMPLE = "chelsea"  # the picture of the home page
AT = (145, 95)  # the pixel of SAMPLE for readers who have chosen none: on the rim of an eye
PUBLISHED = (AT, (172, 94), (284, 118), (282, 200))  # pixels of SAMPLE that a published book has recordings of
FILE = "pixel.slang"
FEW = 5  # ids of a list that a sentence names
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, eq=False)
class TrainedPicture:
    """The Gaussians of a picture, and the picture that they were fitted to.

    Attributes:
        raw: Raw values of the direct model, (9, N) float32.
        target: The picture that they were fitted to, (H, W, 3) uint8.
    """

    raw: np.ndarray
    target: np.ndarray

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.target.shape[1], self.target.shape[0]

    @cached_property
    def name(self) -> str:
        """A name that changes with the content."""
        content = (np.ascontiguousarray(self.raw, "<f4"), np.ascontiguousarray(self.target, np.uint8))
        return hashlib.sha256(repr(self.size).encode() + b"".join(array.tobytes() for array in content)).hexdigest()[:16]


@cache
def sample_picture() -> TrainedPicture:
    """Return the picture of readers who have trained none."""
    trained = unpack((ASSETS / "opening.bin").read_bytes())
    photograph = ASSETS / f"{SAMPLE}.jpg"
    size = (trained.width, trained.height)
    return TrainedPicture(trained.raw, crop_picture(photograph.read_bytes(), photograph.name, *size).pixels)


@dataclass(frozen=True, eq=False)
class SeenPixel:
    """A pixel of a trained picture, as `shaders/tools/pixel.slang` saw it.

    Attributes:
        picture: The picture.
        at: x and y of the pixel.
        gathered: The ids in its tile's list in the order of arrival, (n,) uint32.
        ids: The same, nearest first.
        layers: Each Gaussian's straight colour and α at the pixel, (n, 4) float32, nearest first.
        states: C and T of the pixel behind each, (n, 4) float32.
        gradients: Of each pixel's share of the loss by the raw values of each, (n, 32, 9) float32, a pixel for each thread.
    """

    picture: TrainedPicture
    at: tuple[int, int]
    gathered: np.ndarray
    ids: np.ndarray
    layers: np.ndarray
    states: np.ndarray
    gradients: np.ndarray

    @property
    def tile(self) -> tuple[int, int]:
        """Column and row of the tile."""
        return self.at[0] // TILE[0], self.at[1] // TILE[1]

    @property
    def corner(self) -> tuple[int, int]:
        """X and y of the tile's upper left pixel."""
        return self.tile[0] * TILE[0], self.tile[1] * TILE[1]

    @property
    def lane(self) -> int:
        """The thread of the tile that draws the pixel."""
        return (self.at[1] - self.corner[1]) * TILE[0] + self.at[0] - self.corner[0]

    @property
    def shares(self) -> np.ndarray:
        """The share of the pixel that each Gaussian covers, (n,) float32."""
        light = np.concatenate([[np.float32(1)], self.states[:, 3]])
        return light[:-1] - light[1:]

    def largest(self, most: int) -> np.ndarray:
        """Return the places in the list of the `most` Gaussians with the largest shares of the pixel, nearest first."""
        return np.sort(np.argsort(-self.shares, kind="stable")[:most])

    def around(self, most: int, all_in_all: int) -> np.ndarray:
        """Return raw values of Gaussians at the tile, (9, n) float32: of the list, then near by, nearest to the viewer first.

        Args:
            most: How many of the list at most: those with the largest shares of the pixel.
            all_in_all: How many together, with those that do not reach the tile and whose centres are nearest to its middle.
        """
        middle = np.array(self.corner) + (np.array(TILE) - 1) / 2
        far = np.hypot(*(self.picture.raw[POSITION] - middle[:, None]))
        far[self.ids] = np.inf
        listed = self.ids[self.largest(most)]
        others = np.argsort(far, kind="stable")[: max(0, min(all_in_all, far.size - len(self.ids) + len(listed)) - len(listed))]
        return self.picture.raw[:, np.sort(np.concatenate([listed, others]))]

    def raw(self, places: np.ndarray | None = None, corner: tuple[int, int] = (0, 0)) -> np.ndarray:
        """Return the raw values of Gaussians of the list, (9, n) float32, all of them by default.

        Args:
            places: Their places in the list.
            corner: The pixel of the picture that becomes (0, 0).
        """
        return moved(self.picture.raw[:, self.ids if places is None else self.ids[places]], corner)

    def crop(self, corner: tuple[int, int], size: tuple[int, int]) -> np.ndarray:
        """Return a part of the target in 0 … 1, (height · width, 4) float32, row by row; beyond its edge, the edge goes on."""
        width, height = self.picture.size
        rows, columns = (
            np.clip(first + np.arange(n), 0, most - 1)
            for first, n, most in zip(corner[::-1], size[::-1], (height, width), strict=True)
        )
        part = np.ones((size[1], size[0], 4), np.float32)
        part[..., :3] = self.picture.target[np.ix_(rows, columns)] / 255.0
        return part.reshape(-1, 4)


def moved(raw: np.ndarray, corner: tuple[int, int]) -> np.ndarray:
    """Return raw values, (9, n) float32, in a picture that begins at the pixel `corner` of theirs."""
    values = raw.copy()
    values[POSITION] -= np.array(corner, np.float32)[:, None]
    return values


def pixel_job(picture: TrainedPicture, at: tuple[int, int]) -> KernelJob:
    """Return the job that sees a pixel, alone in its tile's workgroup."""
    x, y = at
    target = np.ones((picture.target.shape[0] * picture.target.shape[1], 4), np.float32)
    target[:, :3] = picture.target.reshape(-1, 3) / 255.0
    scene = {name: np.asarray(value) for name, value in scene_inputs(picture.size, picture.raw).items()}
    inputs = scene | {
        "targetBuffer": target,
        "chosenTile": np.array((x // TILE[0], y // TILE[1]), np.uint32),
        "chosenLane": np.array(y % TILE[1] * TILE[0] + x % TILE[0], np.uint32),
        "listed": np.zeros(1, np.uint32),
        "gathered": np.zeros(PLACES, np.uint32),
        "sorted": np.zeros(PLACES, np.uint32),
        "layers": np.zeros((PLACES, 4), np.float32),
        "states": np.zeros((PLACES, 4), np.float32),
        "gradients": np.zeros((PLACES, THREADS, FIELDS), np.float32),
    }
    return KernelJob(shader(FILE).read_text(encoding="utf-8"), FILE, "seePixel", inputs=inputs)


def see_pixel(experiment: Experiment, picture: TrainedPicture, at: tuple[int, int]) -> SeenPixel:
    """Return what the kernels do to a pixel of a picture.

    Raises:
        ValueError: The picture has no such pixel, or its tile has no Gaussian.
    """
    if not all(0 <= n < most for n, most in zip(at, picture.size, strict=True)):
        raise ValueError(f"The picture has no pixel ({at[0]}, {at[1]}): it is {picture.size[0]} × {picture.size[1]} pixels.")
    outputs = experiment.run(pixel_job(picture, at))
    count = int(outputs["listed"][0])
    if not count:
        raise ValueError("No Gaussian reaches this pixel's tile, so only white paper shows. Choose another pixel.")
    names = {"gathered": "gathered", "ids": "sorted", "layers": "layers", "states": "states", "gradients": "gradients"}
    return SeenPixel(picture, at, **{name: outputs[of][:count].copy() for name, of in names.items()})


class PixelFacts(TypedDict):
    """What the whole program does to a pixel, in words and numbers that a text names in braces.

    `most` is the Gaussian that covers most of the pixel, and `undone` the farthest that takes a tenth of the light or more.
    """

    listed: str  # how many Gaussians stand in the tile's list
    arrived: str  # the first ids of the list, as they arrived
    ordered: str  # and nearest first
    blended: str  # how many colour the pixel
    colour: str  # C, without paper
    left: str  # T
    undone: str  # an id
    rest: str  # its 1 − α
    behind: str  # T behind it
    before: str  # and in front of it
    most: str  # an id
    share: str  # of the pixel, in per cent
    own: str  # ∂L/∂x of `most`: the pixel's part
    sum: str  # and that of all pixels of the tile
    step: str  # Adam's first, in pixels
    side: str  # where to


def facts_of(seen: SeenPixel) -> PixelFacts:
    """Return what the kernels did to a pixel."""
    most = int(np.argmax(seen.shares))
    alphas = seen.layers[:, 3]
    undone = int(np.flatnonzero(alphas >= min(0.1, alphas.max()))[-1])
    light = np.concatenate([[1.0], seen.states[:, 3]])
    own, total = float(seen.gradients[most, seen.lane, X]), float(seen.gradients[most, :, X].sum())
    return {
        "listed": str(len(seen.ids)),
        "arrived": _few(seen.gathered),
        "ordered": _few(seen.ids),
        "blended": str(int((seen.shares > 0).sum())),
        "colour": ", ".join(number_in_words(value) for value in seen.states[-1, :3]),
        "left": number_in_words(light[-1]),
        "undone": str(seen.ids[undone]),
        "rest": number_in_words(1 - alphas[undone]),
        "behind": number_in_words(light[undone + 1]),
        "before": number_in_words(light[undone]),
        "most": str(seen.ids[most]),
        "share": f"{100 * seen.shares[most]:.0f} %",
        "own": number_in_words(own),
        "sum": number_in_words(total),
        "step": number_in_words(Settings().rate_position),
        "side": "left" if total > 0 else "right",
    }


def _few(ids: np.ndarray) -> str:
    return ", ".join(map(str, ids[:FEW])) + (f" and {len(ids) - FEW} more" if len(ids) > FEW else "")


def number_in_words(value: float) -> str:
    """Return a number with three digits: 0.25, −1.54 · 10⁻⁹."""
    digits, _, exponent = f"{value:.3g}".partition("e")
    power = f"\u00a0·\u00a010{str(int(exponent)).translate(RAISED)}" if exponent else ""
    return digits.replace("-", "−") + power
