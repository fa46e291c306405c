"""The model of a section: its parameters, the kernel of its figure, its quizzes and its experiments.

It is independent of the user interface. The section's text is in the text.md beside it (`textbook.markdown`), which refers to the
methods: `::: quiz NAME`, `::: claim NAME`, `::: show NAME`. All methods run on a worker.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import param

from splatscope.paths import lesson_folder, shader
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import PAGE_RECORDS, KernelJob

MAX_SIDE = 65_536  # pixels of a picture
PIXEL = ("picture", "at")  # the parameters of every lesson that name a pixel of a trained picture


@dataclass(frozen=True)
class FigureSpec:
    """The initial state of a page's figure.

    Attributes:
        parts: The stepper's panes beside the drawing, from `web.stepper.stepper.PARTS`.
        control: The parameter whose control is in view at first; the others are folded. "" if the drawing itself is handled.
        thread: The thread that is selected at first; -1 to follow the thread of each event.
        lockstep: Whether the figure steps as if all threads executed each statement together.
        options: The `host.options` of drawing.ts.
    """

    parts: tuple[str, ...] = ("source",)
    control: str = ""
    thread: int = -1
    lockstep: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ControlSpec:
    """How a parameter's control differs from the default: a slider, segments, a switch or a text field.

    Attributes:
        kind: "number" replaces a slider by a number field, "menu" replaces segments by a menu, "bars" draws a list of numbers as
            bars, "bits" shows a switch for each bit of a number, and "hidden" leaves the parameter to the drawing.
        live: Whether a slider sends its value while it is dragged.
        log: Whether a slider is logarithmic.
        off, on: The labels of a switch.
        count, low, high: The number of bars, and the range of their whole numbers.
        parts: The names and widths of groups of bits, the highest first.
    """

    kind: Literal["", "number", "menu", "bars", "bits", "hidden"] = ""
    live: bool = False
    log: bool = False
    off: str = "Off"
    on: str = "On"
    count: int = 0
    low: int = 0
    high: int = 0
    parts: tuple[tuple[str, int], ...] = ()


class PictureName(param.Parameter):
    """The name of a trained picture; "" for none. It has no control."""

    def __init__(self, default: str = "", **options: Any):
        super().__init__(default, **options)

    def _validate(self, val: Any) -> None:
        if not isinstance(val, str) or not re.fullmatch(r"|[a-z]+|[0-9a-f]{16}", val):
            raise ValueError("No such picture.")


class PixelOf(param.List):
    """[x, y] of a pixel of a trained picture; [] for none. It has no control."""

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        if val and not (len(val) == 2 and all(type(n) is int and 0 <= n < MAX_SIDE for n in val)):
            raise ValueError("No such pixel.")


class Lesson(param.Parameterized):
    """A section's model. Its parameters are the page's controls.

    A change of a parameter that `job` reads requires a new recording. Let it change a buffer or a uniform if possible, so that
    nothing has to be compiled.

    A method for a quiz takes the RecordingQuery and returns an Answer. A method for a claim takes an Experiment and returns a
    Verdict. A method for a show takes an Experiment and returns one of the classes in `textbook.results`. A claim or a show runs
    again when a parameter that its `@param.depends` names changes; without that it runs once.

    If `from_pixel` names the controls that still apply, the section can show a pixel of a trained picture in place of its own
    example: while `picture` is not "", `seen` is what the kernels did to the pixel `at`, for `job` to take its inputs from.
    """

    picture = PictureName()
    at = PixelOf(default=[])

    from_pixel: ClassVar[tuple[str, ...] | None] = None
    seen: SeenPixel | None = None
    unit: ClassVar[str] = "event"  # the name of one step
    figure: ClassVar[FigureSpec] = FigureSpec()
    controls: ClassVar[dict[str, ControlSpec]] = {}  # by parameter, for controls that differ from the default
    grid: ClassVar[dict[str, tuple[Any, ...]]] = {}  # by parameter, its values in a published book: see `textbook.input_grid`
    fix: ClassVar[dict[str, bool]] = {}  # the fix that is offered: parameter values that remove the findings of the figure

    def take(self, seen: SeenPixel) -> None:
        """Take a pixel of a trained picture in place of the section's own example; a section sets the parameters that follow."""
        self.seen = seen

    def job(self) -> KernelJob:
        """Return the kernel of the page's figure, with its inputs."""
        raise NotImplementedError

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps of the recording at which → and ← stop, in the figure's order; empty to stop at every step."""
        return []

    def opening(self, query: RecordingQuery) -> int:
        """Return the step at which the figure opens, above 0: the most instructive one. By default it is the middle stop."""
        stops = self.stops(query)
        return stops[len(stops) // 2] if stops else max(1, len(query) // 2)

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return a sentence for each of `stops` on what has just happened and why, with `code` in backticks; empty for none.

        It is shown above the transport and spoken, so it has to be true for every recording that the controls can produce.
        """
        return []

    def conclusion(self, query: RecordingQuery) -> str:
        """Return a sentence on the result and its meaning. The figure shows it at its end, which is an additional stop.

        It is empty if the last of `sentences` says so already. Like those, it has to be true for every recording.
        """
        return ""

    def legend(self, query: RecordingQuery) -> str:
        """Return how to read the drawing of this recording and where it opens, to replace the text of the page's `figure` block.

        It is empty if that text fits the recording.
        """
        return ""

    def chosen(self, query: RecordingQuery) -> int:
        """Return the thread that is selected when the figure opens; -1 to follow the thread of each event."""
        return self.figure.thread

    def findings(self, query: RecordingQuery) -> list[Finding]:
        """Return the findings that the figure shows, by default those of the checks. A section may choose more telling accesses."""
        return query.findings

    def facts(self, query: RecordingQuery) -> Mapping[str, Any]:
        """Return the facts that the drawing needs from the whole recording, as JSON types.

        A lesson with a drawing declares the shape as a TypedDict `Facts`.
        """
        return {}

    def kernel(self, name: str = "", *, records: int = PAGE_RECORDS, **options: Any) -> KernelJob:
        """Return a job of the lesson's kernel NAME; `options` are those of KernelJob. Raises KeyError."""
        # not STEM.slang: if a module of shaders/ has the section's name, the kernel could not import it
        return KernelJob(self.source(name), f"{self.stem()}-page.slang", records=records, **options)

    @staticmethod
    def shader(file: str, *, records: int = PAGE_RECORDS, **options: Any) -> KernelJob:
        """Return a job of an entry point in one of the app's shaders; `options` are those of KernelJob. Raises LookupError."""
        return KernelJob(shader(file).read_text(encoding="utf-8"), file, records=records, **options)

    @classmethod
    def stem(cls) -> str:
        """Return the section's name, which is also the name of its folder and its page."""
        return cls.__module__.split(".")[-2]

    @classmethod
    def source(cls, name: str = "") -> str:
        """Return the source of the kernel NAME, see `kernels_of`. Raises KeyError."""
        return kernels_of(cls.stem())[name]


def edited(job: KernelJob, part: str, other: str) -> KernelJob:
    """Return a job with one part of its source replaced, such as the quoted kernel without an attribute or with a mistake in it.

    Use link-time constants for sizes and switches; this is for changes that constants cannot express.

    Raises:
        ValueError: The part does not occur in the source exactly once.
    """
    if job.source.count(part) != 1:
        raise ValueError(f"{job.file} holds “{part.strip()}” {job.source.count(part)} times: a lesson changes it where it is once.")
    return replace(job, source=job.source.replace(part, other))


def kernels_of(stem: str) -> dict[str, str]:
    """Return the sources of a section's kernels by name: first "" for kernel.slang, its figure's; then NAME for NAME.slang."""
    folder = lesson_folder(stem)
    return {name: text_in(file) for name, file in _kernel_files(folder, folder.stat().st_mtime_ns)}


@lru_cache(64)
def _kernel_files(folder: Path, _changed: int) -> tuple[tuple[str, Path], ...]:
    """Return the files of a section's kernels with their names. A folder changes when a file comes or goes."""
    files = sorted(folder.glob("*.slang"), key=lambda file: (file.stem != "kernel", file.stem))
    return tuple((file.stem if file.stem != "kernel" else "", file) for file in files)


def text_in(file: Path) -> str:
    """Return a file's text, which is read again only once it has changed. Raises FileNotFoundError."""
    return _text(file, file.stat().st_mtime_ns)


@lru_cache(256)
def _text(file: Path, _changed: int) -> str:
    return file.read_text(encoding="utf-8")
