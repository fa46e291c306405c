"""A recording packed for a page: the bytes that the browser unpacks, and a small summary for the server."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import numpy as np

from splatscope.gpu.diagnostics import Diagnostic, DiagnosticDict
from splatscope.gpu.reflection import Layout
from splatscope.recordings.wire import pack
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording


class Meta(TypedDict, total=False):
    """What is known of a recording without its bytes. If the source does not compile, there are only `error` and `diagnostics`.

    Attributes:
        recording: A hash of source, inputs and events.
        adapter, adapter_words: The device's short and full name.
        events, threads: How many were recorded.
        truncated: Whether the recording was full before the kernel ended.
        same_as_plain: Whether the plain kernel leaves the same buffers, None if that is not known.
        stepped_over: The functions that were not recorded, with the reason for each.
        findings: Their kinds, in order.
        opening: The step with which a debugger opens, see `opening_of`.
        error: Why there is no recording, in one line.
    """

    recording: str
    adapter: str
    adapter_words: str
    events: int
    threads: int
    truncated: bool
    same_as_plain: bool | None
    stepped_over: dict[str, str]
    findings: list[str]
    opening: int
    error: str
    diagnostics: list[DiagnosticDict]


@dataclass(frozen=True)
class PackedRecording:
    """A recording in the form that the browser reads.

    `data` is the result of `wire.pack`, and `file` that of `recording_file.save`; either may be empty. `meta` is a `Meta`.
    """

    meta: dict[str, Any]
    data: bytes = b""
    file: bytes = b""


def packed_recording(
    recording: Recording,
    findings: list[Finding],
    job: KernelJob,
    layouts: dict[str, Layout],
    *,
    adapter: str,
    adapter_words: str,
    key: str = "",
    uniforms: Mapping[str, str] | None = None,
) -> PackedRecording:
    """Pack a recording.

    Args:
        recording: The recording.
        findings: What the checks found in it.
        job: What was recorded.
        layouts: The layouts of its buffers, by name.
        adapter: The device's short name.
        adapter_words: The device's full name.
        key: The cache key of the job; part of the recording's hash.
        uniforms: The types of its uniforms, by name; None leaves them out.
    """
    data = pack(recording, findings, job, layouts, uniforms)
    info = recording.trace.info
    meta = {
        "recording": hashlib.sha256(key.encode() + data).hexdigest()[:16],
        "adapter": adapter,
        "adapter_words": adapter_words,
        "events": len(recording.trace),
        "threads": info.threads,
        "truncated": info.truncated,
        "same_as_plain": recording.same_as_plain,
        "stepped_over": recording.stepped_over,
        "findings": [finding.kind for finding in findings],
        "opening": opening_of(recording, findings),
    }
    return PackedRecording(meta, data)


def opening_of(recording: Recording, findings: list[Finding]) -> int:
    """Return the best step to open at, from 1: the first finding's, else the first barrier with threads waiting, else 0.

    It is the finding listed first, so that a reader can connect the step with what they read.
    """
    order = recording.trace.order
    event = next((finding.events[-1] for finding in findings if finding.events), None)
    if event is not None:
        return int(np.flatnonzero(order == event)[0]) + 1
    arrivals = np.flatnonzero(recording.trace.kinds[order] == "arrive")
    half = min(len(arrivals), recording.trace.info.threads) // 2
    return int(arrivals[half]) + 1 if len(arrivals) else 0


def refused_recording(error: str, diagnostics: list[Diagnostic]) -> PackedRecording:
    """Return a packed recording without data, for a source that the compiler or the source filter refuses."""
    return PackedRecording({"error": error, "diagnostics": [asdict(diagnostic) for diagnostic in diagnostics]})
