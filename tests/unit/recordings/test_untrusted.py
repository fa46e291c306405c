"""Untrusted recordings: each violated condition is detected and named."""

import numpy as np
import pytest

from helpers.traces import run_info, with_header
from splatscope.recordings.archive import ArchiveError
from splatscope.recordings.untrusted import MOST_TEXT, MOST_THREADS, open_file
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import NO_SLOT, Trace

INFO = run_info("a;\nb;\n", "a.slang", adapter="none", group_size=(2, 1, 1), threads=2)
SITES = [Site("", 0, 0, "nothing"), Site("a.slang", 1, 1, "value", "a", "main", "float3"), Site("a.slang", 2, 1, "step")]


def file(header=None, sites=SITES, thread=(0, 0, 1), site=(1, 2, 1), width=3, flags=(0, 0, 0)) -> bytes:
    columns = [np.array(column, np.uint32) for column in (thread, site, [NO_SLOT] * 3, [0] * 3)]
    words = np.zeros((3, width), np.uint32)
    return with_header(Trace(INFO, list(sites), *columns, words, np.array(flags, np.uint32)).save(), header or {})


def refused(data: bytes) -> str:
    """Return the name of the violated condition; the user's message is the same for all."""
    with pytest.raises(ArchiveError, match=r"^a\.npz cannot be opened: [^\n]+\.$") as error:
        open_file("a.npz", data)
    return str(error.value.__context__)


def test_what_a_recorder_writes_is_opened():
    opened = open_file("a.npz", file())
    assert len(opened.recording.trace) == 3
    assert opened.job.source == INFO.sources["a.slang"]
    assert opened.device == {"adapter": "none", "adapter_words": "none, a recording from a file"}


@pytest.mark.parametrize(
    ("condition", "header"),
    [
        ("numbers are whole", {"threads": 2**31}), ("numbers are whole", {"groups": "111"}),
        ("numbers are whole", {"wave_size": True}),
        ("macros are texts by name", {"defines": ["N"]}), ("macros are short", {"defines": {"N": 8}}),
        ("macros are short", {"defines": {"N": "1" * MOST_TEXT}}),
        ("sizes have three numbers", {"groups": [1, 1]}), ("names are short", {"adapter": "x" * 300}),
        ("names are short", {"entry": 3}),
        ("threads are those of one workgroup", {"group_size": [0, 1, 1]}), ("threads are those of one workgroup", {"threads": 1}),
        ("threads are those of one workgroup", {"threads": MOST_THREADS + 1, "group_size": [MOST_THREADS + 1, 1, 1]}),
        ("flags are true or false", {"truncated": 1}), ("cut threads are threads", {"cut_threads": [99]}),
        ("sources are by file", {"sources": []}), ("the kernel's source is there", {"sources": {}}),
        ("the kernel's source is there", {"file": "other.slang"}), ("sources are text", {"sources": {"a.slang": 1}}),
        ("sources are not too long", {"sources": {"a.slang": "x" * 2**20}}),
    ],
    ids=str,
)  # fmt: skip
def test_a_header_is_refused(condition, header):
    assert refused(file(header)) == condition


@pytest.mark.parametrize(
    ("condition", "given"),
    [
        ("sites are well formed", {"sites": [*SITES[:2], Site("a.slang", -1, 1, "step")]}),
        ("sites are well formed", {"sites": [*SITES[:2], Site("a.slang", 1, 1, "step", "x" * 300)]}),
        ("values are not too wide", {"width": 65}),
        ("events stand by thread", {"thread": (0, 1, 0)}),
        ("threads are in the workgroup", {"thread": (0, 1, 2)}),
        ("flags are known", {"flags": (0, 4, 0)}),
        ("values fit their types", {"width": 2}),
    ],
    ids=str,
)
def test_events_and_sites_are_refused(condition, given):
    assert refused(file(**given)) == condition


def test_another_version_is_not_read():
    assert "not a Splatscope recording of this version" in refused(file({"version": 2}))


def test_what_a_page_cannot_show_is_said():
    with pytest.raises(ArchiveError, match="record it without --all-groups"):
        open_file("a.npz", file({"all_groups": True}))


def test_what_a_stranger_added_stays_out():
    added = {"script": "x", "unseen": ["y" * 300, 3], "notes": ["z" * 3000, {}], "missed": ["z" * 3000, 0]}
    trace = open_file("a.npz", file(added)).recording.trace
    assert "script" not in trace.header()
    assert trace.verdict.unseen == ("y" * 200,)
    assert trace.verdict.notes == trace.verdict.missed == ("z" * 1000,)
    assert open_file("a.npz", file({"missed": "all"})).recording.trace.verdict.missed is None
