"""The layout of every section: the figure fits the window, nothing is cut or scrolls sideways, all ends at one edge."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from helpers.stepping import ready
from splatscope.textbook.contents import lesson_names

each = pytest.mark.parametrize("stem", lesson_names())

LOOK = """() => {
  const all = []
  const walk = (root) => { for (const el of root.querySelectorAll("*")) { all.push(el); if (el.shadowRoot) walk(el.shadowRoot) } }
  walk(document)
  const of = (test) => all.find((el) => el.matches(test))
  const box = (test) => of(test).getBoundingClientRect()
  const nested = (el) => {
    for (let node = el.parentNode; node; node = node.parentNode ?? node.host) if (node.matches?.("details, .tried")) return true
    return false
  }
  const aside = box(".figure .aside"), drawing = of(".figure .aside .drawing") ?? of(".drawing")
  const svgs = all.filter((el) => el instanceof SVGSVGElement && drawing.contains(el)).map((el) => el.getBoundingClientRect())
  const pane = of(".figure .srcwrap"), line = pane.querySelector(".mine")
  const words = document.createRange()
  if (line) words.selectNodeContents(line.querySelector(".code"))
  return {
    sideways: document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth,
    figure: box("[data-testid=figure]").height,
    room: innerHeight - document.querySelector(".top").offsetHeight,
    drawing: drawing.scrollWidth - drawing.clientWidth,
    svgs: svgs.filter((one) => one.width && (one.right > aside.right + 1 || one.left < aside.left - 1)).length,
    formulas: all.filter((el) => el.matches(".eq") && el.scrollWidth > el.clientWidth + 1).map((el) => el.textContent),
    notes: all.filter((el) => el.matches(".figure .src .note") && el.getClientRects().length).length,
    line: line ? words.getBoundingClientRect().right <= pane.getBoundingClientRect().right + 1 : true,
    transport: box(".figure .tp").height,
    bar: [...document.querySelectorAll(".top button")].every((el) => el.getBoundingClientRect().right <= innerWidth),
    edges: [...new Set(all.filter((el) => el.matches(".card, .quote, .tried, .lesson > details") && el.offsetParent && !nested(el))
      .map((el) => Math.round(el.getBoundingClientRect().right)))],
  }
}"""


def resized(page: Page, width: int, height: int) -> dict:
    """Return what the page looks like in a window of another size, once two looks 400 ms apart find the same."""
    page.set_viewport_size({"width": width, "height": height})
    before = None
    for _ in range(20):
        page.wait_for_timeout(400)
        seen = page.evaluate(LOOK)
        if seen == before:
            break
        before = seen
    return seen


@each
def test_nothing_is_cut_and_the_figure_fits(turn_to: Callable[..., Page], stem: str):
    """One visit for all sizes, since opening a section takes longer than looking at it."""
    page = ready(turn_to(f"/app?page={stem}"))
    for size in ((1440, 900), (1366, 768)):
        seen = resized(page, *size)
        assert seen["figure"] <= seen["room"], f"the figure is {seen['figure']} px high, the window has {seen['room']} at {size}"
        assert seen["transport"] < 40, "the transport is one row"
        assert not seen["notes"], "a name lies over the code of the line that it names"
        assert len(seen["edges"]) == 1, f"listings, questions and claims end at {seen['edges']}"
    for size in ((1366, 768), (1024, 768), (820, 1180), (768, 1024)):
        seen = resized(page, *size)
        assert seen["sideways"] <= 0, f"the page scrolls sideways by {seen['sideways']} px at {size}"
        assert seen["drawing"] <= 1, f"the drawing is {seen['drawing']} px wider than its room at {size}"
        assert not seen["svgs"], f"{seen['svgs']} pictures leave the drawing at {size}"
        assert not seen["formulas"], f"cut at {size}: {seen['formulas']}"
        assert seen["line"], f"the current line is cut at {size}"
        assert seen["bar"], f"a button of the top bar is off the screen at {size}"


@pytest.mark.parametrize("stem", ["bitonic-sort", "coarse-raster", "autodiff", "gaussian", "workgroups", "fine-raster"])
def test_a_phone_shows_first_the_drawing_and_then_its_settings_over_a_low_dock(turn_to: Callable[..., Page], stem: str):
    page = ready(turn_to(f"/app?page={stem}", width=390, height=844))
    page.get_by_test_id("elsewhere").wait_for()
    top = {name: page.locator(f"[data-testid=figure] {name}").first.bounding_box()["y"] for name in (".aside", ".source")}
    settings = page.locator("[data-testid=figure] > [data-slot]:has(+ [data-slot])")
    assert top[".aside"] < top[".source"]
    if settings.count():
        assert top[".source"] < settings.bounding_box()["y"]
    dock = page.locator(".figure > .dock").first.bounding_box()
    assert dock["height"] <= 120
    assert dock["y"] + dock["height"] <= 844.5
    title = page.locator("#crumb")
    fits = "el => el.scrollWidth <= el.clientWidth || getComputedStyle(el).textOverflow === 'ellipsis'"
    assert not title.is_visible() or title.evaluate(fits)
    assert page.locator(".top").evaluate("el => el.scrollWidth <= el.clientWidth")


def test_the_device_of_the_shipped_recording_is_named_with_the_first_view(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=undo")
    page.get_by_test_id("adapter").wait_for()
    assert page.get_by_test_id("elsewhere").is_visible(), "it would come later, and move what stands beside it"
