"""The debugger opens with a recording before any worker has compiled its kernel."""

import asyncio

import pytest

from splatscope.web.debugger import run_history
from splatscope.web.debugger.debugger import Debugger
from splatscope.web.debugger.first_recording import EXAMPLE, draft_of, first_recording
from splatscope.web.examples.gallery import EXAMPLES


@pytest.fixture
def bench(monkeypatch):
    """The debugger, with workers that never answer."""

    async def silent(*_, **__):
        await asyncio.Event().wait()

    monkeypatch.setattr(run_history, "check_source", silent)
    return Debugger()


async def opened(bench: Debugger, example: str) -> None:
    bench.receive({"type": "open", "example": example})
    for _ in range(2_000):  # until it shows a recording, or waits for one
        await asyncio.sleep(0.005)
        if bench.stepper.meta or bench.stepper.busy:
            break
    bench.close()


def test_the_first_example_is_stepped_while_it_compiles(bench):
    asyncio.run(opened(bench, EXAMPLE.name))
    assert bench.stepper.meta
    assert not bench.stepper.busy
    assert bench.stepper.recording
    assert bench.stepper.opening == bench.stepper.meta["opening"] > 0


def test_another_example_waits_for_its_compilation(bench):
    asyncio.run(opened(bench, EXAMPLES[1].name))
    assert not bench.stepper.meta
    assert bench.stepper.busy == "Compiling …"


@pytest.mark.parametrize("change", [{"source": EXAMPLE.source + "\n"}, {"inputs": {}}, {"groups": [2, 1, 1]}])
def test_no_other_draft_has_it(change):
    assert asyncio.run(first_recording(draft_of(EXAMPLE)))
    assert asyncio.run(first_recording(draft_of(EXAMPLE) | change)) is None
