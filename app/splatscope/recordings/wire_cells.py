"""Number what threads access: the cells of each memory, and the variables of each function."""

import math
import re
from typing import cast

import numpy as np

from splatscope.gpu.reflection import Layout
from splatscope.gpu.slang_types import SCALARS, SlangType, words_in
from splatscope.recordings.wire_head import PackedMemory, Part, ScalarName, Space, Variable
from splatscope.slang.integer_constants import integer
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording
from splatscope.tracing.trace import Trace

MOST_CELLS = 4096  # in one memory; for a larger memory only the cells that were accessed are included
MOST_ELEMENTS = 256  # in one local array
OUTSIDE = 1  # flag of an event whose index was out of bounds
ACCESSES = ("read", "write", "atomic")


class Cells:
    """One memory that threads share: its cells, and the layout of a cell.

    Attributes:
        key: (name, space).
        indices: Indices of the cells, (count,) int64; empty if all cells are included.
        count: The number of cells.
        place: For each event, the cell that it accesses, counted from 1 across all memories; 0 for none. (events,) int64.
        parts: By path, (scalar type, first word in the cell).
        width: 32-bit words per cell.
        about: The entry of this memory in the head of the stream.
        initial: The words before the first event, (count · width,) uint32; empty for shared memory.
    """

    def __init__(self, trace: Trace, name: str, space: Space, first: int, extent: int, layout: Layout | None, given, most: int):
        self.key = (name, space)
        sites = [site for site in trace.sites if site.kind in ACCESSES and (site.name, site.space) == self.key]
        is_access = np.array([site.kind in ACCESSES and (site.name, site.space) == self.key for site in trace.sites])[trace.site]
        events = np.flatnonzero(is_access & ((trace.flags & OUTSIDE) == 0))
        touched = np.unique(trace.index[events]).astype(np.int64)
        extent = max(extent, int(touched.max(initial=-1)) + 1)
        whole = extent <= most
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
            if type_ := SlangType.parse(site.type):
                for part in self._names(site) or ():
                    self._add(part, type_.scalar.name)
        self.about: PackedMemory = {
            "name": name, "space": space, "first": first, "count": self.count, "extent": extent, "width": self.width,
            "dims": dims_of(trace, sites[0].dims),
            "type": next((s.type for s in sites if not s.path and s.type), ""),
            "parts": [Part(part, cast(ScalarName, scalar), word) for part, (scalar, word) in self.parts.items()],
        }  # fmt: skip
        self.initial = self._initial(layout, given) if layout else np.zeros(0, np.uint32)

    def _add(self, part: str, scalar: str) -> None:
        if part not in self.parts:
            self.parts[part] = (scalar, self.width)
            self.width += words_in(scalar)

    def _names(self, site) -> list[str] | None:
        """Return the parts of a cell that a site's value consists of, or None if they are unknown."""
        path, type_ = site.path, SlangType.parse(site.type)
        if type_ is None or "?" in path:
            return None
        count = type_.count
        base, _, last = path.rpartition(".")
        if last and len(last) == count and (count > 1 or base in self.vectors) and re.fullmatch(r"[xyzw]+|[rgba]+", last):
            return [f"{base}.{'xyzw'['rgba'.index(c)] if c in 'rgba' and set(last) <= set('rgba') else c}" for c in last]
        if len(type_.shape) == 2:
            rows, columns = type_.shape
            return [f"{path}[{r}][{c}]" for r in range(rows) for c in range(columns)]
        return [path] if count == 1 else [f"{path}.{'xyzw'[i]}" for i in range(count)]

    def puts(self, site) -> list[int] | None:
        """Return the cell's word for each word of a site's value, or None if that is unknown."""
        names = self._names(site)
        if names is None:
            return None
        words = []
        for name in names:
            scalar, word = self.parts[name]
            words += range(word, word + words_in(scalar))
        return words

    def _initial(self, layout: Layout, contents: np.ndarray | None) -> np.ndarray:
        """Return the words before the first event, (count · width,) uint32."""
        words = np.zeros((self.count, self.width), np.uint32)
        if contents is None or not self.count:
            return words.reshape(-1)
        data = np.frombuffer(np.ascontiguousarray(contents).tobytes(), np.uint8)
        rows = self.indices if len(self.indices) else np.arange(self.count)
        padded = np.zeros((int(rows.max()) + 1) * layout.stride + 8, np.uint8)
        padded[: min(len(data), len(padded))] = data[: len(padded)]
        for part, scalar, offset in layout.parts:
            if scalar not in SCALARS or SCALARS[scalar].is_stored_as_recorded:
                at = rows[:, None] * layout.stride + offset + np.arange(4 * words_in(scalar))
                words[:, self.parts[part][1] :][:, : words_in(scalar)] = np.ascontiguousarray(padded[at]).view(np.uint32)
        return words.reshape(-1)


def memories_of(
    trace: Trace, recording: Recording, job: KernelJob, layouts: dict[str, Layout], most: int = MOST_CELLS
) -> list[Cells]:
    """Return the memories of a recording, shared memory first, otherwise in the order of their first sites.

    Of a memory with more than `most` cells, only those that were accessed are included.
    """
    keys = dict.fromkeys((site.name, site.space) for site in trace.sites if site.kind in ACCESSES)
    memories: list[Cells] = []
    for name, space in sorted(keys, key=lambda key: key[1] != "shared"):
        first = sum(memory.count for memory in memories)
        if space == "shared":
            memories.append(Cells(trace, name, space, first, _declared(trace, name), None, None, most))
        else:
            layout, words = layouts.get(name), recording.outputs.get(name, ())
            extent = len(words) * 4 // layout.stride if layout else 0
            memories.append(Cells(trace, name, cast(Space, space), first, extent, layout, job.inputs.get(name), most))
    return memories


def _declared(trace: Trace, name: str) -> int:
    dims = next(site.dims for site in trace.sites if (site.name, site.space) == (name, "shared"))
    return math.prod(dims_of(trace, dims))


def dims_of(trace: Trace, texts: tuple[str, ...]) -> list[int]:
    """Return the extents of an array, [] if they are not known. In several dimensions they may be constants of the source."""
    if all(text.isdecimal() for text in texts):
        return [int(text) for text in texts]
    if len(texts) == 1:
        return []
    integers = Sources.of(trace).symbols.integers
    sizes = [integer(text, integers) or 0 for text in texts]
    return sizes if min(sizes) > 0 and math.prod(sizes) < 2**31 else []


class Variables:
    """The locals and parameters of all functions, and the elements of local arrays that were set.

    Attributes:
        of: The number of each variable, by (function, name).
        table: Its name, function, type and width in words, by number.
        place: For each event, the element of a local array that it sets, counted from 1; 0 for none. (events,) int64.
    """

    def __init__(self, trace: Trace):
        self.of: dict[tuple[str, str], int] = {}
        self.table: list[Variable] = []
        self.place = np.zeros(len(trace), np.int64)
        for site in trace.sites:
            if site.kind == "value":
                self._number(site.function, site.name, site.type)
        for number, site in enumerate(trace.sites):
            if site.kind == "element" and words_in(site.type):
                events = np.flatnonzero((trace.site == number) & ((trace.flags & OUTSIDE) == 0))
                indices, which = np.unique(trace.index[events], return_inverse=True)
                if len(indices) <= MOST_ELEMENTS:
                    ids = [self._number(site.function, f"{site.name}[{i}]{site.path}", site.type) for i in indices]
                    self.place[events] = 1 + np.array(ids, np.int64)[which] if len(ids) else 0

    def _number(self, function: str, name: str, type_text: str) -> int:
        key = (function, name)
        if key not in self.of:
            self.of[key] = len(self.table)
            self.table.append({"name": name, "function": function, "type": type_text, "width": words_in(type_text)})
        entry = self.table[self.of[key]]
        if words_in(type_text) > entry["width"]:
            entry |= {"type": type_text, "width": words_in(type_text)}
        return self.of[key]
