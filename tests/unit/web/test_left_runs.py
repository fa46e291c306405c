"""Runs that pages have left wait for their tab, and not for ever."""

import asyncio

from splatscope.web.training import left_runs
from splatscope.web.training.left_runs import MOST, LeftRuns


def test_a_run_is_taken_once():
    async def scenario():
        given_up: list[str] = []
        runs = LeftRuns(given_up.append)
        runs.leave("key", "run")
        assert runs.take("another") is None
        assert runs.take("key") == "run"
        assert runs.take("key") is None
        assert not given_up

    asyncio.run(scenario())


def test_a_run_that_nobody_takes_is_given_up(monkeypatch):
    monkeypatch.setattr(left_runs, "KEPT_SECONDS", 0.01)

    async def scenario():
        given_up = asyncio.Queue()
        runs = LeftRuns(given_up.put_nowait)
        runs.leave("key", "run")
        assert await given_up.get() == "run"
        assert runs.take("key") is None

    asyncio.run(scenario())


def test_of_too_many_those_left_first_are_given_up():
    async def scenario():
        given_up: list[int] = []
        runs = LeftRuns(given_up.append)
        for number in range(MOST + 2):
            runs.leave(str(number), number)
        assert given_up == [0, 1]
        assert runs.take("2") == 2

    asyncio.run(scenario())


def test_while_the_server_stops_nothing_is_kept():
    given_up: list[str] = []
    LeftRuns(given_up.append).leave("key", "run")
    assert given_up == ["run"]
