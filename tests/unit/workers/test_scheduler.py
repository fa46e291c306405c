"""Which worker a job is assigned to, and when."""

import asyncio
from collections.abc import Iterable

import pytest

from splatscope.gpu.device import Available
from splatscope.workers import scheduler as scheduler_module
from splatscope.workers.scheduler import QueueFull, Scheduler, Turn


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
    assert first.worker is second.worker
    assert first.worker is not other.worker


def workers(*addresses: str, slots: int = 0) -> Scheduler:
    scheduler = Scheduler(slots)
    for address in addresses:
        scheduler.add_worker(address)
    return scheduler


def test_jobs_of_a_key_wait_for_its_worker_while_another_is_idle():
    async def scenario():
        scheduler = workers("a", "b")
        first = await scheduler.acquire("key")
        second = asyncio.ensure_future(scheduler.acquire("key"))
        other = await scheduler.acquire("other")
        assert other.worker is not first.worker
        assert not second.done()
        scheduler.release(first)
        assert (await second).worker is first.worker

    asyncio.run(scenario())


def order_of(jobs: Iterable[str]) -> list[str]:
    """Return jobs in the order in which one worker gets them.

    A job is a letter, in upper case if it can wait. The letter of its address may stand in front.
    """

    async def scenario():
        scheduler, order = workers("a"), []

        async def job(name: str) -> None:
            turn = {"turn": Turn(name[0])} if name[1:] else {}
            worker = await scheduler.acquire(None, background=name[-1].isupper(), **turn)
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
        assert (await third).worker is not second.worker

    asyncio.run(scenario())


def test_workers_are_unused_while_no_visitor_waits_for_a_job(monkeypatch):
    now = 100.0
    monkeypatch.setattr(scheduler_module.time, "monotonic", lambda: now)

    async def scenario():
        nonlocal now
        scheduler = workers("a")
        assert scheduler.seconds_unused == float("inf")
        own = await scheduler.acquire(None, background=True)
        assert scheduler.seconds_unused == float("inf"), "the server's own work is no visitor's"
        queued = asyncio.ensure_future(scheduler.acquire(None, turn=Turn("v")))
        await asyncio.sleep(0)
        now += 20
        assert scheduler.seconds_unused == 0
        scheduler.release(own)
        grant = await queued
        now += 20
        assert scheduler.seconds_unused == 0
        scheduler.release(grant)
        now += 3
        assert scheduler.seconds_unused == 3

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


def order_of_turns(jobs: list[str], **how: bool) -> list[str]:
    """Return jobs in the order in which one worker runs them. Each name begins with address and session, a letter each."""

    async def scenario():
        scheduler, order = workers("a"), []

        async def job(name: str) -> None:
            grant = await scheduler.acquire(None, turn=Turn(name[0], name[1]), **how)
            order.append(name)
            await asyncio.sleep(0)
            scheduler.release(grant)

        await asyncio.gather(*map(job, jobs))
        return order

    return asyncio.run(scenario())


@pytest.mark.parametrize("how", [{}, {"untrusted": True}, {"background": True}])
def test_addresses_take_turns_with_all_kinds_of_jobs(how):
    asked = ["ax1", "ax2", "ax3", "ax4", "bx1", "bx2", "cx1"]
    assert order_of_turns(asked, **how) == ["ax1", "bx1", "cx1", "ax2", "bx2", "ax3", "ax4"]


def test_what_can_wait_comes_after_the_other_jobs_of_its_address_and_not_after_those_of_all():
    assert order_of(["ax", "ay", "az", "bX", "bx"]) == ["ax", "bx", "ay", "bX", "az"]


def test_a_job_that_several_wait_for_has_the_best_of_their_turns():
    async def scenario():
        scheduler, order = workers("a"), []
        readers: list[str] = []

        async def job(name: str, **how: object) -> None:
            grant = await scheduler.acquire(None, turn=Turn(name[0]), **how)
            order.append(name)
            await asyncio.sleep(0)
            scheduler.release(grant)

        jobs = [asyncio.ensure_future(job(name)) for name in ("a1", "a2", "a3")]
        shared = asyncio.ensure_future(job("a4", readers=readers))
        await asyncio.sleep(0)
        readers.append("b")  # another asks for the same
        await asyncio.gather(*jobs, shared)
        return order

    assert asyncio.run(scenario()) == ["a1", "a4", "a2", "a3"]


def test_many_sessions_of_an_address_have_no_more_turns_than_one_and_share_them():
    asked = ["ax1", "ax2", "ax3", "ay1", "az1", "bx1", "bx2", "bx3"]
    assert order_of_turns(asked) == ["ax1", "bx1", "ay1", "bx2", "az1", "bx3", "ax2", "ax3"]


def test_an_address_never_trains_on_all_workers_and_its_other_jobs_run_beside():
    async def scenario():
        scheduler = workers("a", "b")
        first = await scheduler.acquire("first run", turn=Turn("x"))
        second = asyncio.ensure_future(scheduler.acquire("second run", turn=Turn("x")))
        await asyncio.sleep(0)
        assert not second.done()
        figure = await scheduler.acquire(None, turn=Turn("x"))
        scheduler.release(figure)
        other = await scheduler.acquire("another's run", turn=Turn("y"))
        scheduler.release(first)
        assert (await second).worker is first.worker
        scheduler.release(other)

    asyncio.run(scenario())


def test_an_address_never_occupies_all_workers():
    async def scenario():
        scheduler = workers("a", "b")
        stranger, reader = Turn("stranger"), Turn("reader")
        first = await scheduler.acquire(None, turn=stranger)
        second = asyncio.ensure_future(scheduler.acquire(None, turn=stranger))
        other = await scheduler.acquire(None, turn=reader)
        assert not second.done()
        scheduler.release(other)
        await asyncio.sleep(0)
        assert not second.done()
        trained = await scheduler.acquire("a training run, whose jobs are short", turn=stranger)
        scheduler.release(trained)
        scheduler.release(first)
        await second

    asyncio.run(scenario())


def test_sandboxed_jobs_run_beside_the_others_and_an_address_has_half_of_the_slots():
    async def scenario():
        scheduler = workers("a", "b", slots=2)
        busy = [await scheduler.acquire(None) for _ in range(2)]
        theirs = [await scheduler.acquire(None, untrusted=True, turn=Turn("stranger", n)) for n in range(2)]
        assert {grant.worker.address for grant in theirs} == {"a", "b"}, "they spread"
        third = asyncio.ensure_future(scheduler.acquire(None, untrusted=True, turn=Turn("stranger", 3)))
        mine = await scheduler.acquire(None, untrusted=True, turn=Turn("reader"))
        await asyncio.sleep(0)
        assert not third.done()
        assert all(grant.worker.busy for grant in busy)
        scheduler.release(theirs[0])
        await third
        scheduler.release(mine)

    asyncio.run(scenario())


def test_the_queue_refuses_one_address_and_takes_another(monkeypatch):
    monkeypatch.setattr(scheduler_module, "MOST_QUEUED", 3)

    async def scenario():
        scheduler = workers("a")
        running = await scheduler.acquire(None)
        waiting = [asyncio.ensure_future(scheduler.acquire(None, turn=Turn("stranger", n))) for n in range(3)]
        await asyncio.sleep(0)
        assert scheduler.is_full("stranger")
        with pytest.raises(QueueFull):
            await scheduler.acquire(None, turn=Turn("stranger", 9))
        reader = asyncio.ensure_future(scheduler.acquire(None, turn=Turn("reader")))
        own = asyncio.ensure_future(scheduler.acquire(None))
        waiting[0].cancel()
        await asyncio.wait({waiting[0]})
        assert not scheduler.is_full("stranger"), "what is cancelled leaves the queue"
        remaining = {own, reader, *waiting[1:]}
        scheduler.release(running)
        while remaining:
            done, remaining = await asyncio.wait(remaining, return_when=asyncio.FIRST_COMPLETED)
            for job in done:
                scheduler.release(job.result())

    asyncio.run(scenario())


def test_the_longest_job_of_another_session_is_the_one_to_stop():
    async def scenario():
        scheduler = workers("a", "b", "c", slots=2)
        me, they = Turn("me"), Turn("they")
        await scheduler.acquire(None, untrusted=True, turn=me)
        theirs = await scheduler.acquire(None, untrusted=True, turn=they)
        later = await scheduler.acquire(None, untrusted=True, turn=they)
        await scheduler.acquire(None, turn=they)
        assert scheduler.held_longest(me, 0.0) is theirs
        assert scheduler.held_longest(me, 60.0) is None
        scheduler.release(theirs)
        assert scheduler.held_longest(me, 0.0) is later
        scheduler.release(later)
        assert scheduler.held_longest(me, 0.0) is None, "of theirs, only the trusted job still runs"

    asyncio.run(scenario())


def test_a_request_that_is_cancelled_as_it_is_granted_releases_its_worker():
    async def scenario():
        scheduler = workers("a")
        worker = await scheduler.acquire(None)
        waiting = asyncio.ensure_future(scheduler.acquire(None))
        await asyncio.sleep(0)
        scheduler.release(worker)
        assert worker.worker.busy, "it is granted to the request"
        waiting.cancel()
        await asyncio.wait({waiting})
        assert waiting.cancelled()
        assert not worker.worker.busy

    asyncio.run(scenario())


def test_a_key_waits_for_the_replacement_of_a_lost_worker():
    async def scenario():
        scheduler = workers("a", "b")
        lost, other = await scheduler.acquire("lost"), await scheduler.acquire("other")
        scheduler.release(lost)
        scheduler.release(other)
        scheduler.remove_worker(lost.worker.address)
        assert lost.worker.gone.done()
        waiting = asyncio.ensure_future(scheduler.acquire("lost"))
        await asyncio.sleep(0)
        assert not waiting.done(), "the other worker is idle, and another key's"
        scheduler.add_worker("c")
        assert (await waiting).worker.address == "c"

    asyncio.run(scenario())


def test_without_a_replacement_a_key_shares_the_worker_of_another(monkeypatch):
    monkeypatch.setattr(scheduler_module, "REPLACEMENT_WAIT", 0.0)

    async def scenario():
        scheduler = workers("a", "b")
        lost, other = await scheduler.acquire("lost"), await scheduler.acquire("other")
        scheduler.release(other)
        scheduler.remove_worker(lost.worker.address)
        assert (await scheduler.acquire("lost")).worker is other.worker

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
            grant = await scheduler.acquire(str(key))
            scheduler.release(grant)
            found.append(grant.worker)
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
        assert (first.worker.address, elsewhere.worker.address) == ("c", "a")
        assert not second.done()
        assert not third.done()
        scheduler.release(first)
        assert (await second).worker.address == "c"
        scheduler.remove_worker("c")
        assert (await third).worker.address == "b"  # which says that it has no such device

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
        assert (await waiting).worker.address == "a"

    asyncio.run(scenario())
