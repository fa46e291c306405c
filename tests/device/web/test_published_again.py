"""A book of which recordings fail: they are tried again, and what fails again is told to readers and to who publishes."""

import asyncio
import json
from pathlib import Path

import pytest
import typer

from splatscope.cli import publish as command
from splatscope.web.lesson_page import lesson_page
from splatscope.web.publish import book
from splatscope.workers import worker_pool
from splatscope.workers.errors import JobTimeout

SECTION = "dispatch-ids"
WORDS = "The kernel ran longer than 60 s and was stopped. Look for a loop that does not end."


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Return `failing(times)`, which has each recording of two sets of inputs fail so often, and a list of the limits' factors."""
    few, record = book.input_grid, lesson_page.record_lesson
    monkeypatch.setattr(book, "input_grid", lambda kind: few(kind)[:2])
    monkeypatch.setattr(book, "linked_inputs", lambda name: [])

    def begin(times: int) -> list[float]:
        tried: dict[str, int] = {}
        factors: list[float] = []

        async def record_or_fail(pool, lesson, *args, **kwargs):
            key = str({name: value for name, value in lesson.param.values().items() if name != "name"})
            tried[key] = tried.get(key, 0) + 1
            factors.append(pool.limit_factor)
            if tried[key] <= times:
                raise JobTimeout(WORDS)
            return await record(pool, lesson, *args, **kwargs)

        monkeypatch.setattr(lesson_page, "record_lesson", record_or_fail)
        return factors

    return begin


def content(folder: Path, name: str) -> dict:
    """Return what a file of the book holds."""
    text = (folder / f"{name}.js").read_text(encoding="utf-8")
    return json.loads(text[len(f"bookFile({json.dumps(name)},") : -len(")\n")])


def test_what_fails_once_is_recorded_after_all_others_and_with_more_time(failing, tmp_path):
    factors, reports = failing(1), []

    async def write() -> book.Book:
        try:
            return await book.publish(tmp_path / "book", [SECTION], lambda progress, line: reports.append((progress.again, line)))
        finally:
            await worker_pool.close()

    made = asyncio.run(write())
    assert made.failed == []
    assert factors == [1, 1, book.MORE_TIME, book.MORE_TIME]
    assert worker_pool.limit_factor == 1
    lines = [(again, line.partition(":")[0]) for again, line in reports if line]
    assert lines == [(False, "home"), (False, "glossary"), (True, SECTION)]
    page = (tmp_path / "book" / "pages" / f"{SECTION}.js").read_text(encoding="utf-8")
    assert "recordings/" in page
    assert "could not be" not in page


def test_what_fails_twice_is_told_to_readers_in_their_words_and_last_to_who_publishes(failing, tmp_path, capsys):
    failing(9)
    with pytest.raises(typer.Exit) as ended:
        command.publish(tmp_path / "book", [SECTION])
    assert ended.value.exit_code == 1
    *before, first, second = capsys.readouterr().out.strip().split("\n")
    assert [line.partition(".")[0] for line in before if line.startswith(SECTION)] == [f"{SECTION}: 2 sets of inputs"]
    assert "3 of 3 pages, 4 of 4 recordings" in before[-3]
    assert before[-1].startswith("2 not recorded, though tried twice")
    assert first.startswith(f"?page={SECTION}, the figure: The kernel ran longer than 60 s and was stopped. Publish again when")
    assert second.startswith(f"?page={SECTION}&")
    page = content(tmp_path / "book", f"pages/{SECTION}")
    text = json.dumps(page)
    for words, _ in (book.MISSING[kind] for kind in (book.Stepper, book.Quiz, book.Claim)):
        assert words in text
    assert "60 s" not in text
    assert "loop that does not end" not in text
