"""A client debugs recordings that ship: every request that the server offers, and everything that it refuses."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import splatscope
from helpers.dap_client import REQUIRED, DapClient, Refused
from splatscope.cli.dap import serve
from splatscope.paths import LESSONS, SHADERS

SORT = "bitonic-sort"
SHORTLIST = str(next(SHADERS.rglob("shortlist.slang")))


def recording(stem: str = SORT) -> str:
    return str(LESSONS / stem / "recording-software.npz")


@cache
def loaded(stem: str = SORT):
    return splatscope.load(recording(stem))


@pytest.fixture
def client() -> Iterator[DapClient]:
    ours, theirs = socket.socketpair()
    reading, writing = theirs.makefile("rb"), theirs.makefile("wb")

    def run() -> None:
        with theirs, reading, writing:
            serve(reading, writing)

    server = threading.Thread(target=run)
    server.start()
    with ours, ours.makefile("rb") as answers, ours.makefile("wb") as requests:
        yield DapClient(answers, requests)
        ours.shutdown(socket.SHUT_WR)  # the server reads the end, whether or not it was told
        server.join(30)
    assert not server.is_alive()


def rows(client: DapClient, reference: int, **page: int | str) -> list[dict]:
    return client.ask("variables", {"variablesReference": reference, **page})["variables"]


def scope(client: DapClient, name: str, thread: int = 1) -> list[dict]:
    scopes = client.ask("scopes", {"frameId": client.top(thread)["id"]})["scopes"]
    return rows(client, next(one for one in scopes if one["name"] == name)["variablesReference"])


def test_the_beginning_is_as_the_protocol_has_it(client):
    stop = client.begin({"recording": recording(), "stopOnEntry": True, "type": "splatscope", "request": "launch", "name": "x"})
    assert stop["reason"] == "entry"
    assert client.capabilities["supportsStepBack"] is True
    assert "supportsSetVariable" not in client.capabilities
    for one in client.capabilities["exceptionBreakpointFilters"]:
        assert {"filter", "label"} <= one.keys()
    threads = client.ask("threads")["threads"]
    assert [one["id"] for one in threads] == list(range(1, 33))
    assert threads[9]["name"] == "thread 9 (1, 1), wave 1"
    assert client.line() == ("sortKeys", 12)
    client.ask("disconnect")


def test_a_source_on_the_disk_has_a_path_and_another_a_number(client, tmp_path):
    client.begin({"recording": recording(), "stopOnEntry": True, "sources": [str(Path(SHORTLIST).parent), str(tmp_path)]})
    sources = {one["name"]: one for one in client.ask("loadedSources")["sources"]}
    assert sources["shortlist.slang"]["path"] == SHORTLIST
    kernel = sources["bitonic-sort-page.slang"]
    assert "path" not in kernel
    text = client.ask("source", {"source": kernel, "sourceReference": kernel["sourceReference"]})["content"]
    assert text == loaded().trace.info.sources["bitonic-sort-page.slang"]
    answer = client.ask("setBreakpoints", {"source": kernel, "breakpoints": [{"line": 14}]})["breakpoints"][0]
    assert (answer["verified"], answer["line"]) == (True, 14)


def test_steps_go_over_into_out_of_and_back(client):
    client.begin({"recording": recording()}, {SHORTLIST: [{"line": 70}]})
    assert client.line() == ("bitonicSort", 70)
    stop = client.move("stepIn")
    assert (stop["reason"], client.line()) == ("step", ("orderPair", 81))
    trace = client.ask("stackTrace", {"threadId": 1})
    assert [frame["name"] for frame in trace["stackFrames"]] == ["orderPair", "bitonicSort", "sortKeys"]
    assert trace["totalFrames"] == 3
    assert [f["name"] for f in client.ask("stackTrace", {"threadId": 1, "startFrame": 1, "levels": 1})["stackFrames"]] == [
        "bitonicSort"
    ]
    client.move("stepOut")
    assert client.line()[0] == "bitonicSort"
    before = client.line()
    client.move("next")
    client.move("stepBack")
    assert client.line() == before
    line = client.line()
    client.move("next", granularity="instruction")
    client.move("stepBack", granularity="instruction")
    assert client.line() == line
    stop = client.move("reverseContinue")
    assert (stop["reason"], client.line(stop["threadId"])[1]) == ("breakpoint", 70)
    client.ask("setBreakpoints", {"source": {"path": SHORTLIST}, "breakpoints": []})
    assert client.move("reverseContinue")["reason"] == "entry"
    stop = client.move("continue")
    assert (stop["reason"], client.line()[0]) == ("end", "sortKeys (done)")
    client.move("stepBack")
    assert client.line()[0] == "sortKeys"


def test_a_condition_and_a_number_of_hits_are_kept_forward_and_back(client):
    where = {"line": 81, "condition": "thread == 3 && ascending"}
    client.begin({"recording": recording()}, {SHORTLIST: [where | {"hitCondition": "2"}]})
    assert client.answers[0][0]["verified"]
    second = client.value("i", 4), client.value("l", 4)
    assert client.value("thread == 3 && ascending", 4) == "true"
    assert client.move("continue")["reason"] == "end"
    stop = client.move("reverseContinue")
    assert (stop["reason"], stop["threadId"]) == ("breakpoint", 4)
    assert (client.value("i", 4), client.value("l", 4)) == second
    client.ask("setBreakpoints", {"source": {"path": SHORTLIST}, "breakpoints": [where]})
    stops = 1
    while client.move("reverseContinue")["reason"] == "breakpoint":
        stops += 1
    assert stops == 2


@pytest.mark.parametrize(
    ("hits", "numbers"),
    [("", range(1, 6)), ("3", [3]), ("% 2", [2, 4]), (">= 4", [4, 5]), ("< 3", [1, 2]), ("== 5", [5]), ("> 5", [])],
)
def test_hits_are_counted_from_the_beginning_of_the_recording(client, hits, numbers):
    where = {"line": 81, "condition": "thread == 3 && k == 16 || thread == 3 && k == 2", "hitCondition": hits}
    client.begin({"recording": recording(), "stopOnEntry": True})
    seen = []
    for condition in ("", hits):
        breakpoints = [where | {"hitCondition": condition}]
        client.ask("setBreakpoints", {"source": {"path": SHORTLIST}, "breakpoints": breakpoints})
        while client.move("reverseContinue")["reason"] != "entry":
            pass
        seen.append([])
        while client.move("continue")["reason"] == "breakpoint":
            seen[-1].append(client.value("event", 4))
    every, counted = seen
    assert len(set(every)) == 5
    assert counted == [every[number - 1] for number in numbers]


def test_breakpoints_that_never_stop_say_why(client):
    kernel = {"source": {"path": SHORTLIST}}
    client.begin({"recording": recording(), "stopOnEntry": True})
    wrong = [
        ({"line": 9000}, "No recorded thread reaches"),
        ({"line": 81, "condition": "i =="}, "missing"),
        ({"line": 81, "condition": "nobody == 1"}, "No variable or memory is called nobody"),
        ({"line": 81, "hitCondition": "often"}, "A hit count is a number"),
        ({"line": "81"}, "must be a whole number"),
    ]
    answers = client.ask("setBreakpoints", kernel | {"breakpoints": [one for one, _ in wrong]})["breakpoints"]
    for answer, (_, words) in zip(answers, wrong, strict=True):
        assert not answer["verified"]
        assert words in answer["message"]
    [answer] = client.ask("setBreakpoints", {"source": {"path": "/nowhere/else.slang"}, "breakpoints": [{"line": 1}]})[
        "breakpoints"
    ]
    assert "no source of this recording" in answer["message"]
    [answer] = client.ask("setBreakpoints", kernel | {"breakpoints": [{"line": 86}]})["breakpoints"]
    assert answer["line"] == 87  # 86 is a brace
    lines = client.ask("breakpointLocations", kernel | {"line": 79, "endLine": 84})["breakpoints"]
    assert [one["line"] for one in lines] == [80, 81, 82, 83, 84]


def test_a_cells_writers_are_met_forward_and_back(client):
    client.begin({"recording": recording()}, {SHORTLIST: [{"line": 85, "condition": "thread == 0"}]})
    blobs = next(row for row in scope(client, "Shared memory") if row["name"] == "blobs")
    about = client.ask("dataBreakpointInfo", {"variablesReference": blobs["variablesReference"], "name": "[3]"})
    assert about["description"] == "blobs[3], by any thread"
    assert set(about["accessTypes"]) == {"read", "write", "readWrite"}
    assert client.ask("dataBreakpointInfo", {"name": "blobs[2 + 1]"})["dataId"] == about["dataId"]
    client.ask("setBreakpoints", {"source": {"path": SHORTLIST}, "breakpoints": []})
    assert client.move("reverseContinue")["reason"] == "entry"
    watch = {"breakpoints": [{"dataId": about["dataId"], "accessType": "write"}]}
    [answer] = client.ask("setDataBreakpoints", watch)["breakpoints"]
    forward = []
    while (stop := client.move("continue"))["reason"] == "data breakpoint":
        assert stop["hitBreakpointIds"] == [answer["id"]]
        thread = stop["threadId"]
        line = client.line(thread)
        client.ask("setDataBreakpoints", {"breakpoints": []})
        client.move("next", thread, granularity="instruction")
        assert stop["description"] == f"Thread {thread - 1} writes blobs[3]: {client.value('blobs[3]', thread)}"
        client.move("stepBack", thread, granularity="instruction")
        [answer] = client.ask("setDataBreakpoints", watch)["breakpoints"]
        forward.append((thread, line))
    back = []
    while (stop := client.move("reverseContinue"))["reason"] == "data breakpoint":
        back.append((stop["threadId"], client.line(stop["threadId"])))
    assert len(forward) > 2
    assert back == forward[::-1]


def test_a_variables_writers_are_met(client):
    client.begin({"recording": recording()}, {SHORTLIST: [{"line": 70}]})
    local = client.ask("scopes", {"frameId": client.top()["id"]})["scopes"][0]
    about = client.ask("dataBreakpointInfo", {"variablesReference": local["variablesReference"], "name": "j"})
    assert about["accessTypes"] == ["write"]
    client.ask("setBreakpoints", {"source": {"path": SHORTLIST}, "breakpoints": []})
    client.ask("setDataBreakpoints", {"breakpoints": [{"dataId": about["dataId"], "condition": "k == 4", "hitCondition": "2"}]})
    stop = client.move("continue")
    assert (stop["reason"], stop["threadId"], stop["description"]) == ("data breakpoint", 1, "Thread 0 sets j to 1")
    read = client.ask(
        "setDataBreakpoints", {"breakpoints": [{"dataId": about["dataId"], "accessType": "read"}, {"dataId": "cell 9 9"}]}
    )
    assert [one["verified"] for one in read["breakpoints"]] == [False, False]
    assert client.ask("dataBreakpointInfo", {"name": "i + 1"})["dataId"] is None
    assert client.ask("dataBreakpointInfo", {"name": "lane *"})["dataId"] is None


def test_a_finding_is_an_exception_that_one_may_stop_at(client):
    finding = loaded("coarse-raster").findings[0]
    stop = client.begin({"recording": recording("coarse-raster")})
    told = "".join(event["body"]["output"] for event in client.events if event["event"] == "output")
    assert finding.message in told
    if stop["reason"] == "end":  # notes are off at first
        client.ask("setExceptionBreakpoints", {"filters": ["error", "warn", "note"]})
        stop = client.move("reverseContinue")
    assert (stop["reason"], stop["text"]) == ("exception", finding.message)
    assert stop["threadId"] - 1 in finding.threads
    assert client.line(stop["threadId"])[1] in finding.lines
    about = client.ask("exceptionInfo", {"threadId": stop["threadId"]})
    assert about["exceptionId"] == finding.kind
    assert finding.message in about["description"]
    assert "Mend: " in about["description"]
    client.ask("setExceptionBreakpoints", {"filters": [], "filterOptions": []})
    assert client.move("continue")["reason"] == "end"
    with pytest.raises(Refused, match="no stop at a finding"):
        client.ask("exceptionInfo", {"threadId": 1})
    with pytest.raises(Refused, match="no filter"):
        client.ask("setExceptionBreakpoints", {"filters": ["everything"]})


def test_a_large_buffer_comes_in_pages(client):
    client.begin({"recording": recording("premultiply"), "stopOnEntry": True})
    client.move("continue")
    behind = next(row for row in scope(client, "Buffers and textures") if row["name"] == "behind")
    count = behind["indexedVariables"]
    assert count == 6912
    reference = behind["variablesReference"]
    page = rows(client, reference, filter="indexed", start=100, count=50)
    assert [row["name"] for row in page] == [f"[{i}]" for i in range(100, 150)]
    outputs = loaded("premultiply").outputs["behind"].reshape(-1)
    assert [float(row["value"]) for row in page] == pytest.approx(outputs[100:150].tolist())
    assert page[0]["value"] == client.value(page[0]["evaluateName"])
    assert rows(client, reference, filter="named") == []
    assert len(rows(client, reference, start=count - 1, count=10)) == 1
    assert rows(client, reference, start=count, count=10) == []
    assert len(rows(client, reference)) == count


def test_values_are_evaluated_in_the_frame_that_is_asked(client):
    client.begin({"recording": recording()}, {SHORTLIST: [{"line": 81}]})
    inner, outer, _ = client.ask("stackTrace", {"threadId": 1})["stackFrames"]
    assert client.ask("evaluate", {"expression": "ascending", "frameId": inner["id"]})["result"] in ("true", "false")
    assert client.ask("evaluate", {"expression": "k", "frameId": outer["id"], "context": "hover"})["result"] == "2"
    array = client.ask("evaluate", {"expression": "blobs", "frameId": inner["id"]})
    assert (array["result"], array["indexedVariables"]) == ("uint[16]", 16)
    assert len(rows(client, array["variablesReference"])) == 16
    for expression, words in (("k +", "missing"), ("nobody", "No variable"), ("blobs[99]", "outside")):
        with pytest.raises(Refused, match=words):
            client.ask("evaluate", {"expression": expression, "frameId": outer["id"]})
    client.move("next")
    with pytest.raises(Refused, match="no longer there"):
        client.ask("scopes", {"frameId": inner["id"]})
    with pytest.raises(Refused, match="no longer shown"):
        rows(client, array["variablesReference"])


def test_on_the_head_of_a_function_its_parameters_have_values(client):
    client.begin({"recording": recording()}, {SHORTLIST: [{"line": 79}]})
    assert client.answers[0][0]["line"] == 80  # where its body begins
    assert client.line() == ("orderPair", 81)
    assert client.value("l == (i ^ j)") == "true"


def test_lines_may_count_from_0(client):
    client.ask("initialize", {"adapterID": "x", "linesStartAt1": False, "columnsStartAt1": False})
    client.ask("launch", {"recording": recording()})
    client.event("initialized")
    client.ask("setBreakpoints", {"source": {"path": SHORTLIST}, "breakpoints": [{"line": 69}]})
    client.ask("configurationDone")
    client.event("stopped")
    frame = client.top()
    assert frame["line"] == 69
    assert frame["column"] == Path(SHORTLIST).read_text().split("\n")[69].index("for")


def test_pause_is_answered_and_nothing_is_set(client):
    client.begin({"recording": recording(), "stopOnEntry": True})
    assert client.ask("pause", {"threadId": 1}) == {}
    with pytest.raises(Refused, match="There is no request “setVariable” here"):
        client.ask("setVariable", {"variablesReference": 1, "name": "i", "value": "1"})


def test_a_session_ends_when_it_is_told(client):
    client.begin({"recording": recording(), "stopOnEntry": True})
    client.ask("terminate")
    client.event("terminated")
    with pytest.raises(Refused, match="Nothing is recorded here"):
        client.ask("threads")
    client.ask("disconnect", {"terminateDebuggee": True})
    assert client.read() is None


def test_without_debugging_the_findings_are_told_and_that_is_all(client):
    client.ask("initialize", {"adapterID": "x"})
    client.ask("launch", {"recording": recording("coarse-raster"), "noDebug": True})
    client.event("terminated")
    assert any("benign-race" in event["body"]["output"] for event in client.events)


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ({}, "Name either"),
        ({"program": "a.slang", "recording": "b.npz"}, "Name either"),
        ({"program": 3}, "Name either"),
        ({"recording": "/nowhere.npz"}, "/nowhere.npz"),
        ({"recording": __file__}, "neither a .npy nor a .npz"),
        ({"recording": recording(), "groups": "1"}, "“groups” has no meaning for a recording"),
        ({"recording": recording(), "sources": 1}, "“sources” is a folder"),
        ({"program": "/nowhere.slang"}, "/nowhere.slang cannot be read"),
        ({"program": SHORTLIST, "grops": "1"}, "There is no setting “grops”"),
        ({"program": SHORTLIST, "out": "x.npz"}, "There is no setting “out”"),
        ({"program": SHORTLIST, "groups": [0, 1]}, "dispatches nothing"),
        ({"program": SHORTLIST, "timeout": "soon"}, "should be a valid number"),
        ({"program": SHORTLIST, "set": {"a": "b-c"}}, "is not a number"),
        ({"program": SHORTLIST, "buffer": {"a": "shoe[4]"}}, "shoe is no type of numbers"),
        ({"program": SHORTLIST, "stopOnEntry": 1}, "“stopOnEntry” must be true or false"),
    ],
)
def test_a_launch_that_cannot_be_made_says_why_and_may_be_repeated(client, configuration, words):
    client.ask("initialize", {"adapterID": "x"})
    with pytest.raises(Refused, match=words):
        client.ask("launch", configuration)
    client.ask("launch", {"recording": recording(), "stopOnEntry": True})
    with pytest.raises(Refused, match="has its recording"):
        client.ask("launch", {"recording": recording()})


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 40)
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["cell 1 2", "blobs", "error"]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=3,
)
NAMES = [
    "threadId", "frameId", "variablesReference", "name", "expression", "line", "source", "breakpoints", "filters", "start", "count",
    "startFrame", "levels", "dataId", "condition", "hitCondition", "path", "sourceReference", "granularity", "filterOptions",
]  # fmt: skip
COMMANDS = [*REQUIRED, "next", "stepIn", "stepOut", "stepBack", "continue", "reverseContinue", "pause", "setExceptionBreakpoints"]
OBJECTS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)


def test_nonsense_is_refused_in_one_line_and_the_session_goes_on(client):
    client.begin({"recording": recording("workgroups"), "stopOnEntry": True})

    @settings(deadline=None, max_examples=300)
    @given(st.sampled_from(COMMANDS), OBJECTS | VALUES, st.sampled_from(["source", "breakpoints", "filterOptions"]), OBJECTS)
    def send(command, arguments, inside, part):
        if isinstance(arguments, dict) and inside in arguments:
            arguments[inside] = part if inside == "source" else [part]
        client.events.clear()
        with suppress(Refused):
            client.ask(command, arguments)
        assert not client.refusal.startswith("This could not be answered")

    send()
    client.write(b"{")
    client.write(json.dumps([1]).encode())
    assert client.ask("threads")["threads"]


def test_a_message_that_is_too_long_ends_the_session(client):
    client.begin({"recording": recording(), "stopOnEntry": True})
    client.writing.write(b"Content-Length: 99999999\r\n\r\n{")
    client.writing.flush()
    while client.read() is not None:
        pass
    assert "A message has at most 1,048,576 bytes" in client.events[-1]["body"]["output"]
