"""Pack a recording for the browser: one zlib stream of a JSON head and columns, each with the narrowest dtype that fits.

The browser folds events into a state (`web/recording/state.ts`). To make that a few array writes per event, what each event
touches is computed here. The column `place` is the cell of a memory, or the element of a thread's local array, counted from 1.
"""

import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

from splatscope.gpu.reflection import Layout
from splatscope.gpu.slang_types import SlangType, words_in
from splatscope.recordings.wire_atomics import after_atomics
from splatscope.recordings.wire_cells import ACCESSES, MOST_CELLS, Cells, Variables, memories_of
from splatscope.recordings.wire_head import PackedFinding, PackedHead, PackedSite, Uniform
from splatscope.tracing.checks import CHECKS, Finding
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.job import KernelJob
from splatscope.tracing.judge import judge_file
from splatscope.tracing.recording import Recording
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace
from splatscope.tracing.verdict import verdict_of

MOST_TEXELS = 65_536  # words of a texture that is shown as a picture; a larger one is thinned out
MOST_ELEMENTS = 64  # the largest array of uniforms that is shown
MOST_HEAD = 64 * 2**20  # bytes of the JSON before the columns


def pack(
    recording: Recording,
    findings: list[Finding],
    job: KernelJob,
    layouts: dict[str, Layout],
    uniforms: Mapping[str, str] | None = None,
) -> bytes:
    """Return the packed recording: events in the device's order, sites, memories, variables, findings and outputs.

    Args:
        recording: The recording.
        findings: What the checks found in it.
        job: What was recorded.
        layouts: The layouts of the kernel's buffers, by name.
        uniforms: The types of its uniforms, by name; None leaves them out.
    """
    trace = recording.trace
    order = trace.order
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    memories = memories_of(trace, recording, job, layouts)
    variables = Variables(trace)
    place = variables.place + sum((memory.place for memory in memories), np.zeros(len(trace), np.int64))

    width = np.array([words_in(type_of(site)) for site in trace.sites])[trace.site][order]
    keep = np.arange(trace.words.shape[1])[None, :] < width[:, None]
    after, known = after_atomics(trace, memories, recording)
    atomics = order[trace.kinds[order] == "atomic"]
    columns = {
        "thread": trace.thread[order],
        "site": trace.site[order],
        "place": place[order],
        "flags": trace.flags[order],
        "words": trace.words[order][:, : keep.shape[1]][keep],
        "after": after[atomics],
        "after_known": known[atomics],
    }
    for number, memory in enumerate(memories):
        columns[f"indices{number}"] = memory.indices
        columns[f"initial{number}"] = memory.initial
    outputs = []
    for name, words in recording.outputs.items():
        layout = layouts.get(name) or Layout(4, (("", recording.types.get(name, "uint"), 0),))
        entry: dict[str, Any] = {"name": name, "words": len(words), "stride": layout.stride // 4, "parts": layout.parts}
        if name in recording.pictures:
            small, entry["picture"] = _thinned(words, recording.pictures[name])
            entry["size"] = recording.pictures[name][:2]
            columns[f"output{len(outputs)}"] = small
        else:
            columns[f"output{len(outputs)}"] = words[:MOST_CELLS]
        outputs.append(entry)
    missed = trace.verdict.missed
    if missed is None:  # a file of an earlier version
        missed = judge_file(recording, findings).missed or ()
    head = {
        **trace.header(),
        "missed": missed,
        "verdict": verdict_of(len(trace), findings, missed),
        "events": len(trace),
        "sites": _sites(trace, memories, variables),
        "memories": [memory.about for memory in memories],
        "variables": variables.table,
        "findings": [_finding(finding, position) for finding in findings],
        "outputs": outputs,
        "same_as_plain": recording.same_as_plain,
    }
    if uniforms is not None:
        head["uniforms"] = uniforms_of(uniforms, job)
    if constants := {**job.constants, **job.defines}:
        head["constants"] = {name: str(value) for name, value in constants.items()}
    return _stream(head, columns)


def _thinned(words: np.ndarray, shape: tuple[int, int, int]) -> tuple[np.ndarray, tuple[int, int, int]]:
    """Return a picture's words and their (height, width, components); a large picture is thinned to every nth row and column."""
    texels = words.reshape(shape)
    step = max(1, math.ceil(math.sqrt(texels.size / MOST_TEXELS)))
    small = texels[::step, ::step]
    return np.ascontiguousarray(small).reshape(-1), small.shape


def lean(packed: bytes, *, outputs: bool) -> tuple[bytes, dict[str, str]]:
    """Repack a trusted recording more tightly without its sources, and return it and the sources by name.

    Many recordings share their sources, which can then be stored once. `outputs` says whether to keep the contents of the buffers
    after the kernel.
    """
    raw = zlib.decompress(packed)
    start = 4 + int.from_bytes(raw[:4], "little")
    head = json.loads(raw[4:start])
    table, sources = head.pop("columns"), head["sources"]
    head["sources"] = dict.fromkeys(sources, "")
    if not outputs:
        head["outputs"] = []
        table = {name: entry for name, entry in table.items() if not name.startswith("output")}
    columns = {name: np.frombuffer(raw, dtype, count, start + at) for name, (dtype, at, count) in table.items()}
    return _stream(head, columns, level=9), sources


def _stream(head: dict, columns: dict[str, np.ndarray], level: int = 1) -> bytes:
    """Return the stream of `uint32 length, JSON, columns`, padded so that each column starts at a multiple of 8 bytes.

    Equal recordings have equal bytes, wherever they come from.
    """
    body, table = bytearray(), {}
    for name, column in columns.items():
        narrow = column if column.dtype == np.uint8 else column.astype(_narrowest(column))
        table[name] = [narrow.dtype.name, len(body), len(narrow)]
        body += narrow.tobytes() + bytes(-narrow.nbytes % 8)
    text = json.dumps(head | {"columns": table}, default=_plain, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return zlib.compress(np.uint32(len(text)).tobytes() + text + bytes(body), level)


def head_of(packed: bytes) -> PackedHead:
    """Return the JSON before the columns of a packed recording. The columns stay packed.

    Raises:
        ValueError: It is longer than in any real recording.
    """
    stream = zlib.decompressobj()
    length = int.from_bytes(stream.decompress(packed, 4), "little")
    if length > MOST_HEAD:
        raise ValueError(f"The recording has {length:,} bytes of text; up to {MOST_HEAD:,} are shown.")
    return json.loads(stream.decompress(stream.unconsumed_tail, length))


def _narrowest(column: np.ndarray) -> np.dtype:
    return np.min_scalar_type(int(column.max(initial=0)))


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else str(value)


def _sites(trace: Trace, memories: list[Cells], variables: Variables) -> list[PackedSite]:
    sources = Sources.of(trace)
    return [_site(site, memories, variables, sources) for site in trace.sites]


def _site(site: Site, memories: Iterable[Cells], variables: Variables, sources: Sources) -> PackedSite:
    entry: dict[str, Any] = {"file": site.file, "line": site.line, "column": site.column}
    entry |= {"kind": site.kind, "function": site.function}
    entry |= {"name": site.name, "path": site.path, "type": type_of(site), "space": site.space}
    entry |= {"operation": site.operation, "access": site.access, "fault": site.fault}
    entry["width"] = words_in(type_of(site))
    entry["variable"] = variables.of.get((site.function, site.name), -1) if site.kind == "value" else -1
    for number, memory in enumerate(memories):
        if site.kind in (*ACCESSES, "out-of-bounds") and (site.name, site.space) == memory.key:
            entry |= {"memory": number, "puts": memory.puts(site)}
    if site.kind == "loop":
        entry["end"] = sources.last_line(site)
    type_ = SlangType.parse(site.type)
    if site.kind in ("value", "element", "write", "atomic") and type_ and type_.scalar.is_floating:
        entry["origins"] = sorted(sources.origins(site) or ())
    return cast(PackedSite, {name: value for name, value in entry.items() if name == "file" or value not in ("", None)})


def uniforms_of(types: Mapping[str, str], job: KernelJob) -> list[Uniform]:
    """Return the values that the host passed to a job, with the types of its uniforms given by name."""
    return [entry for name, kind in types.items() for entry in _uniform(name, kind, job.inputs.get(name))]


def _uniform(name: str, kind: str, value: np.ndarray | None) -> list[Uniform]:
    """Return a uniform's value as 32-bit words, one entry for each element of an array; zeros if no value was given.

    The list is empty for a type that is not shown.
    """
    array = re.fullmatch(r"(\w+)\[(\d{1,3})\]", kind)
    base, length = (array[1], int(array[2])) if array else (kind, 1)
    type_ = SlangType.parse(base)
    if type_ is None or words_in(base) != type_.count or length > MOST_ELEMENTS:  # 64 bits
        return []
    count = length * type_.count
    numbers = np.zeros(count) if value is None else np.asarray(value).reshape(-1)
    if numbers.dtype == np.uint8 and numbers.nbytes == 4 * count:
        words = numbers.view(np.uint32)
    elif type_.scalar.is_floating:
        words = numbers.astype(np.float32).view(np.uint32)
    else:
        words = (numbers.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)
    if len(words) < count:
        return []
    rows = words[:count].reshape(length, type_.count).tolist()
    return [{"name": f"{name}[{i}]" if array else name, "type": base, "words": row} for i, row in enumerate(rows)]


def _finding(finding: Finding, position: np.ndarray) -> PackedFinding:
    """Return a finding for its card, with the labels of its check, and its events as steps of the stepper, counted from 1."""
    check = CHECKS[finding.kind]
    words = {"label": check.label, "severity": check.severity, "names_memory": check.names_memory}
    events = [int(position[event]) + 1 for event in finding.events]
    return cast(PackedFinding, finding.as_dict() | words | {"events": events})


def type_of(site: Site) -> str:
    """Return the type of the values recorded at a site. A branch records whether it was taken, a bool."""
    return "bool" if site.kind == "branch" else site.type
