"""The debugger page: write a kernel, say what it runs on, record it, step it, compare it with how it was."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import param
from panel.viewable import Child

from splatscope.engine import EngineError, pool
from splatscope.engine.adapters import adapters
from splatscope.engine.packed import Packed
from splatscope.engine.recording import check_source, record_source, source_costs
from splatscope.engine.reflection import Interface
from splatscope.gpu.device import DeviceError
from splatscope.tracing.record import Job

from .compare import Compare
from .component import Component
from .debugger_examples import BY_NAME, EXAMPLES, GROUPS, Example, difference, fixed, is_shipped
from .debugger_files import Files, Shown
from .draft import entry_of, job_of, public
from .inputs import FILLS, InputError
from .page import Page
from .playground import complete, read
from .stepper import KEYS, Stepper

if TYPE_CHECKING:
    from .shell import Shell

log = logging.getLogger(__name__)

BOTH = "both"
GONE = {
    "race": "the race",
    "benign-race": "the harmless race",
    "out-of-bounds": "the access out of bounds",
    "uninitialised-read": "the read of what nobody wrote",
    "barrier-divergence": "the divergent barrier",
    "nan": "the NaN",
    "timeout": "the endless loop",
}


class DebugBar(Component):
    """In the top bar: what it ran on, the views, open, save, Run. It speaks with the bench in the browser, by events on window."""


class Debugger(Component):
    """The editor with its inputs, the stepper, and two recordings side by side; one of the three is in view.

    The browser keeps the draft: it says what to run, here it is vetted, compiled, recorded. `opened` puts a source into the
    editor; `interface` are the entry points, buffers and uniforms that the compiler finds, for the widgets.
    """

    opened = param.Dict(default={}, doc="What the editor was last given: source, inputs, groups, example, and a number")
    examples = param.List(default=[], doc="(title, [(name, title, what it is about, whether it is broken)]) of what may be opened")
    fills = param.List(default=list(FILLS), doc="Ways to fill a buffer")
    interface = param.Dict(default={}, doc="What draft.public says of the source as it was last compiled")
    diagnostics = param.List(default=[], doc="What the compiler says of it: line, column, end, severity, message")
    error = param.String(default="", doc="What is wrong with the source or an input, in one line")
    checked = param.Integer(default=0, doc="Counts compilations, so that the browser hears of each")
    adapters = param.List(default=[], doc="Names of the devices, where there are two or more to choose from")
    pair = param.List(default=[], doc="What the two recordings are called that can be seen side by side")
    notice = param.String(default="", doc="What a fix did, in one line")
    arrival = param.Dict(default={}, doc="What became of a file: a number, and words that refuse it, or of an array what names it")
    file = param.Bytes(default=b"", doc="What was asked to be saved")
    file_name = param.String(default="")
    saved = param.Integer(default=0, doc="Counts files, so that the browser hears of each")
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
        self.files = Files(self)
        self.shown: Shown | None = None
        self._before: Shown | None = None
        self._example: Example | None = None
        self._draft: dict[str, Any] = {}
        self._task: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Ends what is under way."""
        if self._task is not None:
            self._task.cancel()
        self.stepper.close()

    def _handle_msg(self, message: dict[str, Any]) -> None:
        match message.get("type"):
            case "open":
                self._open(BY_NAME.get(str(message.get("example")), EXAMPLES[0]))
            case "run":
                self._example = BY_NAME.get(str(message.get("example")))
                if not message.get("same"):
                    self._forget()
                self.begin(self._run(message))
            case "check":
                self.begin(self._check(message))
            case "compare":
                self._side_by_side()
            case "save":
                self.begin(self.files.save(str(message.get("what")), message))
            case "chunk":
                self.files.take(message)

    def begin(self, work: Any) -> None:
        """One thing at a time: the latest is what counts."""
        if self._task is not None:
            self._task.cancel()
        self._task = asyncio.get_running_loop().create_task(self._guard(work))

    async def _guard(self, work: Any) -> None:
        try:
            await work
        except Exception as error:  # whatever a kernel brings about, its author hears of it and the page goes on
            log.exception("The debugger failed")
            words = str(error).partition("\n")[0] or type(error).__name__
            self._tell([], words)
            self.stepper.param.update(busy="", error=words)

    def put(self, draft: dict[str, Any]) -> None:
        """Puts a draft into the editor and its widgets."""
        self.opened = draft | {"number": self.opened.get("number", 0) + 1}

    def present(self, shown: Shown) -> None:
        """Shows a recording that came from a file; what was there before is not compared with it."""
        self._forget()
        self._example, self._draft, self.shown = None, shown.draft, shown
        self.stepper.show(shown.packed, fix=[])

    def _forget(self) -> None:
        self._before = self.shown = None
        self.param.update(pair=[], notice="")

    def _open(self, example: Example) -> None:
        self._example = example
        self._forget()
        draft = {
            "source": example.source,
            "inputs": example.inputs,
            "groups": list(example.groups),
            "example": example.name,
            "title": example.title,
        }
        self.put(draft)
        self.begin(self._run(draft))

    def _fix(self) -> None:
        source = self._fixed()
        if source is not None and self._example is not None:
            draft = self._draft | {"source": source, "example": self._example.name, "title": self._example.title}
            self.put(draft)
            self.begin(self._run(draft, fix=True))

    def _fixed(self) -> str | None:
        return fixed(self._example, self._draft.get("source", "")) if self._example else None

    async def _check(self, draft: dict[str, Any]) -> Interface | None:
        """Compile; what comes of it goes to the editor."""
        source, entry = complete(str(draft.get("source", ""))), str(draft.get("entry") or "")
        if wrong := read(source).refusal:
            self._tell([], wrong)
            return None
        ours = is_shipped(source)
        try:
            found = await check_source(pool, source, entry=entry, trusted=ours)
            if found.interface is None and entry and not found.diagnostics:
                found = await check_source(pool, source, trusted=ours)  # the entry point was renamed: the first one is taken
            if found.interface is not None:
                entry = entry_of(draft, found.interface)
                self.interface = public(found.interface, source, draft, await source_costs(pool, source, entry, trusted=ours))
        except (EngineError, DeviceError) as error:
            self._tell([], str(error))
            return None
        self._tell([asdict(d) for d in found.diagnostics], found.error)
        return found.interface

    def _tell(self, diagnostics: list[dict[str, Any]], error: str) -> None:
        self.param.update(diagnostics=diagnostics, error=error, checked=self.checked + 1)

    async def _run(self, draft: dict[str, Any], fix: bool = False) -> None:
        """Compile, fill the inputs, record, show."""
        self._draft = {
            name: draft.get(name) for name in ("source", "inputs", "groups", "group", "entry", "functions", "groups_said")
        }
        self.notice = ""
        self.stepper.wait("Compiling …")
        interface = await self._check(draft)
        if interface is None:
            self.stepper.param.update(busy="", error=self.error)
            return
        self.stepper.wait()
        try:
            job = job_of(draft, complete(str(draft["source"])), interface)
        except InputError as error:
            self._tell([], str(error))
            self.stepper.param.update(busy="", error=str(error))
            return
        adapter = str(draft.get("adapter") or "")
        if adapter == BOTH and len(self.adapters) > 1:
            await self._on_both(job, interface)
            return
        packed = await self._record(job, adapter if adapter in self.adapters else "")
        if packed is not None:
            self._recorded(Shown(job, packed, self._draft, interface), fix)
        if not self.adapters:
            self.adapters = await adapters(pool)

    async def _record(self, job: Job, adapter: str) -> Packed | None:
        """The recording; None where there is none, and the page says why."""
        better = self._fixed()
        try:
            packed = await record_source(pool, job, adapter, trusted=is_shipped(job.source))
        except (EngineError, DeviceError, ValueError) as error:
            self.stepper.param.update(busy="", error=str(error))
            return None
        self.stepper.show(packed, fix=difference(self._draft["source"], better) if better else [])
        if packed.meta.get("error"):
            self._tell(packed.meta["diagnostics"], packed.meta["error"])
            return None
        return packed

    def _recorded(self, shown: Shown, fix: bool) -> None:
        self._before, self.shown = self.shown, shown
        if self._before is None:
            return
        self.pair = ["As it was", "With the fix"] if fix else ["The run before", "This run"]
        if fix:
            gone = sorted(set(self._before.packed.meta["findings"]) - set(shown.packed.meta["findings"]))
            self.notice = (
                f"The fix took {' and '.join(GONE.get(kind, kind) for kind in gone)} away." if gone else "The fix was made."
            )

    async def _on_both(self, job: Job, interface: Interface) -> None:
        """The same dispatch on the first two devices."""
        self.compare.wait(f"Recording on {' and on '.join(self.adapters[:2])} …")
        self.pair = self.adapters[:2]
        found = [await self._record(job, name) for name in self.adapters[:2]]
        first, second = found
        if first is None or second is None:
            self.compare.fail(self.stepper.error)
            return
        self._before, self.shown = (Shown(job, packed, self._draft, interface) for packed in (first, second))
        self._side_by_side()

    def _side_by_side(self) -> None:
        if self._before is not None and self.shown is not None and len(self.pair) == 2:
            self.compare.show(self._before.packed, self.shown.packed, (self.pair[0], self.pair[1]))


def debugger(shell: Shell) -> Page:
    """Builds the page. The browser asks for the first run: with its draft, or for the first example."""
    bench = Debugger()
    page = Page(
        page="debugger",
        html='<div class="debug" data-slot="0"></div>',
        slots=[bench],
        actions=[DebugBar()],
        keys=[("Ctrl+Enter", "Run"), ("E", "Edit, or back to stepping"), *KEYS],
    )
    page.on_close(bench.close)
    return page
