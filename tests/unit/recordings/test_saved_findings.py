"""A saved recording opens with the findings that it had, and with the same advice."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import splatscope
from helpers.traces import run_info, with_header
from splatscope.recordings.archive import ArchiveError
from splatscope.recordings.recording_file import save
from splatscope.recordings.untrusted import MOST_FINDINGS, open_file
from splatscope.recordings.wire import head_of
from splatscope.services.sandbox_jobs import open_job
from splatscope.tracing.checks import Finding, find
from splatscope.tracing.instrument.runtime import NO_SLOT
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace
from splatscope.tracing.verdict import Verdict

SOURCE = """RWStructuredBuffer<uint> flag;
[shader("compute")] [numthreads(1, 1, 1)]
void main(uint3 group : SV_GroupID)
{
    uint seen;
    do
        InterlockedAdd(flag[0], 0, seen);
    while (seen != 9);
}
"""
SITES = [
    Site("", 0, 0, "nothing"),
    Site("a.slang", 6, 5, "loop"),
    Site("a.slang", 7, 9, "atomic", "flag", "main", "uint", "", "device", ("?",), operation="InterlockedAdd"),
    Site("a.slang", 6, 5, "overrun"),
]


def waiting(truncated: bool = False) -> Recording:
    """Return a recording of a group that waits until its loop is ended."""
    site = np.array([1, 2] * 9 + [3], np.uint32)
    slot = np.where(site == 1, NO_SLOT, np.arange(len(site))).astype(np.uint32)
    zeros, words = np.zeros(len(site), np.uint32), np.zeros((len(site), 3), np.uint32)
    info = run_info(SOURCE, "a.slang", groups=(2, 1, 1), truncated=truncated)
    trace = Trace(info, SITES, zeros, site, slot, zeros, words, zeros, Verdict(between_groups=True))
    return Recording(trace, {}, None, {}, ["main"], {})


def saved(findings: list[Finding] | None, truncated: bool = False) -> bytes:
    return save(waiting(truncated), KernelJob(SOURCE, "a.slang"), {}, findings)


def wait(kind: str = "livelock", events: tuple[int, ...] = (), message: str = "It waits.") -> Finding:
    return Finding(kind, "flag", message, [6], [0], 0, list(events), 3, "a.slang")


def test_what_the_checks_find_in_this_workgroup_alone_is_a_livelock():
    assert [finding.kind for finding in find(waiting().trace)] == ["livelock"]


@pytest.mark.parametrize(
    "findings",
    [[], [wait()], [wait("group-order")], [wait(events=(17,)), wait("timeout", (18, 17))], [wait(message="It waits. " * 500)]],
    ids=["not confirmed", "seen in all groups", "another kind", "with events", "told at length"],
)
def test_the_findings_are_those_that_were_saved(findings, tmp_path: Path):
    """The recording of all workgroups, which is not saved, may say otherwise of a wait than that of one workgroup."""
    file = tmp_path / "r.npz"
    file.write_bytes(saved(findings))
    loaded = splatscope.load(file).findings  # which also have a column, by their events
    assert [replace(finding, column=0) for finding in loaded] == findings
    shown = head_of(open_job("r.npz", file.read_bytes())[1][0])["findings"]
    assert [(one["kind"], one["message"], one["count"]) for one in shown] == [(f.kind, f.message, f.count) for f in findings]


def test_in_a_file_without_a_list_the_findings_are_looked_for(tmp_path: Path):
    (tmp_path / "r.npz").write_bytes(saved(None))
    assert [finding.kind for finding in splatscope.load(tmp_path / "r.npz").findings] == ["livelock"]


@pytest.mark.parametrize("events", [(19,), (-1,), (0,) * 9, ("x",), (True,)], ids=str)
def test_events_that_the_recording_does_not_have_are_refused(events):
    with pytest.raises(ArchiveError, match=r"^a\.npz cannot be opened: [^\n]+\.$"):
        open_file("a.npz", saved([wait(events=events)]))


def test_a_list_without_end_is_cut():
    assert len(open_file("a.npz", saved([wait()] * 3000)).findings()) == MOST_FINDINGS


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"records_needed": 1000}, "Allow 1,200 records (budget=, --budget), or record fewer functions or groups."),
        ({"lacks": 0}, "A thread in a loop that does not end fills any recording."),
        ({}, "Allow more records (budget=, --budget), or record fewer functions or groups."),
        ({"records_needed": "many"}, "Allow more records (budget=, --budget), or record fewer functions or groups."),
    ],
    ids=["enough", "endless", "an earlier version", "forged"],
)
def test_the_advice_for_a_full_recording_is_what_it_was(header, words, tmp_path: Path):
    recording = waiting(truncated=True)
    recording.trace.sites = [replace(site, kind="step") if site.kind == "overrun" else site for site in SITES]
    (tmp_path / "r.npz").write_bytes(with_header(save(recording, KernelJob(SOURCE, "a.slang"), {}, []), header))
    assert splatscope.load(tmp_path / "r.npz").missed[-1].endswith(words)


def test_a_loop_that_was_ended_fills_any_recording(tmp_path: Path):
    (tmp_path / "r.npz").write_bytes(saved([], truncated=True))
    assert splatscope.load(tmp_path / "r.npz").missed[-1].endswith("A thread in a loop that does not end fills any recording.")
