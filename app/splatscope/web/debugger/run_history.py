"""Compile, record and show drafts, and compare the last two recordings."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from splatscope.gpu.device import DeviceError
from splatscope.gpu.reflection import Interface
from splatscope.recordings.packed import PackedRecording
from splatscope.services.adapters import adapters
from splatscope.services.drafts.draft import DraftJob
from splatscope.services.recordings import RECORD_LIMIT, check_source, fix_source, record_source
from splatscope.tracing.checks import CHECKS
from splatscope.tracing.fixes import MENDED
from splatscope.tracing.progress import COMPARING, COMPILING, INSTRUMENTING
from splatscope.tracing.retries import Attempt
from splatscope.web.debugger.draft import DRAFT_KEYS, draft_job, is_trusted, records_only_entry
from splatscope.web.debugger.first_recording import first_recording
from splatscope.web.debugger.page_protocol import DebuggerPage
from splatscope.web.examples.example import Example, difference, fixed
from splatscope.web.widgets.upload import Upload
from splatscope.workers import worker_pool
from splatscope.workers.errors import JobTimeout, WorkerError, WorkerLost

BOTH = "both"


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
    """A recording, the draft it was made from, the name of its entry point, and the file in which it came.

    A file counts towards the budget of the visitor who sent it for as long as this refers to it.
    """

    draft: dict[str, Any]
    packed: PackedRecording
    entry: str
    upload: Upload | None = None

    def job(self) -> DraftJob:
        """Return the job it was made from, with the array files that are still there."""
        return draft_job(self.draft)


class RunHistory:
    """Makes recordings, and holds the current and the previous one. Errors are shown on the page, in one line."""

    def __init__(self, page: DebuggerPage):
        self._page = page
        self._before: ShownRecording | None = None
        self.shown: ShownRecording | None = None
        self.example: Example | None = None
        self.draft: dict[str, Any] = {}
        self._suggested: str | None = None  # the source of the draft, changed so that findings are gone
        self._recorded: tuple[DraftJob, str] | None = None  # the draft's job, and the adapter that recorded it

    def begin_kernel(self, name: str) -> None:
        """Forget recordings and inputs, because a new kernel, with this name, has nothing to compare with."""
        self._before = self.shown = None
        self._page.param.update(pair=[], notice="", interface={})
        self._page.stepper.kernel = name

    def present(self, shown: ShownRecording) -> None:
        """Show a recording from a file."""
        self.begin_kernel(f"recording {shown.packed.meta.get('recording', '')}")
        self.example, self.draft, self.shown = None, shown.draft, shown
        self._page.stepper.show(shown.packed, fix=[], fix_search="", opening=shown.packed.meta.get("opening", 0))

    def fixed(self) -> str | None:
        """Return the source with the example's fix, or with one that was found; None if there is no fix to apply."""
        return (fixed(self.example, self.draft.get("source", "")) if self.example else None) or self._suggested

    async def look_for_fix(self) -> None:
        """Look for a change of the draft that takes findings away, and offer it."""
        stepper, recorded = self._page.stepper, self._recorded
        if recorded is None or stepper.fix_search != "ready":
            return
        job, adapter = recorded
        stepper.fix_search = "busy"
        try:
            source = await fix_source(worker_pool, job, adapter, trusted=is_trusted(job))
        except (WorkerError, DeviceError, ValueError):
            source = ""
        if recorded is self._recorded:
            self._suggested = source or None
            fix = difference(self.draft["source"], source) if source else []
            stepper.param.update(fix=fix, fix_search="" if source else "none")

    async def check(self, draft: dict[str, Any]) -> Interface | None:
        """Compile a draft, show the result in the editor, and return the interface, or None if it does not compile.

        If a kernel that has not run yet does not compile, the inputs are removed, because they belong to another kernel.
        """
        interface = await self._compile(draft)
        if interface is None and not draft.get("same", True):
            self._page.interface = {}
        return interface

    async def _compile(self, draft: dict[str, Any]) -> Interface | None:
        job = draft_job(draft)
        try:
            checked = await check_source(worker_pool, job, trusted=is_trusted(job))
        except (WorkerError, DeviceError) as error:
            self._page.tell([], str(error))
            return None
        self._page.left_open = checked.open
        if checked.public is not None:
            self._page.interface = checked.public
        self._page.tell([asdict(d) for d in checked.diagnostics], checked.error)
        return checked.interface

    async def run(self, draft: dict[str, Any], fix: bool = False) -> None:
        """Compile a draft, fill its inputs, record it, and show the recording; with `fix`, compare it with the previous one.

        The first example has a recording to step through in the meantime.
        """
        self.draft, self._suggested, self._recorded = {name: draft.get(name) for name in DRAFT_KEYS}, None, None
        self._page.notice = ""
        first = await first_recording(draft)
        if first is None:
            self._page.stepper.wait("Compiling …")
        else:
            self._page.stepper.show(first, fix=[], fix_search="", opening=first.meta["opening"])
        interface = await self.check(draft)
        if interface is None:
            self._page.stepper.param.update(busy="", error=self._page.error)
            return
        if first is None:
            self._page.stepper.wait()
        if missing := self._page.left_open.get("missing"):
            error = f"{', '.join(missing)} has no value: give it one under “Compile with”."
            self._page.tell([], error)
            self._page.stepper.param.update(busy="", error=error)
            return
        job = draft_job(draft, interface)
        adapter = str(draft.get("adapter") or "")
        if adapter == BOTH and len(self._page.adapters) > 1:
            await self._on_both(job)
            return
        packed = await self._record(job, adapter if adapter in self._page.adapters else "")
        if packed is not None:
            self._replace_shown(self._make_shown_recording(packed), fix)
        if not self._page.adapters:
            self._page.adapters = await adapters(worker_pool)

    def _make_shown_recording(self, packed: PackedRecording) -> ShownRecording:
        return ShownRecording(self.draft, packed, self._entry)

    @property
    def _entry(self) -> str:
        """The entry point of the source last compiled."""
        return str(self._page.interface.get("entry", ""))

    async def _record(self, job: DraftJob, adapter: str) -> PackedRecording | None:
        """Record a job and show it. Return None if that failed, in which case the page says why."""
        fixed_source = self.fixed()
        try:
            packed = await self._packed(job, adapter)
        except (WorkerError, DeviceError, ValueError) as error:
            is_wide = isinstance(error, WorkerError) and not records_only_entry(job, self._entry)
            self._page.stepper.param.update(busy="", error=str(error), offers=is_wide)
            return None
        self._recorded = job, adapter
        fix = difference(self.draft["source"], fixed_source) if fixed_source else []
        may_be_fixed = not fix and not MENDED.isdisjoint(packed.meta.get("findings", ()))
        self._page.stepper.show(packed, fix=fix, fix_search="ready" if may_be_fixed else "", opening=packed.meta.get("opening", 0))
        if packed.meta.get("error"):
            self._page.tell(packed.meta["diagnostics"], packed.meta["error"])
            return None
        return packed

    async def _packed(self, job: DraftJob, adapter: str) -> PackedRecording:
        """Record a job. If its recorded form is too much for the compiler, record only the entry point, and say so on the page."""
        stepper = self._page.stepper
        trusted = is_trusted(job)
        try:
            return await record_source(worker_pool, job, adapter, trusted=trusted, on_progress=stepper.progress_callback())
        except (WorkerLost, JobTimeout) as error:
            if records_only_entry(job, self._entry) or not _may_survive(error):
                raise
            stepper.wait("The compiler cannot finish this kernel's recorded form. Recording only the entry point …")
            attempt = Attempt(RECORD_LIMIT).after(is_late=isinstance(error, JobTimeout))
            assert attempt is not None  # a page records all functions first
            narrower = replace(job, instrument_scope=attempt.scope, scope_reason=attempt.reason)
            with suppress(WorkerError):
                return await record_source(worker_pool, narrower, adapter, trusted=trusted)
            raise

    def _replace_shown(self, shown: ShownRecording, fix: bool) -> None:
        self._before, self.shown = self.shown, shown
        if self._before is None:
            return
        self._page.pair = ["Before the fix", "With the fix"] if fix else ["The previous run", "This run"]
        if fix:
            removed = set(self._before.packed.meta["findings"]) - set(shown.packed.meta["findings"])
            self._page.notice = gone_words(removed)

    async def _on_both(self, job: DraftJob) -> None:
        """Record the same dispatch on the first two devices, and show both."""
        self._page.compare.wait(f"Recording on {' and on '.join(self._page.adapters[:2])} …")
        self._page.pair = self._page.adapters[:2]
        recordings = [await self._record(job, name) for name in self._page.adapters[:2]]
        first, second = recordings
        if first is None or second is None:
            self._page.compare.fail(self._page.stepper.error)
            return
        self._before, self.shown = map(self._make_shown_recording, (first, second))
        self.side_by_side()

    def side_by_side(self) -> None:
        """Show the current recording beside the previous one."""
        if self._before is not None and self.shown is not None and len(self._page.pair) == 2:
            self._page.compare.show(self._before.packed, self.shown.packed, (self._page.pair[0], self._page.pair[1]))
