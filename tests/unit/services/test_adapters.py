"""Which devices a page offers, if opening one ends its worker once or always."""

import asyncio

import pytest

from splatscope.services import adapters as module
from splatscope.workers.errors import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.single_flight import SingleFlightCache


class Devices:
    """A pool that opens devices: `opens` says by name what happens at each try, and the last of it from then on."""

    def __init__(self, **opens: list[object]):
        self.opens = opens

    async def adapters(self) -> list[str]:
        return list(self.opens)

    async def run(self, function, name: str, *args: float, **kwargs: object) -> bool:
        tries = self.opens[name]
        outcome = tries.pop(0) if len(tries) > 1 else tries[0]
        if isinstance(outcome, Exception):
            raise outcome
        return bool(outcome)


@pytest.fixture
def offered(monkeypatch):
    monkeypatch.setattr(module, "_cache", SingleFlightCache(64))
    return lambda pool: asyncio.run(module.adapters(pool))


def test_a_device_is_offered_though_its_worker_was_lost_once(offered):
    assert offered(Devices(one=[True], two=[WorkerLost("lost"), True])) == ["one", "two"]


def test_a_device_that_ends_every_worker_is_left_out_and_the_others_are_offered(offered):
    assert offered(Devices(one=[True], two=[JobTimeout("hangs")], three=[True], four=[False])) == ["one", "three"]


def test_without_two_devices_there_is_nothing_to_choose_from(offered):
    assert offered(Devices(one=[True])) == []
    assert offered(Devices(one=[True], two=[False])) == []
    assert offered(Devices(one=[WorkerError("no cluster")], two=[True])) == []
