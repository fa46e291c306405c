"""A step is seen to happen, and nobody waits for it: what can be read is final at once."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

SORT = "/app?page=bitonic-sort"
# Press a key and, as soon as that is painted, tell what is drawn, and where it is seen halfway through the motion, if there is one.
PRESSED = """async (key) => {
    const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
    const elements = all(document)
    const stepper = elements.find((e) => e.matches("[data-testid=stepper]"))
    const drawing = elements.find((e) => e.matches(".drawing"))
    if (key) {
        const painted = new Promise((done) => {
            new MutationObserver((_, watch) => (watch.disconnect(), done())).observe(stepper, {attributeFilter: ["data-painted"]})
        })
        document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}))
        await painted
    }
    const bars = [...drawing.querySelectorAll("[data-thing]")]
    const marks = [...stepper.querySelectorAll(".mark-on-its-way")]
    for (const one of [...bars, ...marks].flatMap((e) => e.getAnimations())) one.currentTime = 90
    return {
        step: stepper.dataset.step,
        keys: bars.map((bar) => Number(bar.textContent)),
        places: bars.map((bar) => bar.getBoundingClientRect().top),
        marks: marks.length,
        gliding: drawing.matches(".gliding"),
    }
}"""


def at_the_start(page: Page) -> dict:
    """Go to the start of the run; return what is drawn there."""
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile(r"\d+"))
    page.keyboard.press("Home")
    expect(stepper).to_have_attribute("data-painted", "0")
    page.wait_for_timeout(400)  # a step at once after another is not seen to happen
    return page.evaluate(PRESSED, "")


def test_a_key_travels_to_its_new_place(turn_to: Callable[..., Page]):
    page = turn_to(SORT)
    before = at_the_start(page)
    halfway = page.evaluate(PRESSED, "ArrowRight")
    rows = before["places"]
    swapped = [i for i in range(0, len(rows), 2) if halfway["keys"][i] != before["keys"][i]]
    assert swapped, "the first pass swaps none: the test shows nothing"
    for i in swapped:  # what can be read is final, and what is seen is between the two rows
        assert halfway["keys"][i : i + 2] == before["keys"][i : i + 2][::-1]
        assert rows[i] + 1 < halfway["places"][i] < rows[i + 1] - 1
        assert rows[i] + 1 < halfway["places"][i + 1] < rows[i + 1] - 1
    end = page.evaluate(PRESSED, "End")
    assert end["places"] == rows, "a jump shows the end at once"
    assert end["keys"] == sorted(end["keys"])
    assert not end["gliding"]


def test_the_mark_slides_from_line_to_line(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=gaussian")
    at_the_start(page)
    marks = []
    for _ in range(4):
        marks.append(page.evaluate(PRESSED, "ArrowRight")["marks"])
        page.wait_for_timeout(400)
    assert max(marks) == 1
    assert page.evaluate(PRESSED, "")["marks"] == 0, "it has arrived"


def test_the_next_key_waits_for_no_motion(turn_to: Callable[..., Page]):
    page = turn_to(SORT)
    before = at_the_start(page)
    quickly = [page.evaluate(PRESSED, "ArrowRight") for _ in range(4)]
    at_the_start(page)
    slowly = []
    for _ in range(4):
        slowly.append(page.evaluate(PRESSED, "ArrowRight"))
        page.wait_for_timeout(400)
    for quick, slow in zip(quickly, slowly, strict=True):
        assert (quick["step"], quick["keys"]) == (slow["step"], slow["keys"])
    assert len({tuple(stop["keys"]) for stop in quickly}) == 4
    assert page.evaluate(PRESSED, "")["places"] == before["places"], "all have arrived"


def test_nothing_moves_for_who_asked_for_less_motion(visit: Callable[..., Page]):
    page = visit(SORT, reduced_motion="reduce")
    before = at_the_start(page)
    after = page.evaluate(PRESSED, "ArrowRight")
    assert after["keys"] != before["keys"]
    assert after["places"] == before["places"]
    assert not after["gliding"]
    assert after["marks"] == 0
