"""A Gaussian in the reader's hand follows it at once; what a kernel paints replaces the preview."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

# Set a slider as a hand does, and tell what is seen before any answer can have come.
MOVED = """([name, value]) => {
    const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
    const drawing = all(document).find((e) => e.matches(".drawing-gaussian"))
    const slider = drawing.querySelector(`[aria-label="${name}"]`)
    if (value !== null) {
        slider.value = value
        slider.dispatchEvent(new Event("input"))
        slider.dispatchEvent(new Event("change"))
    }
    const canvas = drawing.querySelector("canvas")
    return {
        centre: [...canvas.getContext("2d").getImageData(25, 19, 1, 1).data],
        means: slider.closest(".nine-row").lastElementChild.textContent,
        previewed: drawing.matches(".ahead"),
    }
}"""


def test_a_colour_and_a_size_are_seen_as_they_are_set(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=gaussian")
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"\d+"))
    expect(page.get_by_label("Red", exact=True)).to_be_visible()
    before = page.evaluate(MOVED, ["Red", None])
    assert not before["previewed"]
    preview = page.evaluate(MOVED, ["Red", "0"])
    assert preview["previewed"]
    assert preview["centre"][0] < before["centre"][0] - 50
    size = page.evaluate(MOVED, ["Log of the first size", "1"])
    assert size["means"] == "3.0 px"  # e, and the 0.3 that the kernel adds
    expect(page.locator(".drawing-gaussian.ahead")).to_have_count(0)
    recorded = page.evaluate(MOVED, ["Red", None])
    assert max(abs(one - other) for one, other in zip(recorded["centre"], size["centre"], strict=True)) <= 1
