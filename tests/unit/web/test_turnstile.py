"""Pieces of work in the event loop: one at a time, in turns of the visitors."""

import asyncio
import time

import pytest

from splatscope.web import turnstile as turnstile_module
from splatscope.web.turnstile import Turnstile
from splatscope.workers import visitor
from splatscope.workers.errors import ServerBusy


@pytest.fixture(autouse=True)
def _limit(monkeypatch):
    monkeypatch.setattr(turnstile_module, "MOST_WAITING", 4)
    monkeypatch.setattr(turnstile_module, "MOST_TOGETHER", 6)


async def piece(turnstile: Turnstile, name: str, done: list[str]) -> None:
    """Work for the visitor whose name is the first letter."""
    visitor.work_for(name[0])
    async with turnstile.turn():
        done.append(f"begin {name}")
        await asyncio.sleep(0)
        done.append(f"end {name}")


def order_of(names: list[str]) -> list[str]:
    async def scenario():
        turnstile, done = Turnstile(), []
        await asyncio.gather(*(piece(turnstile, name, done) for name in names))
        assert [word.split()[1] for word in done[::2]] == [word.split()[1] for word in done[1::2]], "one at a time"
        return [word.split()[1] for word in done[::2]]

    return asyncio.run(scenario())


def test_visitors_take_turns_and_each_is_served_in_order():
    assert order_of(["a1", "a2", "a3", "a4", "b1", "c1"]) == ["a1", "a2", "b1", "c1", "a3", "a4"]


def test_a_visitor_with_too_much_waiting_is_refused_and_another_is_not():
    async def scenario():
        turnstile, done = Turnstile(), []
        waiting = [asyncio.ensure_future(piece(turnstile, f"a{n}", done)) for n in range(5)]
        await asyncio.sleep(0)
        with pytest.raises(ServerBusy):
            await piece(turnstile, "a9", done)
        await piece(turnstile, "b1", done)
        await asyncio.gather(*waiting)
        await piece(turnstile, "a9", done)

    asyncio.run(scenario())


def test_what_is_cancelled_while_it_waits_or_as_it_is_let_in_blocks_nobody():
    async def scenario():
        turnstile, done = Turnstile(), []
        first, second, third = (asyncio.ensure_future(piece(turnstile, name, done)) for name in ("a1", "a2", "a3"))
        await asyncio.sleep(0)
        second.cancel()
        await first
        while not done[2:] and not third.done():
            await asyncio.sleep(0)
        fourth = asyncio.ensure_future(piece(turnstile, "a4", done))
        await third
        await fourth
        return done

    assert "begin a2" not in asyncio.run(scenario())


def test_others_have_the_event_loop_between_two_pieces():
    async def scenario():
        turnstile, order = Turnstile(), []

        async def work(name: str) -> None:
            async with turnstile.turn():
                end = asyncio.get_running_loop().time() + 0.05
                while asyncio.get_running_loop().time() < end:
                    pass
                order.append(name)

        async def other() -> None:
            while "second" not in order:
                order.append("other")
                await asyncio.sleep(0.001)

        await asyncio.gather(work("first"), work("second"), other())
        between = order[order.index("first") + 1 : order.index("second")]
        return between

    assert len(asyncio.run(scenario())) > 1


def work(seconds: float) -> None:
    """Use the processor."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_a_coroutine_goes_on_in_steps_with_what_it_waited_for():
    async def inner() -> str:
        assert await asyncio.to_thread(lambda: 7) == 7
        with pytest.raises(ValueError, match="from below"):
            await asyncio.to_thread(lambda: exec("raise ValueError('from below')"))
        return "done"

    async def scenario() -> None:
        turnstile = Turnstile()
        assert await turnstile.in_steps(inner()) == "done"
        waiting = asyncio.ensure_future(turnstile.in_steps(asyncio.sleep(60)))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await turnstile.in_steps(inner()) == "done"

    asyncio.run(scenario())


def test_nobody_waits_long_for_the_steps_of_many_or_pays_for_what_others_did_meanwhile():
    """Twenty of one address begin at once. A reader's short step comes after one of theirs, and a later one of theirs at once."""

    async def scenario() -> None:
        turnstile = Turnstile(is_bounded=False)

        async def click() -> None:
            await asyncio.sleep(0)
            work(0.05)

        async def of(address: str, work_: object) -> float:
            visitor.work_for(address)
            began = asyncio.get_running_loop().time()
            await turnstile.in_steps(work_)
            return asyncio.get_running_loop().time() - began

        clicks = [asyncio.create_task(of("school", click())) for _ in range(20)]
        await asyncio.sleep(0.06)
        await asyncio.create_task(of("reader", asyncio.sleep(0)))
        assert sum(task.done() for task in clicks) < 10, "the reader did not wait for all of them"
        await asyncio.gather(*clicks)
        after = await asyncio.create_task(of("school", asyncio.sleep(0)))
        assert after < 5, "nothing is owed for what took place before"

    asyncio.run(scenario())


def test_short_steps_follow_each_other_without_a_pause():
    async def scenario() -> int:
        turnstile, steps = Turnstile(), 0

        async def short() -> None:
            nonlocal steps
            for _ in range(50):
                steps += 1
                await asyncio.sleep(0)

        await asyncio.wait_for(turnstile.in_steps(short()), 60)
        return steps

    assert asyncio.run(scenario()) == 50


def test_what_has_begun_may_go_on_without_another_turn():
    async def scenario() -> list[str]:
        turnstile, order = Turnstile(), []

        async def two_steps() -> None:
            order.append("first")
            await asyncio.sleep(0)
            order.append("second")

        holds = asyncio.Event()

        async def holder() -> None:
            async with turnstile.turn():
                await holds.wait()
                order.append("held")

        begun = asyncio.ensure_future(turnstile.in_steps(two_steps(), first_only=True))
        await asyncio.sleep(0)
        holding = asyncio.ensure_future(holder())
        await begun
        holds.set()
        await holding
        return order

    assert asyncio.run(scenario()) == ["first", "second", "held"]
