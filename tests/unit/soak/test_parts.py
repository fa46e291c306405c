"""The parts by which a soak counts, recognises and judges."""

import asyncio

import pytest
from soak import judge, kills
from soak.ledger import Ledger, RefusedError, is_documented

from splatscope.tracing.progress import STAGES
from splatscope.workers import connection
from splatscope.workers.sandbox.failure_messages import FILE_WORK, died_message, gave_way_message, timed_out_message


def test_a_request_is_answered_refused_lost_or_given_up_and_none_is_forgotten():
    async def scenario() -> Ledger:
        ledger = Ledger()
        async with ledger.request("a"):
            pass
        for words in (died_message(False, None), "list index out of range"):
            async with ledger.request("a"):
                raise RefusedError(words)
        async with ledger.request("b", patience=0.01):
            await asyncio.sleep(10)
        left = asyncio.create_task(_waits(ledger))
        await asyncio.sleep(0)
        assert len(ledger.waiting) == 1
        left.cancel()
        await asyncio.wait({left})
        return ledger

    ledger = asyncio.run(scenario())
    assert (ledger.requests, ledger.sent["a"], len(ledger.answered["a"]), ledger.dropped["c"]) == (5, 3, 1, 1)
    assert ledger.refused.total() == 2
    assert [fault.partition(":")[0] for fault in ledger.faults] == ["a", "b"]
    assert "not documented" in ledger.faults[0]
    assert ledger.unaccounted == 0
    assert ledger.waiting == []


async def _waits(ledger: Ledger) -> None:
    async with ledger.request("c"):
        await asyncio.sleep(10)


@pytest.mark.parametrize("stage", [None, *range(len(STAGES))])
@pytest.mark.parametrize("records", [True, False])
def test_what_is_said_of_a_death_is_documented(records, stage):
    assert is_documented(died_message(records, stage))
    assert is_documented(timed_out_message(records, stage, 20))
    assert is_documented(gave_way_message(31))
    assert is_documented(died_message(False, stage, file_work=FILE_WORK["open"]))
    assert not is_documented(f"{died_message(records, stage)}\nTraceback")


@pytest.mark.parametrize("work", ["reading the picture noise.png", "reading the state file", FILE_WORK["open"]])
def test_what_is_said_of_a_lost_upload_is_documented(work):
    assert is_documented(connection._crash_words(work))
    assert not is_documented(connection._crash_words("doing what no reader of a soak asks for"))


def test_a_log_is_explained_record_by_record():
    known = "2026-01-01 10:00:00,000 Restarting worker (status=Status.running)"
    traceback = (
        "2026-01-01 10:00:01,000 Restarting worker (status=Status.running)\nTraceback (most recent call last):\n  x\nValueError"
    )
    odd = "2026-01-01 10:00:02,000 Task exception was never retrieved"
    left = (
        f"{odd}\nfuture: <Task finished name='Task-1' coro=<WebSocketProtocol13.write_message.<locals>.wrapper() done> "
        "exception=WebSocketClosedError()>\nTraceback (most recent call last):\n  x\ntornado.websocket.WebSocketClosedError"
    )
    ahead = "2026-01-01 10:00:00,500 adam {'loss': '1/10'}: The process that compiled and ran this kernel was lost: the compiler."
    assert judge.unexplained(f"{known}\n{ahead}\n{left}\n{known}\n") == []
    assert judge.unexplained("\n".join([known, traceback, known, odd])) == [traceback, odd]


def test_memory_that_grows_is_told_from_memory_that_levels_off():
    base = 200 * 2**20
    assert judge.growth([base * factor for factor in (0.5, 0.8, 0.99, 1, 1.01, 1, 1.02, 1, 1.01)]) == ""
    assert "grew from" in judge.growth([base + step * 8 * 2**20 for step in range(9)])
    assert "too few" in judge.growth([base, base])


@pytest.mark.parametrize(
    ("command", "parent", "kind"),
    [
        (["python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main()"], ["panel"], "worker"),
        (["python", "-P", "-m", kills.MODULE, "15"], ["python", "-c", "spawn_main"], "forker"),
        (["python", "-P", "-m", kills.MODULE, "15"], ["python", "-P", "-m", kills.MODULE, "15"], "sandboxed"),
        (["python", "-c", "from multiprocessing.resource_tracker import main"], ["panel"], ""),
    ],
)
def test_the_processes_of_a_server_are_known_by_their_commands(command, parent, kind):
    assert kills.kind_of(command, parent) == kind
