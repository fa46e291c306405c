"""What outlives the server: written as a whole, private, bounded, and never a reason for a page to fail."""

import asyncio
import os
import stat
import time
from pathlib import Path

import pytest

from splatscope.web import durable_files
from splatscope.web.durable_files import KEPT_HOURS, DurableFiles

MOST, MOST_BYTES = 4, 1000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(durable_files, "EVERY", 0.0)
    return tmp_path / "splatscope" / "words"


@pytest.fixture
def files() -> DurableFiles[str]:
    return DurableFiles("words", str.encode, MOST, MOST_BYTES)


def written(files: DurableFiles[str], **contents: str) -> None:
    """Save words by key, each after the one before was written."""

    async def scenario() -> None:
        for key, words in contents.items():
            files.save(key, lambda words=words: words)
            await files._writing

    asyncio.run(scenario())


def test_another_server_reads_what_was_written_last(folder, files):
    written(files, key="one")
    written(files, key="two")
    later = DurableFiles("words", str.encode, MOST, MOST_BYTES)
    assert "key" in later
    assert later.read("key") == b"two"
    assert "another" not in later
    assert later.read("another") is None


def test_only_the_user_reads_them_and_no_name_tells_a_key(folder, files):
    written(files, secret="words")
    (file,) = folder.iterdir()
    assert "secret" not in file.name
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_of_many_changes_the_last_is_written(folder, files):
    asked = []

    async def scenario() -> None:
        for words in ("a", "b", "c"):
            files.save("key", lambda words=words: asked.append(words) or words)
        await files._writing

    asyncio.run(scenario())
    assert asked == ["c"]
    assert files.read("key") == b"c"


def test_what_is_due_is_written_when_the_server_stops(folder, files):
    async def scenario() -> None:
        files.save("key", lambda: "due")
        files.flush()

    asyncio.run(scenario())
    assert files.read("key") == b"due"


def test_the_oldest_of_too_many_and_of_too_large_ones_are_removed(folder, files):
    written(files, **{f"key{number}": "words" for number in range(MOST + 2)})
    assert ["key0" in files, "key1" in files, "key2" in files] == [False, False, True]
    written(files, large="x" * (MOST_BYTES - 4))
    assert [file.stat().st_size for file in folder.iterdir()] == [MOST_BYTES - 4]


@pytest.mark.parametrize(("hours", "stays"), [(KEPT_HOURS - 1, True), (KEPT_HOURS + 1, False), (-24, True)])
def test_what_nobody_has_written_for_long_is_removed_and_a_clock_may_jump(folder, files, hours, stays):
    written(files, old="words")
    (file,) = folder.iterdir()
    os.utime(file, (time.time() - 3600 * hours,) * 2)
    written(files, new="words")
    assert ("old" in files) == stays
    assert "new" in files


def test_a_file_that_cannot_be_written_leaves_the_one_before_and_one_line(folder, files, caplog, monkeypatch):
    written(files, key="before")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        written(files, key="after", other="after")
        assert not files.are_written
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [
        "What pages need after a restart of the server cannot be stored"
    ]
    assert files.read("key") == b"before"
    assert len(list(folder.iterdir())) == 1
    written(files, key="again")
    assert files.are_written
    assert files.read("key") == b"again"


def test_a_content_that_cannot_be_encoded_does_not_cost_the_others(folder, caplog):
    def encode(words: str) -> bytes:
        if words == "bad":
            raise KeyError("nobody")
        return words.encode()

    async def scenario() -> None:
        for words in ("bad", "good"):
            files.save(words, lambda words=words: words)
        await files._writing

    files = DurableFiles("words", encode, MOST, MOST_BYTES)
    asyncio.run(scenario())
    assert ("bad" in files, files.read("good"), files.are_written) == (False, b"good", False)
    assert "KeyError: 'nobody'" in caplog.text


def test_a_thread_that_is_late_replaces_nothing_newer(folder, files):
    async def scenario() -> None:
        files.save("key", lambda: "old")
        files.save("other", lambda: "old")
        late = files._take_due()
        files.save("key", lambda: "new")
        files.flush()
        files._write(late, ())

    asyncio.run(scenario())
    assert (files.read("key"), files.read("other")) == (b"new", b"old")


def test_what_is_held_stays_however_old_it_is(folder):
    files = DurableFiles("words", str.encode, MOST, MOST_BYTES, lambda: ["held", "missing"])
    written(files, held="words", old="words")
    for file in folder.iterdir():
        os.utime(file, (time.time() - 3600 * (KEPT_HOURS + 1),) * 2)
    written(files, new="words")
    assert ["held" in files, "old" in files, "new" in files] == [True, False, True]


def test_a_user_without_a_home_has_none(files, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    written(files, key="words")
    assert not files.are_written
    assert files.read("key") is None
    assert "key" not in files
    assert not list(tmp_path.iterdir())
