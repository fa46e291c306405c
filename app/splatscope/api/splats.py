"""Gaussians that draw a picture: render them, and keep them in a file."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from splatscope.api.device_calls import call_with_device
from splatscope.printable import printable
from splatscope.splat.files import images
from splatscope.splat.files.gaussians_file import MAX_FILE_BYTES, ending_of, from_bytes, is_state, to_bytes
from splatscope.splat.parameters import ANGLE, COLOUR, FIELDS, OPACITY, POSITION
from splatscope.splat.scenes import sizes_of
from splatscope.splat.settings import Settings, refuse

if TYPE_CHECKING:
    import slangpy as spy

    from splatscope.splat.state import TrainingState

MOST_SIDE = 8192  # pixels of a rendered picture's side
NAMES = ("x", "y", "size_1", "size_2", "angle", "red", "green", "blue", "opacity")


@dataclass(frozen=True, repr=False, eq=False)
class Splats:
    """N Gaussians that draw a picture over white, the nearest first.

    Attributes:
        raw: The values that training moves, (9, N) float32: x and y in pixels, ln(size − 0.3) of both sizes in pixels, the angle in
            radians, red, green, blue, and the logit of the opacity.
        width: The picture's width in pixels.
        height: Its height.
    """

    raw: np.ndarray
    width: int
    height: int

    def __post_init__(self) -> None:
        raw = np.ascontiguousarray(self.raw, np.float32)
        if raw.ndim != 2 or len(raw) != FIELDS or not raw.size:
            raise ValueError(f"Gaussians are an array of shape ({FIELDS}, N), not {np.shape(self.raw)}.")
        object.__setattr__(self, "raw", raw)

    @property
    def count(self) -> int:
        """The number of Gaussians, N."""
        return self.raw.shape[1]

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The nine parameters by name, (N,) float32 each.

        `x` and `y`: the centre in pixels, those of pixels being integers. `size_1` and `size_2`: standard deviations in pixels.
        `angle`: that of the first axis in radians, from x to y, which goes down. `red`, `green`, `blue`: 0 … 1 on a screen, but
        training may go beyond. `opacity`: 0 … 1.
        """
        raw = self.raw.astype(np.float64)
        rows = [*raw[POSITION], *sizes_of(self.raw), raw[ANGLE], *raw[COLOUR], 1 / (1 + np.exp(-raw[OPACITY]))]
        return {name: row.astype(np.float32) for name, row in zip(NAMES, rows, strict=True)}

    def render(
        self,
        *,
        size: int | None = None,
        scale: float | None = None,
        region: Sequence[float] | None = None,
        device: "spy.Device | str | None" = None,
    ) -> np.ndarray:
        """Draw the picture, or a part of it, over white: (height, width, 3) float32, 0 … 1 on a screen and perhaps beyond.

        Args:
            size: The longer side of the result in pixels.
            scale: Pixels of the result for each pixel of the picture, instead of `size`; 1 by default.
            region: Left, top, right and bottom of the part in pixels, as for PIL's `crop`; the whole picture by default.
            device: An open device, part of an adapter's name, or None for the best.

        Raises:
            ValueError: The size, the scale or the region cannot be drawn.
            DeviceError: There is no such device.
            FitError: The process that draws was lost.
        """
        bounds = (0, 0, self.width, self.height) if region is None else tuple(region)
        if len(bounds) != 4 or not all(isinstance(bound, Real) and np.isfinite(bound) for bound in bounds):
            raise ValueError("A region is four numbers: left, top, right and bottom in pixels.")
        left, top, right, bottom = map(float, bounds)
        if not (left < right and top < bottom):
            raise ValueError("A region is left, top, right and bottom in pixels, with left < right and top < bottom.")
        if size is not None and scale is not None:
            raise ValueError("Give the size or the scale of a picture, not both.")
        if not all(isinstance(number, Real) for number in (size, scale) if number is not None):
            raise ValueError("The size of a rendered picture is its longer side, and the scale is one number.")
        factor = float(scale if scale is not None else 1.0 if size is None else size / max(right - left, bottom - top))
        if not (np.isfinite(factor) and factor > 0):
            raise ValueError("The size and the scale of a picture are above 0.")
        wide, high = (max(1, round(side * factor)) for side in (right - left, bottom - top))
        if max(wide, high) > MOST_SIDE:
            raise ValueError(f"{wide:,} × {high:,} pixels are too many: a side may have up to {MOST_SIDE:,}. Draw a region of it.")
        return call_with_device(draw_here, self.raw, (wide, high), (left, top), factor, device=device)

    def save(self, file: str | os.PathLike) -> None:
        """Write the Gaussians to a file of the kind that its name says; docs/file-formats.md describes them.

        Args:
            file: A name that ends in `.npz` (exact), `.compact.npz` (16 bits a parameter), `.ply` or `.splat` (8 bits for colours,
                opacity and angle).

        Raises:
            ValueError: The name has another ending, or the file cannot be written.
        """
        path = Path(file)
        write_file(path, self._in_file(ending_of(path.name)))

    def _in_file(self, ending: str) -> bytes:
        return to_bytes(self.raw, (self.width, self.height), ending)

    def _repr_png_(self) -> bytes:
        """Return the picture, for a notebook."""
        return images.encode(images.to_bytes(self.render()), "PNG")

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self._words()}"

    def _words(self) -> str:
        return f"{self.count:,} Gaussian{'s' * (self.count != 1)}, {self.width:,} × {self.height:,} pixels"


def load_splats(file: str | os.PathLike, *, size: tuple[int, int] | None = None) -> Splats:
    """Read Gaussians from any file that `Splats.save`, `splatscope train --out` or the training page wrote.

    Args:
        file: Its name ends as `Splats.save` describes.
        size: Width and height of the picture in pixels, for a file that does not have them: a .splat, or another program's .ply.

    Raises:
        ValueError: The file cannot be read, or holds no Gaussians of a picture.
    """
    path = Path(file)
    ending = ending_of(path.name)
    data = read_file(path, MAX_FILE_BYTES)
    try:
        if ending.endswith(".npz") and is_state(data):
            from splatscope.splat.files.state_file import load_state

            state = load_state(data)
            height, width, _ = state.target.shape
            raw = call_with_device(raw_here, state, device=None) if state.settings.uses_sample_model else state.splats.raw
            return Splats(raw, width, height)
        raw, (width, height) = from_bytes(data, path.name, size)
    except ValueError as error:
        raise ValueError(f"{printable(str(path))}: {error}") from None
    return Splats(raw, width, height)


def read_file(path: Path, most_bytes: int) -> bytes:
    """Return a file's bytes. Raises ValueError with one line if it cannot be read, or has more than `most_bytes`."""
    shown = printable(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise ValueError(f"{shown} cannot be read: {error.strerror}.") from None
    if len(data) > most_bytes:
        raise ValueError(f"{shown} has more than {most_bytes // 2**20} MB, which is not allowed.")
    return data


def write_file(path: Path, data: bytes, is_added: bool = False) -> None:
    """Write a file, or add to its end, creating its folder. Raises ValueError with one line if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab" if is_added else "wb") as file:
            file.write(data)
    except OSError as error:
        raise ValueError(f"{printable(str(path))} cannot be written: {error.strerror}.") from None


# The rest of this module runs where the device is.


def draw_here(
    device: "spy.Device", raw: np.ndarray, size: tuple[int, int], corner: tuple[float, float], scale: float
) -> np.ndarray:
    """See `splat.drawing.draw`. Raises ValueError if the device cannot draw so many Gaussians."""
    from splatscope.gpu.device import adapter_of
    from splatscope.splat.drawing import draw

    if problem := refuse(Settings(blobs=raw.shape[1]), adapter_of(device).is_software):
        raise ValueError(problem)
    return draw(device, raw, size, corner, scale)


def raw_here(device: "spy.Device", state: "TrainingState") -> np.ndarray:
    """Return the raw values of the direct model, (9, N) float32, for a run with the sample's."""
    from splatscope.splat.trainer import Trainer

    return Trainer(device, state).snapshot().raw
