"""A recording on its way to the browser: one zlib stream of a JSON head and columns, each no wider than it needs.

The browser folds events into a state (`ui/js/stepper/state.js`). So that the fold is a few array writes an event, what an event
touches is worked out here: `place` is the cell of a memory, or the element of a thread's local array, counted from 1.
"""

import json
import re
import zlib
from collections.abc import Iterable

import numpy as np

from splatscope.tracing.record import Job, Recording
from splatscope.tracing.sanitize import Finding
from splatscope.tracing.trace import Trace

from .reflection import Layout

MOST_CELLS = 4096  # of one memory; of a larger one, those that were touched
MOST_ELEMENTS = 256  # of one local array
OUTSIDE = 1
_ACCESSES = ("read", "write", "atomic")
_TYPE = re.compile(r"(bool|u?int(?:8|16|64)_t|u?int|float|half|double)(?:([1-4])x([1-4])|([1-4]))?")


def pack(recording: Recording, findings: list[Finding], job: Job, layouts: dict[str, Layout]) -> bytes:
    """Events in the device's order with their sites, memories, variables, findings and outputs."""
    trace = recording.trace
    order = trace.order
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    memories = _memories(trace, recording, job, layouts)
    variables = _Variables(trace)
    place = variables.place + sum((memory.place for memory in memories), np.zeros(len(trace), np.int64))

    width = np.array([_width(_type(site)) for site in trace.sites])[trace.site][order]
    keep = np.arange(trace.words.shape[1])[None, :] < width[:, None]
    after, known = _after_atomics(trace, memories, recording)
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
        columns[f"output{len(outputs)}"] = words[:MOST_CELLS]
        layout = layouts.get(name) or Layout(4, (("", recording.types.get(name, "uint"), 0),))
        outputs.append({"name": name, "words": len(words), "stride": layout.stride // 4, "parts": layout.parts})
    head = {
        **trace.header,
        "events": len(trace),
        "sites": [_site(site, memories, variables) for site in trace.sites],
        "memories": [memory.about for memory in memories],
        "variables": variables.table,
        "findings": [_finding(finding, position) for finding in findings],
        "outputs": outputs,
        "same_as_plain": recording.same_as_plain,
    }
    return _stream(head, columns)


def _stream(head: dict, columns: dict[str, np.ndarray]) -> bytes:
    """`uint32 length, JSON, columns`, each column at a multiple of 8 bytes after the JSON's end rounded up."""
    body, table = bytearray(), {}
    for name, column in columns.items():
        narrow = column if column.dtype == np.uint8 else column.astype(_narrowest(column))
        table[name] = [narrow.dtype.name, len(body), len(narrow)]
        body += narrow.tobytes() + bytes(-narrow.nbytes % 8)
    text = json.dumps(head | {"columns": table}, default=_plain, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return zlib.compress(np.uint32(len(text)).tobytes() + text + bytes(body), 1)


def _narrowest(column: np.ndarray) -> np.dtype:
    return np.min_scalar_type(int(column.max(initial=0)))


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else str(value)


def _scalar(type_text: str) -> str:
    match = _TYPE.fullmatch(type_text)
    return match[1] if match else "uint"


def _count(type_text: str) -> int:
    """How many scalars a value of a numeric type has; 0 for other types, whose values are not recorded."""
    match = _TYPE.fullmatch(type_text)
    return int(match[4] or int(match[2] or 1) * int(match[3] or 1)) if match else 0


def _width(type_text: str) -> int:
    """How many words it takes: two for each scalar of 64 bits."""
    return _count(type_text) * (2 if "64" in type_text or type_text.startswith("double") else 1)


def _type(site) -> str:
    return "bool" if site.kind == "branch" else site.type


def _site(site, memories: Iterable["_Cells"], variables: "_Variables") -> dict:
    about = {"file": site.file, "line": site.line, "column": site.column, "kind": site.kind, "function": site.function}
    about |= {"name": site.name, "path": site.path, "type": _type(site), "space": site.space, "access": site.access}
    about["width"] = _width(_type(site))
    about["variable"] = variables.of.get((site.function, site.name), -1) if site.kind == "value" else -1
    for number, memory in enumerate(memories):
        if site.kind in (*_ACCESSES, "out-of-bounds") and (site.name, site.space) == memory.key:
            about |= {"memory": number, "puts": memory.puts(site)}
    return {name: value for name, value in about.items() if value not in ("", None)}


def _finding(finding: Finding, position: np.ndarray) -> dict:
    """A finding whose events are named as the stepper counts them: 1 for the first."""
    return finding.as_dict() | {"events": [int(position[event]) + 1 for event in finding.events]}


class _Cells:
    """One memory that threads share, cell by cell, and what stands where in a cell."""

    def __init__(self, trace: Trace, name: str, space: str, first: int, extent: int, layout: Layout | None, given):
        self.key = (name, space)
        sites = [site for site in trace.sites if site.kind in _ACCESSES and (site.name, site.space) == self.key]
        chosen = np.array([site.kind in _ACCESSES and (site.name, site.space) == self.key for site in trace.sites])[trace.site]
        events = np.flatnonzero(chosen & ((trace.flags & OUTSIDE) == 0))
        touched = np.unique(trace.index[events]).astype(np.int64)
        extent = max(extent, int(touched.max(initial=-1)) + 1)
        whole = extent <= MOST_CELLS
        self.indices = np.zeros(0, np.int64) if whole else touched
        self.count = extent if whole else len(touched)
        self.place = np.zeros(len(trace), np.int64)
        at = trace.index[events].astype(np.int64)
        self.place[events] = 1 + first + (at if whole else np.searchsorted(touched, at))

        self.parts: dict[str, tuple[str, int]] = {}  # name → (scalar type, first word in the cell)
        self.width = 0
        for part, scalar, _ in layout.parts if layout else ():
            self._add(part, scalar)
        self.vectors = {site.path for site in sites if re.search(r"[234]$", site.type)}
        for site in sites:
            for part in self._names(site) or ():
                self._add(part, _scalar(site.type))
        self.about = {
            "name": name, "space": space, "first": first, "count": self.count, "extent": extent, "width": self.width,
            "dims": [int(d) for d in sites[0].dims] if all(d.isdecimal() for d in sites[0].dims) else [],
            "type": next((s.type for s in sites if not s.path and s.type), ""),
            "parts": [[part, scalar, word] for part, (scalar, word) in self.parts.items()],
        }  # fmt: skip
        self.initial = self._initial(layout, given) if layout else np.zeros(0, np.uint32)

    def _add(self, part: str, scalar: str) -> None:
        if part not in self.parts:
            self.parts[part] = (scalar, self.width)
            self.width += _width(scalar)

    def _names(self, site) -> list[str] | None:
        """The parts of a cell that a site's value is made of, None where that is not known."""
        path, count = site.path, _count(site.type)
        if not count or "?" in path:
            return None
        base, _, last = path.rpartition(".")
        if last and len(last) == count and (count > 1 or base in self.vectors) and re.fullmatch(r"[xyzw]+|[rgba]+", last):
            return [f"{base}.{'xyzw'['rgba'.index(c)] if c in 'rgba' and set(last) <= set('rgba') else c}" for c in last]
        rows = re.search(r"(\d)x(\d)$", site.type)
        if rows:
            return [f"{path}[{r}][{c}]" for r in range(int(rows[1])) for c in range(int(rows[2]))]
        return [path] if count == 1 else [f"{path}.{'xyzw'[i]}" for i in range(count)]

    def puts(self, site) -> list[int] | None:
        """For each word of a site's value, its place in the cell."""
        names = self._names(site)
        if names is None:
            return None
        words = []
        for name in names:
            scalar, word = self.parts[name]
            words += range(word, word + _width(scalar))
        return words

    def _initial(self, layout: Layout, given: np.ndarray | None) -> np.ndarray:
        """The words before the first event: (count, width), flat."""
        words = np.zeros((self.count, self.width), np.uint32)
        if given is None or not self.count:
            return words.reshape(-1)
        data = np.frombuffer(np.ascontiguousarray(given).tobytes(), np.uint8)
        rows = self.indices if len(self.indices) else np.arange(self.count)
        padded = np.zeros((int(rows.max()) + 1) * layout.stride + 8, np.uint8)
        padded[: min(len(data), len(padded))] = data[: len(padded)]
        for part, scalar, offset in layout.parts:
            if scalar not in ("half", "bool") and "8_t" not in scalar and "16_t" not in scalar:
                at = rows[:, None] * layout.stride + offset + np.arange(4 * _width(scalar))
                words[:, self.parts[part][1] :][:, : _width(scalar)] = np.ascontiguousarray(padded[at]).view(np.uint32)
        return words.reshape(-1)


def _memories(trace: Trace, recording: Recording, job: Job, layouts: dict[str, Layout]) -> list[_Cells]:
    """Shared memory first, each in the order of its first site."""
    keys = dict.fromkeys((site.name, site.space) for site in trace.sites if site.kind in _ACCESSES)
    memories: list[_Cells] = []
    for name, space in sorted(keys, key=lambda key: key[1] != "shared"):
        first = sum(memory.count for memory in memories)
        if space == "shared":
            memories.append(_Cells(trace, name, space, first, _declared(trace, name), None, None))
        else:
            layout, words = layouts.get(name), recording.outputs.get(name, ())
            extent = len(words) * 4 // layout.stride if layout else 0
            memories.append(_Cells(trace, name, space, first, extent, layout, job.inputs.get(name)))
    return memories


def _declared(trace: Trace, name: str) -> int:
    dims = next(site.dims for site in trace.sites if (site.name, site.space) == (name, "shared"))
    return int(np.prod([int(size) for size in dims])) if all(size.isdecimal() for size in dims) else 1


class _Variables:
    """Locals and parameters of all functions; of local arrays, the elements that were set."""

    def __init__(self, trace: Trace):
        self.of: dict[tuple[str, str], int] = {}
        self.table: list[dict] = []
        self.place = np.zeros(len(trace), np.int64)
        for site in trace.sites:
            if site.kind == "value":
                self._number(site.function, site.name, site.type)
        for number, site in enumerate(trace.sites):
            if site.kind == "element" and _width(site.type):
                events = np.flatnonzero((trace.site == number) & ((trace.flags & OUTSIDE) == 0))
                indices, which = np.unique(trace.index[events], return_inverse=True)
                if len(indices) <= MOST_ELEMENTS:
                    ids = [self._number(site.function, f"{site.name}[{i}]{site.path}", site.type) for i in indices]
                    self.place[events] = 1 + np.array(ids, np.int64)[which] if len(ids) else 0

    def _number(self, function: str, name: str, type_text: str) -> int:
        key = (function, name)
        if key not in self.of:
            self.of[key] = len(self.table)
            self.table.append({"name": name, "function": function, "type": type_text, "width": _width(type_text)})
        entry = self.table[self.of[key]]
        if _width(type_text) > entry["width"]:
            entry |= {"type": type_text, "width": _width(type_text)}
        return self.of[key]


def _after_atomics(trace: Trace, memories: list[_Cells], recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """What stands in a cell after each atomic, as far as anybody saw: the recording has what it returned.

    The next access of the cell says it, where that is a read or an atomic that returned the old value; after the last, the output.
    """
    after, known = np.zeros(len(trace), np.uint32), np.zeros(len(trace), np.uint8)
    order = trace.order
    kinds = trace.kinds
    for memory in memories:
        events = order[memory.place[order] > 0]
        events = events[np.argsort(memory.place[events], kind="stable")]
        for i in np.flatnonzero(kinds[events] == "atomic"):
            event, following = events[i], events[i + 1] if i + 1 < len(events) else None
            site = trace.sites[trace.site[event]]
            if "load" in site.access or (_gives_new(site, trace) and _width(site.type) == 1):
                after[event], known[event] = trace.words[event][0], 1
            elif following is not None and memory.place[following] == memory.place[event]:
                then = trace.sites[trace.site[following]]
                if _width(then.type) == 1 and (then.kind == "read" or (then.kind == "atomic" and not _gives_new(then, trace))):
                    after[event], known[event] = trace.words[following][0], 1
            elif memory.key[1] == "device" and memory.width == 1:
                index, words = int(trace.index[event]), recording.outputs.get(memory.key[0], ())
                if index < len(words):
                    after[event], known[event] = words[index], 1
    return after, known


def _gives_new(site, trace: Trace) -> bool:
    """Whether the recorded value of an atomic is the one it left behind: `++x`, and Interlocked… without an original value."""
    if not site.access.startswith("Interlocked"):
        return site.access.startswith(("++", "--")) and _text(site, trace).startswith(("++", "--"))
    arguments = _text(site, trace).partition("(")[2]
    depth, commas = 0, 0
    for c in arguments:
        depth += (c in "([") - (c in ")]")
        if depth < 0:
            break
        commas += c == "," and depth == 0
    return commas + 1 < (4 if "CompareExchange" in site.access else 3)


def _text(site, trace: Trace) -> str:
    lines = trace.header["sources"].get(site.file, "").split("\n")
    return "\n".join(lines[site.line - 1 : site.line + 2])[site.column - 1 :]
