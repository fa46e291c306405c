"""Array files as inputs."""

import io
import zipfile
from contextvars import copy_context

import numpy as np
import pytest

from splatscope.recordings.archive import MOST_UNPACKED, ArchiveError, read_arrays
from splatscope.services.drafts.array_files import MOST_UNPACKED as MOST_OF_INPUTS
from splatscope.services.drafts.array_files import ArrayFile
from splatscope.splat.files.images import encode
from splatscope.web.debugger import array_files
from splatscope.web.debugger.array_files import MOST, MOST_OF_ADDRESS, OVERHEAD, files_of, find, store
from splatscope.workers.visitor import work_for


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
    half = MOST_OF_ADDRESS // 2 - OVERHEAD
    first, second = (store(ArrayFile(f"{n}.npy", bytes([n]) * half)) for n in (1, 2))
    assert find(first).name == "1.npy"
    third = store(ArrayFile("third.npy", npy(np.arange(9))))
    assert find(second) is None
    assert len(find(first).data) == half
    assert files_of({"inputs": {"a": {"array": first}, "b": {"array": third}, "c": {"array": second}, "d": 3}}).keys() == {
        first,
        third,
    }
    huge = store(ArrayFile("huge.npy", bytes(MOST_OF_ADDRESS + 1)))
    assert len(find(huge).data) == MOST_OF_ADDRESS + 1
    assert find(first) is None
    assert find(third) is None
    store(ArrayFile("small.npy", b"x"))
    assert find(huge) is None


def test_visitors_who_store_much_drop_their_own_files_and_nobody_else_s():
    def stored_by(visitor: str, *files: bytes) -> list[str]:
        def all_of_them() -> list[str]:
            work_for(visitor)
            return [store(ArrayFile("a.npy", data)) for data in files]

        return copy_context().run(all_of_them)

    (kept,) = stored_by("reader", b"what a reader chose")
    quarter = MOST_OF_ADDRESS // 4 - OVERHEAD
    flood = stored_by("stranger", *(bytes([n]) * quarter for n in range(8)))
    assert [find(key) is not None for key in flood] == [False] * 4 + [True] * 4
    for n in range(MOST // MOST_OF_ADDRESS + 2):
        assert find(stored_by(f"stranger {n}", f"{n}".encode() * quarter)[0])
    assert find(kept)
    assert sum(files.currsize for files in array_files._cached.values()) <= MOST


def test_an_array_is_the_one_of_its_inputs_name_or_the_only_one():
    out = io.BytesIO()
    np.savez(out, a=np.zeros(3), b=np.ones((2, 2), np.uint8))
    several = ArrayFile("two.npz", out.getvalue())
    assert several.words("b") == "uint8, 2 × 2"
    with pytest.raises(ArchiveError, match="must have the buffer's name, c"):
        several.array("c")
    np.testing.assert_array_equal(ArrayFile("x.npy", npy(np.arange(9))).array("any"), np.arange(9))
    picture = ArrayFile("p.png", encode(np.zeros((10, 8, 3), np.uint8), "PNG"))
    assert (picture.words("t"), picture.array("t").shape) == ("8 × 10", (10, 8, 3))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (npy(np.zeros(3, "V4")), "something other than numbers"),
        (b"\x89PNG and no more", "not a picture"),
        (zipped("zeros.npy", bytes(MOST_OF_INPUTS + 1)), "unpacks to more"),
    ],
)
def test_what_is_no_input_is_one_line(data, words):
    with pytest.raises(ArchiveError, match=words) as caught:
        ArrayFile("x.npy", data).words("data")
    assert "\n" not in str(caught.value)
