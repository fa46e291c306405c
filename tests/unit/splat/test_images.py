"""Which pictures are accepted, and which are refused in one line."""

import io

import numpy as np
import pytest
from PIL import Image

from splatscope.splat.files.images import ImageError, crop_picture, encode, read_picture, to_bytes


def file_of(image: Image.Image, kind="PNG", **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def noise(width, height, channels=3) -> np.ndarray:
    return np.random.default_rng(width).integers(0, 256, (height, width, channels), dtype=np.uint8)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_a_lossless_file_comes_back_as_it_was(kind):
    pixels = noise(40, 30)
    picture = read_picture(file_of(Image.fromarray(pixels), kind, lossless=True), "a", 64)
    np.testing.assert_array_equal(picture.pixels, pixels)
    assert picture.note == ""


def test_a_jpeg_comes_back_nearly():
    pixels = np.asarray(Image.fromarray(noise(5, 4)).resize((50, 40), Image.Resampling.BICUBIC))
    picture = read_picture(file_of(Image.fromarray(pixels), "JPEG", quality=95), "a", 64)
    assert np.abs(picture.pixels.astype(int) - pixels).mean() < 4


def test_a_large_picture_is_scaled_down_and_says_so():
    picture = read_picture(file_of(Image.fromarray(noise(300, 120))), "a", 100)
    assert picture.pixels.shape == (40, 100, 3)
    assert picture.note == "scaled down from 300 × 120"


@pytest.mark.parametrize(("kind", "options", "tolerance"), [("PNG", {"compress_level": 1}, 1.0), ("JPEG", {"quality": 95}, 3.0)])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L"])
def test_a_picture_that_is_decoded_in_parts_is_the_one_that_is_decoded_whole(kind, options, tolerance, mode):
    smooth = np.asarray(Image.fromarray(noise(13, 17, 4)).resize((2600, 3400), Image.Resampling.BICUBIC))
    image = Image.fromarray(smooth).convert(mode)
    image = image.convert("RGB") if kind == "JPEG" else image
    picture = read_picture(file_of(image, kind, **options), "a", 100)
    rgba = image.convert("RGBA")
    whole = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
    whole = np.asarray(whole.resize((76, 100), Image.Resampling.LANCZOS))
    assert picture.note.endswith("scaled down from 2,600 × 3,400")
    assert np.abs(picture.pixels.astype(int) - whole).mean() < tolerance


def test_a_large_picture_on_its_side_is_turned_after_it_is_scaled_down():
    exif = Image.Exif()
    exif[0x0112] = 8  # turn a quarter anticlockwise: what was at the right comes on top
    pixels = np.zeros((1200, 4800, 3), np.uint8)
    pixels[:, 2400:] = 255
    picture = read_picture(file_of(Image.fromarray(pixels), "PNG", exif=exif), "a", 80)
    assert (picture.pixels.shape, picture.note) == ((80, 20, 3), "scaled down from 1,200 × 4,800")
    assert picture.pixels[:38].min() > 250
    assert picture.pixels[42:].max() < 5


def test_a_small_picture_is_not_scaled_up():
    assert read_picture(file_of(Image.fromarray(noise(20, 9))), "a", 256).pixels.shape == (9, 20, 3)


def test_transparency_is_laid_over_white():
    pixels = np.zeros((10, 10, 4), np.uint8)
    pixels[..., 0], pixels[:5, :, 3] = 255, 128
    picture = read_picture(file_of(Image.fromarray(pixels)), "a", 64)
    np.testing.assert_array_equal(picture.pixels[9, 0], 255)
    np.testing.assert_allclose(picture.pixels[0, 0], [255, 127, 127], atol=1)
    assert picture.note == "laid over white"


def test_palette_and_grey_pictures_become_rgb():
    for mode in ("P", "L", "1", "CMYK"):
        image = Image.fromarray(noise(20, 20)).convert(mode)
        data = file_of(image, "JPEG" if mode == "CMYK" else "PNG")
        assert read_picture(data, "a", 64).pixels.shape == (20, 20, 3)


def test_exif_orientation_is_respected():
    pixels = np.zeros((16, 32, 3), np.uint8)
    pixels[:, :16] = 255  # white at the left; orientation 6 means: turn a quarter clockwise, so white comes on top
    exif = Image.Exif()
    exif[0x0112] = 6
    picture = read_picture(file_of(Image.fromarray(pixels), "JPEG", exif=exif, quality=95), "a", 64)
    assert picture.pixels.shape == (32, 16, 3)
    assert picture.pixels[:12].mean() > 240
    assert picture.pixels[20:].mean() < 15


def test_crop_keeps_the_centre():
    pixels = np.zeros((20, 60, 3), np.uint8)
    pixels[:, 20:40] = 255
    np.testing.assert_array_equal(crop_picture(file_of(Image.fromarray(pixels)), "a", 20, 20).pixels, 255)


PNG = file_of(Image.fromarray(noise(64, 64)))
JPEG = file_of(Image.fromarray(noise(64, 64)), "JPEG")


def png_claiming(width, height) -> bytes:
    """A PNG of one pixel whose header says otherwise."""
    import struct
    import zlib

    data = bytearray(file_of(Image.new("RGB", (1, 1))))
    data[16:24] = struct.pack(">II", width, height)
    data[29:33] = struct.pack(">I", zlib.crc32(bytes(data[12:29])))
    return bytes(data)


def png_with_short_tags() -> bytes:
    """A PNG whose EXIF data ends within its header."""
    import struct
    import zlib

    chunk = b"eXIfMM\0*\0\0\0"
    data = file_of(Image.new("RGB", (16, 16)))
    return data[:33] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[33:]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "PNG, JPEG and WebP"),
        (b"hello, this is text", "PNG, JPEG and WebP"),
        (b"GIF89a" + bytes(100), "PNG, JPEG and WebP"),
        (PNG[:-4000], "cut short"),
        (JPEG[: len(JPEG) // 2], "cut short"),
        (PNG[:40], "allowed"),
        (png_claiming(0, 0), "not a picture"),
        (png_claiming(60_000, 10), "60,000 × 10"),
        (png_claiming(60_000, 60_000), "64 million"),
        (png_claiming(6001, 6000), "6,001 × 6,000 pixels; a PNG may have up to 36 million"),
        (file_of(Image.new("RGB", (60_000, 10))), "60,000 × 10"),
        (file_of(Image.new("RGB", (3, 3))), "at least 8"),
        (bytes(65 * 2**20), "64 MB"),
        (png_with_short_tags(), "cut short"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(data, words):
    with pytest.raises(ImageError) as refusal:
        read_picture(data, "a", 256)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_encoded_pictures_decode_to_themselves():
    pixels = noise(24, 16)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(encode(pixels, "PNG")))), pixels)


def test_to_bytes_clips_and_rounds():
    np.testing.assert_array_equal(to_bytes(np.array([-1.0, 0.0, 0.5, 1.0, 7.0])), [0, 0, 128, 255, 255])
