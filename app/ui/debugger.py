"""The debugger page: write a kernel, say what it runs on, record it, step it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import param
from panel.viewable import Child

from splatscope.engine import EngineError, pool
from splatscope.engine.recording import RECORDS, check_source
from splatscope.engine.reflection import Interface
from splatscope.engine.vetting import refuse
from splatscope.gpu.device import DeviceError
from splatscope.tracing.record import Job

from .component import Component
from .debugger_examples import BY_NAME, EXAMPLES, Example, difference, fixed
from .inputs import ELEMENTS, FILLS, MOST_GROUPS, InputError, inputs_of, three
from .page import Page
from .stepper import KEYS, Stepper

if TYPE_CHECKING:
    from .shell import Shell

log = logging.getLogger(__name__)

MOST_EVENTS = RECORDS
HOLD = 32  # characters of a name that a message quotes


class DebugBar(Component):
    """In the top bar: edit or step, what it ran on, Run. It speaks with the bench in the browser, by events on window."""


class Debugger(Component):
    """The editor with its inputs, and the stepper; one of the two is in view.

    The browser keeps the draft: it says what to run, here it is vetted, compiled, recorded. `opened` puts a source into the
    editor; `interface` are the entry points, buffers and uniforms that the compiler finds, for the widgets.
    """

    opened = param.Dict(default={}, doc="What the editor was last given: source, inputs, groups, example, and a number")
    examples = param.List(default=[], doc="(name, title, whether it is broken) of what may be opened")
    fills = param.List(default=list(FILLS), doc="Ways to fill a buffer")
    interface = param.Dict(default={}, doc="entries, group_size, buffers and uniforms of the source as it was last compiled")
    diagnostics = param.List(default=[], doc="What the compiler says of it: line, column, end, severity, message")
    error = param.String(default="", doc="What is wrong with the source or an input, in one line")
    checked = param.Integer(default=0, doc="Counts compilations, so that the browser hears of each")
    stepper = Child(doc="The stepper")

    def __init__(self, **params: Any):
        super().__init__(stepper=Stepper(), examples=[(e.name, e.title, bool(e.fixes)) for e in EXAMPLES], **params)
        self.stepper.on_fix = self._fix
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
                self._begin(self._run(message))
            case "check":
                self._begin(self._check(message))

    def _begin(self, work: Any) -> None:
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

    def _open(self, example: Example, source: str | None = None) -> None:
        self._example = example
        draft = {
            "source": example.source if source is None else source,
            "inputs": example.inputs,
            "groups": list(example.groups),
            "example": example.name,
            "title": example.title,
        }
        self.opened = draft | {"number": self.opened.get("number", 0) + 1}
        self._begin(self._run(draft))

    def _fix(self) -> None:
        source = self._fixed()
        if source is not None and self._example is not None:
            draft = self._draft | {"source": source, "example": self._example.name, "title": self._example.title}
            self.opened = draft | {"number": self.opened.get("number", 0) + 1}
            self._begin(self._run(draft))

    def _fixed(self) -> str | None:
        return fixed(self._example, self._draft.get("source", "")) if self._example else None

    async def _check(self, draft: dict[str, Any]) -> Interface | None:
        """Compile; what comes of it goes to the editor."""
        source, entry = str(draft.get("source", "")), str(draft.get("entry") or "")
        wrong = refuse(source)
        if wrong:
            self._tell([], wrong)
            return None
        try:
            found = await check_source(pool, source, entry=entry)
            if found.interface is None and entry and not found.diagnostics:
                found = await check_source(pool, source)  # the entry point was renamed: the first one is taken
        except (EngineError, DeviceError) as error:
            self._tell([], str(error))
            return None
        if found.interface is not None:
            self.interface = _public(found.interface)
        self._tell([asdict(d) for d in found.diagnostics], found.error)
        return found.interface

    def _tell(self, diagnostics: list[dict[str, Any]], error: str) -> None:
        self.param.update(diagnostics=diagnostics, error=error, checked=self.checked + 1)

    async def _run(self, draft: dict[str, Any]) -> None:
        """Compile, fill the inputs, record, show."""
        self._draft = {name: draft.get(name) for name in ("source", "inputs", "groups", "group", "entry")}
        self.stepper.wait()
        interface = await self._check(draft)
        if interface is None:
            self.stepper.param.update(busy="", error=self.error)
            return
        try:
            groups = three("Groups", draft.get("groups") or [1, 1, 1], 1, MOST_GROUPS)
            group = three("The recorded group", draft.get("group") or [0, 0, 0], 0, MOST_GROUPS)
            if any(g >= n for g, n in zip(group, groups, strict=True)):
                raise InputError(f"The recorded group counts from 0: {_triple(group)} is not one of {_triple(groups)}.")
            if interface.unfit:
                name, kind = next(iter(interface.unfit.items()))
                raise InputError(f"{name[:HOLD]} is a {kind[:HOLD]}: only structured and byte-address buffers can be given here.")
            specs = draft.get("inputs")
            inputs = inputs_of(interface, specs if isinstance(specs, dict) else {})
        except InputError as error:
            self._tell([], str(error))
            self.stepper.param.update(busy="", error=str(error))
            return
        entry = str(draft.get("entry") or "")
        job = Job(
            str(draft["source"]),
            entry=entry if entry in interface.entries else interface.entries[0],
            groups=groups,
            group=group,
            inputs=inputs,
            records=MOST_EVENTS,
        )
        better = self._fixed()
        packed = await self.stepper.record(job, fix=difference(job.source, better) if better else [])
        if packed is not None and packed.meta.get("error"):
            self._tell(packed.meta["diagnostics"], packed.meta["error"])


def _triple(numbers: tuple[int, ...]) -> str:
    return " × ".join(f"{n:,}" for n in numbers)


def _public(interface: Interface) -> dict[str, Any]:
    return {
        "entries": list(interface.entries),
        "group_size": list(interface.group_size),
        "buffers": [{"name": name, "type": layout.type, "count": ELEMENTS} for name, layout in interface.buffers.items()],
        "uniforms": [{"name": name, "type": kind} for name, kind in interface.uniforms.items()],
        "unfit": [{"name": name, "type": kind} for name, kind in interface.unfit.items()],
    }


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
