"""Infer the value of a cell after each atomic operation, since a recording has only the value that it returned."""

import numpy as np

from splatscope.gpu.slang_types import words_in
from splatscope.recordings.wire_cells import Cells
from splatscope.tracing.recording import Recording
from splatscope.tracing.trace import Trace


def after_atomics(trace: Trace, memories: list[Cells], recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Return the value of the cell after each atomic, (events,) uint32, and whether it is known, (events,) uint8.

    The next access to the cell shows it, if that is a read or an atomic that returned the old value. After the last access the
    output buffer does.
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
            if "load" in site.operation or (_returns_new_value(site, trace) and words_in(site.type) == 1):
                after[event], known[event] = trace.words[event][0], 1
            elif following is not None and memory.place[following] == memory.place[event]:
                following_site = trace.sites[trace.site[following]]
                if words_in(following_site.type) == 1 and (
                    following_site.kind == "read"
                    or (following_site.kind == "atomic" and not _returns_new_value(following_site, trace))
                ):
                    after[event], known[event] = trace.words[following][0], 1
            elif memory.key[1] == "device" and memory.width == 1:
                index, words = int(trace.index[event]), recording.outputs.get(memory.key[0], ())
                if index < len(words):
                    after[event], known[event] = words[index], 1
    return after, known


def _returns_new_value(site, trace: Trace) -> bool:
    """Return whether an atomic's recorded value is the new one, as for `++x` and Interlocked… without an argument for the old."""
    if not site.operation.startswith("Interlocked"):
        return site.operation.startswith(("++", "--")) and _text(site, trace).startswith(("++", "--"))
    arguments = _text(site, trace).partition("(")[2]
    depth, commas = 0, 0
    for c in arguments:
        depth += (c in "([") - (c in ")]")
        if depth < 0:
            break
        commas += c == "," and depth == 0
    return commas + 1 < (4 if "CompareExchange" in site.operation else 3)


def _text(site, trace: Trace) -> str:
    lines = trace.info.sources.get(site.file, "").split("\n")
    return "\n".join(lines[site.line - 1 : site.line + 2])[site.column - 1 :]
