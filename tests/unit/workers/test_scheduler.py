"""The scheduler of untrusted jobs."""

import asyncio

from splatscope.workers.scheduler import Scheduler


def test_guests_leave_a_worker_free_and_come_back_where_they_were():
    async def ask():
        scheduler = Scheduler()
        scheduler.add_worker("a")
        scheduler.add_worker("b")
        first = await scheduler.acquire(None, untrusted=True)
        second = asyncio.ensure_future(scheduler.acquire(None, untrusted=True))
        other = await scheduler.acquire(None)  # though it came later
        assert not second.done()
        scheduler.release(other)
        await asyncio.sleep(0)
        assert not second.done()
        scheduler.release(first)
        return first, other, await second

    first, other, second = asyncio.run(ask())
    assert first is second
    assert first is not other
