"""Folders for what is compiled: the same for the same content, and never shared by two who compile it at once."""

import os

import pytest

from splatscope.tracing.temporary_folder import LEFT_BEHIND, folder_for


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_the_same_content_has_the_same_folder_and_other_content_another():
    with folder_for("a", {"b": 1}) as first:
        (first / "file").write_text("1")
    assert not first.exists()
    with folder_for("a", {"b": 1}) as second:
        assert second == first
        assert list(second.iterdir()) == []
    with folder_for("a", {"b": 2}) as other:
        assert other != first


def test_a_folder_is_never_shared():
    with folder_for("a") as first, folder_for("a") as second:
        assert first != second
    with folder_for("a") as third:
        assert third == first


def test_what_a_killed_process_left_behind_is_in_the_way_for_an_hour_at_most():
    with folder_for("a") as first:
        pass
    first.mkdir()
    with folder_for("a") as second:
        assert second != first
    assert first.exists()
    made = first.stat().st_mtime - LEFT_BEHIND - 60
    os.utime(first, (made, made))
    with folder_for("a") as third:
        assert third != first
    with folder_for("a") as fourth:
        assert fourth == first
