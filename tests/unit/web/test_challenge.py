"""A round of a challenge that the server plays."""

import asyncio

from splatscope.web.training import challenge
from splatscope.web.training.challenge import Challenge
from splatscope.workers.errors import WorkerError

ROUND = {
    "type": "play",
    "number": 1,
    "target": "fish",
    "raw": [],
    "blobs": 10,
    "seed": 1,
    "growth": False,
    "rate": 1.0,
    "iterations": 300,
}


def test_each_failure_reaches_the_browser_also_one_with_the_same_words(monkeypatch):
    async def fail(*_args):
        raise WorkerError("The worker ended.")

    monkeypatch.setattr(challenge, "play", fail)

    async def failures() -> list[str]:
        component, errors = Challenge(), []
        component.param.watch(lambda event: errors.append(event.new), "error")
        for count in (1, 2):
            component.receive(ROUND)
            while [error for error in errors if error] != ["The worker ended."] * count:
                await asyncio.sleep(0)
        return errors

    assert asyncio.run(asyncio.wait_for(failures(), 10)) == ["The worker ended.", "", "The worker ended."]
