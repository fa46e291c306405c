"""Run lessons on the pool: record a page's figure, answer its quizzes, and run its experiments."""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from splatscope.gpu.device import open_device
from splatscope.recordings.packed import PackedRecording, packed_recording
from splatscope.recordings.shipped import Shipped, device_of, open_current, open_recorded
from splatscope.recordings.untrusted import Opened
from splatscope.services import pictures
from splatscope.services.cache_key import recording_key
from splatscope.services.memory_size import memory_size
from splatscope.services.record_and_pack import record_and_pack
from splatscope.services.recordings import MAX_CACHED, RECORD_LIMIT
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import PIXEL, Lesson
from splatscope.textbook.pixel import SAMPLE, PixelFacts, TrainedPicture, facts_of, sample_picture, see_pixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Result, Verdict
from splatscope.tracing import checks
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.recording import Recording
from splatscope.workers.pool import Pool
from splatscope.workers.single_flight import SingleFlightCache

EXPERIMENT_LIMIT = 120.0  # seconds for a claim or a show, whose kernels may have to be compiled
MOST_RESULTS = 512


@dataclass(frozen=True)
class LessonRequest:
    """A lesson as sent to a worker: its name, its parameters, and the picture that they name, unless it ships."""

    stem: str
    values: tuple[tuple[str, Any], ...]
    picture: TrainedPicture | None = field(default=None, compare=False)  # its name is among the values

    @classmethod
    def of(cls, lesson: Lesson, names: Collection[str] | None = None) -> "LessonRequest":
        """Return the request for a lesson with the parameters `names`, by default all of them."""
        values = lesson.param.values()
        unused = {"name"} if lesson.from_pixel is not None else {"name", *PIXEL}
        names = sorted({*(values if names is None else names)} - unused)
        return cls(lesson.stem(), tuple((name, values[name]) for name in names))

    def with_picture(self) -> "LessonRequest":
        """Return the request with the picture that it names. Raises PictureGoneError."""
        name = dict(self.values).get("picture", "")
        return self if name in ("", SAMPLE) else replace(self, picture=pictures.find(name))

    def lesson(self) -> Lesson:
        """Return a lesson with these parameters, without what was seen of its pixel."""
        return find_lesson(self.stem)(**dict(self.values))

    def lesson_on(self, experiment: Experiment) -> Lesson:
        """Return a lesson with these parameters, on a worker: what the kernels do to its pixel is seen there.

        Raises:
            ValueError: The picture has no such pixel, or nothing is there to see.
        """
        lesson = self.lesson()
        if lesson.picture:
            lesson.take(see_pixel(experiment, self.picture or sample_picture(), (lesson.at[0], lesson.at[1])))
        return lesson

    def key(self, *more: str) -> str:
        """Return the cache key of one of the lesson's results on the workers' device; `more` distinguishes the results."""
        environment = os.environ.get("SPLATSCOPE_DEVICE", ""), os.environ.get("SPLATSCOPE_SCHEDULER", "")
        return hashlib.sha256(json.dumps([self.stem, self.values, more, environment], default=str).encode()).hexdigest()


@dataclass(frozen=True)
class LessonRecording:
    """A recording of a lesson's figure, with everything that its page shows about it.

    Attributes:
        packed: The recording in the form that the browser reads.
        stops: See `Lesson.stops`; if the lesson has a conclusion, the last one is the end of the recording.
        facts: See `Lesson.facts`.
        answers: Answers by quiz name.
        shipped_from: The GPU that made the shipped recording for the lesson's default inputs; "" if there is none.
        opening: See `Lesson.opening`.
        sentences: See `Lesson.sentences` and `Lesson.conclusion`; as many as there are stops, or none.
        legend: See `Lesson.legend`.
        thread: See `Lesson.chosen`.
    """

    packed: PackedRecording
    stops: list[int] = field(default_factory=list)
    facts: Mapping[str, Any] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    shipped_from: str = ""
    opening: int = 0
    sentences: list[str] = field(default_factory=list)
    legend: str = ""
    thread: int = -1


async def record_lesson(
    pool: Pool,
    lesson: Lesson,
    quizzes: Sequence[str],
    on_progress: Callable[[int], None] | None = None,
    *,
    background: bool = False,
) -> LessonRecording:
    """Record the lesson's kernel and answer its quizzes. Equal inputs are recorded once for all sessions.

    `on_progress` is called with each stage that the recording reaches, see `tracing.progress`. In the `background`, all other jobs
    go first.

    Raises:
        WorkerError: The worker was lost or took too long.
        ValueError: The inputs do not fit the kernel, or the lesson's picture is not here any more.
    """
    request = LessonRequest.of(lesson)
    return await _recordings.get(
        request.key("", *quizzes),
        lambda: pool.run(
            _record,
            request.with_picture(),
            tuple(quizzes),
            limit=RECORD_LIMIT,
            background=background,
            on_progress=on_progress,
            shipped=True,
        ),
    )


async def open_shipped(pool: Pool, lesson: type[Lesson], quizzes: Sequence[str]) -> LessonRecording:
    """Open the recording that ships for the lesson's default inputs, made on another device, and answer its quizzes.

    Raises:
        WorkerError: The worker was lost or took too long.
        OSError: There is no such recording.
    """
    request = LessonRequest.of(lesson())
    return await _recordings.get(
        request.key("elsewhere", *quizzes),
        lambda: pool.run(_open_shipped, request, tuple(quizzes), limit=RECORD_LIMIT, shipped=True),
    )


async def open_at_once(lesson: Lesson, quizzes: Sequence[str]) -> LessonRecording | None:
    """Open the recording that ships for a lesson's default inputs, without a worker and within a fraction of a second.

    Return None if the lesson has other inputs, or if no up-to-date recording ships. If two ship, open the one from a software
    device: on most machines, a worker is going to make exactly that recording.
    """
    request = LessonRequest.of(lesson)
    if request != LessonRequest.of(type(lesson)()):
        return None
    return await _at_once.get(request.key(*quizzes), lambda: asyncio.to_thread(_open_at_once, request, tuple(quizzes)))


def opened_at_once(lesson: Lesson, quizzes: Sequence[str]) -> LessonRecording | None:
    """Return the cached result of `open_at_once` for these inputs, or None if there is none yet."""
    return _at_once.find(LessonRequest.of(lesson).key(*quizzes))


async def run_experiment(pool: Pool, lesson: Lesson, method: str, *, anew: bool = False) -> Verdict | Result:
    """Run a method of the lesson on a worker, with the parameters it depends on. The result comes from a cache unless `anew`.

    Recordings go first, since readers wait for the figure. Readers who run the same experiment `anew` at the same time share a run.

    Raises:
        WorkerError: The worker was lost or took too long.
        CompileError: A kernel does not compile.
        ValueError: The inputs do not fit.
    """
    names = dependencies(lesson, method)  # what a method names may come from a pixel of a trained picture
    request = LessonRequest.of(lesson, names | {*PIXEL} if names else names)
    return await (_anew if anew else _results).get(
        request.key(method),
        lambda: pool.run(_run_experiment, request.with_picture(), method, limit=EXPERIMENT_LIMIT, background=True, shipped=True),
    )


async def pixel_facts(pool: Pool, name: str, at: tuple[int, int]) -> PixelFacts:
    """Return what the whole program does to a pixel of the picture of this name.

    Raises:
        ValueError: The picture is not here any more, has no such pixel, or nothing is there to see.
        WorkerError: The worker was lost or took too long.
    """
    picture = None if name == SAMPLE else pictures.find(name)
    return await _results.get(
        f"pixel {name} {at}", lambda: pool.run(_pixel_facts, picture, at, limit=EXPERIMENT_LIMIT, background=True, shipped=True)
    )


def dependencies(lesson: Lesson, method: str) -> set[str]:
    """Return the parameters that a method names in `@param.depends`; an empty set if it names none."""
    names = {dependency.name for dependency in lesson.param.method_dependencies(method)}
    return set() if "name" in names else names  # for a method that names none, param returns all, including `name`


# Cached recordings are measured in full: what a page shows about one may be larger than what the browser steps through.
_recordings = SingleFlightCache(MAX_CACHED, memory_size)
_at_once = SingleFlightCache(MAX_CACHED)
_results = SingleFlightCache(MOST_RESULTS)
_anew = SingleFlightCache(0)  # keeps nothing


# The rest of this module runs on a worker. Opening a recording needs no device and may also run in a thread of the page process.


def _pixel_facts(picture: TrainedPicture | None, at: tuple[int, int]) -> PixelFacts:
    return facts_of(see_pixel(Experiment(open_device()), picture or sample_picture(), at))


def _record(request: LessonRequest, quizzes: tuple[str, ...]) -> LessonRecording:
    lesson = request.lesson_on(Experiment(open_device()))
    job = lesson.job()

    def shown(recording: Recording, findings: list[Finding]) -> list[Finding]:
        return lesson.findings(RecordingQuery(recording, job, findings))

    recording, findings, packed = record_and_pack(open_device(), job, shown=shown)
    if recording is None:
        return LessonRecording(packed)
    shipped_from = device_of(request.stem, recording.trace.info.sources)
    return _with_answers(lesson, RecordingQuery(recording, job, findings), packed, quizzes, shipped_from)


def _open_at_once(request: LessonRequest, quizzes: tuple[str, ...]) -> LessonRecording | None:
    lesson = request.lesson()
    job = lesson.job()
    for shipped in ("software", "gpu"):
        if opened := open_current(request.stem, job, shipped):
            return _of_shipped(lesson, opened, quizzes, shipped)
    return None


def _open_shipped(request: LessonRequest, quizzes: tuple[str, ...], shipped: Shipped = "gpu") -> LessonRecording:
    lesson = request.lesson()
    return _of_shipped(lesson, open_recorded(request.stem, lesson.job(), shipped), quizzes, shipped)


def _of_shipped(lesson: Lesson, opened: Opened, quizzes: tuple[str, ...], shipped: Shipped) -> LessonRecording:
    findings = checks.find(opened.recording.trace)
    query = RecordingQuery(opened.recording, opened.job, findings)
    key = recording_key(opened.job)  # equal to the key that this device's own recording will have
    packed = packed_recording(
        opened.recording, lesson.findings(query), opened.job, opened.layouts, key=key, uniforms=None, **opened.device
    )
    shipped_from = packed.meta["adapter"] if shipped == "gpu" else device_of(lesson.stem(), opened.recording.trace.info.sources)
    return _with_answers(lesson, query, packed, quizzes, shipped_from)


def _with_answers(
    lesson: Lesson, query: RecordingQuery, packed: PackedRecording, quizzes: tuple[str, ...], shipped_from: str
) -> LessonRecording:
    stops, sentences = lesson.stops(query), lesson.sentences(query)
    answers = {name: _at_stop(getattr(lesson, name)(query), stops) for name in quizzes}
    if sentences and len(sentences) != len(stops):
        raise ValueError(f"lessons/{lesson.stem()}/lesson.py has {len(sentences)} sentences for {len(stops)} stops")
    if conclusion := lesson.conclusion(query):
        stops, sentences = [*stops, len(query)], [*sentences, conclusion]
    shows = {"opening": lesson.opening(query), "legend": lesson.legend(query), "thread": lesson.chosen(query)}
    return LessonRecording(packed, stops, lesson.facts(query), answers, shipped_from, sentences=sentences, **shows)


def _at_stop(answer: Answer, stops: list[int]) -> Answer:
    """Return an answer that leads to the first stop which includes its step: there the figure says what happened."""
    later = [stop for stop in stops if stop >= answer.step]
    return replace(answer, step=min(later)) if answer.step and later else answer


def _run_experiment(request: LessonRequest, method: str) -> Verdict | Result:
    experiment = Experiment(open_device())
    return getattr(request.lesson_on(experiment), method)(experiment)
