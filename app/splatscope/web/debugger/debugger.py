"""The debugger page: write a kernel, set its inputs, record it, step through it, compare it with the previous run."""

import asyncio
import itertools
import logging
from typing import Any, NamedTuple, TypedDict

import param

from splatscope.gpu.diagnostics import DiagnosticDict
from splatscope.services.drafts.draft import Draft, PublicInterface
from splatscope.services.drafts.inputs import FILLS
from splatscope.services.drafts.texture_inputs import TEXTURE_FILLS
from splatscope.services.sandbox_jobs import Open
from splatscope.web.background import begin
from splatscope.web.compare.compare import Compare
from splatscope.web.debugger.files import Files
from splatscope.web.debugger.first_recording import draft_of
from splatscope.web.debugger.page_protocol import Arrival
from splatscope.web.debugger.run_history import RunHistory
from splatscope.web.examples.example import Example
from splatscope.web.examples.gallery import BY_NAME, EXAMPLES, GROUPS
from splatscope.web.runtime.component import Child, Component, Maybe, Typed
from splatscope.web.runtime.receivers import receives
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.stepper.keys import DEBUGGER_KEYS, KEYS
from splatscope.web.stepper.stepper import Stepper
from splatscope.workers.sandbox.source_filter import KINDS, MOST_BYTES, MOST_DEPTH, MOST_FILES, MOST_NAME, MOST_TOGETHER


class Limits(TypedDict):
    """The limits of a project, which `source_filter` enforces.

    Attributes:
        bytes: Of a file.
        together: Bytes of all files.
        name: Characters of a path.
        depth: Folders of a path.
        kinds: File extensions of sources.
    """

    files: int
    bytes: int
    together: int
    name: int
    depth: int
    kinds: list[str]


class PublicExample(NamedTuple):
    """An example in the list, and whether it has a fault."""

    name: str
    title: str
    about: str
    broken: bool


LIMITS: Limits = {
    "files": MOST_FILES,
    "bytes": MOST_BYTES,
    "together": MOST_TOGETHER,
    "name": MOST_NAME,
    "depth": MOST_DEPTH,
    "kinds": list(KINDS),
}
# Shown until the scripts have run. Only they know the source, because some readers have their own.
FIRST_WORDS = """<div class="reading-first words-first">
<p>You will see which line each thread is at, what every variable and memory cell holds, and when each thread waits.</p>
<div class="quote"><p>Opening the kernel …</p></div></div>"""
log = logging.getLogger(__name__)
_kernel_numbers = itertools.count(1)  # for kernels without a name


class DebugBar(Component):
    """The debugger's part of the top bar: the device, the views, Open, Save, Run.

    In the browser it exchanges events on `window` with the workbench.
    """


class Debugger(Component):
    """The editor with its inputs, the stepper, and two recordings side by side; one of the three is shown at a time.

    The browser holds the draft and sends it to be checked, compiled and recorded. `opened` puts a source into the editor.
    `interface` lists the entry points, buffers and uniforms that the compiler found, for the widgets.
    """

    opened = Maybe(Draft, doc="The draft last put into the editor")
    examples = Typed(list[tuple[str, list[PublicExample]]], default=[], doc="Groups of examples with their titles")
    fills = param.List(default=list(FILLS), item_type=str, doc="Ways to fill a buffer")
    texture_fills = param.List(default=list(TEXTURE_FILLS), item_type=str, doc="Ways to fill a texture")
    interface = Maybe(PublicInterface, doc="What the compiler found in the source last compiled")
    left_open = Maybe(Open, doc="What the source leaves open")
    diagnostics = Typed(list[DiagnosticDict], default=[], doc="Those of the source")
    error = param.String(default="", doc="The problem with the source or an input, in one line")
    checked = param.Integer(default=0, doc="Counts compilations, so that the browser is notified of each")
    limits = Typed(Limits, default=LIMITS, doc="The limits of a project")
    adapters = param.List(default=[], item_type=str, doc="Names of the devices, if there are two or more to choose from")
    pair = param.List(default=[], item_type=str, doc="Names of the two recordings that can be shown side by side")
    notice = param.String(default="", doc="The effect of a fix, in one line")
    arrival = Typed(Arrival, default={}, doc="The result of the last upload")
    file = param.Bytes(default=b"", doc="The file to save")
    file_name = param.String(default="")
    saved = param.Integer(default=0, doc="Counts files, so that the browser is notified of each")
    stepper = Child(doc="The stepper")
    compare = Child(doc="Two recordings side by side")

    def __init__(self, **params: Any):
        super().__init__(
            stepper=Stepper(),
            compare=Compare(),
            examples=[(title, [(e.name, e.title, e.about, bool(e.fixes)) for e in group]) for title, group in GROUPS],
            **params,
        )
        self.stepper.on_fix = self._fix
        self.runs = RunHistory(self)
        self.files = Files(self)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def close(self) -> None:
        """Cancel all running tasks."""
        for task in self._tasks.values():
            task.cancel()
        self.files.close()
        self.stepper.close()

    @receives("open")
    def _open_example(self, example: str) -> None:
        self._open(BY_NAME.get(example, EXAMPLES[0]))

    @receives("run")
    def _run_draft(self, message: dict[str, Any], example: str = "", same: bool = False) -> None:
        self.runs.example = BY_NAME.get(example)
        if not same:
            self.runs.begin_kernel(example or f"kernel {next(_kernel_numbers)}")
        self.begin("run", self.runs.run(message))

    @receives("check")
    def _check(self, message: dict[str, Any]) -> None:
        self.begin("check", self.runs.check(message))

    @receives("compare")
    def _compare(self) -> None:
        self.runs.side_by_side()

    @receives("save")
    def _save(self, what: str, message: dict[str, Any]) -> None:
        self.begin("save", self.files.save(what, message))

    @receives("chunk")
    def _take(self, message: dict[str, Any]) -> None:
        self.files.take(message)

    def begin(self, kind: str, work: Any) -> None:
        """Start `work` and cancel earlier work of the same kind. A run also cancels what was begun for the one before."""
        for name in (kind, "check", "fix") if kind == "run" else (kind,):
            if name in self._tasks:
                self._tasks.pop(name).cancel()
        self._tasks[kind] = begin(work, self._guard)

    async def _guard(self, work: Any) -> None:
        try:
            await work
        except Exception as error:  # any error that a kernel causes is reported to its author, and the page must continue
            log.exception("The debugger failed")
            words = str(error).partition("\n")[0] or type(error).__name__
            self.tell([], words)
            self.stepper.param.update(busy="", error=words)

    def put(self, draft: dict[str, Any]) -> None:
        """Put a draft into the editor and its widgets."""
        self.opened = draft | {"number": self.opened.get("number", 0) + 1}

    def _open(self, example: Example) -> None:
        self.runs.example = example
        self.runs.begin_kernel(example.name)
        self._run(draft_of(example), example)

    def _fix(self) -> None:
        source = self.runs.fixed()
        if source is None:
            self.begin("fix", self.runs.look_for_fix())
        else:
            self._run(self.runs.draft | {"source": source}, self.runs.example, fix=True)

    def _run(self, draft: dict[str, Any], example: Example | None, fix: bool = False) -> None:
        draft |= {"example": example.name if example else "", "fix": fix}
        self.put(draft)
        self.begin("run", self.runs.run(draft, fix))

    def tell(self, diagnostics: list[dict[str, Any]], error: str) -> None:
        """Show the compiler's diagnostics, or the problem with an input, in one line."""
        self.param.update(diagnostics=diagnostics, error=error, checked=self.checked + 1)


def debugger(location: Location) -> Page:
    """Build the page. The browser requests the first run, with its draft or the first example."""
    bench = Debugger()
    page = Page(
        page="debugger",
        html=f'<div class="debug" data-slot="workbench">{FIRST_WORDS}</div>',
        slots={"workbench": bench},
        actions=[DebugBar()],
        keys=[
            ("Ctrl+Enter", "Run"),
            ("E", "Edit, or back to stepping"),
            *DEBUGGER_KEYS,
            *KEYS,
            ("D", "Side by side: to the first difference"),
        ],
    )
    page.on_close(bench.close)
    return page
