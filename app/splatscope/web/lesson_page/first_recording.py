"""The recording with which a section opens. It is opened before the page is built, and served as a file that browsers keep."""

from functools import lru_cache

from tornado.web import HTTPError, RequestHandler

from splatscope.services.lessons import LessonRecording, open_at_once, opened_at_once
from splatscope.textbook.contents import find_lesson, lesson_names, text_of
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.markdown import parse
from splatscope.web.assets import FOR_GOOD, send_whole


def quizzes(stem: str) -> list[str]:
    """Return the names of a section's quizzes, in order."""
    return list(_quizzes(text_of(stem)))


@lru_cache(64)
def _quizzes(text: str) -> tuple[str, ...]:
    return tuple(block.args[0] for block in parse(text) if block.kind == "quiz")


async def prepare(stem: str) -> LessonRecording | None:
    """Open the recording that ships for a section, once for all sessions. Return None if there is no such section or recording."""
    return await open_at_once(find_lesson(stem)(), quizzes(stem)) if stem in lesson_names() else None


def prepared(lesson: Lesson) -> LessonRecording | None:
    """Return what `prepare` has opened, or None if it was not called or the lesson has other inputs."""
    return opened_at_once(lesson, quizzes(lesson.stem()))


def address(stem: str, recording: LessonRecording) -> str:
    """Return the address of a recording that `prepare` has opened, relative to the page."""
    return f"recordings/{stem}?v={recording.packed.meta['recording']}"


class RecordingHandler(RequestHandler):
    """Sends the recording with which a section opens. It is compressed already."""

    async def get(self, stem: str) -> None:  # ty: ignore[incompatible-mutable-override] - Tornado declares a variable
        """Send the current shipped recording. Browsers keep it if it is the version that they asked for."""
        recording = await prepare(stem)
        if recording is None:
            raise HTTPError(404)
        version = self.get_query_argument("v", "")
        self.set_header("Cache-Control", FOR_GOOD if version == recording.packed.meta["recording"] else "no-cache")
        self.set_header("Content-Type", "application/octet-stream")
        await send_whole(self, recording.packed.data)
