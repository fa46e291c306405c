"""A recording on its way to a page: what the browser unpacks, and the little that the page knows of it without unpacking."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from splatscope.gpu.diagnostics import Diagnostic
from splatscope.gpu.reflection import Layout
from splatscope.recordings.wire import pack
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording


@dataclass(frozen=True)
class PackedRecording:
    """A recording as the browser takes it.

    `data` is what `wire.pack` made, `file` what `recording_file.save` made, either empty where there is none. `meta` is small and
    can be said in JSON. It has

    - `recording`: a hash of source, inputs and events;
    - `adapter`, `adapter_words`: the device's name, short and in full;
    - `events`, `threads`: how many were recorded;
    - `truncated`: whether the recording was full before the end;
    - `same_as_plain`: whether the kernel leaves the same buffers without being recorded, None where that is not known;
    - `stepped_over`: the functions that were not recorded, each with the reason;
    - `findings`: their kinds, in order.

    Of a source that does not compile, `meta` has `error` (one line) and `diagnostics` (`Diagnostic` in plain parts), and there is
    no data.
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
) -> PackedRecording:
    """Pack a recording; `key` is a hash of what it follows from, of which the hash of the recording is made."""
    data = pack(recording, findings, job, layouts)
    header = recording.trace.header
    meta = {
        "recording": hashlib.sha256(key.encode() + data).hexdigest()[:16],
        "adapter": adapter,
        "adapter_words": adapter_words,
        "events": len(recording.trace),
        "threads": header["threads"],
        "truncated": header["truncated"],
        "same_as_plain": recording.same_as_plain,
        "stepped_over": recording.stepped_over,
        "findings": [finding.kind for finding in findings],
    }
    return PackedRecording(meta, data)


def refused_recording(error: str, diagnostics: list[Diagnostic]) -> PackedRecording:
    """Return what stands for a recording of a source that the compiler, or the filter before it, does not take."""
    return PackedRecording({"error": error, "diagnostics": [asdict(found) for found in diagnostics]})
