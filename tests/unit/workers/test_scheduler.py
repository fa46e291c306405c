"""Which worker a job is assigned to, and when."""

import asyncio

from splatscope.gpu.device import Available
from splatscope.workers import scheduler as scheduler_module
from splatscope.workers.scheduler import Scheduler


def test_untrusted_jobs_leave_a_worker_free_and_are_assigned_where_one_ran_before():
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


def workers(*addresses: str) -> Scheduler:
    scheduler = Scheduler()
    for address in addresses:
        scheduler.add_worker(address)
    return scheduler


def test_jobs_of_a_key_wait_for_its_worker_while_another_is_idle():
    async def scenario():
        scheduler = workers("a", "b")
        first = await scheduler.acquire("key")
        second = asyncio.ensure_future(scheduler.acquire("key"))
        other = await scheduler.acquire("other")
        assert other is not first
        assert not second.done()
        scheduler.release(first)
        assert await second is first

    asyncio.run(scenario())


def order_of(jobs: str) -> list[str]:
    """Return the jobs, a letter each, in the order in which one worker gets them; those in capitals can wait."""

    async def scenario():
        scheduler, order = workers("a"), []

        async def job(name: str) -> None:
            worker = await scheduler.acquire(None, background=name.isupper())
            order.append(name)
            await asyncio.sleep(0)
            scheduler.release(worker)

        await asyncio.gather(*map(job, jobs))
        return order

    return asyncio.run(scenario())


def test_jobs_are_assigned_in_the_order_in_which_they_came():
    assert order_of("abcde") == list("abcde")


def test_jobs_that_can_wait_come_after_all_others():
    assert order_of("aBcDe") == list("aceBD")


def test_jobs_that_can_wait_leave_a_worker_free_for_others():
    async def scenario():
        scheduler = workers("a", "b", "c")
        first, second = [await scheduler.acquire(None, background=True) for _ in range(2)]
        third = asyncio.ensure_future(scheduler.acquire(None, background=True))
        other = await scheduler.acquire(None)
        scheduler.release(other)
        await asyncio.sleep(0)
        assert not third.done()
        scheduler.release(first)
        assert await third is not second

    asyncio.run(scenario())


def test_a_job_that_can_wait_does_not_take_the_worker_that_an_untrusted_one_leaves():
    async def scenario():
        scheduler = workers("a", "b")
        untrusted = await scheduler.acquire(None, untrusted=True)
        waiting = asyncio.ensure_future(scheduler.acquire(None, background=True))
        await asyncio.sleep(0)
        assert not waiting.done()
        scheduler.release(untrusted)
        await waiting

    asyncio.run(scenario())


def test_sessions_take_turns_with_untrusted_jobs():
    async def scenario():
        scheduler, order = workers("a"), []

        async def job(name: str) -> None:
            worker = await scheduler.acquire(None, untrusted=True, turn=name[0])
            order.append(name)
            await asyncio.sleep(0)
            scheduler.release(worker)

        await asyncio.gather(*map(job, ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]))
        return order

    assert asyncio.run(scenario()) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


def test_a_worker_is_held_by_another_session_s_untrusted_job_alone():
    async def scenario():
        scheduler = workers("a", "b", "c")
        mine = await scheduler.acquire(None, untrusted=True, turn="me")
        theirs = await scheduler.acquire(None, untrusted=True, turn="they")
        trusted = await scheduler.acquire(None, turn="they")
        assert {mine, theirs, trusted} == set(scheduler.workers.values())
        assert scheduler.held("me", 0.0) == [theirs]
        assert scheduler.held("they", 0.0) == [mine]
        assert scheduler.held("me", 60.0) == []
        scheduler.release(theirs)
        assert scheduler.held("me", 0.0) == []

    asyncio.run(scenario())


def test_a_request_that_is_cancelled_as_it_is_granted_releases_its_worker():
    async def scenario():
        scheduler = workers("a")
        worker = await scheduler.acquire(None)
        waiting = asyncio.ensure_future(scheduler.acquire(None))
        await asyncio.sleep(0)
        scheduler.release(worker)
        assert worker.busy, "it is granted to the request"
        waiting.cancel()
        await asyncio.wait({waiting})
        assert waiting.cancelled()
        assert not worker.busy

    asyncio.run(scenario())


def test_a_key_waits_for_the_replacement_of_a_lost_worker():
    async def scenario():
        scheduler = workers("a", "b")
        lost, other = await scheduler.acquire("lost"), await scheduler.acquire("other")
        scheduler.release(lost)
        scheduler.release(other)
        scheduler.remove_worker(lost.address)
        assert lost.gone.done()
        waiting = asyncio.ensure_future(scheduler.acquire("lost"))
        await asyncio.sleep(0)
        assert not waiting.done(), "the other worker is idle, and another key's"
        scheduler.add_worker("c")
        assert (await waiting).address == "c"

    asyncio.run(scenario())


def test_without_a_replacement_a_key_shares_the_worker_of_another(monkeypatch):
    monkeypatch.setattr(scheduler_module, "REPLACEMENT_WAIT", 0.0)

    async def scenario():
        scheduler = workers("a", "b")
        lost, other = await scheduler.acquire("lost"), await scheduler.acquire("other")
        scheduler.release(other)
        scheduler.remove_worker(lost.address)
        assert await scheduler.acquire("lost") is other

    asyncio.run(scenario())


def test_queued_requests_fail_together():
    async def scenario():
        scheduler = Scheduler()
        waiting = [asyncio.ensure_future(scheduler.acquire(None)) for _ in range(2)]
        await asyncio.sleep(0)
        scheduler.fail_queued(ConnectionError("gone"))
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert [str(outcome) for outcome in outcomes] == ["gone", "gone"]

    asyncio.run(scenario())


def test_keys_spread_over_devices_before_workers():
    async def scenario():
        scheduler = workers("a", "b", "c", "d")
        for address in "abcd":
            scheduler.add_worker(address, Available("first" if address in "ab" else "second", "H100", ("H100#0", "H100#1")))
        found = []
        for key in range(4):
            worker = await scheduler.acquire(str(key))
            scheduler.release(worker)
            found.append(worker)
        assert [worker.devices.turn for worker in found] == ["first", "second", "first", "second"]
        assert len(set(found)) == 4

    asyncio.run(scenario())


SOFTWARE = Available("a 0", "llvmpipe", ("llvmpipe",))
GPU = Available("b 0", "H100", ("H100", "llvmpipe"), is_software=False)


def test_a_job_runs_where_its_device_is_and_without_one_on_hardware():
    async def scenario():
        scheduler = Scheduler()
        for address, devices in {"a": SOFTWARE, "b": SOFTWARE, "c": GPU}.items():
            scheduler.add_worker(address, devices)
        assert scheduler.adapters == ["H100", "llvmpipe"]
        first = await scheduler.acquire(None)
        second = asyncio.ensure_future(scheduler.acquire(None))
        third = asyncio.ensure_future(scheduler.acquire(None, adapter="H100"))
        elsewhere = await scheduler.acquire(None, adapter="llvmpipe")
        assert (first.address, elsewhere.address) == ("c", "a")
        assert not second.done()
        assert not third.done()
        scheduler.release(first)
        assert (await second).address == "c"
        scheduler.remove_worker("c")
        assert (await third).address == "b"  # which says that it has no such device

    asyncio.run(scenario())


def test_once_the_hardware_is_gone_jobs_run_on_software():
    async def scenario():
        scheduler = Scheduler()
        scheduler.add_worker("a", SOFTWARE)
        scheduler.add_worker("c", GPU)
        await scheduler.acquire(None)
        waiting = asyncio.ensure_future(scheduler.acquire(None))
        await asyncio.sleep(0)
        assert not waiting.done()
        scheduler.remove_worker("c")
        assert (await waiting).address == "a"

    asyncio.run(scenario())
