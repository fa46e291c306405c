"""Array files as inputs."""

import io
import zipfile

import numpy as np
import pytest

from splatscope.recordings.archive import MOST_UNPACKED, ArchiveError, read_arrays
from splatscope.web.debugger.array_files import MAX_CACHED, find, store, store_raw


def zipped(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return out.getvalue()


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"hello", "neither a .npy nor a .npz"),
        (npy(np.array([{"a": 1}])), "only plain numbers"),
        (npy(np.array(["words"])), "only plain numbers"),
        (npy(np.zeros(3, [("a", "f4")])), "only plain numbers"),
        (npy(np.arange(9))[:-1], "cut short"),
        (npy(np.arange(9)).replace(b"(9,)", b"(99999999999,)").replace(b"      \n", b"\n"), "cut short"),
        (zipped("words.txt", b"x"), "holds “words.txt”, which is not an array"),
        (zipped("zeros.npy", bytes(MOST_UNPACKED + 1)), "unpacks to more"),
        (b"PK\x03\x04", "damaged"),
        (npy(np.arange(9)).replace(b"(9,)", b"f()"), "damaged"),
    ],
)
def test_array_files_that_are_none(data, words):
    with pytest.raises(ArchiveError, match=words) as caught:
        read_arrays("x.npy", data)
    assert "\n" not in str(caught.value)
    assert "0x" not in str(caught.value)  # an address in this process


def test_array_files_are_read_without_being_unpickled(monkeypatch):
    monkeypatch.setattr("pickle.loads", None)
    monkeypatch.setattr("pickle.load", None)
    np.testing.assert_array_equal(
        read_arrays("a.npy", npy(np.asfortranarray(np.arange(6).reshape(2, 3))))[""], [[0, 1, 2], [3, 4, 5]]
    )
    out = io.BytesIO()
    np.savez(out, a=np.float16([1, 2]), b=np.array(True))
    assert {name: array.dtype.name for name, array in read_arrays("a.npz", out.getvalue()).items()} == {"a": "float16", "b": "bool"}


def test_the_least_recently_used_files_make_room_and_the_newest_is_kept_whatever_its_size():
    half = MAX_CACHED // 2
    first, _ = store_raw("first", np.full(half, 1, np.uint8))
    second, _ = store_raw("second", np.full(half, 2, np.uint8))
    assert find(first).file == "first"
    third, _ = store("third.npy", npy(np.arange(9)))
    assert find(second) is None
    assert find(first).size == half
    np.testing.assert_array_equal(find(third).array("any"), np.arange(9))
    huge, stored = store_raw("huge", np.zeros(MAX_CACHED + 1, np.uint8))
    assert find(huge) is stored
    assert find(first) is None
    assert find(third) is None
    store_raw("small", np.zeros(1, np.uint8))
    assert find(huge) is None
