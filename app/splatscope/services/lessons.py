"""Lessons on the pool: the recording of a page's figure with what is asked about it, and the things its methods try out."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from splatscope.gpu.device import open_device
from splatscope.recordings.packed import PackedRecording, packed_recording
from splatscope.recordings.shipped import device_of, open_recorded
from splatscope.services.record_and_pack import record_and_pack
from splatscope.services.recordings import MOST_KEPT, RECORD_LIMIT
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer
from splatscope.tracing.checks.sanitize import sanitize
from splatscope.workers.pool import Pool
from splatscope.workers.single_flight import SingleFlightCache

TRY_LIMIT = 120.0  # seconds that a claim or a show may take: its kernels may have to be compiled
MOST_TRIED = 512


@dataclass(frozen=True)
class LessonRequest:
    """A lesson as it travels to a worker: its stem and its parameters."""

    stem: str
    values: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, lesson: Lesson) -> "LessonRequest":
        values = lesson.param.values()
        return cls(lesson.stem(), tuple((name, values[name]) for name in sorted(values) if name != "name"))

    def lesson(self) -> Lesson:
        return find_lesson(self.stem)(**dict(self.values))

    def key(self, *more: str) -> str:
        where = os.environ.get("SPLATSCOPE_DEVICE", ""), os.environ.get("SPLATSCOPE_SCHEDULER", "")
        return hashlib.sha256(json.dumps([self.stem, self.values, more, where], default=str).encode()).hexdigest()


@dataclass(frozen=True)
class LessonRecording:
    """What the page of a lesson shows of one recording. `answers` are by the names of the quizzes.

    `elsewhere` is another device on which the lesson's first inputs were recorded, "" for none.
    """

    packed: PackedRecording
    stops: list[int] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    elsewhere: str = ""


async def show(
    pool: Pool, lesson: Lesson, quizzes: Sequence[str], on_progress: Callable[[int], None] | None = None
) -> LessonRecording:
    """Record the lesson's kernel and ask its quizzes of the recording. The same inputs are recorded once for all who ask.

    `on_progress` hears what the recording is at, see tracing.stages.

    Raises:
        WorkerError: the worker was lost or ran too long; ValueError: the inputs do not fit.
    """
    asked = LessonRequest.of(lesson)
    return await _shown.once(
        asked.key("", *quizzes), lambda: pool.run(_show, asked, tuple(quizzes), limit=RECORD_LIMIT, on_progress=on_progress)
    )


async def show_recorded(pool: Pool, lesson: type[Lesson], quizzes: Sequence[str]) -> LessonRecording:
    """The same of the recording that ships with the app, made elsewhere of the lesson's first inputs.

    Raises:
        WorkerError: the worker was lost or ran too long; OSError: there is none.
    """
    asked = LessonRequest.of(lesson())
    return await _shown.once(
        asked.key("elsewhere", *quizzes), lambda: pool.run(_show_recorded, asked, tuple(quizzes), limit=RECORD_LIMIT)
    )


async def attempt(pool: Pool, lesson: Lesson, method: str, *, anew: bool = False) -> Any:
    """What the lesson's method of this name finds out, given the parameters it depends on. SingleFlightCache, unless `anew`."""
    asked = LessonRequest.of(lesson)
    needed = set(depends(lesson, method))
    asked = LessonRequest(asked.stem, tuple((name, value) for name, value in asked.values if name in needed))
    if anew:
        return await pool.run(_attempt, asked, method, limit=TRY_LIMIT)
    return await _tried.once(asked.key(method), lambda: pool.run(_attempt, asked, method, limit=TRY_LIMIT))


def depends(lesson: Lesson, method: str) -> list[str]:
    """The parameters that a method names by `@param.depends`."""
    return list(getattr(getattr(type(lesson), method), "_dinfo", {}).get("dependencies", ()))


_shown = SingleFlightCache(MOST_KEPT, lambda shown: len(shown.packed.data))
_tried = SingleFlightCache(MOST_TRIED)


# What follows runs on a worker.


def _show(asked: LessonRequest, quizzes: tuple[str, ...]) -> LessonRecording:
    lesson = asked.lesson()
    job = lesson.job()
    recording, findings, packed = record_and_pack(open_device(), job)
    if recording is None:
        return LessonRecording(packed)
    elsewhere = device_of(asked.stem, recording.trace.header["sources"])
    return _shown_of(lesson, RecordingQuery(recording, job, findings), packed, quizzes, elsewhere)


def _show_recorded(asked: LessonRequest, quizzes: tuple[str, ...]) -> LessonRecording:
    lesson = asked.lesson()
    opened = open_recorded(asked.stem, lesson.job())
    findings = sanitize(opened.recording.trace)
    query = RecordingQuery(opened.recording, opened.job, findings)
    packed = packed_recording(opened.recording, findings, opened.job, opened.layouts, **opened.device)
    return _shown_of(lesson, query, packed, quizzes, packed.meta["adapter"])


def _shown_of(
    lesson: Lesson, query: RecordingQuery, packed: PackedRecording, quizzes: tuple[str, ...], elsewhere: str
) -> LessonRecording:
    answers = {name: getattr(lesson, name)(query) for name in quizzes}
    return LessonRecording(packed, lesson.stops(query), lesson.facts(query), answers, elsewhere)


def _attempt(asked: LessonRequest, method: str) -> Any:
    return getattr(asked.lesson(), method)(Experiment(open_device()))
