"""The cache of results."""

import asyncio

from splatscope.workers.single_flight import SingleFlightCache


def test_the_oldest_results_make_room_and_empty_ones_are_not_kept():
    kept = SingleFlightCache(100, len)
    made = []

    async def make(name, size):
        made.append(name)
        return bytes(size)

    async def ask():
        for name, size in (("a", 45), ("b", 45), ("a", 45), ("c", 45), ("empty", 0), ("empty", 0), ("a", 45), ("b", 45)):
            assert len(await kept.get(name, lambda name=name, size=size: make(name, size))) == size

    asyncio.run(ask())
    assert made == ["a", "b", "c", "empty", "empty", "b"]


def test_a_computation_ends_when_its_last_caller_leaves_and_not_before():
    kept = SingleFlightCache(100)
    ended = []

    async def never() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    async def scenario():
        callers = [asyncio.ensure_future(kept.get("key", never)) for _ in range(3)]
        await asyncio.sleep(0)
        for caller in callers:
            assert not ended
            caller.cancel()
            await asyncio.wait({caller})
        await asyncio.sleep(0)
        assert ended == ["ended"]
        assert await kept.get("key", lambda: asyncio.sleep(0, "anew")) == "anew", "who comes later begins anew"

    asyncio.run(scenario())
