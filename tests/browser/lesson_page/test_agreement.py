"""Over all inputs of its grid, a section that records in the browser records there what it records on the server's device."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from helpers.agreement import rounding, script
from helpers.published import hosted
from splatscope.gpu.device import open_device
from splatscope.paths import LESSONS
from splatscope.recordings.packed import packed_recording
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.input_grid import input_grid
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.tracing.recording import record
from splatscope.web.runtime.component import plain

MOST_LEFT = 0.5  # of a section's inputs: those that only the server can make


def made(lesson: Lesson) -> dict[str, Any]:
    """Return what the server makes of a lesson's inputs, for `agreement` of tests/js/agreement.ts."""
    job = lesson.job()
    recording = record(open_device(), job, run_plain=False)
    packed = packed_recording(recording, [], job, recording.layouts, adapter="", adapter_words="")
    values = {name: value for name, value in lesson.param.values().items() if name != "name"}
    return plain(
        {
            "values": values,
            "facts": lesson.facts(RecordingQuery(recording, job, [])),
            "options": dict(lesson.figure.options),
            "recording": b64encode(packed.data).decode(),
        }
    )


@pytest.fixture(scope="module")
def empty(gpu_browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """An empty page, to which the browser gives its GPU."""
    folder = tmp_path_factory.mktemp("empty")
    (folder / "index.html").write_text("<!doctype html><title>Empty</title>", encoding="utf-8")
    with hosted(folder) as address, gpu_browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        yield page


@pytest.mark.parametrize("name", sorted(path.parent.name for path in LESSONS.glob("*/live.ts")))
def test_the_browser_records_what_the_server_records(empty, name):
    kind = find_lesson(name)
    grid = input_grid(kind)
    empty.reload()
    empty.evaluate(script(name))
    differences = [empty.evaluate("made => agreement(live, made)", made(kind(**inputs))) for inputs in grid]
    recorded = [difference for difference in differences if difference is not None]
    assert len(recorded) > (1 - MOST_LEFT) * len(grid)
    apart = {str(inputs): one["parted"] for inputs, one in zip(grid, differences, strict=True) if one and one["parted"]}
    assert not apart
    assert max(difference["most"] for difference in recorded) < rounding(name)
