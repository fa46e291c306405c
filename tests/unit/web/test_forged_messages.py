"""No message that a browser can forge makes a handler raise or log a traceback, or a page show what cannot be sent."""

import asyncio

import pytest
from fuzz.messages import forge, without_workers

from splatscope.web.shell.router import MOST_STEP, UNNAMED, read_step


@pytest.mark.parametrize("seed", [1, 2])
def test_no_handler_raises_whatever_a_message_holds(seed):
    with without_workers():
        failures = asyncio.run(forge(4000, seed))
    assert not failures


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (7, 7),
        ("7", 7),
        (-3, UNNAMED),
        (float("inf"), UNNAMED),
        (float("nan"), UNNAMED),
        (None, UNNAMED),
        ([], UNNAMED),
        ("1" * 5000, UNNAMED),
        (10**300, MOST_STEP),
        (1e300, MOST_STEP),
    ],
)
def test_a_step_is_a_number_that_a_recording_can_have(text, step):
    assert read_step(text) == step
