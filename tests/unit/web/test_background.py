"""Work in the background of a page."""

import asyncio

from splatscope.web.background import BackgroundTask


def test_a_later_task_takes_the_place_of_an_earlier_one_and_none_outlives_a_cancel():
    ended = []

    async def work(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async def page() -> None:
        task = BackgroundTask()
        task.cancel()
        task.start(work("first"))
        await asyncio.sleep(0)
        task.start(work("second"))
        await asyncio.sleep(0)
        assert ended == ["first"]
        task.cancel()
        await asyncio.sleep(0)
        assert ended == ["first", "second"]

    asyncio.run(page())
