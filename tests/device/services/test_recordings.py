"""Recordings for pages: packed without loss, cached, or refused with a message."""

import asyncio
import json
import zlib

import numpy as np
import pytest

from helpers.declared import wrong
from splatscope.gpu.device import open_device
from splatscope.recordings.wire import head_of, pack
from splatscope.recordings.wire_head import PackedHead
from splatscope.services import recordings as module
from splatscope.services.drafts.inputs import inputs_of
from splatscope.services.drafts.playground import suggest
from splatscope.services.record_and_pack import record_and_pack
from splatscope.services.recordings import check_source, record_source
from splatscope.services.sandbox_jobs import open_job, record_job
from splatscope.tracing.checks import find
from splatscope.tracing.interface import read_interface
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record
from splatscope.web.examples.example import difference, fixed
from splatscope.web.examples.gallery import EXAMPLES
from splatscope.workers.pool import Pool

COUNTING = """
struct Pair { float weight; uint2 at; };
groupshared uint total;
RWStructuredBuffer<uint> counts;
RWStructuredBuffer<Pair> pairs;
[shader("compute")]
[numthreads(8, 1, 1)]
void countMain(uint3 t : SV_GroupThreadID)
{
    if (t.x == 0) total = 0;
    GroupMemoryBarrierWithGroupSync();
    uint before;
    InterlockedAdd(total, t.x + 1, before);
    InterlockedAdd(counts[t.x % 2], before);
    pairs[t.x].weight = 0.5 * t.x;
    int mine[3];
    mine[t.x % 3] = int(t.x);
}
"""


def unpack(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """Unpack a stream as `wire._stream` documents it."""
    raw = zlib.decompress(data)
    length = int(np.frombuffer(raw[:4], np.uint32)[0])
    head = json.loads(raw[4 : 4 + length])
    columns = {
        name: np.frombuffer(raw, np.dtype(kind), count, 4 + length + start)
        for name, (kind, start, count) in head["columns"].items()
    }
    return head, columns


@pytest.fixture(scope="module")
def counted():
    job = KernelJob(COUNTING, inputs={"counts": np.zeros(2, np.uint32), "pairs": np.zeros(24, np.uint32)}, records=4000)
    done = record(open_device(), job)
    layouts = read_interface(open_device(), KernelJob(COUNTING)).buffers
    return done, *unpack(pack(done, find(done.trace), job, layouts))


def test_events_come_in_the_devices_order_with_their_values(counted):
    done, head, columns = counted
    trace, order = done.trace, done.trace.order
    assert head["events"] == len(trace)
    np.testing.assert_array_equal(columns["thread"], trace.thread[order])
    np.testing.assert_array_equal(columns["site"], trace.site[order])
    at = 0
    for event, site in zip(order, (head["sites"][s] for s in columns["site"]), strict=True):
        words = columns["words"][at : at + site["width"]]
        np.testing.assert_array_equal(words, trace.words[event][: site["width"]])
        at += site["width"]
    assert at == len(columns["words"])


def test_columns_are_no_wider_than_they_need(counted):
    _, head, columns = counted
    assert columns["thread"].dtype == columns["site"].dtype == columns["place"].dtype == np.uint8
    assert all(start % 8 == 0 for _, start, _ in head["columns"].values())


def test_places_name_the_cells(counted):
    done, head, columns = counted
    trace, order = done.trace, done.trace.order
    seen = set()
    for event, place, number in zip(order, columns["place"].astype(int), columns["site"], strict=True):
        memory = head["sites"][number].get("memory")
        if memory is not None and place:
            about = head["memories"][memory]
            assert place - 1 - about["first"] == trace.index[event]
            seen.add(about["name"])
        elif head["sites"][number]["kind"] == "element":
            assert head["variables"][place - 1]["name"] == f"mine[{trace.index[event]}]"
            seen.add("mine")
    assert seen == {"total", "counts", "pairs", "mine"}


def test_structs_are_laid_out_as_the_compiler_does(counted):
    _, head, _ = counted
    pairs = next(memory for memory in head["memories"] if memory["name"] == "pairs")
    assert [part for part, _, _ in pairs["parts"]] == [".weight", ".at.x", ".at.y"]


def test_a_cell_is_known_after_each_atomic(counted):
    """Eight threads add 1 … 8. The value after each addition is what the next thread found."""
    _, head, columns = counted
    after = iter(zip(columns["after"], columns["after_known"], strict=True))
    sums: dict[str, list[int]] = {}
    for number in columns["site"]:
        site = head["sites"][number]
        if site["kind"] == "atomic":
            value, known = next(after)
            assert known or site["name"] == "total"
            if known:
                sums.setdefault(site["name"], []).append(int(value))
    assert sums["total"] == sorted(sums["total"])
    assert len(sums["total"]) >= 7
    assert set(sums["total"]) <= set(range(1, 37))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_a_fix_applies_and_takes_the_finding_away(example):
    device = open_device()

    def kinds(source: str) -> set[str]:
        interface = read_interface(device, KernelJob(source))
        specs, groups = suggest(source, interface, interface.entries[0], example.inputs)
        job = KernelJob(source, groups=tuple(groups or example.groups), inputs=inputs_of(interface, specs), records=400_000)
        assert set(example.inputs) <= {*interface.buffers, *interface.uniforms}
        recording, findings, packed = record_and_pack(device, job, between_groups=True)
        assert wrong(head_of(packed.data), PackedHead) is None
        assert not recording.trace.info.truncated or {"timeout", "livelock"} & {finding.kind for finding in findings}
        return {finding.kind for finding in findings}

    if not example.fixes:
        assert kinds(example.source) <= {"benign-race"}  # the coarse pass has one: all threads store the same count
        return
    better = fixed(example, example.source)
    assert better is not None
    assert kinds(example.source)
    assert not kinds(better)
    assert difference(example.source, better)
    assert fixed(example, better) is None


LAST_GROUP = """
RWStructuredBuffer<uint> o;
[shader("compute")]
[numthreads(4, 1, 1)]
void main(uint3 t : SV_DispatchThreadID) { o[t.x < 8 ? t.x : t.x + 5000] = t.x; }
"""


def test_what_was_found_in_another_workgroup_is_still_there_when_a_page_opens_the_file_that_it_saved():
    _, (packed, file) = record_job(KernelJob(LAST_GROUP, groups=(3, 1, 1), inputs={"o": np.zeros(16, np.uint32)}))
    _, (opened,) = open_job("r.npz", file)
    before, after = head_of(packed), head_of(opened)
    assert [(finding["kind"], finding["events"]) for finding in before["findings"]] == [("out-of-bounds", [])]
    for name in ("findings", "missed", "verdict", "notes"):
        assert after[name] == before[name], name


def test_one_run_serves_all_who_ask_for_the_same(monkeypatch):
    job = KernelJob(COUNTING, inputs={"counts": np.zeros(2, np.uint32)}, records=4000)
    monkeypatch.setattr(module, "_recordings", module.SingleFlightCache(module.MAX_CACHED, lambda packed: len(packed.data)))

    async def ask():
        pool = Pool()
        calls = []
        run = pool.run
        monkeypatch.setattr(pool, "run", lambda *args, **kwargs: calls.append(args) or run(*args, **kwargs))
        try:
            together = await asyncio.gather(*(record_source(pool, job) for _ in range(5)))
            later = await record_source(pool, job)
            wrong = await record_source(pool, KernelJob("void main() {}"))
            refused = await check_source(pool, KernelJob(COUNTING.replace("t.x + 1", "nobody")))
        finally:
            await pool.close()
        return calls, together, later, wrong, refused

    calls, together, later, wrong, refused = asyncio.run(ask())
    assert len(calls) == 3  # one for six, one for each of the others
    assert all(packed is later for packed in together)
    assert later.meta["events"] == unpack(later.data)[0]["events"]
    assert wrong.data == b""
    assert "entry point" in wrong.meta["error"]
    assert refused.error.startswith("kernel.slang:13:")
    assert (refused.diagnostics[0].line, refused.diagnostics[0].severity) == (13, "error")
