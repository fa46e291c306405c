"""What the page's widgets say of textures and samplers, as arrays that a job takes."""

import io

import numpy as np
import pytest

from splatscope.gpu.reflection import Texture
from splatscope.services.drafts.array_files import ArrayFile
from splatscope.services.drafts.inputs import InputError, uniform_type
from splatscope.services.drafts.texture_inputs import preview, sampler_inputs, texture_inputs
from splatscope.splat.files.images import encode


def texture(shape: str = "2d", scalar: str = "float", components: int = 4, writable: bool = False) -> Texture:
    return Texture("Texture", shape, scalar, components, writable)


def only(about: Texture, files: dict | None = None, **spec) -> np.ndarray:
    (array,) = texture_inputs("t", about, spec, files or {}).values()
    return array


def picture(pixels: np.ndarray) -> dict[str, ArrayFile]:
    return {"p": ArrayFile("p.png", encode(pixels, "PNG"))}


def numbers(array: np.ndarray) -> dict[str, ArrayFile]:
    out = io.BytesIO()
    np.save(out, array)
    return {"n": ArrayFile("n.npy", out.getvalue())}


@pytest.mark.parametrize(
    ("shape", "size", "expected"),
    [
        ("1d", [8], (8, 4)),
        ("2d", [8, 5], (5, 8, 4)),
        ("3d", [8, 5, 3], (3, 5, 8, 4)),
        ("2d_array", [8, 5, 3], (3, 5, 8, 4)),
        ("cube", [8, 5], (6, 8, 8, 4)),
        ("2d", None, (64, 64, 4)),
        ("2d", "many", (64, 64, 4)),
    ],
)
def test_a_texture_has_the_size_that_was_typed(shape, size, expected):
    assert only(texture(shape), size=size).shape == expected


def test_a_gradient_grows_along_its_axes():
    texels = only(texture(), fill="gradient", size=[4, 2])
    np.testing.assert_allclose(texels[0, :, 0], [0.125, 0.375, 0.625, 0.875])
    np.testing.assert_allclose(texels[:, 0, 1], [0.25, 0.75])
    assert only(texture(scalar="uint", components=2), fill="gradient", size=[3, 2])[1].tolist() == [[0, 1], [1, 1], [2, 1]]


def test_random_texels_are_those_of_their_seed():
    one, same, other = (only(texture(), fill="random", seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_picture_is_bytes_where_a_texture_can_hold_them_else_numbers():
    pixels = np.arange(10 * 8 * 3, dtype=np.uint8).reshape(10, 8, 3)
    files = picture(pixels)
    whole = only(texture(), files, fill="picture", array="p")
    assert whole.dtype == np.uint8
    np.testing.assert_array_equal(whole[..., :3], pixels)
    assert (whole[..., 3] == 255).all()
    written = only(texture(writable=True), files, fill="picture", array="p")
    np.testing.assert_allclose(written[..., :3], pixels / 255, rtol=1e-6)
    assert only(texture(scalar="uint", components=2), files, fill="picture", array="p").tolist() == pixels[..., :2].tolist()
    grey = only(texture(components=1), files, fill="picture", array="p")
    assert grey.shape == (10, 8, 1)
    assert abs(int(grey[0, 1, 0]) - (0.299 * 3 + 0.587 * 4 + 0.114 * 5)) <= 1


def test_mips_are_half_as_large_each_and_means():
    found = texture_inputs("t", texture(), {"fill": "gradient", "size": [6, 3], "mips": True})
    assert [array.shape for array in found.values()] == [(3, 6, 4), (1, 3, 4), (1, 1, 4)]
    np.testing.assert_allclose(found["t.mip1"][0, 0, 0], found["t"][:2, :2, 0].mean())


def test_a_picture_in_srgb_has_such_a_format():
    files = picture(np.zeros((8, 8, 3), np.uint8))
    found = texture_inputs("t", texture(), {"fill": "picture", "array": "p", "srgb": True, "mips": True}, files)
    assert str(found["t.format"]) == "rgba8_unorm_srgb"
    assert [name for name in found if "mip" in name] == ["t.mip1", "t.mip2", "t.mip3"]
    assert "t.format" not in texture_inputs("t", texture(writable=True), {"fill": "picture", "array": "p", "srgb": True}, files)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"size": [0, 4]}, "size of t"),
        ({"size": [4096, 4]}, "2,048"),
        ({"size": [2048, 2048]}, "make it smaller"),
        ({"fill": "picture"}, "choose a picture"),
        ({"fill": "file", "array": "gone", "file": "a.npy"}, "choose a.npy again"),
        ({"fill": "random", "seed": -1}, "seed of t"),
    ],
)
def test_what_does_not_fit_a_texture_is_one_line(spec, words):
    with pytest.raises(InputError, match=words) as caught:
        texture_inputs("t", texture(), spec)
    assert "\n" not in str(caught.value)


def test_an_array_of_other_axes_or_components_is_refused():
    spec = {"fill": "file", "array": "n", "file": "n.npy"}
    with pytest.raises(InputError, match="1 axes; t takes 2"):
        texture_inputs("t", texture(), spec, numbers(np.zeros(8, np.float32)))
    with pytest.raises(InputError, match="2 components per texel; t takes 4"):
        texture_inputs("t", texture(), spec, numbers(np.zeros((8, 8, 2), np.float32)))


def test_a_sampler_takes_only_known_options():
    assert {name: str(value) for name, value in sampler_inputs("s", {"filter": "point", "address": "clamp"}).items()} == {
        "s.filter": "point",
        "s.address": "clamp",
    }
    assert sampler_inputs("s", {"filter": "sharp", "address": 3}) == {}


def test_a_texture_is_drawn_small():
    about = texture()
    assert preview(about, only(about, fill="gradient", size=[300, 200])).startswith("data:image/png;base64,")
    assert preview(texture("3d"), only(texture("3d"))) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float", ("float", 1)),
        ("uint16_t3", ("uint16_t", 3)),
        ("float4x3", ("float", 12)),
        ("int2[3]", ("int", 6)),
        ("float[2][3]", ("float", 6)),
        ("Colour", None),
        ("float[99999]", None),
    ],
)
def test_the_numbers_that_a_uniform_takes(text, expected):
    assert uniform_type(text) == expected
