"""The result of `splatscope.record`: findings, outputs, and the recording itself."""

import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from splatscope.api.errors import FindingsError, RecordError
from splatscope.api.places import column_of, path_of
from splatscope.recordings.packed import PackedRecording, packed_recording
from splatscope.recordings.recording_file import save
from splatscope.tracing.checks import CHECKS
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.recording import Recording as Recorded
from splatscope.tracing.trace import Trace
from splatscope.tracing.verdict import FULL, NO_ACCESS, Agreement

if TYPE_CHECKING:
    from splatscope.components import Stepper

MOST_ALLOWED = 2**26  # records that the command line allows: 1 GiB
_LESS = "record fewer functions or groups"


class Recording:
    """A recorded run of a kernel: what it did, its results, and its faults.

    Attributes:
        findings: The faults, in the order in which they happened. Each has `kind`, `name`, `message`, `file`, `line`, `lines`,
            `threads`, `index`, `count` and `events`.
        outputs: Every buffer and writable texture after the kernel, by name, in the dtype of its elements; structs as structured
            arrays.
        missed: What was not checked, a sentence each.
        trace: The events.
        recorded: Everything that the recorder returned, with the outputs as words, and the job.
    """

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.trace: Trace = recorded.trace
        self.findings: list[Finding] = recorded.findings
        for finding in self.findings:
            finding.column = column_of(finding, self.trace)
        self.outputs: dict[str, np.ndarray] = dict(recorded.arrays)
        self.missed: list[str] = [self._with_advice(missed) for missed in recorded.verdict.missed or ()]

    @property
    def complete(self) -> bool:
        """Whether everything was recorded and checked; `missed` says what was not."""
        return not self.missed

    @property
    def events(self) -> int:
        """The number of recorded events."""
        return len(self.trace)

    @property
    def threads(self) -> int:
        """The number of recorded threads."""
        return self.trace.info.threads

    @property
    def adapter(self) -> str:
        """The device's name."""
        return self.trace.info.adapter

    @property
    def too_many(self) -> str:
        """Why the other workgroups could not be checked; "" if they were, or if that was not requested."""
        return self.recorded.verdict.too_many

    @property
    def saw_nothing(self) -> bool:
        """Whether nothing was recorded or no thread accessed memory, so that the recording says nothing about the kernel."""
        return not self.events or NO_ACCESS in self.missed

    @property
    def verdict(self) -> str:
        """What may be said of the kernel beside its findings: "Nothing found" only of what was looked at; "" for nothing."""
        return self.recorded.verdict.summary

    @property
    def truncated(self) -> bool:
        """Whether the recording was full before the end."""
        return self.recorded.verdict.truncated

    @property
    def difference(self) -> Agreement | None:
        """How the plain kernel's buffers differ: "same", "rounding" or "different"; None if that is not known."""
        return self.recorded.verdict.agreement

    @property
    def comparison(self) -> str:
        """How the plain kernel's buffers differ, in a sentence."""
        return self.recorded.verdict.comparison

    @property
    def same_as_plain(self) -> bool | None:
        """Whether the plain kernel leaves the same bits; None if it was not safe to run it."""
        return self.recorded.same_as_plain

    def assert_clean(self, allow: Iterable[str] = ()) -> None:
        """Raise an error unless everything was checked and nothing was found.

        Args:
            allow: Kinds of findings that are allowed, such as "benign-race".

        Raises:
            FindingsError: Something was found, or something was not checked. The message lists it.
            ValueError: There is no such kind of finding.
        """
        allowed = set(allow)
        if unknown := allowed - CHECKS.keys():
            raise ValueError(f"There is no kind of finding {', '.join(sorted(unknown))}. There are {', '.join(CHECKS)}.")
        findings = [finding for finding in self.findings if finding.kind not in allowed]
        if findings or self.missed:
            raise FindingsError(self._summary(findings), findings, self.missed)

    def save(self, file: str | Path) -> None:
        """Write the recording to a file (.npz) that `splatscope.load` and the debugger's page open.

        Raises:
            OSError: The file cannot be written.
        """
        assert self.recorded.job is not None
        Path(file).write_bytes(save(self.recorded, self.recorded.job, self.recorded.layouts, self.findings))

    def to_html(self, file: str | Path, command: str = "") -> None:
        """Write the recording as a single HTML page, which any browser opens from a disk and steps without a server.

        Args:
            file: The file to write.
            command: The command line that makes the page again. The page shows it, with today's date.

        Raises:
            OSError: The file cannot be written.
        """
        page = self._page(command)
        Path(file).write_text(page, encoding="utf-8")

    def show(self, height: int = 720, layout: Literal["bench", "figure"] = "bench") -> None:
        """Open the stepper: in the notebook cell, or else in the browser. Without either, print the path of the page.

        Args:
            height: Of the cell's output, in CSS pixels.
            layout: "bench" for all panes, "figure" for the source and one line of controls.
        """
        if (display := _notebook()) is not None:
            display(self._repr_mimebundle_(height=height, layout=layout))
            return
        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="splatscope-", delete=False, encoding="utf-8") as file:
            file.write(self._page(layout=layout))
        if not webbrowser.open(Path(file.name).as_uri()):
            print(f"There is no browser here: open {file.name}")

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None, *, height: int = 720, layout: Literal["bench", "figure"] = "bench"
    ) -> dict[str, str]:
        """Return what a notebook shows: the stepper, and the findings where scripts do not run."""
        from splatscope.web.single_page.single_page import notebook_html

        html = notebook_html(self._page(layout=layout), height, str(self))
        return {"text/plain": str(self), "text/markdown": self._markdown(), "text/html": html}

    def _markdown(self) -> str:
        """Return the findings as a list, and what was not looked at."""
        info = self.trace.info
        head = f"**{info.entry}** in `{info.file}` on {info.adapter}: {self.events:,} events of {self.threads:,} threads."
        lines = [
            f"**{finding.kind}**, `{finding.file or info.file}:{finding.line}`: {finding.message}" for finding in self.findings
        ]
        lines += self.notes + [f"Not looked at: {missed}" for missed in self.missed]
        return "\n".join([head, "", *(f"- {' '.join(line.split())}" for line in lines or [f"{self.verdict}."])])

    def packed(self) -> PackedRecording:
        """Return the recording in the form that the browser reads."""
        recorded, adapter = self.recorded, self.adapter.split(" (")[0]
        assert recorded.job is not None
        return packed_recording(
            recorded, self.findings, recorded.job, recorded.layouts, adapter=adapter, adapter_words=self.adapter
        )

    def __panel__(self) -> "Stepper":
        from splatscope.components import Stepper

        return Stepper(self)

    def _page(self, command: str = "", layout: str = "bench") -> str:
        from splatscope.web.single_page.single_page import page_of

        try:
            return page_of(self.packed(), command=command, layout=layout)
        except FileNotFoundError as error:
            raise RecordError(f"{error.filename} is missing: `python setup.py build_bundle` makes it.") from None

    def _summary(self, findings: list[Finding]) -> str:
        info = self.trace.info
        lines = [f"{info.entry} in {info.file} on {info.adapter}: {self.events:,} events of {self.threads:,} threads."]
        lines += [self.line_of(finding) for finding in findings]
        lines += self.notes
        lines += [f"not looked at: {missed}" for missed in self.missed]
        return "\n".join(lines)

    def _with_advice(self, missed: str) -> str:
        """Add to what was missed what to do, in words of this interface and of the command line."""
        if missed != FULL:
            return missed
        if (needed := self.recorded.verdict.records_needed) is None:  # a file of an earlier version does not say it
            return f"{FULL} Allow more records (budget=, --budget), or {_LESS}."
        if not needed:
            return f"{FULL} A thread in a loop that does not end fills any recording."
        enough = _rounded_up(needed)
        if enough > MOST_ALLOWED:
            return f"{FULL} That takes {enough:,} records, and more than {MOST_ALLOWED:,} are not allowed: {_LESS}."
        return f"{FULL} Allow {enough:,} records (budget=, --budget), or {_LESS}."

    def line_of(self, finding: Finding) -> str:
        """Return a finding as one line that begins with its place: "kernels/scan.slang:7:12: race: Thread 3 …".

        The path is relative to the working directory if the file is in it.
        """
        path = path_of(finding.file or self.trace.info.file, self.recorded.job)
        return f"{path}:{finding.position}: {finding.words}" if finding.line else finding.words

    @property
    def not_given(self) -> list[str]:
        """The inputs that were not given, and so were zeros: buffers and textures with the size that was assumed, and uniforms."""
        return list(self.recorded.verdict.not_given)

    @property
    def unreached(self) -> list[tuple[str, int, int]]:
        """The lines that no recorded thread reached, as (file, first, last), in the entry point and in called functions."""
        return list(self.recorded.verdict.unreached or ())

    @property
    def shortfalls(self) -> list[str]:
        """Those notes that a strict check does not accept: inputs that were not given, lines that no thread reached."""
        return list(self.recorded.verdict.shortfalls)

    @property
    def notes(self) -> list[str]:
        """What a reader of the verdict ought to know, a sentence each: inputs that were not given, lines that no thread reached."""
        return [*self.recorded.verdict.shortfalls, *self.recorded.verdict.notes]

    def __str__(self) -> str:
        text = self._summary(self.findings)
        return text if self.findings or self.missed else f"{text} {self.verdict}."

    def __repr__(self) -> str:
        entry, state = self.trace.info.entry, "complete" if self.complete else "incomplete"
        findings = f"{len(self.findings)} finding{'' if len(self.findings) == 1 else 's'}"
        return f"<Recording of {entry}: {self.events:,} events, {findings}, {state}>"


def _rounded_up(records: int) -> int:
    """Return a number of records to two digits, with a fifth more, since another run may need more."""
    more = records + records // 5
    unit = 10 ** max(0, len(str(more)) - 2)
    return -(-more // unit) * unit


def _notebook() -> Callable[[dict[str, str]], object] | None:
    """Return the function that shows a bundle of texts by MIME type in the running notebook; None outside of one."""
    marimo = sys.modules.get("marimo")
    if marimo is not None and marimo.running_in_notebook():
        return lambda bundle: marimo.output.append(marimo.Html(bundle["text/html"]))
    try:
        from IPython.core.getipython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    shell = get_ipython()
    return partial(display, raw=True) if shell is not None and hasattr(shell, "kernel") else None
