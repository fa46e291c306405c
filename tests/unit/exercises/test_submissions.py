"""Submissions from folders and archives: nobody's file stops the others, and nothing is unpacked beyond its bound."""

import zipfile
from pathlib import Path

from splatscope.exercises.submissions import submissions_in

KERNEL = "// a kernel\n"


def test_folders_and_archives_are_read_in_order(tmp_path: Path):
    for name in ("ben/turn-a-row.slang", "ben/later/map.slang", "anna/turn-a-row.slang"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(KERNEL)
    with zipfile.ZipFile(tmp_path / "cleo.zip", "w") as archive:
        archive.writestr("work/turn-a-row.slang", KERNEL)
        archive.writestr("work/notes.txt", "no kernel")
    found = [(one.student, one.task, one.source, one.wrong) for one in submissions_in(tmp_path)]
    assert found == [
        ("anna", "turn-a-row", KERNEL, ""),
        ("ben", "map", KERNEL, ""),
        ("ben", "turn-a-row", KERNEL, ""),
        ("cleo", "turn-a-row", KERNEL, ""),
    ]


def test_what_cannot_be_read_is_a_submission_that_says_why(tmp_path: Path):
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna" / "map.slang").write_bytes(b"\xff\xfe\x00broken\x80")
    (tmp_path / "anna" / "zip.slang").write_text("x" * 70_000)
    (tmp_path / "anna" / "away.slang").symlink_to("/etc/passwd")
    (tmp_path / "ben.zip").write_bytes(b"PK\x03\x04 this is none")
    found = {(one.student, one.task): one for one in submissions_in(tmp_path)}
    assert found["anna", "map"].wrong == "The file is not text in UTF-8."
    assert found["anna", "zip"].wrong == "The file has more than 65,536 bytes."
    assert ("anna", "away") not in found, "a link may lead anywhere"
    assert found["ben", ""].wrong.startswith("ben.zip cannot be unpacked")


def test_an_archive_that_would_grow_without_end_is_read_to_its_bound(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "anna.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("map.slang", b"0" * 200_000_000)
    (one,) = submissions_in(tmp_path)
    assert one.wrong == "The file has more than 65,536 bytes."
    assert one.source == ""


def test_names_are_printable_and_deep_folders_end(tmp_path: Path):
    folder = tmp_path / "eve\n\x1b[31m\udcff"
    deep = folder.joinpath(*["d"] * 40)
    deep.mkdir(parents=True)
    (folder / "a\r\u202eb.slang").write_text(KERNEL)
    (deep / "too-deep.slang").write_text(KERNEL)
    (folder / "d" / "around").symlink_to(folder)
    found = [(one.student, one.task, one.source) for one in submissions_in(tmp_path)]
    assert found == [(r"eve\n\x1b[31m\udcff", r"a\r\u202eb", KERNEL)]
