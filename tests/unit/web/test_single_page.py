"""One recording as one HTML file: what is in it, in words and in bytes."""

import base64
import hashlib
import html
import json
import re
import zlib
from datetime import date
from functools import cache

import pytest

from splatscope.api.recording import Recording
from splatscope.paths import LESSONS
from splatscope.recordings.packed import PackedRecording, packed_recording, refused_recording
from splatscope.recordings.untrusted import Opened, open_file
from splatscope.recordings.wire import head_of
from splatscope.tracing.checks import find
from splatscope.tracing.instrument.build import NOT_CHOSEN
from splatscope.tracing.judge import judge_file
from splatscope.tracing.run_info import RunInfo
from splatscope.tracing.verdict import NO_ACCESS, Verdict
from splatscope.web.single_page.single_page import notebook_html, page_of

RACE = {
    "kind": "race",
    "label": "Race on",
    "names_memory": True,
    "severity": "error",
    "name": "blobs",
    "index": 3,
    "events": [12, 40],
    "message": "Thread 1 writes blobs[3], thread 2 reads it <first>.",
}
PART = "●Nothing found in what was recorded"


def shipped() -> Opened:
    """The file of that section's recording, opened anew."""
    opened = open_file("a.npz", (LESSONS / "bitonic-sort" / "recording-software.npz").read_bytes())
    opened.recording.job, opened.recording.layouts = opened.job, opened.layouts
    return opened


@cache
def sorting() -> PackedRecording:
    """The recording that ships with the section on the bitonic sort."""
    opened = shipped()
    return packed_recording(opened.recording, find(opened.recording.trace), opened.job, opened.layouts, **opened.device)


def packed(**head) -> PackedRecording:
    """The same with another head."""
    raw = zlib.decompress(sorting().data)
    length = int.from_bytes(raw[:4], "little")
    text = json.dumps(json.loads(raw[4 : 4 + length]) | {"verdict": "", "missed": []} | head).encode()
    return PackedRecording(sorting().meta, zlib.compress(len(text).to_bytes(4, "little") + text + raw[4 + length :]))


def words(page: str) -> list[str]:
    """The items of the list of findings, as text."""
    found = re.search(r'<ul class="found">(.*?)</ul>', page)[1]
    return [html.unescape(re.sub(r"<[^>]+>", "", item)).strip() for item in re.findall(r"<li>(.*?)</li>", found)]


def test_the_page_holds_the_very_recording():
    page = page_of(sorting())
    held = re.search(r'id="recording">([^<]+)<', page)[1]
    assert base64.b64decode(held) == sorting().data
    stepper = json.loads(re.search(r'id="about">([^<]+)<', page)[1])["stepper"]
    assert stepper["values"]["meta"]["recording"] == sorting().meta["recording"]


def test_the_head_is_read_without_the_columns():
    head = head_of(sorting().data)
    assert (head["entry"], head["events"]) == ("sortKeys", sorting().meta["events"])


def test_the_policy_allows_the_one_script_in_the_page_and_no_request():
    page = page_of(sorting())
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1])
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert len(scripts) == 1
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "connect-src" not in policy


def test_the_page_names_no_other_place():
    page = page_of(sorting()).replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(r"(?:https?|wss?)://[^\s\"']+", page)
    assert not re.findall(r"@import|<link(?! rel=\"icon\" href=\"data:)|<img|\ssrc=", page)


def test_a_finding_is_told_in_words_with_a_link_to_its_moment():
    page = page_of(packed(findings=[RACE]))
    assert words(page) == ["◆Race on blobs[3] Thread 1 writes blobs[3], thread 2 reads it <first>."]
    assert '<a href="#step=40" data-finding="0">' in page


def test_a_cell_of_an_array_with_rows_is_named_by_row_and_column():
    tile = {"name": "tile", "space": "shared", "dims": [8, 9], "count": 72}
    total = {"name": "total", "space": "shared", "dims": [], "count": 1}
    found = [RACE | {"name": "tile", "index": 10}, RACE | {"name": "total", "index": 0}]
    told = words(page_of(packed(memories=[tile, total], findings=found)))
    assert [line.split(" Thread")[0] for line in told] == ["◆Race on tile[1][1]", "◆Race on total"]


GROUPS = {"groups": [4, 1, 1]}


@pytest.mark.parametrize(
    ("header", "same", "expected"),
    [
        ({}, True, ["✓Nothing found Without recording, the kernel gives the same results."]),
        ({}, None, ["✓Nothing found"]),
        ({"truncated": True}, None, [PART, "●The recording was full before the end: what came later was not looked at."]),
        (GROUPS, None, [PART, "●Only one workgroup was looked at."]),
        (GROUPS | {"between_groups": False}, None, [PART, "●Only one workgroup was looked at."]),
        (GROUPS | {"between_groups": True}, None, ["✓Nothing found"]),
        ({"difference": "Nothing explains it."}, False, [PART, "●Nothing explains it."]),
        ({"difference": "Rounding may.", "notes": ["Rounding may."]}, False, ["✓Nothing found Rounding may."]),
        ({"unseen": ["f() was not recorded."]}, None, [PART, "●f() was not recorded."]),
        ({"missed": ["The other workgroups are too many."]}, None, [PART, "●The other workgroups are too many."]),
        ({"missed": [NO_ACCESS]}, None, ["●Nothing was looked at", f"●{NO_ACCESS}"]),
        (GROUPS | {"missed": []}, None, ["✓Nothing found"]),
    ],
)
def test_nothing_found_is_said_only_of_what_was_looked_at(header, same, expected):
    """What the header says was missed; of a file that does not say it, what else its header tells of that."""
    opened = shipped()
    trace = opened.recording.trace
    described = trace.header() | header
    trace.info, trace.verdict = RunInfo.of(described), Verdict.of(described)
    opened.recording.same = same
    made = packed_recording(opened.recording, [], opened.job, opened.layouts, **opened.device)
    assert words(page_of(made)) == expected
    head = head_of(made.data)
    assert (head["verdict"] == "Nothing found") == (not head["missed"])
    verdict = trace.verdict = judge_file(opened.recording, [])
    assert (head["verdict"], head["missed"]) == (verdict.summary, list(verdict.missed))
    assert ("Nothing found." in str(Recording(opened.recording))) == (not verdict.missed)


def test_functions_that_were_not_recorded_are_named_and_many_that_were_not_chosen_are_counted():
    opened = shipped()
    opened.recording.stepped_over = {"log2Of": "it is too long"} | {f"f{i}": NOT_CHOSEN for i in range(9)}
    made = packed_recording(opened.recording, [], opened.job, opened.layouts, **opened.device)
    assert words(page_of(made))[1:] == [
        "●log2Of was not recorded: it is too long.",
        "●9 functions were not recorded: they were not chosen.",
    ]


def test_what_a_kernel_or_a_title_says_is_text_and_no_markup():
    bad = "</script><script>alert(1)</script><img src=x>"
    page = page_of(packed(entry=bad, file=bad, adapter=bad, findings=[RACE | {"message": bad, "name": bad}]), bad)
    assert bad not in page
    assert page.count("<script") == page_of(sorting()).count("<script")
    assert html.escape(bad) in page


def test_a_page_without_a_title_is_called_after_its_kernel():
    assert "<title>sortKeys in bitonic-sort-page.slang</title>" in page_of(sorting())
    assert "<title>Why it is slow</title>" in page_of(sorting(), "Why it is slow")


def test_a_sort_is_small_enough_for_a_mail():
    assert len(page_of(sorting()).encode()) < 500_000


def test_of_a_source_that_does_not_compile_there_is_no_page():
    with pytest.raises(ValueError, match="line 3: nothing is called x"):
        page_of(refused_recording("line 3: nothing is called x", []))


def test_a_notebook_is_given_the_page_itself_in_a_frame_of_its_own():
    page = page_of(sorting(), 'A "quoted" title')
    frame = notebook_html(page, height=500)
    assert html.unescape(re.search(r' srcdoc="([^"]*)"', frame)[1]) == page
    assert 'sandbox="allow-scripts"' in frame
    assert "height:500px" in frame


def test_a_page_of_the_command_line_says_when_and_how_it_was_made():
    page = page_of(sorting(), command="splatscope trace a.slang --set 'CB.n=<8>'")
    made = f"Made on {date.today().day} {date.today():%B %Y} by splatscope trace a.slang --set 'CB.n=<8>'."
    assert made in html.unescape(re.sub("</?code>", "", page))
    assert "Made on" not in page_of(sorting())
