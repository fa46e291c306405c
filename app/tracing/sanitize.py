"""What is wrong with a recorded kernel: races, barriers not met by all, accesses outside, what nobody wrote, NaN, endless loops."""

from collections import defaultdict
from dataclasses import asdict, dataclass, field

import numpy as np

from splatscope.tracing.trace import Trace

OUTSIDE_FLAG = 1


@dataclass
class Finding:
    """One cause.

    `kind` is one of race, benign-race, out-of-bounds, uninitialised-read, barrier-divergence, nan, timeout; `name` the declared
    identifier; `lines`, `threads` and `events` belong together, the earlier access first; `count` is how often it was seen.
    """

    kind: str
    name: str
    message: str
    lines: list[int]
    threads: list[int]
    index: int = 0
    events: list[int] = field(default_factory=list)
    count: int = 1
    file: str = ""

    def as_dict(self) -> dict:
        return asdict(self)


def sanitize(trace: Trace) -> list[Finding]:
    """All findings, one a cause, in the order of their first moment."""
    found = [
        *races(trace),
        *barrier_divergence(trace),
        *out_of_bounds(trace),
        *uninitialised_reads(trace),
        *not_finite(trace),
        *endless_loops(trace),
    ]
    place = np.empty(len(trace), np.int64)
    place[trace.order] = np.arange(len(trace))
    return sorted(found, key=lambda finding: place[finding.events[0]] if finding.events else -1)


def _accesses(trace: Trace, space: str | None = None) -> np.ndarray:
    """Numbers of the events that touch memory that threads share."""
    chosen = [site.kind in ("read", "write", "atomic") and space in (None, site.space) for site in trace.sites]
    inside = (trace.flags & OUTSIDE_FLAG) == 0
    return np.flatnonzero(np.array(chosen)[trace.site] & inside)


def _overlap(a: str, b: str) -> bool:
    """Whether two parts of one element have something in common: the whole overlaps all, `.x` and `.y` nothing."""
    first, second = _parts(a), _parts(b)
    for one, other in zip(first, second, strict=False):
        if set(one) <= set("xyzw") and set(other) <= set("xyzw"):
            if not set(one) & set(other):
                return False
        elif one != other and "?" not in (one, other):
            return False
    return True


def _parts(path: str) -> list[str]:
    parts = [part for part in path.replace("[?]", ".?").split(".") if part]
    return ["".join("xyzw"["rgba".index(c)] for c in p) if p and set(p) <= set("rgba") else p for p in parts]


def races(trace: Trace) -> list[Finding]:
    """Two threads, one address, one epoch of its memory, one of them writing, not both atomic.

    Benign where both write the same value.
    """
    found: dict[tuple, Finding] = {}
    for space, epochs in (("shared", trace.shared_epoch), ("device", trace.device_epoch)):
        places = defaultdict(list)
        for event in _accesses(trace, space):
            site = trace.sites[trace.site[event]]
            places[(site.name, int(trace.index[event]), int(epochs[event]))].append(int(event))
        for (name, index, _), events in places.items():
            if len(events) > 1:
                _race_at(trace, name, index, events, found)
    return list(found.values())


def _race_at(trace: Trace, name: str, index: int, events: list[int], found: dict) -> None:
    writes = [e for e in events if trace.sites[trace.site[e]].kind != "read" and not _is_load(trace, e)]
    if not writes or len({int(trace.thread[e]) for e in events}) < 2:
        return
    events = sorted(events, key=lambda e: int(trace.slot[e]))
    seen = set()
    for write in writes:
        for other in events:
            pair = (min(write, other), max(write, other))
            if trace.thread[other] == trace.thread[write] or pair in seen:
                continue
            seen.add(pair)
            a, b = (trace.sites[trace.site[e]] for e in (write, other))
            if (a.atomic and b.atomic) or not _overlap(a.path, b.path):
                continue
            first, second = sorted((write, other), key=lambda e: int(trace.slot[e]))
            _note_race(trace, name, index, first, second, found)


def _is_load(trace: Trace, event: int) -> bool:
    site = trace.sites[trace.site[event]]
    return site.kind == "atomic" and "load" in site.access


def _note_race(trace: Trace, name: str, index: int, first: int, second: int, found: dict) -> None:
    sites = [trace.sites[trace.site[e]] for e in (first, second)]
    writes = all(site.kind == "write" for site in sites)
    same = (
        writes
        and bool(sites[0].type)
        and sites[0].type == sites[1].type
        and np.array_equal(trace.words[first], trace.words[second])
    )
    kind = "benign-race" if same else "race"
    lines = [site.line for site in sites]
    key = (kind, name, tuple(sorted(lines)))
    if key in found:
        found[key].count += 1
        return
    threads = [int(trace.thread[e]) for e in (first, second)]
    what = ["writes" if site.kind == "write" else "reads" if site.kind == "read" else "changes atomically" for site in sites]
    place = f"{name}[{index}]" if sites[0].dims or sites[0].space == "device" else name
    between = "the same value; it does no harm here" if same else "with no barrier between them"
    message = (
        f"Thread {threads[0]} {what[0]} {place} on line {lines[0]}, thread {threads[1]} {what[1]} it on line {lines[1]}, {between}."
    )
    found[key] = Finding(kind, name, message, lines, threads, index, [first, second], file=sites[0].file)


def barrier_divergence(trace: Trace) -> list[Finding]:
    """Threads that do not all arrive at the same barriers in the same order."""
    if trace.header.get("truncated"):
        return []
    kinds = trace.kinds
    arrivals = np.flatnonzero(kinds == "arrive")
    overran = set(trace.thread[kinds == "overrun"].tolist())
    threads = sorted(set(trace.thread.tolist()) - overran)
    by_thread = {thread: [] for thread in threads}
    for event in arrivals:
        if int(trace.thread[event]) in by_thread:
            by_thread[int(trace.thread[event])].append(int(event))
    for turn in range(max((len(events) for events in by_thread.values()), default=0)):
        at = {thread: events[turn] if turn < len(events) else None for thread, events in by_thread.items()}
        sites = {None if event is None else int(trace.site[event]) for event in at.values()}
        if len(sites) > 1:
            return [_divergence(trace, at)]
    return []


def _divergence(trace: Trace, at: dict[int, int | None]) -> Finding:
    waiting = [(thread, event) for thread, event in at.items() if event is not None]
    thread, event = waiting[0]
    site = trace.sites[trace.site[event]]
    absent = [t for t, e in at.items() if e is None]
    elsewhere = [(t, e) for t, e in waiting if trace.site[e] != trace.site[event]]
    if elsewhere:
        other, other_event = elsewhere[0]
        line = trace.sites[trace.site[other_event]].line
        message = f"Thread {thread} waits at the barrier on line {site.line} while thread {other} waits at the one on line {line}."
        return Finding(
            "barrier-divergence", site.name, message, [site.line, line], [thread, other], 0, [event, other_event], file=site.file
        )
    share = f"{len(absent)} of {len(at)} threads"
    message = f"Thread {thread} waits at the barrier on line {site.line}, thread {absent[0]} ended without it ({share})."
    return Finding("barrier-divergence", site.name, message, [site.line], [thread, absent[0]], 0, [event], len(absent), site.file)


def out_of_bounds(trace: Trace) -> list[Finding]:
    """Accesses outside of an array or a buffer: stores were not performed, reads took the last element."""
    flagged = (trace.flags & OUTSIDE_FLAG) != 0
    bad = np.array([site.kind == "out-of-bounds" for site in trace.sites])[trace.site]
    found: dict[tuple, Finding] = {}
    for event in np.flatnonzero(flagged | bad):
        site = trace.sites[trace.site[event]]
        key = (site.name, site.line)
        if key in found:
            found[key].count += 1
            continue
        thread, index = int(trace.thread[event]), int(trace.index[event])
        shown = index if index < 2**31 else index - 2**32
        verb = "reads" if site.kind == "read" else "writes"
        message = f"Thread {thread} {verb} {site.name}[{shown}] on line {site.line}, which is outside."
        found[key] = Finding("out-of-bounds", site.name, message, [site.line], [thread], shown, [int(event)], file=site.file)
    return list(found.values())


def uninitialised_reads(trace: Trace) -> list[Finding]:
    """Reads of shared memory that no thread has written before."""
    events = _accesses(trace, "shared")
    events = events[np.argsort(trace.slot[events], kind="stable")]
    written: dict[tuple[str, int], list[str]] = defaultdict(list)
    found: dict[tuple, Finding] = {}
    for event in map(int, events):
        site = trace.sites[trace.site[event]]
        place = (site.name, int(trace.index[event]))
        reads = site.kind == "read" or (site.kind == "atomic" and site.access not in ("store",))
        if reads and not any(_overlap(site.path, path) for path in written[place]):
            key = (site.name, site.line)
            if key in found:
                found[key].count += 1
            else:
                thread = int(trace.thread[event])
                shown = f"{site.name}[{place[1]}]" if site.dims else site.name
                message = f"Thread {thread} reads {shown} on line {site.line} before anybody wrote it."
                found[key] = Finding(
                    "uninitialised-read", site.name, message, [site.line], [thread], place[1], [event], file=site.file
                )
        if site.kind != "read" and not _is_load(trace, event) and site.path not in written[place]:
            written[place].append(site.path)
    return list(found.values())


def not_finite(trace: Trace) -> list[Finding]:
    """The first value that is no number or infinite, with its line."""
    bad = np.zeros(len(trace), bool)
    for number, site in enumerate(trace.sites):
        width = _float_words(site.type)
        if width:
            chosen = np.flatnonzero(trace.site == number)
            values = np.ascontiguousarray(trace.words[chosen, :width]).view(np.float32)
            bad[chosen] = ~np.isfinite(values).all(axis=1)
    order = trace.order
    hits = order[bad[order]]
    if len(hits) == 0:
        return []
    event = int(hits[0])
    site, thread = trace.sites[trace.site[event]], int(trace.thread[event])
    values = trace.value(event)
    values = values if isinstance(values, list) else [values]
    word = "NaN" if any(v != v for v in values) else "infinite"
    message = f"{site.name} becomes {word} in thread {thread} on line {site.line}."
    return [Finding("nan", site.name, message, [site.line], [thread], int(trace.index[event]), [event], len(hits), site.file)]


def _float_words(type_text: str) -> int:
    for scalar in ("float", "half"):
        if type_text.startswith(scalar):
            shape = type_text[len(scalar) :]
            return int(np.prod([int(n) for n in shape.split("x")])) if shape else 1
    return 0


def endless_loops(trace: Trace) -> list[Finding]:
    """Loops that used up their thread's budget of iterations, and were ended."""
    found: dict[tuple, Finding] = {}
    for event in np.flatnonzero(trace.kinds == "overrun"):
        site = trace.sites[trace.site[event]]
        key = (site.file, site.line)
        if key in found:
            found[key].count += 1
            continue
        thread, budget = int(trace.thread[event]), trace.header.get("loop_budget", 0)
        message = f"The loop on line {site.line} was ended in thread {thread} after {budget:,} iterations."
        found[key] = Finding("timeout", site.function, message, [site.line], [thread], 0, [int(event)], file=site.file)
    return list(found.values())
