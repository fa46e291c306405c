"""The layout of every section: the figure fits the window, nothing is cut or scrolls sideways, all ends at one edge."""

from collections.abc import Callable, Iterator
from itertools import chain, pairwise

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import next_frame, ready
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
  const upright = (el) => { const {top, bottom} = el.getBoundingClientRect(); return [Math.round(top), Math.round(bottom)] }
  const legend = of(".figure .figcaption")
  const told = (el) => el.checkVisibility({visibilityProperty: true}) && [...el.childNodes].some((node) => node.data?.trim())
  const among = (test) => all.filter((el) => el.matches(test) && el.getClientRects().length)
  return {
    sideways: document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth,
    figure: box("[data-testid=figure]").height,
    room: innerHeight - document.querySelector(".top").offsetHeight,
    drawing: drawing.scrollWidth - drawing.clientWidth,
    drawn: drawing.offsetHeight,
    svgs: svgs.filter((one) => one.width && (one.right > aside.right + 1 || one.left < aside.left - 1)).length,
    formulas: all.filter((el) => el.matches(".eq") && el.scrollWidth > el.clientWidth + 1).map((el) => el.textContent),
    notes: all.filter((el) => el.matches(".figure .src .note") && el.getClientRects().length).length,
    line: line ? words.getBoundingClientRect().right <= pane.getBoundingClientRect().right + 1 : true,
    transport: box(".figure .tp").height,
    caption: legend?.getBoundingClientRect().bottom ?? null,
    unread: legend ? legend.scrollHeight - legend.clientHeight : 0,
    type: [...new Set(all.filter((el) => el.closest(".drawing, .figcaption, .numbers, .dock") && told(el))
      .map((el) => parseFloat(getComputedStyle(el).fontSize)))],
    dock: Math.min(innerHeight, box(".figure > .dock").top),
    column: [".figcaption", ".source", ".below", ".right"].flatMap((test) => among(`.figure .panes > ${test}`)).map(upright),
    equations: among(".figure .below *").map(upright),
    panes: upright(of(".figure .panes")),
    source: upright(pane),
    here: line ? upright(line) : null,
    findings: among(".figure .right").map(upright),
    acts: among(".figure .right .go button").map(upright),
    bar: [...document.querySelectorAll(".top button")].every((el) => el.getBoundingClientRect().right <= innerWidth),
    edges: [...new Set(all.filter((el) => el.matches(".card, .quote, .tried, .lesson > details") && el.offsetParent && !nested(el))
      .map((el) => Math.round(el.getBoundingClientRect().right)))],
  }
}"""


def wrong_at(page: Page, size: tuple[int, int], judge: Callable[[dict], Iterator[str]]) -> list[str]:
    """Return what is wrong in a window of another size: nothing once two looks find nothing, else what the last of 60 finds."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    right = 0
    for _ in range(60):
        page.wait_for_timeout(100)
        wrong = list(judge(page.evaluate(LOOK)))
        right = 0 if wrong else right + 1
        if right == 2:
            break
    return wrong


TYPE = {12, 13, 14, 15, 18}  # px, of all text in a figure
CELLS = {"reduction": {11}}  # in cells that have no room for more


def wrong_with_the_figure(seen: dict, stem: str) -> Iterator[str]:
    """Tell what does not fit a window of a laptop."""
    if seen["figure"] > seen["room"]:
        yield f"the figure is {seen['figure']} px high, the window has {seen['room']}"
    if seen["transport"] >= 40:
        yield "the transport has several rows"
    if seen["unread"] > 1:
        yield f"{seen['unread']} px of how the drawing is read are cut"
    if other := set(seen["type"]) - TYPE - CELLS.get(stem, set()):
        yield f"text of {other} px, beside the sizes of theme/tokens.css"
    if seen["notes"]:
        yield "a name lies over the code of the line that it names"
    if len(seen["edges"]) != 1:
        yield f"listings, questions and claims end at {seen['edges']}"


def wrong_with_the_opening(seen: dict) -> Iterator[str]:
    """Tell what cannot be seen as the page opens."""
    if seen["caption"] is None or seen["caption"] > seen["dock"]:
        yield f"how the drawing is read ends at {seen['caption']}, behind the transport at {seen['dock']}"


def wrong_with_the_width(seen: dict) -> Iterator[str]:
    """Tell what does not fit the width of any window."""
    if seen["sideways"] > 0:
        yield f"the page scrolls sideways by {seen['sideways']} px"
    if seen["drawn"] < 100:
        yield f"the drawing is {seen['drawn']} px high"
    if seen["drawing"] > 1:
        yield f"the drawing is {seen['drawing']} px wider than its room"
    if seen["svgs"]:
        yield f"{seen['svgs']} pictures leave the drawing"
    if seen["formulas"]:
        yield f"these formulas are cut: {seen['formulas']}"
    if not seen["line"]:
        yield "the current line is cut"
    if not seen["bar"]:
        yield "a button of the top bar is off the screen"


def wrong_with_the_column(seen: dict) -> Iterator[str]:
    """Tell what lies over something else beside the drawing: how it is read, the source, the formula, what was found."""
    for (_, bottom), (top, _) in pairwise([*seen["column"], [seen["panes"][1], seen["panes"][1]]]):
        if bottom > top + 1:
            yield f"a part ends at {bottom}, and what is below it begins at {top}"
    if (lowest := max((bottom for _, bottom in seen["equations"]), default=0)) > seen["column"][-1][0] + 1:
        yield f"an equation ends at {lowest}, and what was found begins at {seen['column'][-1][0]}"
    if seen["here"] is None or not within(seen["here"], seen["source"]):
        yield f"the line at hand, {seen['here']}, is not in the source, {seen['source']}"
    if not all(within(act, seen["findings"][0]) for act in seen["acts"]):
        yield f"the buttons, {seen['acts']}, are not in the finding, {seen['findings']}"


def within(inner: list[int], outer: list[int]) -> bool:
    """Return whether an interval is within another, but for a pixel."""
    return outer[0] - 1 <= inner[0] and inner[1] <= outer[1] + 1


@each
def test_nothing_is_cut_and_the_figure_fits(turn_to: Callable[..., Page], stem: str):
    """One visit for all sizes, since opening a section takes longer than looking at it."""
    page = ready(turn_to(f"/app?page={stem}"))
    assert wrong_at(page, (1440, 900), lambda seen: chain(wrong_with_the_figure(seen, stem), wrong_with_the_opening(seen))) == []
    assert wrong_at(page, (1366, 768), lambda seen: chain(wrong_with_the_figure(seen, stem), wrong_with_the_width(seen))) == []
    for size in ((1280, 720), (1150, 800), (1024, 768), (820, 1180), (768, 1024), (390, 844), (360, 740)):
        assert wrong_at(page, size, wrong_with_the_width) == []


FOUND = {  # inputs with which a figure has a finding
    "bitonic-sort": "barrier=false",
    "coarse-raster": "guard=false",
    "reduction": "barrier=false",
    "undo": "clamped=false",
    "workgroups": "barrier=false",
}
SCREENS = ((1280, 720), (1280, 800), (1366, 768), (1440, 900), (1920, 1080))


@pytest.mark.parametrize(("stem", "inputs"), FOUND.items())
@pytest.mark.parametrize(
    "where", ["", "&walk=whole&stop=0", "&walk=whole&stop=0&key=found-{stem}"], ids=["alone", "walk", "presented"]
)
def test_a_finding_leaves_the_source_and_the_formula_their_room(visit: Callable[..., Page], stem: str, inputs: str, where: str):
    page = ready(visit(f"/app?page={stem}&{inputs}{where.format(stem=stem)}"))
    page.locator(".figure .finding:not(.is-ok)").first.wait_for()
    assert {size: wrong for size in SCREENS if (wrong := wrong_at(page, size, wrong_with_the_column))} == {}


@pytest.mark.parametrize("stem", ["bitonic-sort", "coarse-raster", "autodiff", "gaussian", "workgroups", "fine-raster"])
def test_a_phone_shows_first_the_drawing_and_then_its_settings_over_a_low_dock(turn_to: Callable[..., Page], stem: str):
    page = ready(turn_to(f"/app?page={stem}", width=390, height=844))
    page.get_by_test_id("elsewhere").wait_for()
    parts = [page.locator(f"[data-testid=figure] {name}") for name in (".aside", ".settings", ".figcaption", ".below", ".source")]
    tops = [part.bounding_box()["y"] for part in parts if part.count()]
    assert tops == sorted(tops), "the drawing, what one sets, how it is read, the formula, the source"
    assert len(tops) >= 4
    dock = page.locator(".figure > .dock").first.bounding_box()
    assert dock["height"] <= 140, "a line of source, three lines of a sentence, a row of buttons"
    assert dock["y"] + dock["height"] <= 844.5
    title = page.locator("#crumb")
    fits = "el => el.scrollWidth <= el.clientWidth || getComputedStyle(el).textOverflow === 'ellipsis'"
    assert not title.is_visible() or title.evaluate(fits)
    assert page.locator(".top").evaluate("el => el.scrollWidth <= el.clientWidth")


def test_a_phone_shows_the_one_control_of_a_folded_figure_above_its_drawing(visit: Callable[..., Page]):
    page = ready(visit("/app?page=fine-raster", width=390, height=844, folded=True))
    settings, drawing = page.locator("[data-testid=figure] .settings"), page.locator("[data-testid=figure] .aside")
    assert settings.bounding_box()["y"] < drawing.bounding_box()["y"]
    assert settings.bounding_box()["height"] < 70
    page.get_by_role("button", name="More", exact=True).click()
    assert settings.bounding_box()["y"] > drawing.bounding_box()["y"]


@pytest.mark.parametrize(("width", "height"), [(390, 844), (360, 780)])
def test_on_a_phone_the_nine_numbers_are_on_the_screen_with_the_picture(turn_to: Callable[..., Page], width: int, height: int):
    page = ready(turn_to("/app?page=gaussian", width=width, height=height))
    top, bottom = page.locator(".top").bounding_box(), page.locator(".figure > .dock").first.bounding_box()
    picture, last = page.locator(".spot-picture"), page.get_by_label("Logit of the opacity")
    room = bottom["y"] - (top["y"] + top["height"])
    assert last.bounding_box()["y"] + last.bounding_box()["height"] - picture.bounding_box()["y"] <= room
    assert page.locator(".figure .bell").bounding_box()["y"] > last.bounding_box()["y"]


@pytest.mark.parametrize("stem", ["autodiff", "blending", "premultiply", "training-loop", "undo"])
def test_on_a_phone_what_a_step_is_about_is_above_the_dock(turn_to: Callable[..., Page], stem: str):
    page = ready(turn_to(f"/app?page={stem}", width=390, height=844))
    dock = page.locator(".figure > .dock").first
    steps = page.locator(".scrub .walls i").count()
    assert steps > 3
    for key in ["ArrowRight", "Home", *["ArrowRight"] * min(steps, 12)]:
        page.keyboard.press(key)
        if key == "Home":
            continue
        page.wait_for_function(  # once the page has scrolled there
            """([drawing, dock]) => {
              const part = drawing.querySelector("[data-here]")
              if (!part) return false
              const {top, bottom} = part.getBoundingClientRect()
              const bar = document.querySelector(".top").getBoundingClientRect().bottom
              return top >= bar - 1 && bottom <= dock.getBoundingClientRect().top + 1
            }""",
            arg=[page.locator(".figure .drawing").first.element_handle(), dock.element_handle()],
        )


@pytest.mark.parametrize("size", [(390, 844), (360, 740)])
def test_on_a_phone_the_line_of_source_is_above_the_sentence_and_leads_to_the_source(
    turn_to: Callable[..., Page], size: tuple[int, int]
):
    page = ready(turn_to("/app?page=blending", width=size[0], height=size[1]))
    line, marked = page.locator(".line-at-hand"), page.locator(".figure .source .mine[data-line]")
    assert line.locator(".code").evaluate("el => el.scrollHeight <= 20"), "it does not wrap beside the way to the start"
    seen = set()
    for key in ["Home", *["ArrowRight"] * 4, *["s"] * 6]:
        page.keyboard.press(key)
        next_frame(page)
        number = marked.get_attribute("data-line")
        expect(line.locator(".no")).to_have_text(number)
        expect(line.locator(".code")).to_contain_text(marked.locator(".code").inner_text().strip())
        seen.add((number, line.bounding_box()["height"]))
    assert len(seen) > 3, "several lines"
    assert {height for _, height in seen} == {20}, "no step moves what is above"
    assert line.get_attribute("aria-hidden"), "screen readers read the source itself"
    line.click()
    page.wait_for_function(  # once the page has scrolled there
        """([source, dock]) => {
          const {top, bottom} = source.getBoundingClientRect()
          return top >= document.querySelector(".top").getBoundingClientRect().bottom - 1
            && bottom <= dock.getBoundingClientRect().top + 1
        }""",
        arg=[page.locator(".figure .source").element_handle(), page.locator(".figure > .dock").first.element_handle()],
    )
    assert marked.is_visible()


def test_the_device_of_the_shipped_recording_is_named_with_the_first_view(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=undo")
    page.get_by_test_id("adapter").wait_for()
    assert page.get_by_test_id("elsewhere").is_visible(), "it would come later, and move what stands beside it"
