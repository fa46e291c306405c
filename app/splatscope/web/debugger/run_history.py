"""Compile, record and show drafts, and compare the last two recordings."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from splatscope.gpu.device import DeviceError
from splatscope.gpu.reflection import Interface
from splatscope.recordings.packed import PackedRecording
from splatscope.services.adapters import adapters
from splatscope.services.recordings import RECORD_LIMIT, check_source, record_source, source_costs
from splatscope.tracing.checks import CHECKS
from splatscope.tracing.job import CRASHED, KernelJob, too_slow
from splatscope.tracing.progress import COMPARING, COMPILING, INSTRUMENTING
from splatscope.web.debugger.draft import entry_of, is_trusted, job_of, kernel_of, public
from splatscope.web.debugger.first_recording import first_recording
from splatscope.web.debugger.inputs import InputError
from splatscope.web.debugger.page_protocol import DebuggerPage
from splatscope.web.debugger.playground import read
from splatscope.web.examples.example import Example, difference, fixed
from splatscope.workers import worker_pool
from splatscope.workers.connection import JobTimeout, WorkerError, WorkerLost

BOTH = "both"
_SOURCE_KEYS = ("source", "file", "files", "defines", "constants", "arguments", "conformances")
DRAFT_KEYS = (*_SOURCE_KEYS, "inputs", "groups", "group", "entry", "functions", "groups_said", "room")


def gone_words(kinds: set[str]) -> str:
    """Return the notice about a fix that removed findings of these kinds."""
    return f"The fix took {' and '.join(CHECKS[kind].gone for kind in sorted(kinds))} away." if kinds else "The fix was made."


def _may_survive(error: WorkerError) -> bool:
    """Return whether recording less of a kernel may help after this error. It does not if the plain kernel itself dies or hangs."""
    if isinstance(error, JobTimeout):
        return error.stage == INSTRUMENTING
    return error.stage not in (COMPILING, COMPARING)


@dataclass(frozen=True)
class ShownRecording:
    """A recording and what it was made from; `interface` is None for a recording from a file."""

    job: KernelJob
    packed: PackedRecording
    draft: dict[str, Any]
    interface: Interface | None = None


class RunHistory:
    """Makes recordings, and holds the current and the previous one. Errors are shown on the page, in one line."""

    def __init__(self, page: DebuggerPage):
        self._page = page
        self._before: ShownRecording | None = None
        self.shown: ShownRecording | None = None
        self.example: Example | None = None
        self.draft: dict[str, Any] = {}

    def begin_kernel(self, name: str) -> None:
        """Forget recordings and inputs, because a new kernel, with this name, has nothing to compare with."""
        self._before = self.shown = None
        self._page.param.update(pair=[], notice="", interface={})
        self._page.stepper.kernel = name

    def present(self, shown: ShownRecording) -> None:
        """Show a recording from a file."""
        self.begin_kernel(f"recording {shown.packed.meta.get('recording', '')}")
        self.example, self.draft, self.shown = None, shown.draft, shown
        self._page.stepper.show(shown.packed, fix=[], opening=shown.packed.meta.get("opening", 0))

    def fixed(self) -> str | None:
        """Return the source with the example's fix, or None if there is no fix to apply."""
        return fixed(self.example, self.draft.get("source", "")) if self.example else None

    async def check(self, draft: dict[str, Any]) -> Interface | None:
        """Compile a draft, show the result in the editor, and return the interface, or None if it does not compile.

        If a kernel that has not run yet does not compile, the inputs are removed, because they belong to another kernel.
        """
        interface = await self._compile(draft)
        if interface is None and not draft.get("same", True):
            self._page.interface = {}
        return interface

    async def _compile(self, draft: dict[str, Any]) -> Interface | None:
        kernel = kernel_of(draft)
        if wrong := read(kernel.source).refusal:
            self._page.tell([], wrong)
            return None
        trusted = is_trusted(kernel)
        try:
            found = await check_source(worker_pool, kernel, trusted=trusted)
            if found.interface is None and kernel.entry and not found.diagnostics:
                kernel = replace(kernel, entry="")  # the entry point may have been renamed: take the first
                found = await check_source(worker_pool, kernel, trusted=trusted)
            self._page.left_open = asdict(found.open)
            if found.interface is not None:
                kernel = replace(kernel, entry=entry_of(draft, found.interface))
                costs = await source_costs(worker_pool, kernel, trusted=trusted)
                self._page.interface = public(found.interface, kernel.source, draft, costs)
        except (WorkerError, DeviceError) as error:
            self._page.tell([], str(error))
            return None
        self._page.tell([asdict(d) for d in found.diagnostics], found.error)
        return found.interface

    async def run(self, draft: dict[str, Any], fix: bool = False) -> None:
        """Compile a draft, fill its inputs, record it, and show the recording; with `fix`, compare it with the previous one.

        The first example has a recording to step through in the meantime.
        """
        self.draft = {name: draft.get(name) for name in DRAFT_KEYS}
        self._page.notice = ""
        first = await first_recording(draft)
        if first is None:
            self._page.stepper.wait("Compiling …")
        else:
            self._page.stepper.show(first, fix=[], opening=first.meta["opening"])
        interface = await self.check(draft)
        if interface is None:
            self._page.stepper.param.update(busy="", error=self._page.error)
            return
        if first is None:
            self._page.stepper.wait()
        try:
            if missing := self._page.left_open.get("missing"):
                raise InputError(f"{', '.join(missing)} has no value: give it one under “Compile with”.")
            job = job_of(draft, kernel_of(draft), interface)
        except InputError as error:
            self._page.tell([], str(error))
            self._page.stepper.param.update(busy="", error=str(error))
            return
        adapter = str(draft.get("adapter") or "")
        if adapter == BOTH and len(self._page.adapters) > 1:
            await self._on_both(job, interface)
            return
        packed = await self._record(job, adapter if adapter in self._page.adapters else "")
        if packed is not None:
            self._recorded(ShownRecording(job, packed, self.draft, interface), fix)
        if not self._page.adapters:
            self._page.adapters = await adapters(worker_pool)

    async def _record(self, job: KernelJob, adapter: str) -> PackedRecording | None:
        """Record a job and show it. Return None if that failed, in which case the page says why."""
        better = self.fixed()
        try:
            packed = await self._packed(job, adapter)
        except (WorkerError, DeviceError, ValueError) as error:
            is_wide = isinstance(error, WorkerError) and job.functions != (job.entry,)
            self._page.stepper.param.update(busy="", error=str(error), offers=is_wide)
            return None
        fix = difference(self.draft["source"], better) if better else []
        self._page.stepper.show(packed, fix=fix, opening=packed.meta.get("opening", 0))
        if packed.meta.get("error"):
            self._page.tell(packed.meta["diagnostics"], packed.meta["error"])
            return None
        return packed

    async def _packed(self, job: KernelJob, adapter: str) -> PackedRecording:
        """Record a job. If its recorded form is too much for the compiler, record only the entry point, and say so on the page."""
        stepper = self._page.stepper
        trusted = is_trusted(job)
        try:
            return await record_source(worker_pool, job, adapter, trusted=trusted, on_progress=stepper.progress_callback())
        except (WorkerLost, JobTimeout) as error:
            if job.functions == (job.entry,) or not _may_survive(error):
                raise
            stepper.wait("The compiler cannot finish this kernel's recorded form. Recording only the entry point …")
            reason = too_slow(RECORD_LIMIT) if isinstance(error, JobTimeout) else CRASHED
            narrower = replace(job, instrument_scope="entry", scope_reason=reason)
            with suppress(WorkerError):
                return await record_source(worker_pool, narrower, adapter, trusted=trusted)
            raise

    def _recorded(self, shown: ShownRecording, fix: bool) -> None:
        self._before, self.shown = self.shown, shown
        if self._before is None:
            return
        self._page.pair = ["Before the fix", "With the fix"] if fix else ["The previous run", "This run"]
        if fix:
            gone = set(self._before.packed.meta["findings"]) - set(shown.packed.meta["findings"])
            self._page.notice = gone_words(gone)

    async def _on_both(self, job: KernelJob, interface: Interface) -> None:
        """Record the same dispatch on the first two devices, and show both."""
        self._page.compare.wait(f"Recording on {' and on '.join(self._page.adapters[:2])} …")
        self._page.pair = self._page.adapters[:2]
        found = [await self._record(job, name) for name in self._page.adapters[:2]]
        first, second = found
        if first is None or second is None:
            self._page.compare.fail(self._page.stepper.error)
            return
        self._before, self.shown = (ShownRecording(job, packed, self.draft, interface) for packed in (first, second))
        self.side_by_side()

    def side_by_side(self) -> None:
        """Show the current recording beside the previous one."""
        if self._before is not None and self.shown is not None and len(self._page.pair) == 2:
            self._page.compare.show(self._before.packed, self.shown.packed, (self._page.pair[0], self._page.pair[1]))
