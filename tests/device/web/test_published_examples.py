"""The debugger's examples in a published book: each as it is and mended, with what was found and the fix."""

import asyncio

from splatscope.web.examples.gallery import BY_NAME
from splatscope.web.publish import tools
from splatscope.web.stepper.stepper import Stepper
from splatscope.workers import worker_pool


def test_an_example_with_a_mistake_is_there_twice_and_one_without_says_so(monkeypatch):
    monkeypatch.setattr(tools, "EXAMPLES", [BY_NAME[name] for name in ("playground", "missing-barrier")])

    async def all_pages():
        try:
            return [(await state.make(), state.address, state.inputs) for state in tools.debugger()]
        finally:
            await worker_pool.close()

    pages = asyncio.run(all_pages())
    steppers = [next(slot for slot in page.slots if isinstance(slot, Stepper)) for page, _, _ in pages]
    names = ("example=playground", "example=missing-barrier")
    assert [address for _, address, _ in pages] == [f"{name}{mended}" for name in names for mended in ("", "&mended=true")]
    assert [inputs for _, _, inputs in pages][2:] == [
        {"example": "missing-barrier"},
        {"example": "missing-barrier", "mended": True},
    ]
    assert [stepper.error for stepper in steppers] == [""] * 4
    assert [set(stepper.meta["findings"]) for stepper in steppers][2:] == [{"race"}, set()]
    assert [bool(stepper.fix) for stepper in steppers] == [False, False, True, False]
    assert "no fault to fix" in pages[1][0].slots[1].html
