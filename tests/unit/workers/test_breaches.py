"""What a sandboxed process sends that is no answer is told apart from its death."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection

import pytest

from splatscope.workers.errors import WorkerLost
from splatscope.workers.sandbox import supervisor
from splatscope.workers.sandbox.platform_support import missing_support

pytestmark = pytest.mark.skipif(bool(missing_support()), reason="this system cannot confine a process")


@pytest.fixture
def ends() -> Iterator[tuple[supervisor.SandboxedProcess, Connection]]:
    """The two ends of a process that lives, and that the test speaks for."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    ours, theirs = socket.socketpair()
    fault, writes_fault = os.pipe()
    os.close(writes_fault)
    process = supervisor.SandboxedProcess(os.pidfd_open(child.pid), Connection(ours.detach()), fault)
    yield process, Connection(theirs.detach())
    process.end()
    child.wait()


@pytest.mark.parametrize(
    "sent", [b"no JSON", b"[" * 100_000, b"{}", b'{"answer": 3, "parts": 1}', b'{"answer": {}, "parts": 1000}']
)
def test_what_is_no_answer_is_told_as_such(ends, sent):
    process, child = ends
    child.send_bytes(sent)
    with pytest.raises(WorkerLost, match="has not died, but its answer is malformed"):
        process.request("outcomes", (), 20)


def test_an_answer_that_is_too_large_is_told_with_the_limit(ends, monkeypatch):
    monkeypatch.setattr(supervisor, "MAX_HEAD", 2**20)
    process, child = ends
    os.write(child.fileno(), (2**20 + 1).to_bytes(4, "big"))  # the length of a message that goes on
    with pytest.raises(WorkerLost, match="larger than 1 MiB"):
        process.request("outcomes", (), 20)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ("outcomes", "The process ended while this kernel was compiled and run"),
        ("check", "The process ended while this source was compiled"),
        ("open", "The process ended while it was opening this recording"),
        ("perfetto", "The process ended while it was exporting this recording"),
    ],
)
def test_a_connection_that_ends_is_told_as_a_death_with_what_it_was_at(ends, job, words):
    process, child = ends
    child.close()
    with pytest.raises(WorkerLost, match=words):
        process.request(job, (), 20)
