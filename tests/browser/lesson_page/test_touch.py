"""What a finger drags on a phone follows it, and the page stays where it is."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from helpers.folding import unfold_figures

STEPS = 10  # of one drag
VALUES = "el => [...el.querySelectorAll('{}')].map((input) => input.value)"


@pytest.fixture
def phone(gpu_browser: Browser, server: str) -> Iterator[Callable[[str], Page]]:
    """Return a function that opens a section on a phone."""
    with gpu_browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as context:

        def open_section(name: str) -> Page:
            page = unfold_figures(context).new_page()
            page.goto(f"{server}/app?page={name}")
            expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"\d+"))
            page.wait_for_load_state("networkidle")  # results that come would move the page
            return page

        yield open_section


def middle(box: dict) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(handle: Locator, dx: float, dy: float, seen: Callable[[], object]) -> object:
    """Drag a handle, and return what is seen before the finger leaves. The page must not scroll meanwhile."""
    handle.scroll_into_view_if_needed()
    page, top = handle.page, handle.page.evaluate("scrollY")
    x, y = middle(handle.bounding_box())
    touch = page.context.new_cdp_session(page)
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for i in range(1, STEPS + 1):
        points = [{"x": x + i * dx / STEPS, "y": y + i * dy / STEPS}]
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": points})
        page.wait_for_timeout(30)
    found, scrolled = seen(), page.evaluate("scrollY")
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert scrolled == top
    return found


@pytest.mark.parametrize(("dx", "dy"), [(40, 0), (-40, 0), (0, 40), (0, -40)])
def test_a_gaussian_is_moved(phone, dx, dy):
    knob = phone("gaussian").locator(".spot-handle.move .knob").first
    knob.scroll_into_view_if_needed()
    before = middle(knob.bounding_box())
    after = drag(knob, dx, dy, lambda: middle(knob.bounding_box()))
    assert after[0] - before[0] == pytest.approx(dx, abs=3)
    assert after[1] - before[1] == pytest.approx(dy, abs=3)


@pytest.mark.parametrize(("dx", "dy"), [(60, 0), (0, 40)])
def test_another_pixel_is_chosen(phone, dx, dy):
    picker = phone("blending").locator(".pixel-picker").first
    before = picker.get_attribute("aria-valuetext")
    column, row = map(int, re.findall(r"\d+", drag(picker, dx, dy, lambda: picker.get_attribute("aria-valuetext"))))
    assert f"column {column}, row {row}" != before


def test_a_layer_is_dragged_below_the_next(phone):
    rows = phone("blending").locator(".layer-row")
    opacities = VALUES.format("input[type=range]")
    first, second, *others = rows.first.locator("..").evaluate(opacities)
    assert first != second
    drag(rows.first.locator(".grip"), 0, 1.5 * rows.first.bounding_box()["height"], lambda: None)
    assert rows.first.locator("..").evaluate(opacities) == [second, first, *others]


def test_a_slider_is_dragged(phone):
    slider = phone("blending").get_by_role("slider", name="Opacity of layer 1", exact=True)
    before = float(slider.input_value())
    width = slider.bounding_box()["width"]
    left = before > 0.5 * float(slider.get_attribute("max"))
    after = drag(slider, (-0.3 if left else 0.3) * width, 0, lambda: float(slider.input_value()))
    assert after != before


def test_values_are_drawn(phone):
    bars = phone("bitonic-sort").locator(".bars").first
    before = bars.evaluate(VALUES.format("input"))
    assert drag(bars, 30, 60, lambda: bars.evaluate(VALUES.format("input"))) != before
