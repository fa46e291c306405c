"""Gaussians in each kind of file, written and read back."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splatscope.splat.files.gaussians_file import ENDINGS, ending_of, from_bytes, to_bytes
from splatscope.splat.files.ply import FIELDS, VERTEX
from splatscope.splat.files.splat_file import SPLAT
from splatscope.splat.scenes import MIN_SIZE, some_gaussians

SIZE = 48, 32


def properties(raw: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a viewer shows of raw values: the ellipse as a covariance, so that equal ellipses are equal."""
    raw = raw.astype(float)
    cos, sin = np.cos(raw[4]), np.sin(raw[4])
    turn = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    variances = (MIN_SIZE + np.exp(raw[2:4].T)) ** 2
    covariance = turn @ (variances[..., None] * turn.swapaxes(-1, -2))
    return {"centre": raw[:2], "covariance": covariance, "colour": raw[5:8], "opacity": 1 / (1 + np.exp(-raw[8]))}


@st.composite
def scenes(draw):
    """Raw values of Gaussians, and the size of their picture."""
    count, seed = draw(st.integers(1, 40)), draw(st.integers(0, 2**32))
    size = draw(st.tuples(st.integers(8, 4096), st.integers(8, 4096)))
    raw = some_gaussians(count, size, seed, spread=(0.31, draw(st.floats(0.5, 500))))
    raw[4] += np.float32(draw(st.floats(-20, 20)))
    raw[8] = draw(st.floats(-13, 13))
    return raw, size


@given(scenes())
def test_an_npz_is_exact(scene):
    raw, size = scene
    back, found = from_bytes(to_bytes(raw, size, ".npz"), "a.npz")
    assert found == size
    assert back.tobytes() == raw.tobytes()


@given(scenes())
def test_a_ply_is_the_same_picture(scene):
    raw, size = scene
    back, found = from_bytes(to_bytes(raw, size, ".ply"), "a.ply")
    assert found == size
    before, after = properties(raw), properties(back)
    np.testing.assert_allclose(after["centre"], before["centre"], atol=2e-7 * max(size))
    np.testing.assert_allclose(after["covariance"], before["covariance"], rtol=1e-4, atol=1e-5 * before["covariance"].max())
    np.testing.assert_allclose(after["colour"], before["colour"], atol=1e-6)
    np.testing.assert_allclose(after["opacity"], before["opacity"], atol=2e-6)


@given(scenes())
def test_a_splat_file_is_the_same_picture_to_8_bits(scene):
    raw, size = scene
    data = to_bytes(raw, size, ".splat")
    assert len(data) == 32 * raw.shape[1]
    back, found = from_bytes(data, "a.splat", size)
    assert found == size
    before, after = properties(raw), properties(back)
    np.testing.assert_allclose(after["centre"], before["centre"], atol=2e-7 * max(size))
    np.testing.assert_allclose(after["colour"], before["colour"], atol=0.51 / 255)
    np.testing.assert_allclose(after["opacity"], before["opacity"], atol=0.51 / 255)
    turned = np.abs(np.linalg.eigvalsh(after["covariance"]) - np.linalg.eigvalsh(before["covariance"]))
    assert (turned <= 1e-4 * np.linalg.eigvalsh(before["covariance"]).max(axis=1, keepdims=True)).all()
    apart = np.abs((after_angle(back) - after_angle(raw) + np.pi) % (2 * np.pi) - np.pi)
    assert apart.max() < np.deg2rad(0.9)


def after_angle(raw: np.ndarray) -> np.ndarray:
    return raw[4].astype(float)


@given(scenes())
def test_a_compact_file_has_16_bits_for_each_parameter(scene):
    raw, size = scene
    back, found = from_bytes(to_bytes(raw, size, ".compact.npz"), "compact.npz")
    assert found == size
    assert (np.abs(back - raw) <= (np.ptp(raw, axis=1) / 65535)[:, None] * 0.51 + 1e-6 * np.abs(raw)).all()


def test_a_file_of_another_program_is_read_near_to_far_and_with_the_size_that_is_given():
    order = np.array([2, 0, 1])
    fields = [*FIELDS[:6], "f_rest_0", *FIELDS[6:]]
    vertices = np.zeros(3, [(name, "<f4") for name in fields])
    ours = np.frombuffer(to_bytes(some_gaussians(3, SIZE), SIZE, ".ply").partition(b"end_header\n")[2], VERTEX)
    for name in FIELDS:
        vertices[name] = ours[name][order]
    head = ["ply", "format binary_little_endian 1.0", "element vertex 3", *(f"property float {name}" for name in fields)]
    data = "\n".join([*head, "end_header\n"]).encode() + vertices.tobytes()
    with pytest.raises(ValueError, match="give its size"):
        from_bytes(data, "theirs.ply")
    back, _ = from_bytes(data, "theirs.ply", SIZE)
    np.testing.assert_allclose(back[:2], some_gaussians(3, SIZE)[:2], atol=1e-5)


def ply(changed: dict | None = None, count: int = 2, cut: int = 0) -> bytes:
    vertices = np.zeros(2, VERTEX)
    vertices["rot_0"] = 1
    for name, value in (changed or {}).items():
        vertices[name] = value
    lines = ["ply", "format binary_little_endian 1.0", "comment picture 48 x 32 pixels", f"element vertex {count}"]
    data = "\n".join([*lines, *(f"property float {name}" for name in FIELDS), "end_header\n"]).encode() + vertices.tobytes()
    return data[: len(data) - cut]


def archive(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def with_text(name: str) -> bytes:
    """An archive in which one member is no array."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members:
        members.writestr(f"{name}.npy", b"text")
    return file.getvalue()


def splat(**changed) -> bytes:
    records = np.zeros(2, SPLAT)
    records["turn"] = 255, 128, 128, 128
    for name, value in changed.items():
        records[name] = value
    return records.tobytes()


RAW = np.zeros((9, 2), np.float32)


def test_what_the_next_test_damages_is_read():
    for name, data in (("a.ply", ply()), ("a.splat", splat()), ("a.npz", archive(raw=RAW, width=48, height=32))):
        assert from_bytes(data, name, SIZE)[0].shape == (9, 2)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.ply", b"", "not a .ply"),
        ("a.ply", b"ply\nformat ascii 1.0\nend_header\n", "not a .ply"),
        ("a.ply", ply(cut=1), "cut short"),
        ("a.ply", ply(count=-1), "cut short"),
        ("a.ply", ply(count=10**30), "cut short"),
        ("a.ply", ply().replace(b"opacity", b"opacitx"), "not Gaussians"),
        ("a.ply", ply().replace(b"property float rot_3", b"property list uchar rot_3"), "not Gaussians"),
        ("a.ply", ply().replace(b"48 x 32", b"0 x 32"), "give its size"),
        ("a.ply", ply({"x": np.nan}), "not finite"),
        ("a.ply", ply({"scale_0": 1e30}), "no picture"),
        ("a.ply", ply({"rot_1": 1}), "in space"),
        ("a.splat", b"", "not a .splat"),
        ("a.splat", bytes(33), "not a .splat"),
        ("a.splat", splat(), "give its size"),
        ("a.splat", splat(place=np.inf), "not finite"),
        ("a.splat", splat(turn=(255, 0, 128, 128)), "in space"),
        ("a.npz", b"PK", "damaged"),
        ("a.npz", archive(raw=RAW), "no Gaussians"),
        ("a.npz", archive(raw=RAW.astype(float), width=48, height=32), "do not fit together"),
        ("a.npz", archive(raw=RAW[:, :0], width=48, height=32), "0 Gaussians"),
        ("a.npz", archive(raw=RAW, width=0, height=32), "no picture"),
        ("a.npz", archive(raw=RAW, width=np.inf, height=32), "no Gaussians"),
        ("a.npz", archive(raw=RAW * np.nan, width=48, height=32), "no picture"),
        ("a.npz", with_text("raw"), "damaged"),
        ("compact.npz", with_text("codes"), "not a file of Gaussians"),
        ("a.png", b"", "end in .ply, .splat, .compact.npz, .npz"),
    ],
)
def test_another_file_is_refused_in_one_line(name, data, words):
    size = SIZE if name == "a.splat" and words in ("not finite", "in space") else None
    with pytest.raises(ValueError, match=words) as refused:
        from_bytes(data, name, size)
    assert "\n" not in str(refused.value)


def test_an_ending_is_the_longest_that_fits():
    names = ("A.PLY", "x/b.splat", "c.compact.npz", "x/compact.npz", "state.npz")
    assert [ending_of(name) for name in names] == [".ply", ".splat", ".compact.npz", ".compact.npz", ".npz"]
    assert len({*ENDINGS}) == 4
