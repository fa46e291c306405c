"""The model of a section: its parameters, the kernel of its figure, its quizzes and its experiments.

It is independent of the user interface. Its text is the text.md beside it (`textbook.markdown`), which names the methods:
`::: quiz NAME`, `::: claim NAME`, `::: show NAME`. All methods run on a worker.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import param

from splatscope.paths import LESSONS, shader
from splatscope.textbook.markdown import parse
from splatscope.textbook.query import RecordingQuery
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import PAGE_RECORDS, KernelJob


@dataclass(frozen=True)
class FigureSpec:
    """The initial state of a page's figure.

    Attributes:
        parts: the stepper's panes beside the drawing, of `web.stepper.stepper.PARTS`.
        thread: the thread that is chosen at first; -1 for that of each event.
        lockstep: whether the figure steps as if all threads executed each statement together.
        options: what drawing.js is given as `host.options`.
    """

    parts: tuple[str, ...] = ("source",)
    thread: int = -1
    lockstep: bool = False
    options: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True)
class ControlSpec:
    """How a parameter's control differs from the usual one: a slider, segments, a switch or a field for text.

    Attributes:
        kind: "number" makes a field of a slider; "menu" a menu of segments; "bars" draws a text of numbers as bars; "bits" makes a
            switch of each bit of a number; "hidden" leaves the parameter to the drawing.
        live: whether a slider sends its value while it is dragged.
        log: whether a slider is logarithmic.
        off, on: the words of a switch.
        count, low, high: how many bars, and the range of their whole numbers.
        parts: the names and widths of groups of bits, the highest first.
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


class Lesson(param.Parameterized):
    """A section's model. Its parameters are the page's controls.

    A change of a parameter that `job` reads brings a new recording. What a control moves is best a buffer or a uniform: then
    nothing is compiled.

    A method for a quiz takes the RecordingQuery and returns an Answer. A method for a claim takes an Experiment and returns a
    Verdict; one for a show takes an Experiment and returns one of `textbook.results`. Both run again when a parameter changes
    that `@param.depends` names, else once.
    """

    unit: ClassVar[str] = "event"  # what one step is called
    figure: ClassVar[FigureSpec] = FigureSpec()
    controls: ClassVar[dict[str, ControlSpec]] = {}  # by parameter, where its control is not the usual one
    grid: ClassVar[dict[str, tuple[Any, ...]]] = {}  # by parameter, the values that a published book has: see `textbook.grid`
    fix: ClassVar[dict[str, bool]] = {}  # parameter values that remove what the figure's recording finds: the fix that is offered

    def job(self) -> KernelJob:
        """Return the kernel of the page's figure, with its inputs."""
        raise NotImplementedError

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps of the recording at which → and ← stop, in the order that the figure shows; empty for all."""
        return []

    def opening(self, query: RecordingQuery) -> int:
        """Return the step at which the figure opens: the section's telling moment, above 0. By default the stop in the middle."""
        stops = self.stops(query)
        return stops[len(stops) // 2] if stops else max(1, len(query) // 2)

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return for each of `stops` a sentence on what has just happened and why, with `code` in backticks; empty for none.

        It stands over the transport and is spoken, so it has to be true of every recording that the controls can bring.
        """
        return []

    def conclusion(self, query: RecordingQuery) -> str:
        """Return what came out and what that means, in a sentence: the figure says it at its end, which is one more stop.

        Empty where the last of `sentences` says it. Like them, it has to be true of every recording.
        """
        return ""

    def legend(self, query: RecordingQuery) -> str:
        """Return how the drawing of this recording is read and where it opens, in place of the text of the page's `figure` block.

        Empty where that text fits the recording.
        """
        return ""

    def chosen(self, query: RecordingQuery) -> int:
        """Return the thread that is chosen when the figure opens; -1 for that of each event."""
        return self.figure.thread

    def findings(self, query: RecordingQuery) -> list[Finding]:
        """Return the findings that the figure shows: those of the checks. A section may know better accesses to show one by."""
        return query.findings

    def facts(self, query: RecordingQuery) -> Mapping[str, Any]:
        """Return what the drawing needs from the whole recording, as JSON types.

        A lesson with a drawing declares the shape as a TypedDict `Facts`.
        """
        return {}

    def kernel(self, name: str = "", **options: Any) -> KernelJob:
        """Return a job of the kernel NAME in the lesson's text; `options` are those of KernelJob. Raises KeyError."""
        # not STEM.slang: where a module of shaders/ is called like the section, the kernel could not import it
        return KernelJob(self.source(name), **{"file": f"{self.stem()}-page.slang", "records": PAGE_RECORDS} | options)

    @staticmethod
    def shader(file: str, **options: Any) -> KernelJob:
        """Return a job of an entry point of a shader that ships; `options` are those of KernelJob. Raises LookupError."""
        return KernelJob(shader(file).read_text(encoding="utf-8"), **{"file": file, "records": PAGE_RECORDS} | options)

    @classmethod
    def stem(cls) -> str:
        """Return the section's name, which is that of its folder and its page."""
        return cls.__module__.split(".")[-2]

    @classmethod
    def source(cls, name: str = "") -> str:
        """Return the source of the fence ```slang kernel NAME in the text. Raises KeyError."""
        return kernels_of(LESSONS / cls.stem() / "text.md")[name]


def edited(job: KernelJob, part: str, other: str) -> KernelJob:
    """Return a job whose source has another text in one place: what the reader sees, less an attribute or with a mistake in it.

    For sizes and switches there are link-time constants; this is for what Slang has no constants for.

    Raises:
        ValueError: the part is not in the source, or more than once.
    """
    if job.source.count(part) != 1:
        raise ValueError(f"{job.file} holds “{part.strip()}” {job.source.count(part)} times: a lesson changes it where it is once.")
    return replace(job, source=job.source.replace(part, other))


@cache
def kernels_of(path: Path) -> dict[str, str]:
    """Return the sources of the kernels in a lesson's text by name, "" for the one without."""
    blocks = parse(path.read_text(encoding="utf-8"))
    return {block.args[0]: f"{block.text}\n" for block in blocks if block.kind == "kernel"}
