"""The registry of checks: registering a kind of finding is enough for everything that shows findings."""

import json
import re
import zlib

import numpy as np
import pytest

from helpers.corpus import FINDINGS
from helpers.traces import run_info
from splatscope.paths import LESSONS
from splatscope.recordings.packed import packed_recording
from splatscope.tracing.checks import CHECKS, Check, Finding, check, find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import NO_SLOT, Trace

DOCUMENTED = LESSONS.parent / "docs" / "findings.md"


def recording(steps: int = 3) -> Recording:
    """One thread that makes a few steps, on lines 1, 2, …"""
    sites = [Site("", 0, 0, "nothing"), *(Site("a.slang", line, 1, "step") for line in range(1, steps + 1))]
    info = run_info("a;\nb;\nc;\n", "a.slang")
    nothing = np.zeros(steps, np.uint32)
    slots = np.full(steps, NO_SLOT, np.uint32)
    trace = Trace(
        info, sites, nothing, np.arange(1, steps + 1, dtype=np.uint32), slots, nothing, np.zeros((steps, 3), np.uint32), nothing
    )
    return Recording(trace, {}, {}, {}, ["main"], {})


@pytest.fixture
def made_up():
    """A check that finds fault with line 2."""

    @check("second-line", label="A second line", severity="note", gone="the second line", names_memory=False)
    def second_line(trace, context):
        events = np.flatnonzero(trace.at(lambda site: site.line == 2) & context.trusted)
        return [Finding("second-line", "b", "Line 2 is there.", [2], [int(trace.thread[e])], events=[int(e)]) for e in events]

    yield second_line
    del CHECKS["second-line"]


def test_every_kind_has_its_check_its_kernels_and_its_line_in_the_documentation():
    """A check that is lost leaves the other two behind."""
    told = re.findall(r"^\| (?:\[`([a-z-]+)`\]\(#\S+\)|`([a-z-]+)`) \|", DOCUMENTED.read_text(encoding="utf-8"), re.MULTILINE)
    assert CHECKS.keys() == {folder.name for folder in FINDINGS.iterdir()}, "write kernels: docs/adding-a-check.md"
    assert sorted(CHECKS) == sorted(one or other for one, other in told), f"write a line in the table of docs/{DOCUMENTED.name}"


def test_every_kind_has_words_and_a_place_in_the_order():
    for kind, one in CHECKS.items():
        assert isinstance(one, Check)
        assert one.kind == kind
        assert one.label
        assert one.gone.startswith("the "), kind
    orders = [one.order for one in CHECKS.values()]
    assert sorted(set(orders)) == sorted(orders), "give the new check an order that no other has"


def test_a_kind_is_registered_once():
    with pytest.raises(ValueError, match="a check for race already"):
        check("race", label="", severity="error", gone="")(lambda trace, context: [])


def test_a_made_up_check_is_run(made_up):
    assert [(finding.kind, finding.lines) for finding in find(recording().trace)] == [("second-line", [2])]
    assert find(recording(1).trace) == []


def test_the_command_line_reports_it(made_up):
    (found,) = find(recording().trace)
    finding = json.loads(json.dumps(found.as_dict()))
    assert (finding["kind"], finding["message"]) == ("second-line", "Line 2 is there.")


def test_the_browser_gets_its_words_with_the_recording(made_up):
    done = recording()
    packed = packed_recording(done, find(done.trace), KernelJob("a;"), {}, adapter="none", adapter_words="none")
    raw = zlib.decompress(packed.data)
    (finding,) = json.loads(raw[4 : 4 + int(np.frombuffer(raw[:4], np.uint32)[0])])["findings"]
    assert packed.meta["findings"] == ["second-line"]
    assert (finding["label"], finding["severity"], finding["names_memory"]) == ("A second line", "note", False)
    assert finding["events"] == [2]


def test_the_debugger_names_what_a_fix_took_away(made_up):
    from splatscope.web.debugger.run_history import gone_words

    assert gone_words({"second-line", "race"}) == "The fix took the race and the second line away."
    assert gone_words(set()) == "The fix was made."


def test_what_needs_a_recorded_barrier_is_not_judged_without_one(made_up):
    done = recording()
    done.trace.info.sources["a.slang"] = "a;\nb;\n#define WAIT GroupMemoryBarrierWithGroupSync()\nWAIT;\n"
    calls = []
    CHECKS["needs"] = Check("needs", "l", "error", "g", lambda trace, context: calls.append(1) or [], needs_barriers=True)
    try:
        assert [finding.kind for finding in find(done.trace)] == ["second-line"]
        assert calls == []
        done.trace.info.sources["a.slang"] = "a;\nb;\n"
        find(done.trace)
        assert calls == [1]
    finally:
        del CHECKS["needs"]


def test_each_kind_has_words_that_stand_alone():
    titles = {kind: check.title for kind, check in CHECKS.items()}
    assert (titles["race"], titles["wave-width"], titles["livelock"]) == (
        "Race",
        "Dependence on the width of waves",
        "Endless wait",
    )
    assert not [title for title in titles.values() if title.endswith((" on", " of", " for", ":"))]
