"""The race detector against the definition of a race, pair by pair; and how its work grows."""

import tracemalloc

import numpy as np
import pytest

from helpers.traces import run_info
from splatscope.tracing.checks import find, races_between_groups
from splatscope.tracing.instrument.runtime import NO_SLOT
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

BARRIERS = ("GroupMemoryBarrierWithGroupSync", "DeviceMemoryBarrierWithGroupSync", "AllMemoryBarrierWithGroupSync")
SPACES = ("shared", "device", "both")
SOURCE = "groupshared float2 tile[4];\nRWStructuredBuffer<float2> buffer;\n"


def access(line: int, kind: str, space: str, path: str, operation: str = "") -> Site:
    name = "tile" if space == "shared" else "buffer"
    type_text = "float" if path else "float2"
    return Site("k.slang", line, 1, kind, name, "f", type_text, path, space, ("4",), kind == "atomic", operation)


def sites() -> list[Site]:
    made = [Site("", 0, 0, "nothing")]
    for space in SPACES[:2]:
        for path in ("", ".x", ".y"):
            made += [access(len(made), kind, space, path) for kind in ("read", "write")]
        made += [access(len(made), "atomic", space, ".x", operation) for operation in ("add", "load")]
    for name, space in zip(BARRIERS, SPACES, strict=True):
        made += [Site("k.slang", 100 + len(made), 1, kind, name, "f", space=space) for kind in ("arrive", "resume")]
    return made


SITES = sites()
ACCESSES = [number for number, site in enumerate(SITES) if site.kind in ("read", "write", "atomic")]


def random_trace(seed: int, groups: int = 1) -> Trace:
    """Return a trace of threads that access few cells with few values between common barriers, in a random valid order."""
    rng = np.random.default_rng(seed)
    threads, phases = 3 * groups, 3
    barriers = [int(rng.choice([n for n, s in enumerate(SITES) if s.kind == "arrive"])) for _ in range(phases - 1)]
    rows = []  # (phase, chance, thread, site, index, value)
    for thread in range(threads):
        for phase in range(phases):
            for chance in np.sort(rng.random(int(rng.integers(0, 4)))):
                rows.append((phase, chance, thread, int(rng.choice(ACCESSES)), int(rng.integers(0, 2)), int(rng.integers(0, 2))))
            if phase < phases - 1:
                rows += [(phase, 2, thread, barriers[phase], 0, 0), (phase, 3, thread, barriers[phase] + 1, 0, 0)]
    slots = np.empty(len(rows), np.uint32)
    slots[sorted(range(len(rows)), key=lambda i: rows[i][:3])] = np.arange(len(rows))
    column = {
        name: np.array([row[i] for row in rows], np.uint32) for i, name in ((2, "thread"), (3, "site"), (4, "index"), (5, "value"))
    }
    words = np.zeros((len(rows), 3), np.uint32)
    words[:, 0] = words[:, 1] = column["value"]
    info = run_info(SOURCE, entry="f", group_size=(3, 1, 1), groups=(groups, 1, 1), threads=threads, all_groups=groups > 1)
    zeros = np.zeros(len(rows), np.uint32)
    return Trace(info, SITES, column["thread"], column["site"], slots, column["index"], words, zeros)


def parts(site: Site) -> set[str]:
    return {site.path} if site.path else {".x", ".y"}


def by_definition(trace: Trace, between_groups: bool = False) -> set[tuple]:
    """Return (name, lines) of every pair that races, benign or not."""
    found = set()
    events = [e for e in range(len(trace)) if trace.sites[trace.site[e]].kind in ("read", "write", "atomic")]
    for a in events:
        for b in events:
            first, second = trace.sites[trace.site[a]], trace.sites[trace.site[b]]
            epochs = trace.shared_epoch if first.space == "shared" else trace.device_epoch
            apart = trace.thread[a] // 3 != trace.thread[b] // 3 if between_groups else trace.thread[a] != trace.thread[b]
            meet = between_groups or epochs[a] == epochs[b]
            writes = any(s.kind == "write" or (s.kind == "atomic" and s.operation != "load") for s in (first, second))
            both_atomic = first.kind == second.kind == "atomic"
            same = first.name == second.name and trace.index[a] == trace.index[b] and parts(first) & parts(second)
            if a < b and same and apart and meet and writes and not both_atomic and (first.space == "device" or not between_groups):
                found.add((first.name, *sorted((first.line, second.line))))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_races_are_those_of_the_definition(seed):
    trace = random_trace(seed)
    findings = [finding for finding in find(trace) if "race" in finding.kind]
    found, truth = {(f.name, *sorted(f.lines)) for f in findings}, by_definition(trace)
    assert found <= truth
    lines = {(f.name, line) for f in findings for line in f.lines}
    for name, first, second in truth - found:  # a benign one gives way to one that shares a line with it
        assert {(name, first), (name, second)} & lines
    for finding in findings:
        assert trace.slot[finding.events[0]] < trace.slot[finding.events[1]]


@pytest.mark.parametrize("seed", range(30))
def test_races_between_groups(seed):
    trace = random_trace(seed, groups=3)
    findings = races_between_groups(trace)
    found, truth = {(f.name, *sorted(f.lines)) for f in findings}, by_definition(trace, between_groups=True)
    assert found <= truth
    assert bool(found) == bool(truth)
    assert all(finding.is_between_groups for finding in findings)


@pytest.mark.parametrize("cells", [2, 512, 100_000])
def test_twice_the_events_take_twice_the_room(cells):
    """Even if all accesses race at two sites, the number of compared pairs does not grow with them."""
    peaks = []
    for count in (100_000, 200_000):
        trace = events_everywhere(count, cells)
        tracemalloc.start()
        kinds = {finding.kind for finding in find(trace)}
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert "race" in kinds
    assert peaks[1] < 2.5 * peaks[0]


def events_everywhere(count: int, cells: int, threads: int = 250) -> Trace:
    rng = np.random.default_rng(0)
    thread = np.repeat(np.arange(threads, dtype=np.uint32), count // threads)
    site = np.array([1, 2], np.uint32)[rng.integers(0, 2, count)]
    slot = rng.permutation(count).astype(np.uint32)
    assert slot.max() < NO_SLOT
    words = rng.integers(0, 9, (count, 3)).astype(np.uint32)
    info = run_info(SOURCE, group_size=(threads, 1, 1), threads=threads)
    index = rng.integers(0, cells, count).astype(np.uint32)
    return Trace(info, SITES, thread, site, slot, index, words, np.zeros(count, np.uint32))
