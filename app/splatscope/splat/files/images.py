"""Decode a user's picture into an (H, W, 3) uint8 array of bounded size, and encode what a kernel drew."""

import io
import warnings
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps

FORMATS = ("PNG", "JPEG", "WEBP")
MAX_BYTES = 64 * 2**20
MAX_PIXELS = 64_000_000
MAX_ASPECT = 64
MIN_SIDE = 8


class ImageError(ValueError):
    """The picture cannot be used; the message says why in one line."""


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
    image = _decode(data)
    notes = ["laid over white"] if image.has_transparency_data else []
    image = _over_white(image)
    before = image.size
    if max(before) > longest_side:
        factor = longest_side / max(before)
        image = image.resize([max(1, round(side * factor)) for side in before], Image.Resampling.LANCZOS)
        notes.append(f"scaled down from {before[0]:,} × {before[1]:,}")
    return LoadedImage(np.asarray(image), name, ", ".join(notes))


def crop_picture(data: bytes, name: str, width: int, height: int) -> LoadedImage:
    """Decode as `read_picture` does, crop around the centre to the aspect ratio of width × height, and resize (Lanczos)."""
    fitted = ImageOps.fit(_over_white(_decode(data)), (width, height), Image.Resampling.LANCZOS)
    return LoadedImage(np.asarray(fitted), name, "")


def _decode(data: bytes) -> Image.Image:
    """Return the whole decoded picture, upright. Any fault of the file raises an ImageError."""
    if len(data) > MAX_BYTES:
        raise ImageError(f"The file has {len(data) / 2**20:,.0f} MB; up to {MAX_BYTES // 2**20} MB are allowed.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the size is checked below, before decoding
            image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError:
        raise ImageError(f"The picture has far too many pixels; up to {MAX_PIXELS // 10**6} million are allowed.") from None
    except Exception:  # a forged file can make Pillow raise almost anything
        raise ImageError("This is not a picture that can be read: PNG, JPEG and WebP are allowed.") from None
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise ImageError(f"The picture has {width:,} × {height:,} pixels; up to {MAX_PIXELS // 10**6} million are allowed.")
    if min(width, height) < MIN_SIDE:
        raise ImageError(f"The picture has {width:,} × {height:,} pixels; each side needs at least {MIN_SIDE}.")
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise ImageError(f"The picture is {width:,} × {height:,}; one side may be up to {MAX_ASPECT} times the other.")
    try:
        image.load()
        return ImageOps.exif_transpose(image)
    except Exception:  # here, too: tags that are cut short raise struct.error
        raise ImageError("The picture is cut short or damaged: save it again and try once more.") from None


def _over_white(image: Image.Image) -> Image.Image:
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def encode(pixels: np.ndarray, kind: str = "JPEG") -> bytes:
    """Return the bytes of an (H, W, 3) uint8 array as a "JPEG" or a "PNG"."""
    file = io.BytesIO()
    options = {"quality": 88, "subsampling": 0} if kind == "JPEG" else {"compress_level": 6}
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def to_bytes(picture: np.ndarray) -> np.ndarray:
    """Convert values in 0 … 1 to uint8 of the same shape, clipped and rounded."""
    return (np.clip(picture, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)
