"""A section of the book as a model: what its page lets one change, the kernel it steps, what it asks and what it tries out.

It knows no UI. Its words are the Markdown file beside it (`ui/prose.py`), which names the methods below where they belong:
`::: quiz NAME`, `::: claim NAME`, `::: show NAME`. All methods run on a worker.
"""

from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import param

from splatscope.paths import LESSONS, shader
from splatscope.textbook.markdown import parse
from splatscope.textbook.query import RecordingQuery
from splatscope.tracing.job import KernelJob

RECORDS = 400_000  # of a page's recording: 6 MB on the device


class Lesson(param.Parameterized):
    """A section's model. Its parameters are the page's controls.

    A change of a parameter that `job` reads brings a new recording. What a control moves is best a buffer or a uniform: then
    nothing is compiled.

    A method for a quiz takes the RecordingQuery and returns an Answer. A method for a claim takes an Experiment and returns a
    Verdict; one for a show takes an Experiment and returns one of `textbook.results`. Both run again when a parameter changes
    that `@param.depends` names, else once.
    """

    unit: ClassVar[str] = "event"  # what one step is called
    figure: ClassVar[dict[str, Any]] = {}  # parameters of the Stepper, and the drawing's `options`
    controls: ClassVar[dict[str, dict[str, Any]]] = {}  # by parameter, what ui.controls makes differently of it

    mends: ClassVar[dict[str, Any]] = {}  # parameters that take away what the figure's recording finds: the fix that is offered

    def job(self) -> KernelJob:
        """The kernel that the page's figure steps, with its inputs."""
        raise NotImplementedError

    def stops(self, query: RecordingQuery) -> list[int]:
        """The steps at which → and ← stop, sorted; every event if empty."""
        return []

    def facts(self, query: RecordingQuery) -> dict[str, Any]:
        """What the drawing wants to know of the whole recording, as plain numbers and lists."""
        return {}

    def kernel(self, name: str = "", **options: Any) -> KernelJob:
        """A job of the kernel NAME in the lesson's text; `options` are those of KernelJob."""
        # not STEM.slang: where a module of shaders/ is called like the section, the kernel could not import it
        return KernelJob(self.source(name), **{"file": f"{self.stem()}-page.slang", "records": RECORDS} | options)

    @staticmethod
    def shader(file: str, **options: Any) -> KernelJob:
        """A job of an entry point of shaders/FILE as it stands there; `options` are those of KernelJob."""
        return KernelJob(shader(file).read_text(encoding="utf-8"), **{"file": file, "records": RECORDS} | options)

    @classmethod
    def stem(cls) -> str:
        """The section's name, that of its folder and of its page."""
        return cls.__module__.split(".")[-2]

    @classmethod
    def source(cls, name: str = "") -> str:
        """The Slang source that stands in the text as ```slang kernel NAME. Raises KeyError where there is none."""
        return kernels_of(LESSONS / cls.stem() / "text.md")[name]


@cache
def kernels_of(path: Path) -> dict[str, str]:
    """Return the sources of the kernels in a lesson's text by name, "" for the one without."""
    blocks = parse(path.read_text(encoding="utf-8"))
    return {block.args[0]: f"{block.text}\n" for block in blocks if block.kind == "kernel"}
