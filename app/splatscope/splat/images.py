"""Pictures in and out: a user's file becomes a bounded (H, W, 3) uint8 array, what a kernel drew becomes an encoded image."""

import io
import warnings
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

FORMATS = ("PNG", "JPEG", "WEBP")
MAX_BYTES = 64 * 2**20
MAX_PIXELS = 64_000_000
MAX_ASPECT = 64
MIN_SIDE = 8


class ImageError(ValueError):
    """A picture that cannot be used; the message says why in one line."""


@dataclass(frozen=True)
class LoadedImage:
    """A target: its pixels (H, W, 3) uint8, its name, and what was done to make it fit (one line, may be empty)."""

    pixels: np.ndarray
    name: str
    note: str


def read_picture(data: bytes, name: str, longest_side: int) -> LoadedImage:
    """Decode a PNG, JPEG or WebP, upright as its EXIF says, over white where it is transparent, and at most `longest_side` long.

    Raises:
        ImageError: not such a file, cut short, too large, or too thin.
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
    """Decode as `read_picture`, then crop around the centre to the aspect of width × height and resize to it (Lanczos)."""
    fitted = ImageOps.fit(_over_white(_decode(data)), (width, height), Image.Resampling.LANCZOS)
    return LoadedImage(np.asarray(fitted), name, "")


def _decode(data: bytes) -> Image.Image:
    """The whole picture in memory, upright; every way in which a file can be wrong ends as an ImageError."""
    if len(data) > MAX_BYTES:
        raise ImageError(f"The file has {len(data) / 2**20:,.0f} MB; up to {MAX_BYTES // 2**20} MB are allowed.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the size is checked below, before decoding
            image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError:
        raise ImageError(f"The picture has far too many pixels; up to {MAX_PIXELS // 10**6} million are allowed.") from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        raise ImageError("This is not a picture that can be read: PNG, JPEG and WebP are allowed.") from None
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise ImageError(f"The picture has {width:,} × {height:,} pixels; up to {MAX_PIXELS // 10**6} million are allowed.")
    if min(width, height) < MIN_SIDE:
        raise ImageError(f"The picture has {width:,} × {height:,} pixels; each side needs {MIN_SIDE} at least.")
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise ImageError(f"The picture is {width:,} × {height:,}; one side may be up to {MAX_ASPECT} times the other.")
    try:
        image.load()
        return ImageOps.exif_transpose(image)
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError):
        raise ImageError("The picture is cut short or damaged: save it again and try once more.") from None


def _over_white(image: Image.Image) -> Image.Image:
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def encode(pixels: np.ndarray, kind: str = "JPEG") -> bytes:
    """A (H, W, 3) uint8 array as the bytes of a JPEG (for looking at, live) or a PNG (for keeping)."""
    file = io.BytesIO()
    options = {"quality": 88, "subsampling": 0} if kind == "JPEG" else {"compress_level": 6}
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def to_bytes(picture: np.ndarray) -> np.ndarray:
    """Linear values (…) float32 as uint8, clipped to what a screen can show and rounded."""
    return (np.clip(picture, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)
