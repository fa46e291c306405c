"""Decode a user's picture into an (H, W, 3) uint8 array of bounded size, and encode a kernel's picture."""

import io
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PIL import ExifTags, Image
from PIL.JpegImagePlugin import JpegImageFile

FORMATS = ("PNG", "JPEG", "WEBP")
MAX_BYTES = 64 * 2**20
MAX_MILLIONS = {"JPEG": 64, "PNG": 36, "WebP": 24}  # millions of pixels: a worker needs at most 500 MiB for any of these
MAX_ASPECT = 64
MIN_SIDE = 8
_LARGE = 4_000_000  # pixels: a larger picture is scaled down while it is decoded, by averaging blocks
_FINER = 1.5  # the size after that, as a multiple of the wanted size
_ROWS = 256  # rows of a picture that are converted at once
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}  # by the orientation in EXIF data
_ON_THEIR_SIDE = {_TURNS[orientation] for orientation in (5, 6, 7, 8)}


class ImageError(ValueError):
    """The picture cannot be used; the message says why in one line."""


@dataclass(frozen=True)
class _Decoded:
    """A picture in RGB, blended over white, in the orientation of its file.

    Attributes:
        image: The picture, perhaps smaller than in the file.
        extent: How much of the image's width and height the picture takes: the last blocks may extend beyond it.
        turn: The rotation that makes it upright; None for none.
        size: Its size in the file, upright.
        is_transparent: Whether the file had transparency.
    """

    image: Image.Image
    extent: tuple[float, float]
    turn: Image.Transpose | None
    size: tuple[int, int]
    is_transparent: bool

    def upright(self) -> Image.Image:
        """Return the upright picture without resizing it."""
        return self.image if self.turn is None else self.image.transpose(self.turn)

    def resized(self, size: tuple[int, int], is_cropped: bool = False) -> Image.Image:
        """Return the upright picture in a size (Lanczos). If `is_cropped`, crop it around the centre to keep its proportions."""
        wanted = size[::-1] if self.turn in _ON_THEIR_SIDE else size
        scales = [extent / side for extent, side in zip(self.extent, wanted, strict=True)]
        taken = [side * (min(scales) if is_cropped else scale) for side, scale in zip(wanted, scales, strict=True)]
        left, top = (max(0.0, (extent - part) / 2) for extent, part in zip(self.extent, taken, strict=True))
        right, bottom = (min(at + part, extent) for at, part, extent in zip((left, top), taken, self.extent, strict=True))
        return replace(self, image=self.image.resize(wanted, Image.Resampling.LANCZOS, (left, top, right, bottom))).upright()


@dataclass(frozen=True)
class LoadedImage:
    """A decoded picture.

    Attributes:
        pixels: (H, W, 3) uint8.
        name: Name of the file.
        note: What was changed to make it fit, in one line; may be empty.
    """

    pixels: np.ndarray
    name: str
    note: str


def read_picture(data: bytes, name: str, longest_side: int) -> LoadedImage:
    """Decode a PNG, JPEG or WebP file, blend it over white, and scale it down to `longest_side` pixels if it is larger.

    The orientation in its EXIF data is applied.

    Raises:
        ImageError: The file is of another kind, incomplete, too large, or too narrow.
    """
    decoded = _decode(data, longest_side, max)
    before = decoded.size
    notes = ["laid over white"] if decoded.is_transparent else []
    if max(before) <= longest_side:
        image = decoded.upright()
    else:
        factor = longest_side / max(before)
        image = decoded.resized((max(1, round(before[0] * factor)), max(1, round(before[1] * factor))))
        notes.append(f"scaled down from {before[0]:,} × {before[1]:,}")
    return LoadedImage(np.asarray(image), name, ", ".join(notes))


def crop_picture(data: bytes, name: str, width: int, height: int) -> LoadedImage:
    """Decode as `read_picture` does, crop around the centre to the aspect ratio of width × height, and resize (Lanczos)."""
    fitted = _decode(data, max(width, height), min).resized((width, height), is_cropped=True)
    return LoadedImage(np.asarray(fitted), name, "")


def _decode(data: bytes, wanted: int, side_of: Callable[[Sequence[int]], int]) -> _Decoded:
    """Decode a picture. The longer or shorter side (`side_of`) of a large one is reduced to `_FINER` times the wanted pixels.

    So decoding needs little more memory than the decoder itself, and a fraction of that for a JPEG.

    Raises:
        ImageError: The file has any fault, or is too large.
    """
    if len(data) > MAX_BYTES:
        raise ImageError(f"The file has {len(data) / 2**20:,.0f} MB; up to {MAX_BYTES // 2**20} MB are allowed.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the size is checked below, before decoding
            image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError:
        raise ImageError(f"The picture has far too many pixels; up to {max(MAX_MILLIONS.values())} million are allowed.") from None
    except Exception:  # a forged file can make Pillow raise almost anything
        raise ImageError("This is not a picture that can be read: PNG, JPEG and WebP are allowed.") from None
    width, height = image.size
    kind = "JPEG" if isinstance(image, JpegImageFile) else "WebP" if image.format == "WEBP" else "PNG"
    if width * height > MAX_MILLIONS[kind] * 10**6:
        raise ImageError(f"The picture has {width:,} × {height:,} pixels; a {kind} may have up to {MAX_MILLIONS[kind]} million.")
    if min(width, height) < MIN_SIDE:
        raise ImageError(f"The picture has {width:,} × {height:,} pixels; each side needs at least {MIN_SIDE}.")
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise ImageError(f"The picture is {width:,} × {height:,}; one side may be up to {MAX_ASPECT} times the other.")
    try:
        factor = _FINER * wanted / side_of((width, height)) if width * height > _LARGE else 1
        drafted = image.draft(image.mode, (math.ceil(width * factor), math.ceil(height * factor)))  # has an effect on JPEG only
        image.load()
        block = max(1, math.floor(side_of(image.size) / side_of((width, height)) / factor))
        across, down = drafted[1][2:] if drafted else image.size
        turn = _TURNS.get(image.getexif().get(ExifTags.Base.Orientation, 1))
        upright = (height, width) if turn in _ON_THEIR_SIDE else (width, height)
        extent = across / block, down / block
        return _Decoded(_over_white(image, block), extent, turn, upright, image.has_transparency_data)
    except Exception:  # here, too, anything may be raised: truncated tags raise struct.error
        raise ImageError("The picture is cut short or damaged: save it again and try once more.") from None


def _over_white(image: Image.Image, block: int) -> Image.Image:
    """Return the means over blocks of `block` × `block` pixels, in RGB over white. Only a few rows are converted at a time."""
    width, height = image.size
    made = Image.new("RGB", (-(-width // block), -(-height // block)))
    rows = -(-_ROWS // block) * block
    for top in range(0, height, rows):
        part = image.crop((0, top, width, min(top + rows, height)))
        if part.has_transparency_data:
            part = part.convert("RGBA")
            part = Image.alpha_composite(Image.new("RGBA", part.size, "white"), part)
        made.paste(part.convert("RGB").reduce(block), (0, top // block))
    return made


_ENCODINGS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 88, "subsampling": 0},
    "PNG": {"compress_level": 6},
    "WEBP": {"lossless": True, "method": 0, "quality": 0},
}


def encode(pixels: np.ndarray, kind: str = "JPEG") -> bytes:
    """Return the bytes of an (H, W, 3) uint8 array as a "JPEG", or exactly as a "PNG" or, several times as fast, a "WEBP"."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **_ENCODINGS[kind])
    return file.getvalue()


def css(colour: np.ndarray) -> str:
    """Return a colour, red, green and blue in 0 … 1, as CSS."""
    r, g, b = to_bytes(colour).tolist()
    return f"rgb({r} {g} {b})"


def to_bytes(picture: np.ndarray) -> np.ndarray:
    """Convert values in 0 … 1 to uint8 of the same shape, clipped and rounded."""
    return (np.clip(picture, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)
